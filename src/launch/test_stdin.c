/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_stdin.c - each feed gives all of ftrun's standard input, from its first byte; a line at a
 * time at first, and then faster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "launch/stdin.h"

#define PATIENCE_MS 20000

static void pieces(void **state)
{
    (void)state;
    static char longest[3 * FT_STDIN_PIECE];
    memset(longest, 'x', sizeof longest);
    assert_int_equal(ft_stdin_piece(0, "ab\ncd\n", 6), 3);
    assert_int_equal(ft_stdin_piece(3, "\ncd", 3), 1);
    assert_int_equal(ft_stdin_piece(0, "cd", 2), 2); /* a line's beginning, if there is no more */
    assert_int_equal(ft_stdin_piece(0, longest, sizeof longest), FT_STDIN_PIECE);
    assert_int_equal(ft_stdin_piece(FT_INPUT_BY_LINE, "ab\ncd\n", 6), 6);
    assert_int_equal(ft_stdin_piece(FT_INPUT_BY_LINE - 1, "ab\ncd\n", 6), 3);
}

/* Slots: rank 0, rank 1, a checksum process, a spare. */
static struct ft_board *board(void)
{
    struct ft_board *b;
    int fd;
    assert_int_equal(ft_board_create(2, 1, 1, (int)getpid(), &b, &fd), FT_OK);
    close(fd);
    b->slot[0].at_first = FT_WHO(FT_ROLE_RANK, 0);
    b->slot[1].at_first = FT_WHO(FT_ROLE_RANK, 1);
    b->slot[2].at_first = FT_WHO(FT_ROLE_CHECKSUM, 0);
    b->slot[3].at_first = FT_WHO(FT_ROLE_SPARE, 0);
    return b;
}

static int open_feed(struct ft_board *b, int slot)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)atomic_load(&b->slot[slot].input.fd));
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    fcntl(fd, F_SETFL, 0);
    return fd;
}

static ssize_t take(int fd, char *to, size_t most)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
    return read(fd, to, most);
}

static void one_line(int fd, const char *line)
{
    char text[200];
    ssize_t n = take(fd, text, sizeof text);
    assert_int_equal(n, strlen(line));
    assert_memory_equal(text, line, (size_t)n);
}

static void at_end(int fd)
{
    char c;
    assert_int_equal(take(fd, &c, 1), 0);
}

static void a_pipe(void **state)
{
    (void)state;
    int p[2];
    struct ft_stdin *in;
    struct ft_board *b = board();
    assert_int_equal(pipe(p), 0);
    assert_int_equal(write(p[1], "one\ntwo\nthr", 11), 11);
    assert_int_equal(ft_stdin_create(p[0], "/tmp", &in), FT_OK);
    assert_int_equal(ft_stdin_serve(in, b), FT_OK);
    assert_int_equal(atomic_load(&b->slot[1].input.fd), -1);
    assert_int_equal(atomic_load(&b->slot[2].input.fd), -1);
    int first = open_feed(b, 0);
    one_line(first, "one\n");
    one_line(first, "two\n");
    one_line(first, "thr");
    assert_int_equal(write(p[1], "ee\n", 3),
                     3); /* as from a terminal: what comes is given at once */
    one_line(first, "ee\n");
    int later = open_feed(b, 3); /* a replacement: all of it again */
    one_line(later, "one\n");
    one_line(later, "two\n");
    one_line(later, "three\n");
    close(p[1]);
    at_end(first);
    at_end(later);
    assert_int_equal(atomic_load(&b->slot[3].input.fed), 14);
    close(first);
    close(later);
    ft_stdin_destroy(in);
    close(p[0]);
}

/* From where it stands, and it stays there. How much was taken can be told at any time. */
static void a_file(void **state)
{
    (void)state;
    char name[] = "/tmp/ftrma-test-stdin-XXXXXX";
    int fd = mkstemp(name), left;
    struct ft_stdin *in;
    struct ft_board *b = board();
    unlink(name);
    assert_int_equal(write(fd, "skipped\nfirst\nlast", 18), 18);
    assert_int_equal(lseek(fd, 8, SEEK_SET), 8);
    assert_int_equal(ft_stdin_create(fd, "/no/such/directory", &in),
                     FT_OK); /* nothing has to be kept */
    assert_int_equal(ft_stdin_serve(in, b), FT_OK);
    int first = open_feed(b, 0);
    one_line(first, "first\n");
    struct pollfd p = {.fd = first, .events = POLLIN};
    assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
    uint64_t fed;
    do {
        fed = atomic_load(&b->slot[0].input.fed);
        ioctl(first, FIONREAD, &left);
    } while (atomic_load(&b->slot[0].input.begun) != fed);
    assert_int_equal(fed - (uint64_t)left, 6);
    one_line(first, "last");
    at_end(first);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 8);
    close(first);
    ft_stdin_destroy(in);
    close(fd);
}

static void much(void **state)
{
    (void)state;
    FILE *f = tmpfile();
    struct ft_stdin *in;
    struct ft_board *b = board();
    static char text[1 << 16];
    uint64_t sum = 0, is = 0, bytes = 0, most = 0;
    for (unsigned i = 0; i < 400000; i++) {
        int n = fprintf(f, "%u\n", i * 2654435761u);
        bytes += (uint64_t)n;
    }
    rewind(f);
    for (int c; (c = getc(f)) != EOF;)
        sum = sum * 31 + (uint64_t)c;
    rewind(f);
    assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
    assert_int_equal(ft_stdin_create(fileno(f), "/tmp", &in), FT_OK);
    assert_int_equal(ft_stdin_serve(in, b), FT_OK);
    int fd = open_feed(b, 3);
    for (uint64_t at = 0;;) {
        ssize_t n = take(fd, text, sizeof text);
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            is = is * 31 + (uint64_t)(unsigned char)text[i];
        at += (uint64_t)n;
        assert_true(at > FT_INPUT_BY_LINE || memchr(text, '\n', (size_t)n) == text + n - 1);
        most = ft_max_u64(most, (uint64_t)n);
        bytes -= (uint64_t)n;
    }
    assert_int_equal(bytes, 0);
    assert_true(is == sum);
    assert_true(most > 2 * FT_STDIN_PIECE);
    close(fd);
    ft_stdin_destroy(in);
    fclose(f);
}

static void nothing(void **state)
{
    (void)state;
    int p[2];
    struct ft_stdin *in;
    struct ft_board *b = board();
    assert_int_equal(pipe(p), 0); /* nobody writes or reads */
    assert_int_equal(ft_stdin_create(p[0], "/no/such/directory", &in), FT_ERR_SYS);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(ft_stdin_create(p[0], "/tmp", &in), FT_OK);
    assert_int_equal(ft_stdin_serve(in, b), FT_OK);
    ft_stdin_destroy(in);
    assert_int_equal(atomic_load(&b->slot[0].input.fd), -1);
    close(p[0]);
    close(p[1]);
    int fd = open("/dev/null", O_RDONLY);
    b = board();
    assert_int_equal(ft_stdin_create(fd, "/tmp", &in), FT_OK);
    assert_int_equal(ft_stdin_serve(in, b), FT_OK);
    int first = open_feed(b, 0);
    at_end(first);
    close(first);
    ft_stdin_destroy(in);
    close(fd);
}

/* A child that does not exec lives on, and the readers find the end. */
static void a_child(void **state)
{
    (void)state;
    int p[2];
    struct ft_stdin *in;
    struct ft_board *b = board();
    assert_int_equal(pipe(p), 0);
    assert_int_equal(write(p[1], "one\n", 4), 4);
    assert_int_equal(ft_stdin_create(p[0], "/tmp", &in), FT_OK);
    assert_int_equal(ft_stdin_serve(in, b), FT_OK);
    int first = open_feed(b, 0), later = open_feed(b, 3);
    one_line(first, "one\n");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        close(p[1]);
        ft_stdin_leave(in);
        for (;;)
            pause();
    }
    close(p[1]);
    at_end(first);
    one_line(later, "one\n");
    at_end(later);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(first);
    close(later);
    ft_stdin_leave(NULL);
    ft_stdin_destroy(in);
    close(p[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces), cmocka_unit_test(a_pipe),  cmocka_unit_test(a_file),
        cmocka_unit_test(much),   cmocka_unit_test(nothing), cmocka_unit_test(a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
