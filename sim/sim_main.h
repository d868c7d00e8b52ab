/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_main.h - a main, the program's thread: it moves, obeys commands, stops at safepoints, parks,
 * refuses, diverges. And the shell between it and its machine: events in, actions carried out.
 */
#ifndef FT_SIM_MAIN_H
#define FT_SIM_MAIN_H

#include "recover/process.h"
#include "sim.h"

enum { WELL, REFUSING }; /* how a command is obeyed */

struct sim_main {
    int32_t place, rank; /* enum ft_place; -1: none */
    uint64_t moves, reached, passed;
    uint64_t hold;
    /* the command outstanding, if its number is not `answered` */
    uint64_t number, answered;
    struct ft_command_arg arg;
    int32_t command;
    struct ft_answer answer;
    uint32_t asks, attention, cannot;
    int32_t replaying, diverged; /* diverged: it goes nowhere until it parks */
    int32_t news;                /* it has changed since its agent looked */
    int32_t inside;          /* 1 + the generation that it knew when it began an access; 0: none */
    int32_t refused;         /* it was told that FTRMA_Run runs nothing */
    uint32_t bound;          /* the generation whose carriers it goes by */
    uint64_t copied, before; /* the newest image or codeword that it has made; the one before */
    uint64_t restored_at;    /* safepoint of the image that it went back to */
    uint64_t committed, oldest; /* as published; what its logs reach back to */
    /* snapshots (C9) */
    uint64_t gate;    /* the one that accesses look at; 0: none */
    uint64_t entered; /* published: about to take its image in this one */
    uint64_t imaged;  /* the one that its newest image belongs to; 0: to none */
    uint64_t met;     /* before its image in this one it was written to by one that had its image */
    uint64_t torn;    /* version of an image that is not one side of the cut */
    uint64_t until_over; /* it waits until this one is over */
    int32_t of, gated;   /* inside: an access to this slot, + 1; which looked at the gate */
    int32_t log_here;    /* in its testament: all of its rank's home log is on its node */
    int32_t nth;         /* the number of carriers that its rank had before */
    int32_t left;        /* 1 + the slot of the lost process whose leavings it knows; 0: of none */
    int32_t wants;       /* rank + 1: it waits at the gate, to access that one */
    int32_t taking;      /* it copies an image that it takes alone */
    /* told recovery: it has only what setup has left; it was restored as a new rank, and others may
     * still have to be told; in which generation, and to which version; who was: slots, as bits */
    int32_t fresh, is_new;
    uint32_t restored_in;
    int32_t unrepaired; /* when it voted last: it had not come to a safepoint since */
    uint64_t holds, told_by;
};

/* What main does by itself; 0: it cannot. */
int sim_main_can_move(const struct sim_main *m);
int sim_main_can_obey(const struct sim_main *m);
int sim_main_can_park(const struct sim_main *m);
/* It stops at safepoint `reached`, or passes it. own: it stops of itself. */
void sim_main_arrives(struct sim_main *m, int own);
void sim_main_to(struct sim_main *m, enum ft_place place);
/* A copy for the agent. */
void sim_main_copy(struct sim_main *m, struct ft_main *out);

#endif
