/* SPDX-License-Identifier: BSD-3-Clause
 *
 * start.c - a process joins the job (settings, board, arena, transport, agent), and ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alog/homelog.h"
#include "base/homelogs.h"
#include "base/near.h"
#include "base/private.h"
#include "base/space.h"
#include "coll/coll.h"
#include "msg/channels.h"
#include "proto/snapshot.h"
#include "rma/far_log.h"
#include "rma/putlog.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/input.h"
#include "runtime/latest.h"
#include "runtime/memcheck.h"
#include "runtime/names.h"
#include "runtime/output.h"
#include "runtime/rehearse.h"
#include "runtime/replay.h"
#include "runtime/save.h"
#include "runtime/start.h"
#include "runtime/told.h"
#include "transport/seen.h"

FT_STATE(struct ft_rt *, ft_own_rt);

/* of a process that is not part of a job */
FT_STATIC(_Atomic uint32_t, nowhere);
FT_STATE(_Atomic uint32_t *, ft_runtime_shared_files) = FT_AT(nowhere);

static _Noreturn void refuse(int slot, const char *why)
{
    if (slot == 0)
        fprintf(stderr, "ftrma: %s\n", why);
    else
        sleep(1); /* the first to end ends all: not before slot 0 was heard */
    _exit(2);
}

/* Checked before anything is read: some settings are read late, when an error can no longer be
 * reported. */
static void check_settings(int slot)
{
    char err[600];
    if (ft_settings_check(NULL, err, sizeof err) != FT_OK)
        refuse(slot, err);
}

static int64_t setting(int slot, enum ft_setting_id id)
{
    int64_t v;
    char err[256];
    if (ft_setting_i64(id, &v, err, sizeof err) != FT_OK)
        refuse(slot, err);
    return v;
}

static int choice(int slot, enum ft_setting_id id)
{
    int k;
    char err[400];
    if (ft_setting_choice(id, &k, err, sizeof err) != FT_OK)
        refuse(slot, err);
    return k;
}

/* Without ftrun slot 0 makes the board, and the host tells the others where it is. */
static struct ft_board *make_board(const struct ft_host *host)
{
    char where[64] = "", why[256];
    struct ft_board *b = NULL;
    int plain = !getenv("FTRMA_CHECKSUMS") && !getenv("FTRMA_SPARES");
    int m = (int)setting(host->slot, FT_SET_PARITY),
        spares = plain ? 0 : (int)setting(host->slot, FT_SET_SPARES);
    spares = spares < 0 ? m : spares;
    int rest = host->nslots - spares, k = 0;
    if (!plain && *ft_setting_str(FT_SET_CHECKSUMS))
        k = (int)setting(host->slot, FT_SET_CHECKSUMS);
    /* otherwise 8 ranks for each group: the largest k that leaves room for its ranks */
    else if (!plain)
        while (rest - (k + m) > 8 * (k / m) && rest - (k + m) >= k + m)
            k += m;
    if (spares < 0 || k < 0 || rest - k < 1 || k > rest - k) {
        snprintf(why, sizeof why,
                 "%d processes are too few for %d checksum processes, %d spares, and at least as "
                 "many ranks as checksum processes: "
                 "change -n of mpirun, FTRMA_CHECKSUMS or FTRMA_SPARES",
                 host->nslots, k, spares);
        refuse(host->slot, why);
    }
    if (k > 0 && ft_groups_check(rest - k, k, m, why, sizeof why) != FT_OK)
        refuse(host->slot, why);
    if (host->slot == 0) {
        int fd;
        if (ft_board_create(rest - k, k, spares, 0, &b, &fd) == FT_OK) {
            snprintf(where, sizeof where, "%d:%d", (int)getpid(), ft_fd_keep(fd));
            (void)ft_arena_homelogs(b, ft_setting_str(FT_SET_ARENA_DIR)); /* open_all looks */
        }
    }
    host->bcast0(where, sizeof where);
    if (host->slot != 0)
        ft_board_open(where, host->slot, &b);
    if (!b)
        refuse(0, "the processes of the job cannot open a common anonymous file through "
                  "/proc/<pid>/fd: is /proc mounted, and do all run as one user?");
    return b;
}

static struct ft_board *find_board(const struct ft_host *host)
{
    const char *where = ft_setting_str(FT_SET_BOARD);
    struct ft_board *b = NULL;
    if (!*where)
        return make_board(host);
    if (ft_board_open(where, host->slot, &b) != FT_OK)
        refuse(0, "the shared memory that ftrun made (FTRMA_BOARD) cannot be opened: is ftrun "
                  "still running, and of the same version?");
    if (b->nslots != host->nslots)
        refuse(host->slot, "mpirun started another number of processes than ftrun asked for: check "
                           "--host-args, and the settings of Open MPI");
    return b;
}

/* A status that still means failure in the host's eight bits. */
static int failing(int status) { return status & 0xff ? status & 0xff : 1; }

void ft_runtime_exiting(int status)
{
    struct ft_rt *rt = ft_own_rt;
    char text[128];
    if (!rt || !rt->bound || atomic_load(&rt->me->pid) != getpid())
        return; /* it carries no rank, or is a child of the program */
    atomic_store(&rt->me->exit_status, status);
    atomic_store(&rt->me->phase, FT_PHASE_EXITED);
    if (!ft_said(rt, FT_SAYS_DONE) && atomic_load(&rt->board->state) == FT_JOB_RUNNING) {
        snprintf(text, sizeof text, "rank %d ended with exit status %d before MPI_Finalize",
                 atomic_load(&rt->pos), status & 0xff);
        ft_rt_fail(rt, failing(status), text);
    }
    ft_board_ring_launcher(rt->board);
}

static void started(struct ft_rt *rt)
{
    ft_rt_event(rt, FT_EV_STARTED, FT_WHO_NONE, rt->board->nranks, rt->board->nchecksums,
                rt->board->nspares, 0);
    if (rt->where)
        ft_rt_event(rt, FT_EV_PLACED, FT_WHO_NONE, rt->where->holds, rt->where->aware, 0, 0);
}

/* All processes have made their arenas, or are gone: then agents can begin to watch each other. */
static void rendezvous(struct ft_rt *rt)
{
    for (int i = 0; i < rt->nslots; i++) {
        struct ft_board_slot *s = &rt->board->slot[i];
        struct ft_arrival w = {0};
        while (atomic_load_explicit(&s->arena_fd, memory_order_acquire) < 0 &&
               ft_rt_await_start(rt, i, &w))
            ;
    }
    int starting = FT_JOB_STARTING;
    if (atomic_compare_exchange_strong(&rt->board->state, &starting, FT_JOB_RUNNING) &&
        rt->board->near_from == 0) /* on other nodes it is no news */
        started(rt);
}

/* ftrun has checked this before it started us. */
static void look_at_names(const struct ft_rt *rt)
{
    const char *name, *nearest;
    for (int k = 0; rt->self == 0 && !rt->board->launcher_pid &&
                    (k = ft_setting_unknown(k, &name, &nearest)) > 0;)
        fprintf(stderr,
                "ftrma: warning: there is no setting %.*s%s%s%s ('ftrun --help-settings' lists all)\n",
                (int)strcspn(name, "="), name, nearest ? "; did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
}

#define LOG_LEAST (256ull << 20)
#define LOG_MOST (1ull << 30)

/* As set; otherwise an equal share of a quarter of what there can be. */
static uint64_t log_limit(const struct ft_rt *rt)
{
    if (*ft_setting_str(FT_SET_LOG_LIMIT))
        return (uint64_t)setting(rt->self, FT_SET_LOG_LIMIT);
    uint64_t share = ft_arena_capacity(ft_setting_str(FT_SET_ARENA_DIR)) / 4 / (uint64_t)rt->nslots;
    return ft_min_u64(ft_max_u64(share, LOG_LEAST), LOG_MOST);
}

static void read_settings(struct ft_rt *rt)
{
    char err[400];
    look_at_names(rt);
    rt->verbose = (int)setting(rt->self, FT_SET_VERBOSE);
    ft_log_budget.limit = log_limit(rt);
    atomic_store(&rt->me->log_limit, ft_log_budget.limit);
    rt->start_limit_ns = (uint64_t)setting(rt->self, FT_SET_START_TIMEOUT) * 1000000;
    rt->log_ready = (uint64_t)setting(rt->self, FT_SET_LOG_READY);
    rt->log_long = (uint64_t)setting(rt->self, FT_SET_LOG_LONG);
    if (ft_setting_f64(FT_SET_MTBF, &rt->mtbf, err, sizeof err) != FT_OK)
        refuse(rt->self, err);
    FT_ASSERT(ft_parse_ckpt_policy(ft_setting_str(FT_SET_CHECKPOINT), &rt->policy) == FT_OK);
    int level = choice(rt->self, FT_SET_LOG);
    ft_level = (enum ft_log_level)level;
    ft_check_data = choice(rt->self, FT_SET_CHECK) == 1;
    rt->check_memory = choice(rt->self, FT_SET_CHECK_MEMORY);
    int recovery;
    if (ft_told_recovery(&recovery, err, sizeof err) != FT_OK)
        refuse(rt->self, err);
    rt->told = recovery == FT_RECOVERY_PROGRAM;
    ft_told = rt->told;
    if (rt->told) /* setup's logs are kept, whatever --log says */
        ft_level = FT_LOG_ALL;
    rt->logs = level > 0 && rt->board->nspares > 0 && recovery == FT_RECOVERY_AUTO;
    rt->inject = ft_setting_str(FT_SET_INJECT);
    if (ft_fp_check(rt->inject, rt->board->nranks, rt->board->nchecksums, rt->board->nspares,
                    rt->board->nodes.n, err, sizeof err) != FT_OK)
        refuse(rt->self, err);
    rt->checkpoints = rt->board->nchecksums > 0 && rt->policy.kind != FT_CKPT_OFF;
    rt->snapshot_alg = choice(rt->self, FT_SET_SNAPSHOT);
    ft_cut_possible = rt->snapshot_alg != FT_SNAPSHOT_BARRIER && rt->checkpoints;
    ft_cut_holds_gets = rt->snapshot_alg == (int)FT_SNAP_DELAY;
}

static void find_place(struct ft_rt *rt)
{
    char why[600];
    if (ft_rt_place(rt, (int)setting(rt->self, FT_SET_PARITY), why, sizeof why) != FT_OK)
        refuse(rt->self, why);
    for (int i = 0; i < rt->board->nranks + rt->board->nchecksums; i++)
        rt->slot_of[i] = ft_rt_first_slot(rt, i);
    size_t ranks = (size_t)rt->board->nranks * sizeof *rt->incarnation;
    rt->incarnation = ft_need(ft_private_alloc(ranks), ranks, "the table of processes");
    size_t leads = (size_t)(rt->groups.ngroups + 1) * sizeof *rt->lead;
    rt->lead = ft_need(ft_private_alloc(leads), leads, "the groups of ranks");
    size_t images = (size_t)rt->board->nranks * sizeof *rt->latest_of;
    rt->latest_of = ft_need(ft_private_alloc(images), images, "the groups of ranks");
    ft_told_init(rt);
    rt->demand = rt->checkpoints && rt->logs && strcmp(ft_setting_str(FT_SET_DEMAND), "off") != 0;
    rt->stream = rt->demand && strcmp(ft_setting_str(FT_SET_DEMAND), "stream") == 0;
    ft_trim_init(rt, ft_log_budget.limit / 100 * (uint64_t)setting(rt->self, FT_SET_DEMAND_AT));
}

static void create_arena(struct ft_rt *rt)
{
    uint64_t bytes = ft_align_up((uint64_t)setting(rt->self, FT_SET_ARENA_SIZE), 1 << 21);
    const char *dir = ft_setting_str(FT_SET_ARENA_DIR);
    char why[400];
    if (!ft_space_suffices(rt->nslots, bytes, why, sizeof why))
        refuse(rt->self, why);
    enum ft_status st = ft_arena_create(&rt->arena, rt->self, rt->nslots, bytes, dir);
    if (st != FT_OK) {
        fprintf(stderr,
                "ftrma: no arena of %llu bytes of address space can be made in %s: %s. Set "
                "FTRMA_ARENA_DIR=memfd to use anonymous memory\n",
                (unsigned long long)bytes, dir, st == FT_ERR_NOMEM ? "no room" : strerror(errno));
        _exit(2);
    }
}

static uint32_t choose_spin(struct ft_rt *rt)
{
    if (*ft_setting_str(FT_SET_SPIN))
        return (uint32_t)setting(rt->self, FT_SET_SPIN);
    return ft_board_crowded(rt->board) ? 0 : 200;
}

static void open_all(struct ft_rt *rt)
{
    enum ft_role role;
    int index;
    ft_rt_role(rt, rt->self, &role, &index);
    rt->spare = role == FT_ROLE_SPARE ? index : -1;
    atomic_store(&rt->pos, role == FT_ROLE_SPARE  ? -1
                           : role == FT_ROLE_RANK ? index
                                                  : rt->board->nranks + index);
    ft_fp_set_last_hit(&rt->me->last_failpoint, &rt->me->failpoint_ns, &rt->me->injected);
    ft_rehearse_init(rt);
    if (rt->board->nodes.n)
        ft_fp_on_node(rt->board, ft_board_node_of(rt->board, rt->self));
    ft_fp_arm(rt->inject, role, index, 0);
    ft_failpoint(INIT_ENTER);
    create_arena(rt);
    if (atomic_load(&rt->me->homelogs_fd) < 0)
        refuse(rt->self, "the file that holds the logs of all ranks cannot be opened: is /proc "
                         "mounted, do all processes run as one user, and is there room in "
                         "FTRMA_ARENA_DIR?");
    ft_rt_put_by(rt);
    if (ft_wait_init(rt->arena.ctl, ft_rt_attend, choose_spin(rt)) != FT_OK)
        refuse(rt->self,
               "the system call membarrier does not work here. Linux has it since 4.16: check the "
               "kernel's configuration, and the container's system call filter");
    enum ft_status st =
        ft_tp_open(&rt->tp, ft_setting_str(FT_SET_TRANSPORT), &rt->arena, rt->board, rt->self);
    if (st == FT_ERR_NOMEM)
        refuse(rt->self, "there is no room for half a MiB for each process: enlarge the file "
                         "system of FTRMA_ARENA_DIR (/dev/shm)");
    if (st != FT_OK)
        refuse(rt->self, "FTRMA_TRANSPORT must be shm or fault");
    ft_transport = &rt->tp;
    ft_rma_inside = &rt->arena.ctl->inside; /* the agent reads it as soon as a process is lost */
    ft_seen.strayed = &rt->me->testament.strayed;
    atomic_store(&rt->me->testament.arena_at, (uint64_t)(uintptr_t)rt->arena.base);
    atomic_store(&rt->me->who, ft_who(rt));
    rt->me->arena_file = rt->arena.file;
    atomic_store_explicit(&rt->me->arena_fd, rt->arena.fd, memory_order_release);
    ft_fd_put_by();
}

/* Nobody can tell what a process left whose node is out. */
static void heir_of_image(struct ft_rt *rt, const struct ft_image *im)
{
    if (!rt->lost_heap)
        rt->lost_heap = im->counters.heap_from;
    if (ft_seen.lost_arena)
        return;
    ft_seen.lost_arena = im->counters.arena_at;
    ft_seen.lost_strayed = im->counters.strayed;
}

static int read_lost_home(uint64_t off, void *to, uint64_t len)
{
    const struct ft_rt *rt = ft_own_rt;
    return rt->lost_home >= 0 && ft_board_slot_end(rt->board, rt->lost_home) != FT_SLOT_OUT &&
           ft_far_read_home(rt->lost_home, atomic_load(&rt->pos), off, to, len);
}

static _Noreturn void log_is_elsewhere(const struct ft_rt *rt)
{
    ft_give_up(LOG_ELSEWHERE, atomic_load(&rt->pos),
               rt->board->nodes.name[ft_board_node_of(rt->board, rt->self)]);
}

static void begin_home_log(struct ft_rt *rt, int kept, int has_image)
{
    int moved = rt->replacement && rt->board->nodes.n && !rt->host.plain &&
                (rt->lost_home < 0 || !ft_board_near(rt->board, rt->lost_home));
    if (moved)
        ft_homelog_fetch_by(read_lost_home);
    int there = ft_homelog_init(&rt->tp, atomic_load(&rt->pos), rt->replacement, rt->lost_events,
                                ft_restart_compares(rt) || kept);
    /* There is a way back, or nothing else has what the lost process did. */
    if (ft_homelog_now.missing && (!has_image || ft_said(rt, FT_SAYS_RUN_OVER)))
        log_is_elsewhere(rt);
    if (there)
        return;
    if (rt->board->nodes.n && !ft_homelog_now.broken)
        log_is_elsewhere(rt);
    ft_no_memory("addresses for the log of the lost process", rt->arena.bytes, NULL, 0);
}

static void begin_rank(struct ft_rt *rt, int *rank, int *nranks)
{
    *rank = atomic_load(&rt->pos);
    *nranks = rt->board->nranks;
    ft_rt_bind(rt, *rank);
    pthread_mutex_lock(&rt->map_lock);
    ft_msg_init(&rt->tp, *nranks, *rank, rt->slot_of, rt->replacement);
    ft_rma_init(&rt->tp, *nranks, *rank, rt->slot_of);
    int kept = rt->board->nspares > 0;
    if (!kept)
        ft_msg_stop_keeping(); /* nobody will ever be replaced, so nothing will be replayed */
    ft_putlog_segment(FT_SEG_SETUP, kept && ft_level > FT_LOG_OFF);
    size_t bound = (size_t)*nranks * sizeof(int);
    rt->bound = ft_need(ft_private_alloc(bound), bound, "the table of processes");
    memcpy(rt->bound, rt->slot_of, (size_t)*nranks * sizeof(int));
    atomic_store(&rt->bound_in, rt->mapped_in);
    atomic_store(&ft_whole.bound, rt->mapped_in);
    atomic_fetch_and(&ft_attention,
                     ~(uint32_t)FT_ATT_REBIND); /* the mapping just read is the newest */
    pthread_mutex_unlock(&rt->map_lock);
    ft_output_begin(rt);
    ft_names_given(*rank, *nranks);
    ft_input_begin(rt);
    uint64_t v = atomic_load(&rt->box.committed);
    const struct ft_image *im = rt->replacement && v ? ft_ckpt_head(rt, v) : NULL;
    if (im) {
        heir_of_image(rt, im);
        ft_rma_state_windows(ft_ckpt_engine_state(im));
        ft_homelog_give_setup(ft_ckpt_engine_state(im) + im->engine_bytes -
                                  im->counters.setup_bytes,
                              im->counters.setup_bytes);
    }
    if (!im && !v && !rt->lost_heap && ft_restart_wanted(rt))
        rt->lost_heap = ft_restart_heap(rt);
    begin_home_log(rt, kept, im != NULL);
    rt->setup_start_ns = ft_now_ns();
    ft_rt_replay_init();
    if (rt->replacement)
        ft_rt_replay_setup(rt);
    else
        atomic_store_explicit(&rt->arena.ctl->live, 1, memory_order_release);
}

static void name_of_this(char *out, size_t size)
{
    int pos = atomic_load(&ft_own_rt->pos);
    if (pos >= 0 && pos < ft_own_rt->board->nranks)
        snprintf(out, size, "rank %d", pos);
    else
        snprintf(out, size, "process %d", ft_own_rt->self);
}

static void give_up(enum ft_reason reason, const char *message)
{
    ft_rt_give_up(ft_own_rt, reason, message);
}

static const struct ft_giver giver = {.name = name_of_this, .end = give_up};

void ft_runtime_start(const struct ft_host *host, int *rank, int *nranks)
{
    struct ft_rt *rt =
        ft_need(ft_private_alloc(sizeof *rt), sizeof *rt, "the state of this process");
    FT_ASSERT(!ft_own_rt);
    ft_own_rt = rt;
    rt->host = *host;
    ft_host_fds_note();
    rt->self = host->slot;
    check_settings(rt->self);
    rt->board = find_board(host);
    rt->nslots = rt->board->nslots;
    (void)ft_homelogs_hold(rt->board, rt->self); /* now, while its maker is alive; open_all looks */
    atomic_store(&rt->pos, -1);
    ft_giver = &giver;
    rt->me = &rt->board->slot[rt->self];
    ft_whole_clock = ft_now_ns;
    ft_runtime_shared_files = &rt->me->shared_files;
    pthread_mutex_init(&rt->map_lock, NULL);
    rt->main = pthread_self();
    read_settings(rt);
    atomic_store(&rt->me->start_time, ft_proc_start_time(getpid()));
    atomic_store(&rt->me->pid, getpid());
    atomic_store(&rt->me->phase, FT_PHASE_INIT);
    size_t map = (size_t)rt->nslots * sizeof(int);
    rt->slot_of = ft_need(ft_private_alloc(map), map, "the table of processes");
    find_place(rt);
    open_all(rt);
    rendezvous(rt);
    /* Only what it was at the start counts. [A rank dies early; this one's agent gives it the rank
     * before its main comes to its station: main would go on at INIT, with the command not heard.]
     */
    int began_as_rank = ft_is_rank(rt);
    if (began_as_rank)
        ft_box_move(&rt->box, FT_AT_SETUP);
    atomic_store(&rt->me->phase, FT_PHASE_RUNNING);
    ft_output_prepare(rt);
    if (ft_is_checksum(rt))
        atomic_store_explicit(&rt->arena.ctl->live, 1, memory_order_release);
    ft_agent_start(rt);
    if (!began_as_rank) {
        struct ft_command_arg told;
        enum ft_command c = ft_station(rt, FT_AT_INIT, &told);
        if (c == FT_CMD_DONE) {
            ft_failpoint(FINALIZE_DONE);
            if (ft_runtime_wants_host_end())
                rt->host.finalize();
            atomic_store(&rt->me->exit_status, 0);
            atomic_store(&rt->me->phase, FT_PHASE_EXITED);
            _exit(0); /* not exit: the ranks also print what the program printed before MPI_Init */
        }
        FT_ASSERT(c == FT_CMD_ROLE);
        rt->refused = told.why;
        ft_failpoint(REJOIN_SETUP);
    }
    begin_rank(rt, rank, nranks);
}

int ft_runtime_started(void) { return ft_own_rt != NULL; }

void ft_runtime_finalize(void)
{
    struct ft_rt *rt = ft_own_rt;
    ft_rehearse_finalize(rt);
    ft_failpoint(FINALIZE_ENTER);
    ft_rebuild_settle(rt);
    atomic_store(&rt->me->mem_bytes, rt->arena.peak);
    if (!ft_host_fds_intact()) /* before the milestone: then all know it */
        atomic_store(&rt->board->host_cut_off, 1);
    struct ft_command_arg told;
    enum ft_command c = ft_station(rt, FT_AT_FINALIZE, &told);
    FT_ASSERT(c == FT_CMD_DONE);
    ft_failpoint(FINALIZE_DONE);
    atomic_store(&rt->me->phase, FT_PHASE_FINALIZED);
}

_Noreturn void ft_runtime_abort(int code, const char *message)
{
    char text[256];
    struct ft_rt *rt = ft_own_rt;
    if (!rt) {
        fprintf(stderr, "ftrma: %s\n", message ? message : "MPI_Abort");
        _exit(failing(code));
    }
    if (message)
        snprintf(text, sizeof text, "rank %d: %s", atomic_load(&rt->pos), message);
    else
        snprintf(text, sizeof text, "rank %d called MPI_Abort(%d)", atomic_load(&rt->pos), code);
    fflush(NULL);
    ft_rt_fail(rt, failing(code), text);
}

FT_STATE(uint32_t, ft_next_ctx) = 16; /* those below are src/mpi's own: world, self */

int ft_runtime_wants_host_end(void)
{
    return !ft_own_rt->board->launcher_pid && atomic_load(&ft_own_rt->box.generation) == 0 &&
           !atomic_load(&ft_own_rt->board->host_cut_off);
}
int ft_runtime_slot(int rank) { return ft_own_rt->bound[rank]; }
int ft_runtime_node(void)
{
    const struct ft_rt *rt = ft_own_rt;
    int pos = atomic_load(&rt->pos), *slot_of = rt->layout.place.slot_of;
    return ft_board_node_of(rt->board, slot_of ? slot_of[pos] : pos);
}
int ft_runtime_near(int rank) { return ft_board_near(ft_own_rt->board, ft_own_rt->bound[rank]); }
int ft_my_rank(void) { return atomic_load(&ft_own_rt->pos); }
int ft_nranks(void) { return ft_own_rt->board->nranks; }
int ft_runtime_in_body(void) { return ft_in_body(ft_own_rt); }
void ft_runtime_object_created(void)
{
    ft_own_rt->objects_in_body += ft_in_body(ft_own_rt);
    ft_restart_note_made(ft_own_rt);
}
void ft_runtime_object_freed(int created_in_body)
{
    ft_own_rt->objects_in_body -= created_in_body != 0;
    /* What is freed again on the way to the image's safepoint is in the image's count. */
    ft_own_rt->freed_in_body += !created_in_body && ft_in_body(ft_own_rt) && !ft_uncounted;
}
