/* SPDX-License-Identifier: BSD-3-Clause
 *
 * slot.h - what one process says on the board: who and where it is, what happened to it, how it
 * ended. Only the process in the slot writes it, unless a member's comment says otherwise. Any
 * process may read it.
 */
#ifndef FT_BASE_SLOT_H
#define FT_BASE_SLOT_H

#include <limits.h>

#include "base/event.h"
#include "base/fds.h"
#include "base/life.h"
#include "base/note.h"
#include "base/streams.h"
#include "base/testament.h"

enum ft_slot_phase {
    FT_PHASE_NONE = 0,
    FT_PHASE_LOADED, /* the library was loaded into the process that mpirun started */
    /* MPI_Init was entered; the host's MPI_Init has not returned, as it waits for all processes */
    FT_PHASE_ENTERED,
    FT_PHASE_INIT,      /* the host MPI has started */
    FT_PHASE_RUNNING,   /* carries a rank, or serves as checksum process or spare */
    FT_PHASE_FINALIZED, /* MPI_Finalize was left */
    FT_PHASE_EXITED,    /* exit() was called with exit_status */
};

/* Where main was when the root's agent asked for the answered-th time. */
struct ft_board_place {
    _Atomic uint32_t answered;
    int32_t at, on; /* on: 1 + the rank that main waits for; 0: not known */
    char call[52];
};

#define FT_NODES 64      /* of a job, at most */
#define FT_HOST_NAME 256 /* bytes of a host's name and its zero: the DNS has none above 253 */

/* Which slots are on which node. */
struct ft_board_nodes {
    int32_t n;             /* 0: the job is on one node */
    int32_t hosts;         /* 1: each node is a machine; 0: all are on this one (--virtual-nodes) */
    int32_t end[FT_NODES]; /* the slots below this one that are on no earlier node are on it */
    char name[FT_NODES][FT_HOST_NAME];
    _Atomic uint64_t out;      /* bit k: node k is out. Written by the launcher */
    uint64_t out_ns[FT_NODES]; /* since when; on the launcher's own board */
    /* of the board's own node; injected: as in a slot, what these two have carried out */
    _Atomic int32_t keeper_pid, gateway_pid;
    _Atomic uint64_t injected;
    /* Written by this node's gateway: when it last went round its loop (CLOCK_MONOTONIC); bit k: it
     * has not reached node k for as long as it was told to try; bit k: node k is out, and nothing of
     * it is applied here any more */
    _Atomic uint64_t gateway_ns, unreachable, shut;
    _Atomic uint32_t dozing; /* the gateway may sleep: ft_gate_bell_ring (near.h) */
    /* Written by this node's keeper: when the node's lease is over (CLOCK_BOOTTIME, which goes on
     * while the host sleeps). 0: it has none */
    _Atomic uint64_t lease_end;
};

struct ft_board_slot {
    FT_ALIGNED_PAGE _Atomic int32_t pid; /* 0: not there yet */
    _Atomic int32_t phase;               /* enum ft_slot_phase */
    /* field 22 of /proc/pid/stat; with pid it identifies one process for ever */
    _Atomic uint64_t start_time;
    _Atomic int32_t arena_fd; /* its arena's descriptor; -1: none yet. Use ft_board_open_arena */
    /* the thread in whose descriptor table arena_fd is safe (base/fds.h); 0: none */
    _Atomic int32_t table;
    struct ft_fd_file arena_file; /* the file that arena_fd must be; set before arena_fd */
    _Atomic int32_t exit_status;  /* valid in phase EXITED */
    _Atomic uint32_t who;         /* FT_WHO of what it carries now */
    _Atomic uint32_t incarnation;
    _Atomic uint32_t last_failpoint; /* id + 1 of the failpoint at which it is dying; 0: none */
    _Atomic uint64_t failpoint_ns;   /* the time of last_failpoint */
    /* FT_FP_ENTRY of the entries of FTRMA_INJECT that it has carried out */
    _Atomic uint64_t injected;
    /* the result of ft_proc_signal; written by the process that watched it die */
    _Atomic uint32_t died_of;
    /* consecutive looks of its agent at which main slept in one call: runtime/still.c */
    _Atomic uint32_t still;
    struct ft_board_place place;
    _Atomic uint64_t safepoints; /* safepoints executed */
    /* files that its rank has opened, or is opening, together with others: ft_runtime_shared_files
     * */
    _Atomic uint32_t shared_files;
    _Atomic uint64_t mem_bytes,
        protected_bytes;        /* beyond the program's own; and protected + windows */
    _Atomic uint64_t log_limit; /* of mem_bytes, at most this much is for messages and logs */
    /* Counters of the check of the program's memory (runtime/memcheck.h). notes: all notes so far;
     * the first FT_NOTES are kept, and each is written before it is counted. Then processor time,
     * and bytes that were looked at, or were not for want of time. */
    _Atomic uint32_t notes;
    struct ft_note note[FT_NOTES];
    _Atomic uint64_t check_ns, check_bytes, check_left;
    _Atomic int32_t node_known; /* `node` has been written */
    /* an event of this process has its time, or is about to have it, and is not in its ring yet */
    _Atomic uint32_t recording;
    ft_life life;          /* its agent holds it */
    _Atomic uint32_t bell; /* a futex; each process that wakes its agent increments it */
    /* FT_WHO of what it carries at first; ftrun sets it before anything is started; FT_WHO_NONE:
     * not known by then */
    uint32_t at_first;
    /* Its process has ended out of order: said by the keeper of its node, and on other nodes by the
     * gateway, when all has come that it had sent. Jobs on several nodes only */
    _Atomic uint32_t ended;
    /* The generation in which a process of this node learnt of its loss; 0: in none. By the first
     * of them */
    _Atomic uint32_t lost_in;
    /* the name of its host, as the kernel has it; written once, before node_known, when somebody
     * wants to know */
    char node[HOST_NAME_MAX + 1];
    struct ft_testament testament;
    _Atomic int32_t
        homelogs_fd; /* its descriptor of the file of home logs (homelogs.h); -1: none */
    struct ft_board_output output[2];
    struct ft_board_input input;
    struct ft_event_ring events_of[2]; /* [1]: routine events */
};

#endif
