/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_trial.c - the time limit of a job of a rehearsal: pauses do not count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/trial.h"

#define LIMIT_S 5
#define SECOND_NS 1000000000ull
enum { GOOD = 7 };

static int go[2]; /* a pipe: the job may end */

static int hangs(const struct ft_options *o, struct ft_trial *told, const char *dir)
{
    (void)o, (void)told, (void)dir;
    while (pause() < 0)
        ;
    return 1;
}

/* Asks for a pause, as Ctrl-Z does, and ends when it is over. */
static int paused(const struct ft_options *o, struct ft_trial *told, const char *dir)
{
    char c;
    (void)o, (void)told, (void)dir;
    kill(getppid(), SIGTSTP);
    _exit(read(go[0], &c, 1) == 1 ? GOOD : 1);
}

/* Does what ftrun does, in a child that can be stopped. Exit status 100 stands for -1. */
static pid_t rehearses(ft_trial_job *job, uint64_t limit_ns)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid)
        return pid;
    struct ft_trials t;
    char dir[PATH_MAX];
    int nothing = open("/dev/null", O_RDONLY), status = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    dup2(nothing, STDIN_FILENO);
    if (ft_trials_begin(&t)) {
        snprintf(dir, sizeof dir, "%s/run.0", t.dir);
        status = ft_trial_run(&t, NULL, dir, limit_ns, job);
    }
    ft_trials_end(&t);
    _exit(status == -1 ? 100 : status);
}

static int status_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    return status;
}

static void at_the_limit(void **state)
{
    (void)state;
    int status = status_of(rehearses(hangs, SECOND_NS / 5));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 100);
}

static void longer_than_the_limit(void **state)
{
    (void)state;
    assert_int_equal(pipe(go), 0);
    pid_t pid = rehearses(paused, LIMIT_S * SECOND_NS);
    int status = status_of(pid);
    assert_true(WIFSTOPPED(status));
    sleep(LIMIT_S + 1);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(write(go[1], "x", 1), 1);
    status = status_of(pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), GOOD);
    close(go[0]);
    close(go[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_the_limit),
                                       cmocka_unit_test(longer_than_the_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
