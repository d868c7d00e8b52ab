/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_loaded.c - load.c and descriptors.c, which only the library contains: how a process that
 * mpirun has started records its start and its end, and which descriptors it cannot close. The test
 * executes itself, with an argument that says what to do.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/board.h"
#include "base/fds.h"
#include "runtime/runtime.h"

static struct ft_board *board;
static int board_fd;

/* --- what the process does --- */

static int do_descriptors(void)
{
    int low = open("/dev/null", O_RDONLY | O_CLOEXEC), ours = ft_fd_keep(low);
    FT_ASSERT(ours > low);
    int other = dup(0), next = fcntl(0, F_DUPFD, ours + 1);
    FT_ASSERT(close(ours) == -1 && errno == EBADF);
    FT_ASSERT(dup2(other, ours) == -1 && errno == EBADF);
    FT_ASSERT(dup3(other, ours, O_CLOEXEC) == -1 && errno == EBADF);
    FT_ASSERT(dup2(other, other) == other && dup2(other, 40) == 40 && dup3(other, 41, 0) == 41);
    FT_ASSERT(dup2(45, 45) == -1);
    FT_ASSERT(close(40) == 0 && fcntl(40, F_GETFD) == -1);
    if (close_range(41, (unsigned)next, 0) == 0) { /* Linux 5.9 */
        FT_ASSERT(fcntl(41, F_GETFD) == -1 && fcntl(next, F_GETFD) == -1);
        FT_ASSERT(fcntl(ours, F_GETFD) != -1);
    }
    FT_ASSERT(close_range(9, 8, 0) == -1);
    next = fcntl(0, F_DUPFD, ours + 1);
    closefrom(3);
    FT_ASSERT(fcntl(next, F_GETFD) == -1 && fcntl(other, F_GETFD) == -1);
    FT_ASSERT(fcntl(ours, F_GETFD) != -1);
    ft_fd_close(ours);
    FT_ASSERT(fcntl(ours, F_GETFD) == -1);
    return 0;
}

static int act(const char *what)
{
    if (strcmp(what, "exit") == 0)
        exit(3);
    if (strcmp(what, "_exit") == 0)
        _exit(4);
    if (strcmp(what, "quick_exit") == 0)
        quick_exit(5);
    if (strcmp(what, "signal") == 0)
        raise(SIGKILL);
    if (strcmp(what, "child") == 0) { /* its end is not recorded */
        pid_t pid = fork();
        if (pid == 0)
            _exit(9);
        FT_ASSERT(waitpid(pid, NULL, 0) == pid);
        FT_ASSERT(atomic_load(&board->slot[1].phase) == FT_PHASE_LOADED);
        return 6;
    }
    if (strcmp(what, "init") == 0) { /* as MPI_Init begins */
        double t = ft_runtime_clock();
        ft_runtime_entering();
        FT_ASSERT(atomic_load(&board->slot[1].phase) == FT_PHASE_ENTERED);
        ft_runtime_host_is_up();
        FT_ASSERT(ft_runtime_clock() >= t && t >= 0);
        return 7;
    }
    if (strcmp(what, "descriptors") == 0)
        return do_descriptors();
    return 2;
}

/* --- the test --- */

/* Starts this program again, as the process that mpirun has started in slot 1 of two. Returns how
 * it ended. */
static int start(const char *what, const char *where)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("FTRMA_BOARD", where, 1);
        setenv("FTRMA_CHECK_MEMORY", "off", 1);
        setenv("OMPI_COMM_WORLD_RANK", "1", 1);
        execl("/proc/self/exe", "test_loaded", what, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int run(const char *what)
{
    char where[64];
    assert_int_equal(ft_board_create(2, 0, 0, (int)getpid(), &board, &board_fd), FT_OK);
    snprintf(where, sizeof where, "%d:%d", (int)getpid(), board_fd);
    return start(what, where);
}

static void ends(const char *what, int status)
{
    int s = run(what);
    assert_true(WIFEXITED(s));
    assert_int_equal(WEXITSTATUS(s), status);
    assert_int_equal(atomic_load(&board->slot[1].phase), FT_PHASE_EXITED);
    assert_int_equal(atomic_load(&board->slot[1].exit_status), status);
    assert_true(atomic_load(&board->slot[1].pid) > 0 && atomic_load(&board->slot[1].start_time));
    assert_true(atomic_load(&board->slot[1].output[0].ino) != 0);
    assert_int_equal(atomic_load(&board->slot[0].pid), 0);
}

static void every_way_to_end_is_said(void **state)
{
    (void)state;
    ends("exit", 3);
    ends("_exit", 4);
    ends("quick_exit", 5);
    ends("child", 6);
    ends("init", 7);
}

static void a_death_is_not_said(void **state)
{
    (void)state;
    int s = run("signal");
    assert_true(WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL);
    assert_int_equal(atomic_load(&board->slot[1].phase), FT_PHASE_LOADED);
}

static void descriptors_of_ours_stay(void **state)
{
    (void)state;
    assert_int_equal(run("descriptors"), 0);
}

static void elsewhere_and_nowhere(void **state)
{
    (void)state;
    int s = start("exit", "1:999@another-node"); /* ftrun's node */
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == FT_EXIT_LOST);
    s = start("exit", "1:999"); /* that process is gone */
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 3);
    s = start("exit", "");
    assert_true(WIFEXITED(s) && WEXITSTATUS(s) == 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_end_is_said), cmocka_unit_test(a_death_is_not_said),
        cmocka_unit_test(descriptors_of_ours_stay), cmocka_unit_test(elsewhere_and_nowhere)};
    const char *where = getenv("FTRMA_BOARD");
    if (argc > 1 && where && *where)
        (void)ft_board_open(where, 0, &board);
    return argc > 1 ? act(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
