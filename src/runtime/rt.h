/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rt.h - the state of one process that main and agent share, and the index of its parts.
 *
 * Main and agent meet in two ways only. (1) Through the mailbox: main says where it is, and where
 * it stands it takes commands from the agent, one at a time. (2) `ft_attention` tells a main that
 * is under way that a new generation has come, or that it has to leave its call for a rollback.
 * Only the agent touches the machines of src/proto; only main touches messages and windows.
 */
#ifndef FT_RUNTIME_RT_H
#define FT_RUNTIME_RT_H

#include <pthread.h>
#include <setjmp.h>

#include "base/failpoint.h"
#include "base/settings.h"
#include "image/image.h"
#include "recover/plan.h"
#include "runtime/latest.h"
#include "runtime/mailbox.h"
#include "runtime/runtime.h"
#include "topology/layout.h"
#include "transport/cut.h"
#include "transport/transport.h"

struct ft_rt {
    /* Set once, at start. */
    struct ft_host host;
    struct ft_board *board;
    struct ft_board_slot *me;
    struct ft_arena arena;
    struct ft_tp tp;
    int self, nslots, verbose;
    int spare;                   /* its number among the spares, if it started as one */
    struct ft_job_layout layout; /* what each slot carried at first, and where slots are */
    struct ft_groups groups;     /* the layout's */
    /* what the plan knows of failure domains; NULL: nothing. Only for the agent */
    struct ft_where *where;
    struct ft_ckpt_policy policy;
    double mtbf;
    const char *inject;
    int checkpoints;    /* there are checksum processes and the policy is not off */
    int logs;           /* the run is logged: --recovery auto */
    int told;           /* the program handles losses: --recovery program */
    int snapshot_alg;   /* FT_SNAPSHOT_BARRIER, else an enum ft_snap_alg */
    int demand, stream; /* there are demand checkpoints; they are written over the latest image */
    uint64_t ask_above; /* bytes of logs */
    uint64_t start_limit_ns; /* ft_rt_await_start; 0: none */
    uint64_t log_ready;      /* percent of the protected bytes */
    pthread_t agent, main;
    struct ft_mailbox box;

    /* This process's position as in struct ft_mapping (rank, or nranks + checksum index; -1:
     * spare). The agent writes it before CMD_ROLE. */
    _Atomic int pos;
    int replacement;      /* got its position after a failure */
    uint64_t lost_heap;   /* where the lost process's heap began; 0: it had none yet */
    /* the most calls that a lost process of this rank had begun, since all went back last: what it did
     * in them may have been seen, though no record says so. By the agent */
    _Atomic uint64_t lost_calls;
    uint64_t lost_events; /* actions that the lost process had in its home log */

    /* The mapping that the agent hands to main. */
    pthread_mutex_t map_lock;
    int *slot_of;              /* [nranks + nchecksums] */
    uint32_t mapped_in;        /* the generation of slot_of */
    uint32_t *incarnation;     /* [nranks], in that generation */
    void (*news)(void);        /* called by the agent after a new mapping; NULL: nobody asks */
    struct ft_heir *heir;      /* [nranks]: who is new in a told recovery */
    _Atomic uint32_t bound_in; /* the generation that main uses */
    _Atomic int *lead;         /* [groups], by the agent: see ft_latest_lead */
    /* [nranks], by the agent of a checksum process that is to be rebuilt: the version of each rank's
     * latest image, as the rank has said */
    _Atomic uint64_t *latest_of;

    /* For main only. */
    /* [nranks]: the slots that its channels and windows use; NULL: it carries no rank yet */
    int *bound;
    uint32_t era;         /* the next era: from the command that lets main go on, or go back */
    uint32_t refused;     /* FTRMA_Run has run nothing; the reason, enum ft_skip_reason */
    uint64_t restored_at; /* the safepoint of the restored image: main is not held there again */
    int restored;         /* an image was restored */
    int restored_over;    /* the last restored image is of body's end */
    int diverged;         /* the replay has diverged; until all go back */
    int stays;            /* body is an interpreter's: no longjmp leaves it */
    uint32_t entry_ctx;   /* ft_next_ctx when FTRMA_Run was entered */
    int windows_at_entry; /* ft_rma_lasting then */
    /* body was entered again, and has not yet come to the safepoint of this image */
    const struct ft_image *resume;
    struct ft_region *region; /* protected memory; windows are appended when an image is taken */
    int nregions, cap_regions;
    uint64_t image_off[FT_IMAGES], image_cap[FT_IMAGES];
    struct ft_latest latest; /* images that it takes alone, and codewords over them */
    int objects_in_body;
    int copying; /* under FT_CMD_COPY: whatever is found, the command is answered */
    sigjmp_buf env;
    uint64_t setup_start_ns;
    struct ft_rehearsal *rehearsal; /* NULL: this is none */
    struct ft_memcheck *memcheck;   /* NULL: the program's memory is not checked (memcheck.h) */
    int check_memory;               /* enum ft_check_memory */
    struct ft_span *promised;       /* for that check: memory given to FTRMA_Unprotect; joined */
    size_t npromised, cap_promised;
};
extern FT_STATE(struct ft_rt *, ft_own_rt);
#define ft_own_rt FT_MY(ft_own_rt)

static inline int ft_is_rank(const struct ft_rt *rt)
{
    int p = atomic_load(&rt->pos);
    return p >= 0 && p < rt->board->nranks;
}
static inline int ft_is_checksum(const struct ft_rt *rt)
{
    return atomic_load(&rt->pos) >= rt->board->nranks;
}
static inline uint32_t ft_who(const struct ft_rt *rt)
{
    int p = atomic_load(&rt->pos), n = rt->board->nranks;
    return p < 0   ? FT_WHO(FT_ROLE_SPARE, rt->spare)
           : p < n ? FT_WHO(FT_ROLE_RANK, p)
                   : FT_WHO(FT_ROLE_CHECKSUM, p - n);
}

static inline enum ft_place ft_main_at(const struct ft_rt *rt) { return ft_box_place(&rt->box); }
static inline int ft_in_body(const struct ft_rt *rt)
{
    return ft_main_at(rt) == FT_AT_BODY || ft_main_at(rt) == FT_AT_HELD;
}
static inline int ft_in_run(const struct ft_rt *rt)
{
    return ft_main_at(rt) >= FT_AT_ENTRY && ft_main_at(rt) <= FT_AT_RESTORED;
}
static inline int ft_said(const struct ft_rt *rt, uint32_t flag) /* FT_SAYS_* */
{
    return (atomic_load(&rt->box.flags) & flag) != 0;
}

/* station.c: main stands at a place and carries out commands. Returns the command that lets it go
 * on, and its argument. BODY and RESUME are not answered here, but when main has entered body. */
enum ft_command ft_station(struct ft_rt *rt, enum ft_place at, struct ft_command_arg *arg);
void ft_rt_move(struct ft_rt *rt, enum ft_place to); /* main has come there; tells the agent */
void ft_rt_answer(struct ft_rt *rt, struct ft_answer with);
void ft_rt_attend(void);
void ft_still_answer(struct ft_rt *rt); /* still.c: main records on the board where it is */

/* shell.c */
void ft_agent_start(struct ft_rt *rt);
/* called by main: something has changed, so the agent should look */
void ft_agent_nudge(struct ft_rt *rt);
void ft_rt_event(struct ft_rt *rt, enum ft_event_kind kind, uint32_t who, int64_t a, int64_t b,
                 int64_t c, uint64_t dur_ns);
/* Ends the job for all, and this process. Either thread. The program has failed, with its own
 * status; or the job is given up: call ft_give_up (base/reason.h), which calls this. */
_Noreturn void ft_rt_fail(struct ft_rt *rt, int status, const char *message);
_Noreturn void ft_rt_give_up(struct ft_rt *rt, enum ft_reason reason, const char *message);

/* station.c, release.c. Called by main, or by the agent in its turn. */
void ft_rt_rebind(struct ft_rt *rt); /* each rank is read and written at its present carrier */
/* gives back the arenas of the dead that nobody here uses any more */
void ft_rt_release(struct ft_rt *rt);
/* main: who carries a position, by the mapping that was handed over last */
int ft_rt_slot_at(struct ft_rt *rt, int pos);
#endif
