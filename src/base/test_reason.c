/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_reason.c - the table of reasons, and a process that gives up without a job and with one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/reason.h"

/* Returns a child's output on fd 2 while it runs f, and its status. */
static int said(void (*f)(void), char *out, size_t size)
{
    int p[2], status;
    assert_int_equal(pipe(p), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(p[1], 2);
        f();
        _exit(1);
    }
    close(p[1]);
    ssize_t n = 0, more;
    while ((more = read(p[0], out + n, size - 1 - (size_t)n)) > 0)
        n += more;
    out[n] = '\0';
    close(p[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void alone(void) { ft_give_up(START_STUCK, 3, 77, 500ull); }
static void need_nothing(void) { ft_need(NULL, 4096, "a test"); }

static void name(char *out, size_t size) { snprintf(out, size, "rank 5"); }
static void end(enum ft_reason reason, const char *message)
{
    dprintf(2, "%s|%s", ft_reason_table[reason].name, message);
    _exit(9);
}
static const struct ft_giver giver = {name, end};
static void no_room(void)
{
    ft_giver = &giver;
    ft_no_memory("an image", 1000, "/dev/shm", 10);
}

static void giving_up(void **state)
{
    (void)state;
    char text[1500];
    assert_int_equal(said(alone, text, sizeof text), FT_EXIT_LOST);
    assert_non_null(strstr(text, "ftrma: process 3 (pid 77)"));
    assert_non_null(strstr(text, "for 500 ms"));
    assert_non_null(strstr(text, "FTRMA_START_TIMEOUT_MS"));
    assert_non_null(strstr(text, "[start-stuck]"));
    assert_int_equal(said(need_nothing, text, sizeof text), FT_EXIT_LOST);
    assert_non_null(strstr(text, "no memory for a test: 4096 bytes are needed"));
    assert_non_null(strstr(text, "[no-memory]"));
    assert_int_equal(said(no_room, text, sizeof text), 9);
    assert_non_null(strstr(text, "no-memory|rank 5 has no memory for an image: 1000 bytes are "
                                 "needed, and /dev/shm has 10 bytes left. "));
}

/* The rules for messages: each fits, says what to do, and ends without a full stop, since the
 * reason's name follows. */
static void rows(void **state)
{
    (void)state;
    char text[600];
    for (int i = FT_REASON_NONE + 1; i < FT_REASON_COUNT; i++) {
        const struct ft_reason_info *r = &ft_reason_table[i];
        assert_true(strlen(r->what) + strlen(r->todo) < 600);
        assert_true(strlen(r->todo) > 10);
        assert_int_not_equal(r->what[strlen(r->what) - 1], '.');
        assert_int_not_equal(r->todo[strlen(r->todo) - 1], '.');
        ft_reason_plain(r->what, text, sizeof text);
        assert_null(strchr(text, '%'));
    }
    ft_reason_plain("a %2$d b %1$.300s c %3$#llx d %4$llu", text, sizeof text);
    assert_string_equal(text, "a N b ... c N d N");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(giving_up), cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
