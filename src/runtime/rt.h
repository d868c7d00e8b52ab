/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rt.h - what the files of the runtime share: the state between main and agent of one process.
 *
 * main and agent meet in two ways only. (1) When main stands at a *station* (a place where it waits for the others), it says so and takes
 * *commands* from the agent, one at a time: number, kind, argument; it answers with the number when it is done. (2) `ft_attention` tells
 * a main that is under way that a new generation has come, or that it has to leave its call for a rollback.
 * The machines of src/proto belong to the agent alone, messages and windows to main alone.
 */
#ifndef FT_RUNTIME_RT_H
#define FT_RUNTIME_RT_H

#include <pthread.h>
#include <setjmp.h>

#include "base/failpoint.h"
#include "base/settings.h"
#include "erasure/erasure.h"
#include "image/image.h"
#include "proto/agree.h"
#include "proto/detect.h"
#include "proto/order.h"
#include "proto/snapshot.h"
#include "recover/plan.h"
#include "runtime/runtime.h"
#include "topology/layout.h"
#include "transport/transport.h"
#include "transport/wave.h"

enum ft_station {
    FT_ST_NONE = 0,  /* under way */
    FT_ST_INIT,      /* inside MPI_Init: spare, or checksum process at its post */
    FT_ST_ENTRY,     /* FTRMA_Run was entered, no body yet */
    FT_ST_SAFEPOINT, /* inside FTRMA_Safepoint, arrived at the agreed number */
    FT_ST_OVER,      /* body has returned */
    FT_ST_PARKED,    /* left its call for a rollback */
    FT_ST_FINALIZE,  /* inside MPI_Finalize */
};

enum ft_command {
    FT_CMD_NONE = 0,
    FT_CMD_ROLE,    /* INIT: go on as the rank that was assigned */
    FT_CMD_COPY,    /* arg = version: take an image */
    FT_CMD_WAVE,    /* SAFEPOINT, OVER: the same in the snapshot `wave`, while others go on */
    FT_CMD_RELEASE, /* SAFEPOINT: go on */
    FT_CMD_BODY,    /* ENTRY: the first checkpoint is committed (or there are none): enter body */
    FT_CMD_OUT,     /* OVER, ENTRY of a late replacement: leave FTRMA_Run */
    FT_CMD_ROOM,    /* INIT, spare or checksum process: take memory for an image or codeword of the size that ranks have; arg 1: and
                     * set some aside for all else that a replacement needs */
    FT_CMD_PARITY,  /* INIT, checksum process: stage the codeword of version arg */
    FT_CMD_REBUILD, /* arg = version: rebuild the lost image or codeword from the group's */
    FT_CMD_RESTORE, /* arg = version: memory, counters and channels as in the image */
    FT_CMD_RESUME,  /* PARKED, ENTRY, OVER: enter body again (or, if the image says so, stand at its end) */
    FT_CMD_LIFT,    /* INIT, checksum process: the latest codeword without the image of rank `fold_rank` is staged */
    FT_CMD_FOLD,    /* INIT, checksum process: the latest codeword with version arg of rank `fold_rank` in it */
    FT_CMD_FAIL,    /* ENTRY: there is no room for a first checkpoint: FTRMA_Run returns an error */
    FT_CMD_DONE,    /* FINALIZE, INIT: the job is done */
};

struct ft_rt {
    /* set once at start */
    struct ft_host host;
    struct ft_board *board;
    struct ft_board_slot *me;
    struct ft_arena arena;
    struct ft_tp tp;
    int self, nslots, verbose;
    int spare; /* its number among the spares, if it began as one */
    struct ft_layout layout; /* who carried what at first, and where slots are */
    struct ft_groups groups; /* the layout's */
    struct ft_where *where;  /* what the plan knows of failure domains; NULL: nothing. The agent's */
    struct ft_ckpt_policy policy;
    double mtbf;
    const char *inject;
    int checkpoints; /* there are checksum processes and the policy is not off */
    uint64_t start_limit_ns; /* ft_rt_await_start; 0: none */
    uint64_t log_ready; /* percent of what is protected */
    pthread_t agent, main;

    /* who I am: position as in struct ft_mapping (rank, or nranks + checksum index; -1 spare). Written by the agent before CMD_ROLE. */
    _Atomic int pos;
    int replacement; /* was given the position after a failure */
    uint64_t lost_heap;   /* where the lost process's heap began; 0: it had none yet */
    uint64_t lost_events; /* actions that the lost process had kept at its log home */

    /* the mapping, handed from agent to main */
    pthread_mutex_t map_lock;
    int *slot_of; /* [nranks + nchecksums] */
    uint32_t mapped_in; /* the generation that slot_of is of */
    _Atomic uint32_t bound_in; /* the one that main goes by */

    /* stations and commands */
    _Atomic int station;
    _Atomic uint64_t cmd;      /* number << 8 | kind */
    _Atomic uint64_t cmd_arg;
    _Atomic uint32_t cmd_generation; /* in which the command was given: main may come to it in a later one */
    _Atomic uint64_t cmd_done; /* number of the last one carried out */
    _Atomic uint64_t result_bytes;
    _Atomic uint32_t result_bad; /* enum ft_skip_reason */
    _Atomic int milestone;

    /* safepoints: `reached` is the one main is at or has passed, `passed` the last one that it left behind */
    _Atomic uint64_t reached, passed;
    _Atomic uint64_t restored_at; /* number of the safepoint that the restored image stands at: it is not stopped at again */
    _Atomic int hold; /* 0, HOLD_ASK: stop at the next; HOLD_TARGET: stop at `target` */
    _Atomic uint64_t target;
    _Atomic uint32_t cannot; /* at a station SAFEPOINT: why no image can be taken, enum ft_skip_reason */

    /* images: written by main under a command, read by the agent after its answer */
    _Atomic uint64_t committed; /* newest version that is ours and agreed; 0: none */
    _Atomic uint64_t complete;  /* newest version whose image (or codeword) lies here whole */
    _Atomic int run_over;       /* the exit checkpoint is committed */
    _Atomic int under_way;      /* images of the next one are being taken */
    _Atomic uint32_t era;       /* the next era, set by the agent before RESTORE, BODY, OUT */
    _Atomic int incomplete;     /* carries a position whose image or codeword is not yet here */
    _Atomic int refused;        /* FTRMA_Run has not run body: why (FT_SKIP_*) its first checkpoint was called off */
    _Atomic int no_replay;      /* body was entered without a checkpoint */
    _Atomic int finished;       /* MPI_Finalize was left */
    _Atomic int harmed;         /* there was a failure */
    _Atomic uint32_t generation; /* adopted */
    /* local recovery (R0) */
    _Atomic int alone;         /* RESTORE: only this process goes back */
    _Atomic int replaying;     /* a replacement that is not yet live */
    _Atomic int want_rollback; /* its replay diverged */

    /* demand checkpoints (C8). Agent to main: 1 + the generation in which an image is wanted at the next safepoint; 0:
     * none is; FT_TAKE_BEGUN, from main: it is at it, and it will be answered. Main to agent: the version of that image
     * (FT_TAKEN_NOT: it is declined), looked at once, and the generation; 1 + the rank whose log is too long; the version of the
     * codeword that was folded, 0: it could not be */
    _Atomic uint32_t take, taken_in;
    _Atomic uint64_t taken, folded;
    _Atomic int ask, fold_rank;
    /* snapshots (C9) */
    int snapshot;           /* set at start: FT_SNAPSHOT_BARRIER, else an enum ft_snap_alg */
    _Atomic uint64_t wave;  /* agent to main: of FT_CMD_WAVE */
    _Atomic int want_off;   /* main to agent: main cannot go on before the wave is over */
    int demand, stream;  /* set at start: there are demand checkpoints; they are written over the latest image */
    _Atomic int *lead;   /* [groups], by the agent: which of a group's checksum processes leads; ~ that: it and the others were replaced */
    /* main of a checksum process: the staged codeword, and the image of a rank that it is without; the last one that was folded
     * in, and that codeword */
    uint64_t lifted, lifted_image, folded_image, folded_as;
    int lifted_rank, folded_rank;
    uint64_t ask_above;  /* bytes of logs */
    uint64_t alone_n;    /* images or codewords made for them: they are numbered */
    uint64_t covered_own; /* the latest image that the own LG was trimmed to */

    /* main's own */
    int *bound; /* [nranks]: the slots that main's channels and windows go by; NULL before this process is a rank */
    int in_run, in_body, ran, over;
    int stays;                     /* body is an interpreter's: it is not left by a longjmp */
    int logs;                      /* the run is logged: --recovery auto */
    int restored;                  /* an image was restored */
    uint32_t entry_ctx;            /* ft_next_ctx when FTRMA_Run was entered */
    const struct ft_image *resume; /* whose safepoint body, entered again, has not yet come to */
    struct ft_region *region; /* protected memory; windows are appended when an image is taken */
    int nregions, cap_regions;
    uint64_t image_off[FT_IMAGES], image_cap[FT_IMAGES];
    int objects_in_body;
    int copying; /* under FT_CMD_COPY: whatever is found out, the command is answered */
    sigjmp_buf env;
    uint64_t setup_start_ns;
    struct ft_rehearsal *rehearsal; /* NULL: this is none */
    struct ft_memcheck *memcheck; /* NULL: the program's memory is not looked at (memcheck.h) */
    int check_memory;             /* enum ft_check_memory */
    struct ft_span *promised;     /* for that: FTRMA_Unprotect; joined */
    size_t npromised, cap_promised;
};
enum { FT_HOLD_NONE = 0, FT_HOLD_ASK, FT_HOLD_TARGET };
#define FT_TAKEN_NOT UINT64_MAX
#define FT_TAKE_BEGUN UINT32_MAX
extern struct ft_rt *ft_rt;

static inline int ft_is_rank(const struct ft_rt *rt)
{
    int p = atomic_load(&rt->pos);
    return p >= 0 && p < rt->board->nranks;
}
static inline int ft_is_checksum(const struct ft_rt *rt) { return atomic_load(&rt->pos) >= rt->board->nranks; }
static inline uint32_t ft_who(const struct ft_rt *rt)
{
    int p = atomic_load(&rt->pos), n = rt->board->nranks;
    return p < 0 ? FT_WHO(FT_ROLE_SPARE, rt->spare) : p < n ? FT_WHO(FT_ROLE_RANK, p) : FT_WHO(FT_ROLE_CHECKSUM, p - n);
}

/* agent.c */
void ft_agent_start(struct ft_rt *rt);
void ft_agent_nudge(struct ft_rt *rt); /* main: something has changed, look */
void ft_rt_event(struct ft_rt *rt, enum ft_event_kind kind, uint32_t who, int64_t a, int64_t b, int64_t c, uint64_t dur_ns);
/* Ends the job for everybody and this process. Either thread. */
_Noreturn void ft_rt_end(struct ft_rt *rt, enum ft_job_state state, int status, const char *message);

/* place.c: where slots are. FT_OK, or why says what cannot be. Fills layout and where. */
enum ft_status ft_rt_place(struct ft_rt *rt, int parity, char *why, size_t size);
/* How long a process was waited for at start, and how many had come then. Zeroed at first. */
struct ft_arrival {
    uint64_t ns;
    int arrived;
};
/* A step of a wait for slot at start, when no agent watches anybody yet. 0: its process is gone. Ends the job when it
 * lasts too long. */
int ft_rt_await_start(struct ft_rt *rt, int slot, struct ft_arrival *w);
int ft_rt_first_slot(const struct ft_rt *rt, int pos); /* who carries a position at first */
void ft_rt_bind(const struct ft_rt *rt, int rank); /* bind.c: main of this rank to its core */
void ft_rt_role(const struct ft_rt *rt, int slot, enum ft_role *role, int *index); /* what a slot was at first */
int ft_rt_slot_at(struct ft_rt *rt, int pos); /* main: who carries a position now, by the mapping that was handed over last */

/* rehearse.c, on main: what ftrun --rehearse looks at. Nothing in other runs. */
void ft_rehearse_init(struct ft_rt *rt); /* before failpoints are armed */
void ft_rehearse_body_begins(struct ft_rt *rt);
void ft_rehearse_stopped(struct ft_rt *rt); /* for a checkpoint, at a safepoint */
void ft_rehearse_body_ends(struct ft_rt *rt);
void ft_rehearse_run_over(struct ft_rt *rt); /* with checkpoints: all stand still for the exit's */
void ft_rehearse_finalize(struct ft_rt *rt);
/* hostfds.c: asked before the host's MPI_Init, after it, and in MPI_Finalize: 0: the program has closed some of the
 * host's. */
void ft_host_fds_before(void);
void ft_host_fds_note(void);
int ft_host_fds_intact(void);

/* station.c: main waits at a station and carries out commands; returns the command that lets it go on */
enum ft_command ft_station(struct ft_rt *rt, enum ft_station station);
void ft_rt_attend(void);
void ft_still_answer(struct ft_rt *rt); /* still.c: main says on the board where it is */
void ft_rt_set_milestone(struct ft_rt *rt, enum ft_milestone m);

/* replay.c, on main: local recovery */
void ft_rt_replay_init(void);
void ft_rt_replay_setup(struct ft_rt *rt);
void ft_rt_replay_step(struct ft_rt *rt); /* at each door and in each wait while it replays */
void ft_rt_replay_idle(struct ft_rt *rt); /* the same, by the agent while main makes no calls */
void ft_rt_release(struct ft_rt *rt);     /* release.c: the arenas of the dead, which nobody here asks for any more, are given back */
void ft_rt_rebind(struct ft_rt *rt);      /* each rank is read and written where it is carried now; by main, or as above */
void ft_rt_replay_restored(struct ft_rt *rt, const struct ft_image *im, const char *engine, int same_era);
void ft_rt_replay_rolled_back(struct ft_rt *rt, const struct ft_image *im, const char *engine);
void ft_rt_replay_at_safepoint(struct ft_rt *rt);
void ft_rt_replay_finish(struct ft_rt *rt); /* waits until it is live, unless it is to restore an image first */
void ft_rt_replay_drop(struct ft_rt *rt);

/* What a block of a group (a member's image, a codeword) is made of: others' blocks of the same version (erasure.h). */
struct ft_recipe {
    int n;
    const void *src[FT_ERASURE_MAX_MEMBERS];
    size_t len[FT_ERASURE_MAX_MEMBERS], longest;
    uint8_t coef[FT_ERASURE_MAX_MEMBERS];
};

/* ckpt.c, on main: the work of the commands */
enum ft_skip_reason ft_ckpt_cannot(const struct ft_rt *rt); /* why no image can be taken now */
void ft_ckpt_copy(struct ft_rt *rt, uint64_t version, uint64_t wave); /* wave 0: all stand still */
/* Makes a block in the own slot, piece by piece; `half` is passed half-way. */
enum ft_skip_reason ft_ckpt_combine(struct ft_rt *rt, int slot, const struct ft_recipe *r, enum ft_failpoint_id half, uint64_t *bytes);
/* How position pos's block is a sum of those of its group's blocks that are there (erasure.h); of others block[] is NULL. 0: too few. */
int ft_ckpt_recipe(const struct ft_groups *g, int pos, const void *const *block, const uint64_t *bytes, struct ft_recipe *out);
void ft_ckpt_parity(struct ft_rt *rt, uint64_t version);
void ft_ckpt_rebuild(struct ft_rt *rt, uint64_t version);
void ft_ckpt_restore(struct ft_rt *rt, uint64_t version);
/* What collectives counted, as the image has it. */
void ft_ckpt_load_sched(const struct ft_image *im);
/* After FTRMA_Protect and at FTRMA_Run's entry: memory for images (three with demand checkpoints, else two) and for logs is made real, so
 * that neither a checkpoint nor an access waits for it; the checksum processes and spares make room as well. */
void ft_ckpt_prepare(struct ft_rt *rt);
void ft_ckpt_more_room(struct ft_rt *rt); /* after the first checkpoint, what there was no room for before */
void ft_ckpt_room(struct ft_rt *rt, int next_in_line); /* the same for images or codewords, before any are there */
uint64_t ft_ckpt_most(const struct ft_rt *rt); /* bytes that the rank with most of them protects */
/* The image of this version in slot's arena, and its bytes; NULL when it is not (wholly) there. */
const void *ft_ckpt_image_of(struct ft_rt *rt, int slot, uint64_t version, uint64_t *bytes);
/* For latest.c: the slot for a version, room in it (nothing complete is there any more), and the image in it is complete. */
/* For an image's head, when only its contents' size is known; and for an image to grow in its slot. */
#define FT_ROOM_SLACK (128ull << 10)
int ft_ckpt_slot_for(const struct ft_rt *rt, uint64_t version);
int ft_ckpt_slot_of(const struct ft_ctl *ctl, uint64_t version); /* where it is, -1: nowhere */
int ft_ckpt_room_in(struct ft_rt *rt, int slot, uint64_t bytes);
void ft_ckpt_publish(struct ft_rt *rt, int slot, uint64_t version, uint64_t bytes);
/* Protected memory, then the windows' parts; returns how many. whole: an image is to hold the unprotected ones as well, because it is taken
 * while others go on: [p has passed its safepoint and has put there what q reads behind its own] (C8, C9). Valid until the next call. */
int ft_ckpt_regions(struct ft_rt *rt, int whole, struct ft_region **out);
/* Bytes of the image that main would take now: of all messages and the engine's state, of that, of its last two parts, of all. alone:
 * others do not stand still (C8, C9). Looks at all messages that have come; what comes later must not be looked at before it is begun. */
struct ft_ckpt_sizes {
    int alone;
    uint64_t messages, engine, sched, setup, all;
};
struct ft_ckpt_sizes ft_ckpt_measure(const struct ft_region *r, int n, int alone);
/* All of it but the regions, in a slot that has room. home: where the own LG is cut. */
struct ft_log_place;
struct ft_image *ft_ckpt_begin_image(struct ft_rt *rt, int slot, uint64_t version, const struct ft_region *r, int n,
                                     const struct ft_ckpt_sizes *s, const struct ft_log_place *home);
const char *ft_ckpt_engine_state(const struct ft_image *im);
/* All will go back to this version, and main stands: ends the job if a window of the image was freed since. Agent. */
void ft_ckpt_still_there(struct ft_rt *rt, uint64_t version);
const struct ft_image *ft_ckpt_own(struct ft_rt *rt, uint64_t version);

/* save.c: checkpoints that ftrun writes to files (F1 to F5). pinned: the version whose image is not overwritten while one is written; 0: none */
uint64_t ft_save_pinned(const struct ft_rt *rt);
void ft_save_await_held(struct ft_rt *rt); /* main, at FTRMA_Run's entry */
void ft_save_committed(struct ft_rt *rt, uint64_t version); /* agent: this process has committed it */
/* restart.c: the job goes on from such files (F6 to F9). wanted: it does. load: main, in place of the copy for the first checkpoint */
int ft_restart_wanted(const struct ft_rt *rt);
void ft_restart_load(struct ft_rt *rt, uint64_t version);

void ft_rt_set_aside(struct ft_rt *rt); /* room.c, a spare that is next in line: memory for the windows that it would have to make */
void ft_rt_put_by(struct ft_rt *rt); /* room.c, at start: memory is put by, and main knows what to do when there is no more */

/* latest.c. Version of the latest image or codeword of the process with this control block: the committed one, or one made since. */
uint64_t ft_latest_of(const struct ft_rt *rt, const struct ft_ctl *ctl);
/* The position of group's checksum process that leads (proto/demand.h), whose tags count; there: 0 if it was replaced, and no other is
 * left. Either thread. */
static inline int ft_latest_lead(const struct ft_rt *rt, int group, int *there)
{
    int lead = atomic_load(&rt->lead[group]);
    *there = lead >= 0;
    return ft_group_block(&rt->groups, group, ft_group_size(&rt->groups, group) + (lead >= 0 ? lead : ~lead));
}
/* Version of rank's image in the latest codeword of the checksum process in slot. Either thread. */
uint64_t ft_latest_tag(struct ft_rt *rt, int slot, int rank);
void ft_latest_take(struct ft_rt *rt); /* main, at a safepoint: takes an image alone if one is wanted and can be taken */
void ft_latest_cover_own(struct ft_rt *rt); /* main: the own LG is trimmed to the latest image */
void ft_latest_lift(struct ft_rt *rt);
void ft_latest_fold(struct ft_rt *rt, uint64_t version);
/* Rebuilds the own latest image, or codeword, in slot, from the group's others. */
enum ft_skip_reason ft_latest_rebuild(struct ft_rt *rt, int group, uint64_t version, int slot, uint64_t *bytes);
int ft_latest_members(struct ft_rt *rt, int group); /* how many have, by the lead's tags, a latest image that is not the committed one */

/* demand.c, on main: asks when the logs hold more than `above` bytes */
void ft_demand_at_safepoint(struct ft_rt *rt, uint64_t n);
void ft_demand_init(struct ft_rt *rt, uint64_t above);

#endif
