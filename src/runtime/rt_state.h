/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rt_state.h - the state of one process that main and agent share (rt.h).
 */
#ifndef FT_RUNTIME_RT_STATE_H
#define FT_RUNTIME_RT_STATE_H

#include <pthread.h>
#include <fenv.h>
#include <setjmp.h>

#include "base/failpoint.h"
#include "base/settings.h"
#include "image/image.h"
#include "recover/plan.h"
#include "runtime/carriers.h"
#include "runtime/latest.h"
#include "runtime/mailbox.h"
#include "runtime/runtime.h"
#include "topology/layout.h"
#include "transport/cut.h"
#include "transport/transport.h"

struct ft_rt {
    /* These are set once, at start. */
    struct ft_host host;
    struct ft_board *board;
    struct ft_board_slot *me;
    struct ft_arena arena;
    struct ft_tp tp;
    int self, nslots, verbose;
    int spare;                   /* its number among the spares, if it has started as one */
    struct ft_job_layout layout; /* what each slot has carried at first, and the nodes of slots */
    struct ft_groups groups;     /* the groups of the layout */
    /* what the plan knows of failure domains; NULL: nothing. Only the agent uses it */
    struct ft_where *where;
    struct ft_ckpt_policy policy;
    double mtbf;
    const char *inject;
    int checkpoints;      /* there are checksum processes, and the policy is not off */
    int logs;             /* the run is logged: --recovery auto */
    int told;             /* the program handles losses itself: --recovery program */
    int snapshot_alg;     /* FT_SNAPSHOT_BARRIER, or an enum ft_snap_alg */
    int demand, stream;   /* demand checkpoints are taken; they are written over the latest image */
    int long_checkpoints; /* long logs ask for a coordinated checkpoint */
    uint64_t ask_above;   /* logs of more bytes are too long */
    uint64_t start_limit_ns;      /* the limit of ft_rt_await_start; 0: none */
    uint64_t log_ready, log_long; /* in percent of the protected bytes */
    pthread_t agent, main;
    struct ft_mailbox box;

    /* This process's position as in struct ft_mapping (rank, or nranks + checksum index; -1:
     * spare). The agent writes it before CMD_ROLE. */
    _Atomic int pos;
    int replacement;    /* it has got its position after a failure */
    /* where the heap of the lost process began, or in a job that goes on from a set that of the
     * rank in the saved job; 0: it had none yet */
    uint64_t lost_heap;
    /* The most calls that any lost process of this rank had begun since the last rollback. Others
     * may have seen what it did in these calls, though no record says so. The agent writes it. */
    _Atomic uint64_t lost_calls;
    uint64_t lost_events; /* how many actions the lost process had in its home log */
    int lost_home;        /* a slot on whose node that log is; -1: nobody knows */

    /* The mapping, which the agent hands to main. */
    pthread_mutex_t map_lock;
    int *slot_of;          /* [nranks + nchecksums] */
    uint32_t mapped_in;    /* the generation of slot_of */
    uint32_t *incarnation; /* [nranks], in that generation */
    struct ft_bitset dead; /* slots whose processes have ended, as far as the agent knows */
    void (*news)(void); /* the agent calls it after a change of these; NULL: nobody wants to know */
    struct ft_heir *heir;      /* [nranks]: who is new in a told recovery */
    _Atomic uint32_t bound_in; /* the generation that main uses */
    _Atomic uint32_t forgot;   /* the newest generation whose lost slots the agent has forgotten */
    _Atomic int *lead;         /* [groups], written by the agent; see ft_latest_lead */
    /* [nranks], written by the agent of a checksum process that is to be rebuilt: the version of
     * each rank's latest image, as the rank has said. */
    _Atomic uint64_t *latest_of;

    /* These are for main only. */
    /* [nranks]: the slots that its channels and windows use; NULL: it carries no rank yet */
    int *bound;
    uint32_t era;         /* the next era, from the command by which main goes on or back */
    uint32_t refused;     /* enum ft_skip_reason: why FTRMA_Run has not run body; 0: it has */
    uint64_t restored_at; /* the safepoint of the restored image: main is not held there again */
    int restored;         /* an image was restored */
    int restored_over;    /* the last restored image was taken at body's end */
    int diverged;         /* the replay has diverged; set until all go back */
    int stays;            /* body belongs to an interpreter, so no longjmp leaves it */
    uint32_t entry_ctx;   /* ft_next_ctx when FTRMA_Run was entered */
    int windows_at_entry; /* ft_rma_lasting at that time */
    /* body was entered again, and has not come to the safepoint of this image yet */
    const struct ft_image *resume;
    struct ft_region *region; /* protected memory; windows are appended when an image is taken */
    int nregions, cap_regions;
    uint64_t image_off[FT_IMAGES], image_cap[FT_IMAGES];
    struct ft_rebuild *rebuild; /* rebuild.c; NULL: it never had to rebuild an image */
    struct ft_latest latest;    /* images that it takes alone, and codewords over them */
    int objects_in_body;
    uint64_t freed_in_body; /* windows and communicators of setup, also before the restored image */
    int copying; /* it carries out FT_CMD_COPY, which is answered whatever is found */
    sigjmp_buf env;
    struct ft_holder holder; /* its function is called before main leaves a call by that */
    fenv_t fenv; /* when FTRMA_Run was entered: of rounding and traps */
    uint64_t setup_start_ns;
    struct ft_rehearsal *rehearsal; /* NULL: this is no rehearsal */
    struct ft_memcheck *memcheck;   /* NULL: the program's memory is not checked (memcheck.h) */
    int check_memory;               /* enum ft_check_memory */
    struct ft_span *promised; /* for that check: memory that was given to FTRMA_Unprotect, joined */
    size_t npromised, cap_promised;
};
extern FT_STATE(struct ft_rt *, ft_own_rt);
#define ft_own_rt FT_MY(ft_own_rt)

#endif
