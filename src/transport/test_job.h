/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_job.h - for unit tests: starts a few processes by fork, each with its arena, on a common
 * board. Include it once in a test.
 *
 * A child checks with CHECK what must hold, and ends with a code that job_join finds; cmocka's own
 * assertions are for the parent. What processes tell each other beside what is tested goes through
 * job.sh, and they meet at job_meet.
 */
#ifndef FT_TRANSPORT_TEST_JOB_H
#define FT_TRANSPORT_TEST_JOB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/homelogs.h"
#include "base/sim_seeds.h"
#include "transport/transport.h"
#include "transport/wait.h"

#ifndef JOB_MAX
#define JOB_MAX 8
#endif
#define JOB_WATCHDOG 100 /* seconds: a test that hangs ends with SIGALRM */

/* The default number of repetitions: a quarter with a sanitizer, where a process takes many times
 * as long to start and to end. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define JOB_TIMES(n) ((n) / 4)
#else
#define JOB_TIMES(n) (n)
#endif

struct job_shared {
    pthread_barrier_t meet;
    _Atomic uint64_t word[64];
};

static struct {
    struct ft_board *board;
    int board_fd, nslots;
    pid_t pid[JOB_MAX];
    struct job_shared *sh;
    uint64_t arena_bytes;
    const char *provider;
    uint64_t seed;
    /* in a child */
    int self;
    struct ft_arena arena;
    struct ft_tp tp;
} job = {.arena_bytes = 256ull << 20, .provider = "shm"};

#define CHECK(x)                                                                     \
    do {                                                                             \
        if (!(x)) {                                                                  \
            fprintf(stderr, "FTRMA_TEST_SEED=%llu: slot %d: %s:%d: %s\n",            \
                    (unsigned long long)job.seed, job.self, __FILE__, __LINE__, #x); \
            _exit(1);                                                                \
        }                                                                            \
    } while (0)

/* The seed of this run: FTRMA_TEST_SEED, or `otherwise`. */
static inline uint64_t job_seed(uint64_t otherwise) { return job.seed = test_seed(otherwise); }

/* Begins a job in which `meeting` of the processes take part in job_meet. */
static inline void job_begin(int nslots, int meeting)
{
    pthread_barrierattr_t shared;
    assert_true(nslots <= JOB_MAX);
    alarm(JOB_WATCHDOG);
    job.nslots = nslots;
    memset(job.pid, 0, sizeof job.pid);
    assert_int_equal(ft_board_create(nslots, 0, 0, 0, &job.board, &job.board_fd), FT_OK);
    assert_true(ft_arena_homelogs(job.board, "memfd"));
    job.sh = mmap(NULL, sizeof *job.sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(job.sh != MAP_FAILED);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    assert_int_equal(pthread_barrier_init(&job.sh->meet, &shared, (unsigned)meeting), 0);
    pthread_barrierattr_destroy(&shared);
}

static inline void job_meet(void) { pthread_barrier_wait(&job.sh->meet); }

static void job_no_attention(void) {}

/* Creates the child's arena and records it on the board, pid last. */
static inline void job_enter(int slot)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(JOB_WATCHDOG);
    job.self = slot;
    CHECK(ft_arena_create(&job.arena, slot, job.nslots, job.arena_bytes, "memfd") == FT_OK);
    struct ft_board_slot *me = &job.board->slot[slot];
    me->arena_file = job.arena.file;
    atomic_store(&me->arena_fd, job.arena.fd);
    atomic_store(&me->start_time, ft_proc_start_time(getpid()));
    atomic_store(&me->pid, (int32_t)getpid());
    (void)ft_homelogs_hold(job.board, slot); /* a test may have no such file */
    CHECK(ft_tp_open(&job.tp, job.provider, &job.arena, job.board, slot) == FT_OK);
    ft_transport = &job.tp;
    CHECK(ft_wait_init(job.arena.ctl, job_no_attention, 100) == FT_OK);
}

static inline void job_spawn(int slot, void (*body)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        job_enter(slot);
        body();
        ft_tp_close(&job.tp);
        _exit(0);
    }
    job.pid[slot] = pid;
}

static inline int job_status(int slot)
{
    int status = -1;
    assert_int_equal(waitpid(job.pid[slot], &status, 0), job.pid[slot]);
    job.pid[slot] = 0;
    return status;
}

/* Waits until all remaining processes have ended well; the job is over. If one has not, the others
 * are not waited for. */
static inline void job_join(void)
{
    int bad = 0;
    for (int left = 1; left;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        left = 0;
        for (int i = 0; i < job.nslots; i++) {
            if (job.pid[i] == pid) {
                job.pid[i] = 0;
                if (status != 0 && !bad)
                    fprintf(stderr, "slot %d ended with status 0x%x\n", i, (unsigned)status);
                bad |= status;
            }
            left += job.pid[i] != 0;
        }
        for (int i = 0; i < job.nslots && bad; i++)
            if (job.pid[i])
                kill(job.pid[i], SIGKILL);
    }
    if (job.board->homelogs_pid == (int32_t)getpid())
        close(job.board->homelogs_fd);
    munmap(job.board, ft_board_bytes(job.nslots));
    close(job.board_fd);
    munmap(job.sh, sizeof *job.sh);
    assert_int_equal(bad, 0);
}

/* Waits, yielding, for a word of job.sh to reach v. */
static inline void job_await(int word, uint64_t v)
{
    while (atomic_load(&job.sh->word[word]) < v)
        sched_yield();
}

#endif
