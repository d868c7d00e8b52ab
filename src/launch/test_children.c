/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_children.c - what is started can be heard, stopped and killed, down to orphans that have
 * hidden in a session of their own; and mpirun's arguments.
 */
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "launch/children.h"
#include "launch/mpirun.h"

static int adopt(void **state)
{
    (void)state;
    return ft_children_adopt();
}

/* A test that fails leaves children, which would hold on to our output. */
static int leave_nobody(void **state)
{
    (void)state;
    return ft_children_kill_all();
}

static void a_child_is_started_and_heard(void **state)
{
    (void)state;
    char *argv[] = {"/bin/sh", "-c", "echo heard >&2; exit 3", NULL}, text[20] = "";
    int fd = -1, randomised = -1, status;
    pid_t pid = ft_children_start(argv, &fd, &randomised);
    assert_true(pid > 0 && fd >= 0);
    assert_true(randomised == 0 || randomised == 1); /* a container may refuse */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(read(fd, text, sizeof text - 1), 6);
    assert_string_equal(text, "heard\n");
    close(fd);
}

static void what_cannot_be_started_says_why(void **state)
{
    (void)state;
    char *argv[] = {"/nowhere/mpirun", NULL};
    int fd = -1, randomised;
    assert_int_equal(ft_children_start(argv, &fd, &randomised), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fd, -1);
}

/* A child with a grandchild and an orphan, which say a byte each when they are there and then wait
 * for ever. */
static void family(int *p)
{
    if (fork() == 0) {
        setsid();
        pid_t parent = fork();
        if (parent == 0 && setsid() && fork()) /* the parent of the orphan goes */
            _exit(0);
        if (parent > 0)
            waitpid(parent, NULL, 0); /* and is gone when we say that we are there */
        ssize_t k = write(p[1], "x", 1);
        (void)k;
        for (;;)
            pause();
    }
}

static void the_whole_family_is_killed(void **state)
{
    (void)state;
    int p[2];
    char byte;
    assert_int_equal(pipe(p), 0);
    for (int i = 0; i < 3; i++)
        family(p);
    for (int i = 0; i < 6; i++)
        assert_int_equal(read(p[0], &byte, 1), 1);
    close(p[1]);
    assert_int_equal(ft_children_signal(0, 0), 6);
    assert_int_equal(ft_children_kill_all(), 0);
    assert_int_equal(read(p[0], &byte, 1), 0); /* all writers are gone */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    close(p[0]);
}

static int pipe_of_thread;

/* With a child of its own, when the first thread is dead. */
static void *last_thread(void *arg)
{
    char path[40], how = 0;
    (void)arg;
    if (fork() == 0)
        for (;;)
            pause();
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
    while (how != 'Z') {
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &how) != 1)
            _exit(1);
        fclose(f);
        sched_yield();
    }
    ssize_t k = write(pipe_of_thread, "x", 1);
    (void)k;
    for (;;)
        pause();
}

static void a_process_lives_as_long_as_its_last_thread(void **state)
{
    (void)state;
    int p[2];
    char byte;
    assert_int_equal(pipe(p), 0);
    if (fork() == 0) {
        pthread_t t;
        pipe_of_thread = p[1];
        if (pthread_create(&t, NULL, last_thread, NULL) == 0)
            syscall(SYS_exit, 0); /* of this thread only */
        _exit(1);
    }
    close(p[1]);
    assert_int_equal(read(p[0], &byte, 1), 1);
    assert_int_equal(ft_children_signal(0, 0), 2);
    assert_int_equal(ft_children_kill_all(), 0);
    assert_int_equal(read(p[0], &byte, 1), 0); /* all writers are gone */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    close(p[0]);
}

static void one_can_be_left_out(void **state)
{
    (void)state;
    pid_t a = fork(), c;
    if (a == 0)
        for (;;)
            pause();
    c = fork();
    if (c == 0)
        for (;;)
            pause();
    int status;
    assert_int_equal(ft_children_signal(SIGTERM, a), 1);
    assert_int_equal(waitpid(-1, &status, 0), c);
    assert_int_equal(waitpid(-1, &status, WNOHANG), 0);
    assert_int_equal(ft_children_kill_all(), 0);
}

static void a_tree_of_files_is_removed(void **state)
{
    (void)state;
    char dir[] = "/tmp/ftrma-test-XXXXXX", path[100];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/a/link", dir);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    ft_remove_tree(dir);
    assert_int_equal(access(dir, F_OK), -1);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
}

static int position(char **argv, const char *word)
{
    for (int i = 0; argv[i]; i++)
        if (strcmp(argv[i], word) == 0)
            return i;
    fail_msg("'%s' is not among the arguments", word);
    return -1;
}

static void the_arguments_of_mpirun(void **state)
{
    (void)state;
    struct ft_host_launcher h = {.path = "/usr/bin/mpirun", .major = 4};
    char *program[] = {"./prog", "a b", NULL}, **argv = NULL, err[300] = "";
    struct ft_options o = {.program = program, .hosts = "n1", .host_args = "--mca x 'y z'"};
    setenv("LD_PRELOAD", "/lib/other.so", 1);
    assert_int_equal(ft_host_arguments(&h, &o, 6, "/lib/libftrma.so", &argv, err, sizeof err),
                     FT_OK);
    unsetenv("LD_PRELOAD");
    assert_string_equal(argv[0], "/usr/bin/mpirun");
    position(argv, "--enable-recovery");
    assert_string_equal(argv[position(argv, "-H") + 1], "n1");
    assert_string_equal(argv[position(argv, "x") + 1], "y z");
    position(argv, "FTRMA_BOARD");
    position(argv, "LD_PRELOAD=/lib/libftrma.so:/lib/other.so");
    int np = position(argv, "-np");
    assert_string_equal(argv[np + 1], "6");
    assert_string_equal(argv[np + 2], "./prog");
    assert_string_equal(argv[np + 3], "a b");
    assert_null(argv[np + 4]);
    ft_host_free_arguments(argv);
    o.host_args = "'open";
    assert_int_equal(ft_host_arguments(&h, &o, 6, "/lib/libftrma.so", &argv, err, sizeof err),
                     FT_ERR_ARG);
    assert_non_null(strstr(err, "--host-args"));
}

static void the_environment_of_mpirun(void **state)
{
    (void)state;
    setenv("OMPI_MCA_btl", "self,tcp", 1); /* the user's own */
    ft_host_environment(&(struct ft_host_launcher){.major = 4}, "/private");
    assert_string_equal(getenv("OMPI_MCA_btl"), "self,tcp");
    assert_string_equal(getenv("OMPI_MCA_orte_tmpdir_base"), "/private");
    assert_string_equal(getenv("OMPI_MCA_btl_vader_backing_directory"), "/private");
    assert_null(getenv("PRTE_MCA_prte_tmpdir_base"));
    assert_string_equal(getenv("OMPI_ALLOW_RUN_AS_ROOT"), "1");
    unsetenv("OMPI_MCA_btl");
    ft_host_environment(&(struct ft_host_launcher){.major = 5}, "/private");
    assert_string_equal(getenv("OMPI_MCA_btl"), "self,sm");
    assert_string_equal(getenv("PRTE_MCA_prte_tmpdir_base"), "/private");
}

static void programs_are_found_as_a_shell_does(void **state)
{
    (void)state;
    char path[300];
    assert_int_equal(ft_find_program("/bin/sh", path, sizeof path), FT_OK);
    assert_string_equal(path, "/bin/sh");
    setenv("PATH", "/nowhere:/bin", 1);
    assert_int_equal(ft_find_program("sh", path, sizeof path), FT_OK);
    assert_string_equal(path, "/bin/sh");
    static const char *const bad[] = {"", "/", "/etc/passwd", "/nowhere/x", "no-such-program"};
    for (size_t i = 0; i < FT_COUNTOF(bad); i++)
        assert_int_equal(ft_find_program(bad[i], path, sizeof path), FT_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_started_and_heard),
        cmocka_unit_test(what_cannot_be_started_says_why),
        cmocka_unit_test(the_whole_family_is_killed),
        cmocka_unit_test(a_process_lives_as_long_as_its_last_thread),
        cmocka_unit_test(one_can_be_left_out),
        cmocka_unit_test(a_tree_of_files_is_removed),
        cmocka_unit_test(the_arguments_of_mpirun),
        cmocka_unit_test(the_environment_of_mpirun),
        cmocka_unit_test(programs_are_found_as_a_shell_does),
    };
    return cmocka_run_group_tests(tests, adopt, leave_nobody);
}
