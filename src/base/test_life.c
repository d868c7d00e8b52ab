/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_life.c - watchers are told of a death, and a process that is declared ended never writes
 * again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/board.h"
#include "base/life.h"

#define WRITERS 4
#define DIRTY (8u << 20)

static struct shared {
    ft_life life;
    _Atomic int ready;
    struct {
        FT_ALIGNED_LINE _Atomic uint64_t n;
    } count[WRITERS];
} * s;

/* qemu-user refuses robust lists. Then ft_life_hold tells nobody, and there is nothing to wait for.
 * */
static void need_robust_lists(void)
{
    void *head;
    size_t bytes;
    if (syscall(SYS_get_robust_list, 0, &head, &bytes) == 0 || errno != ENOSYS)
        return;
    print_message("there are no robust lists here\n");
    skip();
}

static int make(void **state)
{
    (void)state;
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return s == MAP_FAILED ? -1 : 0;
}

static int drop(void **state)
{
    (void)state;
    return munmap(s, sizeof *s);
}

static void *holds(void *arg)
{
    ft_life_hold(&s->life);
    atomic_fetch_add(&s->ready, 1);
    while (arg)
        pause();
    return NULL;
}

static void *awaits(void *unused)
{
    atomic_store(&s->ready, 1);
    while (!ft_life_await(&s->life))
        ;
    return unused;
}

static void the_end_of_a_thread_is_told(void **state)
{
    (void)state;
    need_robust_lists();
    pthread_t waiter, holder;
    assert_int_equal(pthread_create(&waiter, NULL, awaits, NULL),
                     0); /* before a thread holds it, or after: both must work */
    assert_false(ft_life_over(&s->life));
    assert_int_equal(pthread_create(&holder, NULL, holds, NULL), 0);
    pthread_join(holder, NULL);
    pthread_join(waiter, NULL);
    assert_true(ft_life_over(&s->life));
    while (!ft_life_await(&s->life))
        ;
}

static void who_was_not_told_is_let_go(void **state)
{
    (void)state;
    pthread_t waiter;
    assert_int_equal(pthread_create(&waiter, NULL, awaits, NULL), 0);
    while (!atomic_load(&s->ready))
        sched_yield();
    ft_life_close(&s->life);
    pthread_join(waiter, NULL);
}

static void *writes(void *arg)
{
    _Atomic uint64_t *n = arg;
    for (;;)
        atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
    return NULL;
}

/* A process with threads that write, and memory that takes a while to free. */
static pid_t start_writers(void)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    pthread_t t;
    volatile char *dirty = malloc(DIRTY);
    for (size_t i = 0; dirty && i < DIRTY; i += 4096)
        dirty[i] = 1;
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&t, NULL, writes, &s->count[i].n);
    pthread_create(&t, NULL, holds, "");
    pause();
    _exit(1);
}

static int has_ended(pid_t pid, int options)
{
    siginfo_t info = {0};
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | options), 0);
    return info.si_pid == pid;
}

static void the_ended_write_no_more(void **state)
{
    (void)state;
    need_robust_lists();
    for (int round = 0; round < 20; round++) {
        atomic_store(&s->ready, 0);
        atomic_store(&s->life, 0);
        pid_t pid = start_writers();
        assert_true(pid > 0);
        uint64_t seen[WRITERS], start = ft_proc_start_time(pid);
        int fd = ft_proc_pidfd(pid, start);
        while (!atomic_load(&s->ready))
            sched_yield();
        assert_false(ft_proc_threads_ended(pid));
        assert_false(ft_life_over(&s->life));
        assert_int_equal(kill(pid, SIGKILL), 0);
        while (!ft_life_await(&s->life))
            ;
        while (!ft_proc_threads_ended(pid))
            sched_yield();
        for (int i = 0; i < WRITERS; i++)
            seen[i] = atomic_load(&s->count[i].n);
        struct pollfd dead = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&dead, 1, -1), 1);
        for (int i = 0; i < WRITERS; i++)
            assert_true(atomic_load(&s->count[i].n) == seen[i]);
        assert_true(has_ended(pid, 0));
        assert_true(ft_proc_threads_ended(pid)); /* a zombie */
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_false(ft_proc_threads_ended(pid)); /* no such process */
        close(fd);
    }
}

static void *outlives_main(void *unused)
{
    char path[64], file[8];
    snprintf(path, sizeof path, "/proc/self/task/%d/exe", (int)getpid());
    while (readlink(path, file, sizeof file) >= 0)
        sched_yield();
    atomic_store(&s->ready, 1);
    pause();
    return unused;
}

/* The first thread of the process has ended, the process has not. */
static void one_thread_is_not_all(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t;
        pthread_create(&t, NULL, outlives_main, NULL);
        pthread_exit(NULL);
    }
    while (!atomic_load(&s->ready))
        sched_yield();
    assert_false(has_ended(pid, WNOHANG));
    assert_false(ft_proc_threads_ended(pid));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_end_of_a_thread_is_told, make, drop),
        cmocka_unit_test_setup_teardown(who_was_not_told_is_let_go, make, drop),
        cmocka_unit_test_setup_teardown(the_ended_write_no_more, make, drop),
        cmocka_unit_test_setup_teardown(one_thread_is_not_all, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
