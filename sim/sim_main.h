/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_main.h - a simulated main, the program's thread. It moves, obeys commands, stops at
 * safepoints, parks, refuses and diverges.
 */
#ifndef FT_SIM_MAIN_H
#define FT_SIM_MAIN_H

#include "recover/process.h"
#include "sim.h"

enum { WELL, REFUSING }; /* whether it obeys a command well, or refuses it */

struct sim_main {
    int32_t place, rank; /* enum ft_place; -1: none */
    uint64_t moves, reached, passed;
    uint64_t hold;
    /* the outstanding command, unless its number is `answered` */
    uint64_t number, answered;
    struct ft_command_arg arg;
    int32_t command;
    struct ft_answer answer;
    uint32_t asks, attention, cannot;
    int32_t replaying, diverged; /* diverged: it does not move until it parks */
    int32_t news;                /* it has changed since its agent has looked */
    int32_t inside;          /* 1 + the generation that it knew when it began an access; 0: none */
    int32_t refused;         /* it was told that FTRMA_Run does not run body */
    uint32_t bound;          /* the generation by whose mapping it goes */
    uint64_t copied, before; /* the newest image or codeword that it has made; the one before */
    uint64_t restored_at;    /* safepoint of the image that it went back to */
    uint64_t committed,
        oldest; /* the published committed version; the version that its logs reach back to */
    /* Snapshots (C9): numbers of snapshots, 0: none. */
    uint64_t gate;    /* the one that its accesses look at */
    uint64_t entered; /* published: it is about to take its image in this one */
    uint64_t imaged;  /* the one that its newest image belongs to */
    uint64_t
        met; /* in this one, a rank that had its image has written to it before its own image */
    uint64_t torn;       /* version of an image that is not on one side of the cut */
    uint64_t until_over; /* it waits until this one is over */
    int32_t of,
        gated;        /* 1 + the slot that it accesses; whether the access has looked at the gate */
    int32_t log_here; /* in its testament: its node has all of its rank's home log */
    int32_t nth;      /* how many carriers its rank had before */
    int32_t left; /* 1 + the slot of the lost process of which it knows what it has left; 0: none */
    int32_t wants;  /* 1 + the rank for whose access it waits at the gate */
    int32_t taking; /* it is copying an image that it takes alone */
    /* told recovery: it has only what setup has left; it was restored as a new rank, and others may
     * still have to be told; in which generation, and to which version; who was: slots, as bits */
    int32_t fresh, is_new;
    uint32_t restored_in;
    int32_t unrepaired; /* at its last vote it had not come to a safepoint since a told recovery */
    uint64_t holds, told_by;
};

/* The next thing that main does by itself; 0: nothing is possible. */
int sim_main_can_move(const struct sim_main *m);
int sim_main_can_obey(const struct sim_main *m);
int sim_main_can_park(const struct sim_main *m);
/* It stops at safepoint `reached`, or passes it. own: it stops without being told. */
void sim_main_arrives(struct sim_main *m, int own);
void sim_main_to(struct sim_main *m, enum ft_place place);
/* The copy of main's words for the agent. */
void sim_main_copy(struct sim_main *m, struct ft_main *out);

#endif
