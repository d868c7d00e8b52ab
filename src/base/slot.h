/* SPDX-License-Identifier: BSD-3-Clause
 *
 * slot.h - what one process says on the board: who and where it is, what happened to it, how it
 * ended. Written by the process in the slot alone, unless a member says otherwise; read by anyone.
 */
#ifndef FT_BASE_SLOT_H
#define FT_BASE_SLOT_H

#include "base/event.h"
#include "base/fds.h"
#include "base/life.h"
#include "base/note.h"
#include "base/streams.h"
#include "base/testament.h"

enum ft_slot_phase {
    FT_PHASE_NONE = 0,
    FT_PHASE_LOADED,    /* the library was loaded into the process that mpirun started */
    FT_PHASE_ENTERED,   /* MPI_Init was entered, the host's is not yet left: it waits for all
                           processes */
    FT_PHASE_INIT,      /* the host is up */
    FT_PHASE_RUNNING,   /* carries a rank, or serves as checksum process or spare */
    FT_PHASE_FINALIZED, /* MPI_Finalize was left */
    FT_PHASE_EXITED,    /* exit() was called with exit_status */
};

/* Where main is, when the root's agent has asked for it the answered-th time. */
struct ft_board_place {
    _Atomic uint32_t answered;
    int32_t at, on; /* enum ft_place; 1 + the rank that it waits for, 0: not known */
    char call[52];
};

struct ft_board_slot {
    FT_ALIGNED_LINE _Atomic int32_t pid; /* 0: not yet there */
    _Atomic int32_t phase;               /* enum ft_slot_phase */
    _Atomic uint64_t
        start_time; /* field 22 of /proc/pid/stat: with pid it names one process for ever */
    _Atomic int32_t arena_fd; /* its arena's descriptor, ft_board_arena; -1: none yet */
    _Atomic int32_t table;    /* the thread in whose descriptors it is safe (base/fds.h); 0: none */
    struct ft_fd_file arena_file; /* that it must be; set before arena_fd */
    _Atomic int32_t exit_status;  /* valid in phase EXITED */
    _Atomic uint32_t who;         /* FT_WHO of what it carries now */
    _Atomic uint32_t incarnation;
    _Atomic uint32_t last_failpoint; /* id + 1 of the failpoint it is dying at, 0: none */
    _Atomic uint64_t failpoint_ns;   /* and when */
    _Atomic uint64_t injected;       /* FT_FP_ENTRY of what it did as FTRMA_INJECT says */
    _Atomic uint32_t died_of; /* as ft_proc_signal has it; by the process that watched it die */
    _Atomic uint32_t
        still; /* looks of the agent in a row at which main slept in one call: runtime/still.c */
    struct ft_board_place place;
    _Atomic uint64_t safepoints;   /* safepoints executed */
    _Atomic uint32_t shared_files; /* that its rank has opened, or is opening, together with others:
                                      ft_runtime_shared_files */
    _Atomic uint64_t mem_bytes,
        protected_bytes;        /* beyond the program's own; and protected + windows */
    _Atomic uint64_t log_limit; /* of mem_bytes, at most that is for messages and logs */
    /* The check of the program's memory (runtime/memcheck.h): notes ever said, of which the first
       FT_NOTES are kept, each written before it counts; processor time, and bytes that were looked
       at, or not for want of time */
    _Atomic uint32_t notes;
    struct ft_note note[FT_NOTES];
    _Atomic uint64_t check_ns, check_bytes, check_left;
    _Atomic int32_t node_known; /* node is there */
    _Atomic uint32_t recording; /* an event of its process has its time, or is about to have it, and
                                   is not yet in its ring */
    ft_life life;               /* held by its agent */
    _Atomic uint32_t bell;      /* a futex: counted up by whoever wakes its agent */
    uint32_t at_first; /* FT_WHO of what it carries at first; ftrun's, set before anything is
                          started; FT_WHO_NONE: not known by then */
    char node[64];     /* its host's name, cut off; written once, before node_known, where somebody
                          wants to know */
    struct ft_testament testament;
    /* By rank, not by slot: the file in which the home log of the rank with this number lies, held
     * by the process keeper_pid. Set before anything is started; -1: there is none */
    int32_t homelog_fd;
    struct ft_fd_file homelog_file;
    struct ft_board_output output[2];
    struct ft_board_input input;
    struct ft_event_ring events_of[2]; /* routine ones in the second */
};

#endif
