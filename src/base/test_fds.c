/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_fds.c - the library's descriptors stay, whatever the program closes; and reserved ones help
 * when it has used up all.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fds.h"

/* Each test runs in a child, because a separate table is for ever, and limits belong to the
 * process. */
static void in_child(void (*body)(void))
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define CHECK(x)                                                                      \
    do {                                                                              \
        if (!(x)) {                                                                   \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #x, errno); \
            _exit(1);                                                                 \
        }                                                                             \
    } while (0)

static void keep_body(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), low = fd;
    struct rlimit l;
    CHECK(getrlimit(RLIMIT_NOFILE, &l) == 0);
    fd = ft_fd_keep(fd);
    CHECK(fd > low && fcntl(low, F_GETFD) == -1 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    CHECK(l.rlim_cur < 64 || fd >= 48);
    CHECK(ft_fd_is_ours(fd) && !ft_fd_is_ours(low) && !ft_fd_is_ours(-1) &&
          !ft_fd_is_ours(FT_FD_MOST));
    CHECK(ft_fd_next_of_ours(0) == fd && ft_fd_next_of_ours(fd) == fd &&
          ft_fd_next_of_ours(fd + 1) == -1);
    int status;
    pid_t pid = fork(); /* a child closes what it likes */
    if (pid == 0)
        _exit(ft_fd_is_ours(fd) || ft_fd_next_of_ours(0) != -1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    ft_fd_close(fd);
    CHECK(!ft_fd_is_ours(fd) && fcntl(fd, F_GETFD) == -1 && ft_fd_next_of_ours(0) == -1);
    CHECK(ft_fd_keep(-1) == -1);
}

static void ours_are_known(void **state)
{
    (void)state;
    in_child(keep_body);
}

static struct {
    int fd, other;
    struct ft_fd_file file;
    pthread_barrier_t meet;
} t;

static void *with_own_table(void *arg)
{
    const int keep[] = {t.fd, STDERR_FILENO, t.fd};
    (void)arg;
    if (ft_fd_own_table(keep, 3)) {
        CHECK(ft_fd_in_own_table() && ft_fd_table() == (int)syscall(SYS_gettid));
        CHECK(ft_fd_sound(t.fd, t.file) && !ft_fd_is_ours(t.fd));
        /* the program's own, which it may want to be closed */
        CHECK(fcntl(t.other, F_GETFD) == -1);
        CHECK(fcntl(0, F_GETFD) != -1 &&
              fcntl(STDERR_FILENO, F_GETFD) != -1); /* a descriptor of ours is no standard stream */
        int fd = ft_fd_keep(open("/dev/null", O_RDONLY | O_CLOEXEC));
        CHECK(fd > STDERR_FILENO);
        ft_fd_close(fd);
    }
    pthread_barrier_wait(&t.meet); /* the program closes it */
    pthread_barrier_wait(&t.meet);
    CHECK(!ft_fd_in_own_table() || ft_fd_sound(t.fd, t.file));
    pthread_barrier_wait(&t.meet);
    return NULL;
}

static void own_table_body(void)
{
    pthread_t thread;
    int p[2];
    CHECK(pthread_barrier_init(&t.meet, NULL, 2) == 0);
    CHECK(pipe(p) == 0);
    t.other = p[1];
    t.fd = ft_fd_keep(memfd_create("kept", MFD_CLOEXEC));
    t.file = ft_fd_file_of(t.fd);
    CHECK(t.file.ino != 0 && ft_fd_sound(t.fd, t.file));
    CHECK(pthread_create(&thread, NULL, with_own_table, NULL) == 0);
    pthread_barrier_wait(&t.meet);
    syscall(SYS_close, t.fd);
    if (!ft_fd_table()) {
        fprintf(stderr, "(no table of a thread's own here)\n");
        CHECK(!ft_fd_sound(t.fd, t.file));
    } else {
        char byte;
        close(p[1]);
        CHECK(read(p[0], &byte, 1) == 0); /* nobody else has the other end */
        /* it is recovered from the agent's table */
        CHECK(ft_fd_sound(t.fd, t.file) && ft_fd_is_ours(t.fd));
        syscall(SYS_close, t.fd);
        CHECK(fcntl(p[0], F_DUPFD, t.fd) == t.fd); /* another file gets the number */
        CHECK(!ft_fd_sound(t.fd, t.file));
        CHECK(ft_fd_file_of(t.fd).ino == ft_fd_file_of(p[0]).ino); /* and keeps it */
    }
    pthread_barrier_wait(&t.meet);
    pthread_barrier_wait(&t.meet);
    pthread_join(thread, NULL);
}

static void the_agents_table_is_out_of_reach(void **state)
{
    (void)state;
    in_child(own_table_body);
}

static void spare_body(void)
{
    struct rlimit few = {.rlim_cur = 100, .rlim_max = 100};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    ft_fd_put_by();
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    CHECK(errno == EMFILE && !ft_fd_short());
    for (int i = 0; i < 100; i++) { /* two at once, many times */
        int a = ft_fd_open("/proc/self/stat", O_RDONLY),
            b = ft_fd_open("/proc/self/maps", O_RDONLY);
        CHECK(a >= 0 && b >= 0 && ft_fd_short());
        CHECK(ft_fd_open("/proc/self/status", O_RDONLY) == -1 && errno == EMFILE);
        ft_fd_close(i % 2 ? a : b);
        ft_fd_close(i % 2 ? b : a);
        CHECK(!ft_fd_short());
    }
    CHECK(ft_fd_open("/nowhere", O_RDONLY) == -1 && errno == ENOENT);
}

static void there_is_one_when_there_is_none(void **state)
{
    (void)state;
    in_child(spare_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_are_known),
        cmocka_unit_test(the_agents_table_is_out_of_reach),
        cmocka_unit_test(there_is_one_when_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
