/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mock_job.c - see mock_job.h.
 */
#define _GNU_SOURCE
#include "runtime/mock_job.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/coverage.h"
#include "base/engine.h"
#include "base/homelogs.h"
#include "base/life.h"
#include "rma/windows.h"
#include "runtime/agent.h"
#include "runtime/start.h"
#include "transport/seen.h"

#define WATCHDOG 400      /* s */
#define START_TIME 100000 /* + the slot's number: identifies a process on the board */

struct slot {
    int number;
    ptrdiff_t engine;
    _Atomic int threads, stopped; /* number of its threads, and of those that have stopped */
    _Atomic int dying;            /* its threads must stop */
    _Atomic int gone;             /* its threads have stopped */
    enum mock_fate fate;
    int status;
    sem_t may_start;
    int has_started; /* the next slot may start */
    _Atomic uint32_t hits[MOCK_DEATHS];
    struct mock_rank me;
    struct ft_rt *_Atomic rt;
};

static const struct mock_job *job;
static struct slot slots[MOCK_SLOTS];
static struct ft_board *board;
static struct mock_outcome *outcome; /* shared with the test's process */
static _Atomic uint64_t hits[FT_FP_COUNT];
static _Atomic int deaths, late_ends;
static _Atomic uint32_t any[MOCK_DEATHS];
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;

_Noreturn void __real__exit(int status);
void __real_ft_wait(struct ft_waiter *w);
void __real_ft_bell_wait(struct ft_board *b, int slot, uint32_t heard, int ms);
int __real_sched_yield(void);
int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
void __real_ft_agent_start(struct ft_rt *rt);
void __real_ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes);
void __real_ft_board_event(struct ft_board *b, int slot, int verbose, const struct ft_event *ev);
void __real_ft_rt_replay_setup(struct ft_rt *rt);
void __real_ft_fd_put_by(void);
int __real_ft_fd_own_table(const int *keep, int n);
int __real_ft_proc_gone(int pid, uint64_t start_time);
uint64_t __real_ft_proc_start_time(int pid);

/* The slot of this thread; NULL: it is a sentinel, or the test. */
static struct slot *mine(void)
{
    ptrdiff_t engine = ft_engine_here();
    for (int i = 0; engine && board && i < board->nslots; i++)
        if (slots[i].engine == engine)
            return &slots[i];
    return NULL;
}

/* --- how a slot ends --- */

static void let_next_start(struct slot *s)
{
    if (s->has_started)
        return;
    s->has_started = 1;
    if (s->number + 1 < board->nslots)
        sem_post(&slots[s->number + 1].may_start);
}

static _Noreturn void stop(struct slot *s)
{
    if (atomic_fetch_add(&s->stopped, 1) + 1 == atomic_load(&s->threads)) {
        let_next_start(s);
        atomic_store(&s->gone, 1);
        ft_life_close(&board->slot[s->number].life);
    }
    for (;;)
        pause();
}

/* Its threads notice it, wherever they wait. */
static void wake(const struct slot *s)
{
    struct ft_ctl *ctl = ft_own_rt ? ft_own_rt->arena.ctl : NULL;
    ft_bell_ring(board, s->number);
    if (!ctl)
        return;
    atomic_fetch_add(&ctl->bell, 1);
    syscall(SYS_futex, &ctl->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static _Noreturn void end(struct slot *s, enum mock_fate fate, int status)
{
    __real_pthread_mutex_lock(&ending);
    if (!atomic_load(&s->dying)) {
        s->fate = fate;
        s->status = status;
        atomic_store(&s->dying, 1);
    }
    pthread_mutex_unlock(&ending);
    wake(s);
    stop(s);
}

static void step(void)
{
    struct slot *s = mine();
    if (s && atomic_load(&s->dying))
        stop(s);
}

_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__exit(int status)
{
    struct slot *s = mine();
    if (s)
        end(s, status == 0 ? MOCK_RAN : MOCK_ENDED, status);
    ft_coverage_dump();
    __real__exit(status);
}

void __wrap_ft_fp_hit(enum ft_failpoint_id id);
void __wrap_ft_fp_hit(enum ft_failpoint_id id)
{
    struct slot *s = mine();
    step();
    if (!s)
        return;
    atomic_fetch_add(&hits[id], 1);
    for (int i = 0; i < MOCK_DEATHS; i++) {
        const struct mock_death *d = &job->death[i];
        if (d->hit == 0 || (d->slot != s->number && d->slot != MOCK_ANY) || d->at != id ||
            atomic_fetch_add(d->slot == MOCK_ANY ? &any[i] : &s->hits[i], 1) + 1 !=
                (uint32_t)d->hit)
            continue;
        atomic_fetch_add(&deaths, 1);
        end(s, MOCK_DIED, 0);
    }
}

enum ft_status __wrap_ft_fp_arm(const char *spec, enum ft_role role, int index, int incarnation);
enum ft_status __wrap_ft_fp_arm(const char *spec, enum ft_role role, int index, int incarnation)
{
    (void)spec, (void)role, (void)index, (void)incarnation;
    return FT_OK;
}

/* --- where threads may stop --- */

void __wrap_ft_wait(struct ft_waiter *w);
void __wrap_ft_wait(struct ft_waiter *w)
{
    step();
    __real_ft_wait(w);
    step();
}

void __wrap_ft_bell_wait(struct ft_board *b, int slot, uint32_t heard, int ms);
void __wrap_ft_bell_wait(struct ft_board *b, int slot, uint32_t heard, int ms)
{
    step();
    __real_ft_bell_wait(b, slot, heard, ms);
    step();
}

int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    step();
    return __real_sched_yield();
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    step();
    return __real_nanosleep(t, left);
}

/* The holder may have stopped for ever. */
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!mine())
        return __real_pthread_mutex_lock(m);
    while (pthread_mutex_trylock(m) != 0) {
        step();
        __real_sched_yield();
    }
    return 0;
}

/* --- what a process is --- */

void __wrap_ft_agent_start(struct ft_rt *rt);
void __wrap_ft_agent_start(struct ft_rt *rt)
{
    atomic_store(&mine()->threads, 2);
    atomic_store(&mine()->rt, rt);
    __real_ft_agent_start(rt);
    while (job->slow && job->slow == mine()->number && !ft_is_rank(rt)) {
        step();
        __real_sched_yield();
    }
}

void __wrap_ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes);
void __wrap_ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes)
{
    if (!job->drops || !job->drops(a->rt->self, m))
        __real_ft_agent_mail(a, slot, m, bytes);
}

void __wrap_ft_board_event(struct ft_board *b, int slot, int verbose, const struct ft_event *ev);
void __wrap_ft_board_event(struct ft_board *b, int slot, int verbose, const struct ft_event *ev)
{
    int ends = ev->kind == FT_EV_DONE || ev->kind == FT_EV_ENDED || ev->kind == FT_EV_DUE_LOST;
    if (ends && atomic_load(&b->state) != FT_JOB_ENDING)
        atomic_fetch_add(&late_ends, 1);
    __real_ft_board_event(b, slot, verbose, ev);
}

void __wrap_ft_life_hold(ft_life *w);
void __wrap_ft_life_hold(ft_life *w) { atomic_store(w, 1); }

int __wrap_ft_proc_threads_ended(int pid);
int __wrap_ft_proc_threads_ended(int pid)
{
    (void)pid;
    return 0;
}

uint64_t __wrap_ft_proc_start_time(int pid);
uint64_t __wrap_ft_proc_start_time(int pid)
{
    struct slot *s = mine();
    return s ? START_TIME + (uint64_t)s->number : __real_ft_proc_start_time(pid);
}

int __wrap_ft_proc_gone(int pid, uint64_t start_time);
int __wrap_ft_proc_gone(int pid, uint64_t start_time)
{
    if (!board || start_time < START_TIME || start_time >= START_TIME + (uint64_t)board->nslots)
        return __real_ft_proc_gone(pid, start_time);
    return atomic_load(&slots[start_time - START_TIME].gone);
}

int __wrap_ft_proc_pidfd(int pid, uint64_t start_time);
int __wrap_ft_proc_pidfd(int pid, uint64_t start_time)
{
    errno = __wrap_ft_proc_gone(pid, start_time) ? ESRCH : EMFILE;
    return -1;
}

int __wrap_ft_fd_own_table(const int *keep, int n);
int __wrap_ft_fd_own_table(const int *keep, int n)
{
    return mine() ? 0 : __real_ft_fd_own_table(keep, n);
}

/* The last step before all wait for all. Until then slots start one after the other, because what
 * belongs to the process and not to a rank (the environment, streams) is read there. */
void __wrap_ft_fd_put_by(void);
void __wrap_ft_fd_put_by(void)
{
    struct slot *s = mine();
    if (s)
        let_next_start(s);
    else
        __real_ft_fd_put_by();
}

void __wrap_ft_host_fds_note(void);
void __wrap_ft_host_fds_note(void) {}
void __wrap_ft_output_begin(struct ft_rt *rt);
void __wrap_ft_output_begin(struct ft_rt *rt) { (void)rt; }

uint64_t __wrap_ft_input_mark(struct ft_rt *rt);
uint64_t __wrap_ft_input_mark(struct ft_rt *rt)
{
    (void)rt;
    return 0;
}

void __wrap_ft_input_check(struct ft_rt *rt, uint64_t at);
void __wrap_ft_input_check(struct ft_rt *rt, uint64_t at) { (void)rt, (void)at; }

/* A process has one main. */
static pthread_mutex_t offheap = PTHREAD_MUTEX_INITIALIZER;
void *__real_ft_offheap_alloc(size_t bytes);
void *__real_ft_offheap_try(size_t bytes);
void *__real_ft_offheap_realloc(void *p, size_t bytes);
void __real_ft_offheap_free(void *p);

void *__wrap_ft_offheap_alloc(size_t bytes);
void *__wrap_ft_offheap_alloc(size_t bytes)
{
    __real_pthread_mutex_lock(&offheap);
    void *p = __real_ft_offheap_alloc(bytes);
    pthread_mutex_unlock(&offheap);
    return p;
}

void *__wrap_ft_offheap_try(size_t bytes);
void *__wrap_ft_offheap_try(size_t bytes)
{
    __real_pthread_mutex_lock(&offheap);
    void *p = __real_ft_offheap_try(bytes);
    pthread_mutex_unlock(&offheap);
    return p;
}

void *__wrap_ft_offheap_zeroed(size_t bytes);
void *__wrap_ft_offheap_zeroed(size_t bytes)
{
    return memset(__wrap_ft_offheap_alloc(bytes), 0, bytes);
}

void *__wrap_ft_offheap_realloc(void *p, size_t bytes);
void *__wrap_ft_offheap_realloc(void *p, size_t bytes)
{
    __real_pthread_mutex_lock(&offheap);
    void *to = __real_ft_offheap_realloc(p, bytes);
    pthread_mutex_unlock(&offheap);
    return to;
}

void __wrap_ft_offheap_free(void *p);
void __wrap_ft_offheap_free(void *p)
{
    __real_pthread_mutex_lock(&offheap);
    __real_ft_offheap_free(p);
    pthread_mutex_unlock(&offheap);
}

/* Arenas may lie anywhere. */
void __wrap_ft_rt_replay_setup(struct ft_rt *rt);
void __wrap_ft_rt_replay_setup(struct ft_rt *rt)
{
    ft_seen.lost_arena = ft_seen.lost_strayed = 0;
    __real_ft_rt_replay_setup(rt);
}

int __wrap_ft_seen_has(const struct ft_arena *a, const void *p);
int __wrap_ft_seen_has(const struct ft_arena *a, const void *p)
{
    (void)a, (void)p;
    return 0;
}

/* --- programs --- */

static const int world[MOCK_SLOTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static uint64_t mix(uint64_t a, uint64_t b)
{
    a ^= b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
    return a * 0xff51afd7ed558ccdull;
}

void mock_send(struct mock_rank *me, int to, int tag, const void *data, size_t bytes)
{
    ft_door();
    ft_msg_send(me->world.id, to, tag, data, bytes);
}

void mock_recv(struct mock_rank *me, int from, int tag, void *data, size_t bytes)
{
    ft_door();
    ft_msg_recv(me->world.id, from, tag, data, bytes, NULL);
}

void mock_put(struct mock_rank *me, int target, size_t word, const void *data, size_t bytes)
{
    ft_door();
    FT_ASSERT(ft_put(me->win, target, 8 * word, data, bytes) == FT_OK);
}

uint64_t mock_get(struct mock_rank *me, int target, size_t word)
{
    uint64_t v;
    ft_door();
    FT_ASSERT(ft_get(me->win, target, 8 * word, &v, sizeof v) == FT_OK);
    return v;
}

uint64_t mock_add(struct mock_rank *me, int target, size_t word, uint64_t what)
{
    uint64_t was;
    ft_door();
    FT_ASSERT(ft_fetch_word(me->win, target, 8 * word, FT_FETCH_ADD, 8, &what, NULL, &was) ==
              FT_OK);
    return was;
}

void mock_fence(struct mock_rank *me)
{
    ft_door();
    ft_win_fence(me->win);
}

void mock_barrier(struct mock_rank *me)
{
    ft_door();
    ft_barrier(&me->world);
}

void mock_safepoint(void)
{
    ft_door_unattended();
    ft_runtime_safepoint();
}

enum ft_status mock_run_body(struct mock_rank *me, void (*body)(void *), void *arg, int stays)
{
    ft_enter();
    ft_pass_door();
    me->ran = ft_runtime_run(body, arg, stays);
    ft_leave();
    return me->ran;
}

void mock_begin(struct mock_rank *me)
{
    struct ft_ctx c = me->world;
    void *base;
    me->s = calloc(1, sizeof *me->s);
    FT_ASSERT(me->s && ft_runtime_protect(me->s, sizeof *me->s) == FT_OK);
    ft_runtime_prepare();
    ft_enter();
    ft_pass_door();
    c.id = ft_next_ctx++;
    struct ft_ctx *kept = malloc(sizeof *kept);
    FT_ASSERT(kept);
    *kept = c;
    FT_ASSERT(ft_win_allocate(kept, 8 * MOCK_WORDS, 8, &base, &me->win) == FT_OK);
    ft_runtime_object_created();
    ft_leave();
    me->part = base;
    me->s->sum = (uint64_t)me->rank + 1;
    mock_fence(me);
    if (me->job->setup)
        me->job->setup(me);
}

/* Word 0 of rank 0's part counts; word 1 + r is what rank r has put there. */
void mock_body(void *arg)
{
    struct mock_rank *me = arg;
    int n = me->nranks, right = (me->rank + 1) % n, left = (me->rank + n - 1) % n;
    int rounds = me->job->rounds ? me->job->rounds : 8;
    while (me->s->round < (uint64_t)rounds) {
        /* a body that is entered again comes to the image's safepoint first of all */
        mock_safepoint();
        uint64_t mine_now = mix(me->s->sum, me->s->round), theirs;
        mock_put(me, right, 1 + (size_t)me->rank, &mine_now, sizeof mine_now);
        mock_add(me, 0, 0, 1);
        mock_fence(me);
        me->s->sum = mix(me->s->sum, me->part[1 + left]);
        mock_send(me, right, 7, &me->s->sum, sizeof me->s->sum);
        mock_recv(me, left, 7, &theirs, sizeof theirs);
        me->s->sum = mix(me->s->sum, theirs);
        mock_fence(me);
        if (me->job->round)
            me->job->round(me);
        me->s->word[me->s->round % MOCK_WORDS] = me->s->sum;
        me->s->round++;
    }
}

void mock_end(struct mock_rank *me)
{
    mock_barrier(me);
    me->digest = me->s->sum;
    for (int i = 0; i < MOCK_WORDS; i++)
        me->digest = mix(me->digest, me->part[i] ^ me->s->word[i]);
    __real_pthread_mutex_lock(&ending);
    outcome->rank[me->rank].digest = me->digest;
    outcome->rank[me->rank].ran = me->ran;
    outcome->rank[me->rank].by = me->slot;
    pthread_mutex_unlock(&ending);
    ft_enter();
    ft_pass_door();
    ft_win_free(me->win);
    ft_pass_door();
    ft_runtime_finalize();
}

void mock_program(struct mock_rank *me)
{
    mock_begin(me);
    mock_run_body(me, mock_body, me, 0);
    if (me->job->after)
        me->job->after(me);
    mock_end(me);
}

/* --- a job --- */

static void rolled_back(int over) { (void)over; }
static void finalize(void) {}

static void *main_of_slot(void *arg)
{
    struct slot *s = arg;
    struct mock_rank *me = &s->me;
    while (sem_wait(&s->may_start) != 0)
        ;
    ft_engine_enter(s->engine);
    struct ft_host host = {.slot = s->number,
                           .nslots = board->nslots,
                           .going_back = finalize,
                           .rolled_back = rolled_back,
                           .reap = finalize,
                           .finalize = finalize};
    ft_runtime_start(&host, &me->rank, &me->nranks);
    ft_leave();
    me->job = job;
    me->slot = s->number;
    me->replacement = ft_own_rt->replacement;
    me->world = (struct ft_ctx){.id = 2, .rank = me->rank, .size = me->nranks, .world = world};
    (job->program ? job->program : mock_program)(me);
    ft_runtime_exiting(0);
    end(s, MOCK_RAN, 0);
}

static void set(const char *setting)
{
    char name[64];
    const char *is = strchr(setting, '=');
    FT_ASSERT(is && (size_t)(is - setting) < sizeof name);
    snprintf(name, sizeof name, "%.*s", (int)(is - setting), setting);
    setenv(name, is + 1, 1);
}

static void settings(int board_fd)
{
    char where[64];
    static const char *const base[] = {"FTRMA_ARENA_DIR=memfd",   "FTRMA_ARENA_SIZE=128M",
                                       "FTRMA_PING_TIMEOUT_MS=0", "FTRMA_BIND=none",
                                       "FTRMA_CHECK_MEMORY=off",  "FTRMA_SPIN=0",
                                       "FTRMA_LOG_LIMIT=8M",      "FTRMA_CHECKPOINT=every:2"};
    for (size_t i = 0; i < FT_COUNTOF(base); i++)
        set(base[i]);
    snprintf(where, sizeof where, "FTRMA_BOARD=%d:%d", (int)getpid(), board_fd);
    set(where);
    for (int i = 0; i < MOCK_SETTINGS && job->setting[i]; i++)
        set(job->setting[i]);
}

static void look_at_board(void)
{
    outcome->state = atomic_load(&board->state);
    outcome->status = atomic_load(&board->status);
    outcome->reason = (enum ft_reason)board->reason;
    outcome->generation = atomic_load(&board->generation);
    outcome->rollbacks = atomic_load(&board->rollbacks);
    memcpy(outcome->message, board->message, sizeof outcome->message);
    outcome->deaths = atomic_load(&deaths);
    outcome->late_ends = atomic_load(&late_ends);
    for (int i = 0; i < FT_FP_COUNT; i++)
        outcome->hits[i] = atomic_load(&hits[i]);
    for (int i = 0; i < board->nslots; i++) {
        struct ft_event_place place = {0};
        struct ft_event ev;
        uint64_t lost = 0;
        while (ft_board_read_event(&board->slot[i], &place, &ev, &lost))
            outcome->events[ev.kind]++;
        outcome->slot[i].fate = slots[i].fate;
        outcome->slot[i].status = slots[i].status;
        outcome->slot[i].who = atomic_load(&board->slot[i].who);
    }
}

static _Noreturn void run_job(void)
{
    int fd;
    alarm(WATCHDOG);
    FT_ASSERT(ft_board_create(job->nranks, job->nchecksums, job->nspares, 0, &board, &fd) == FT_OK);
    FT_ASSERT(board->nslots <= MOCK_SLOTS);
    settings(fd);
    FT_ASSERT(ft_arena_homelogs(board, "memfd")); /* as ftrun does it */
    if (job->at_start)
        job->at_start(board);
    for (int i = 0; i < MOCK_DEATHS; i++)
        if (job->death[i].hit)
            ft_fp_armed[job->death[i].at] = FT_FP_COUNTED;
    for (int i = 0; i < board->nslots; i++) {
        slots[i].number = i;
        slots[i].engine = ft_engine_new();
        FT_ASSERT(slots[i].engine);
        atomic_store(&slots[i].threads, 1);
        sem_init(&slots[i].may_start, 0, i == 0);
    }
    for (int i = 0; i < board->nslots; i++) {
        pthread_t thread;
        FT_ASSERT(pthread_create(&thread, NULL, main_of_slot, &slots[i]) == 0);
        pthread_detach(thread);
    }
    for (int left = 1; left;) {
        const struct timespec ms = {.tv_nsec = 1000000};
        __real_nanosleep(&ms, NULL);
        left = 0;
        for (int i = 0; i < board->nslots; i++)
            left += !atomic_load(&slots[i].gone);
    }
    look_at_board();
    if (job->at_end)
        job->at_end(board);
    __wrap__exit(0);
}

void mock_run(const struct mock_job *j, struct mock_outcome *out)
{
    int status = 0;
    outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(outcome != MAP_FAILED);
    for (int r = 0; r < MOCK_SLOTS; r++)
        outcome->rank[r].by = -1;
    job = j;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run_job();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    memcpy(out, outcome, sizeof *out);
    munmap(outcome, sizeof *outcome);
    assert_int_equal(status, 0);
}

int mock_deaths(void) { return atomic_load(&deaths); }

struct ft_rt *mock_rt(int slot) { return atomic_load(&slots[slot].rt); }

/* All have died that must. */
static void check_deaths(const struct mock_job *j, const struct mock_outcome *out)
{
    int least = 0, most = 0;
    for (int i = 0; i < MOCK_DEATHS; i++) {
        most += j->death[i].hit > 0;
        least += j->death[i].hit > 0 && !j->death[i].may;
    }
    if (out->deaths < least || out->deaths > most)
        fail_msg("%d slots died at a failpoint, and %d to %d should have", out->deaths, least,
                 most);
}

void mock_run_calm(const struct mock_job *j, struct mock_outcome *out)
{
    struct mock_job calm = *j;
    memset(calm.death, 0, sizeof calm.death);
    calm.slow = 0; /* it is given no rank */
    mock_run(&calm, out);
    assert_int_equal(out->state, FT_JOB_DONE);
}

void mock_compare(const struct mock_job *j, const struct mock_outcome *calm,
                  const struct mock_outcome *out)
{
    if (out->state != FT_JOB_DONE)
        fail_msg("the job ended with state %d: %s", out->state, out->message);
    check_deaths(j, out);
    for (int r = 0; r < j->nranks; r++) {
        assert_true(calm->rank[r].by >= 0 && out->rank[r].by >= 0);
        assert_int_equal(out->rank[r].ran, calm->rank[r].ran);
        if (out->rank[r].digest != calm->rank[r].digest)
            fail_msg("rank %d came to %llx, and comes to %llx without a death", r,
                     (unsigned long long)out->rank[r].digest,
                     (unsigned long long)calm->rank[r].digest);
    }
}

void mock_survives(const struct mock_job *j, struct mock_outcome *out)
{
    struct mock_outcome calm;
    mock_run_calm(j, &calm);
    mock_run(j, out);
    mock_compare(j, &calm, out);
}

void mock_is_lost(const struct mock_job *j, enum ft_reason reason, struct mock_outcome *out)
{
    mock_run(j, out);
    assert_int_equal(out->state, FT_JOB_LOST);
    assert_string_equal(ft_reason_table[out->reason].name, ft_reason_table[reason].name);
    assert_int_equal(out->status, FT_EXIT_LOST);
    check_deaths(j, out);
}
