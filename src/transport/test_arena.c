/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_arena.c - compares the heap of an arena with a model, and tests its end.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_seeded.h"
#include "transport/arena.h"

#define LIVE 64
#define HEADER FT_CACHE_LINE

struct held {
    uint64_t off, bytes, mark;
};

/* Marks both ends, so that a block that overlaps another one is noticed when either is freed. */
static void mark(struct ft_arena *a, const struct held *h)
{
    memcpy(ft_arena_ptr(a, h->off), &h->mark, sizeof h->mark);
    memcpy(ft_arena_ptr(a, h->off + h->bytes - sizeof h->mark), &h->mark, sizeof h->mark);
}

static int marked(struct ft_arena *a, const struct held *h)
{
    return memcmp(ft_arena_ptr(a, h->off), &h->mark, sizeof h->mark) == 0 &&
           memcmp(ft_arena_ptr(a, h->off + h->bytes - sizeof h->mark), &h->mark, sizeof h->mark) ==
               0;
}

static uint64_t random_size(struct ft_prng *p)
{
    static const uint64_t below[] = {64, 512, 5000, 70000, 1 << 20};
    return 16 + ft_prng_below(p, below[ft_prng_below(p, FT_COUNTOF(below))]);
}

/* The sum of the held blocks is within what the arena says. The rest is headers, alignment and
 * pieces too small to cut off. */
static void compare(struct ft_arena *a, const struct held *h, int n, uint64_t *peak)
{
    uint64_t least = 0, most = 0;
    for (int i = 0; i < n; i++) {
        uint64_t body = ft_align_up(h[i].bytes, FT_CACHE_LINE);
        least += body + HEADER;
        most += body + HEADER + 256;
    }
    *peak = ft_max_u64(*peak, a->in_use);
    HOLDS(a->in_use >= least && a->in_use <= most);
    HOLDS(a->peak == *peak);
    ft_arena_check(a);
}

static void against_a_model(void **state)
{
    struct ft_arena a;
    struct ft_prng p = {seed};
    struct held h[LIVE];
    int n = 0;
    uint64_t peak = 0;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 1, 3, 12 << 20, "memfd"), FT_OK);
    for (int step = 0; step < 20000; step++) {
        if (n < LIVE && (n == 0 || ft_prng_below(&p, 100) < 52)) {
            uint64_t align = 64ull << ft_prng_below(&p, 8), bytes = random_size(&p);
            uint64_t off = ft_arena_alloc(&a, bytes, align);
            if (!off)
                continue; /* full: the held blocks may well fill it */
            HOLDS(off % align == 0 && off >= a.heap_begin && off + bytes <= a.seen.begin);
            h[n] = (struct held){off, bytes, ft_prng_next(&p)};
            mark(&a, &h[n++]);
        } else {
            int i = (int)ft_prng_below(&p, (uint64_t)n);
            HOLDS(marked(&a, &h[i]));
            ft_arena_free(&a, h[i].off);
            h[i] = h[--n];
        }
        compare(&a, h, n, &peak);
    }
    while (n > 0) {
        HOLDS(marked(&a, &h[--n]));
        ft_arena_free(&a, h[n].off);
    }
    compare(&a, h, 0, &peak);
    HOLDS(a.in_use == 0);
    uint64_t all =
        a.heap_top - a.heap_begin - HEADER; /* what was freed has become one block again */
    HOLDS(ft_arena_alloc(&a, all, 64) == a.heap_begin + HEADER);
    HOLDS(a.in_use == a.heap_top - a.heap_begin);
    ft_arena_destroy(&a);
}

static void counts_are_exact(void **state)
{
    struct ft_arena a;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 1, 32 << 20, "memfd"), FT_OK);
    uint64_t x = ft_arena_alloc(&a, 1000, 64), y = ft_arena_alloc(&a, 0, 64);
    assert_int_equal(a.in_use, 1024 + HEADER + 64 + HEADER);
    ft_arena_free(&a, x);
    assert_int_equal(a.in_use, 64 + HEADER);
    assert_int_equal(a.peak, 1024 + HEADER + 64 + HEADER);
    ft_arena_free(&a, 0);
    ft_arena_free(&a, y);
    assert_int_equal(a.in_use, 0);
    ft_arena_check(&a);
    ft_arena_destroy(&a);
}

static void its_address_space_has_an_end(void **state)
{
    struct ft_arena a;
    uint64_t block[64];
    int n = 0;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 2, 8 << 20, "memfd"), FT_OK);
    while ((block[n] = ft_arena_alloc(&a, 256 << 10, 4096)) != 0) {
        memset(ft_arena_ptr(&a, block[n]), 1, 256 << 10);
        assert_true(++n < 64);
        ft_arena_check(&a);
    }
    assert_true(n >= 10);
    assert_int_equal(ft_arena_alloc(&a, 256 << 10, 64), 0);
    assert_int_equal(ft_arena_alloc(&a, 8ull << 20, 64), 0);
    assert_int_equal(ft_arena_alloc(&a, INT64_MAX, 64), 0);
    assert_int_equal(ft_arena_alloc(&a, UINT64_MAX - 5, 64), 0);
    ft_arena_free(&a, block[n / 2]);
    assert_int_equal(ft_arena_alloc(&a, 256 << 10, 4096), block[n / 2]);
    ft_arena_check(&a);
    ft_arena_destroy(&a);
}

/* Blocks for which huge pages are tried are empty at first and real to the last byte, whether or
 * not huge pages came. */
static void large_blocks_are_real(void **state)
{
    struct ft_arena a;
    struct ft_prng rng = {seed};
    struct stat st;
    uint64_t bytes = 24 << 20, block[3], all = 0;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 2, 1ull << 30, "/dev/shm"), FT_OK);
    for (int i = 0; i < 3; i++, bytes += 1 << 20) {
        block[i] = ft_arena_alloc(&a, bytes, 4096);
        HOLDS(block[i] != 0);
        unsigned char *p = ft_arena_ptr(&a, block[i]);
        for (int k = 0; k < 1000; k++)
            HOLDS(p[ft_prng_below(&rng, bytes)] == 0);
        memset(p, i + 1, bytes);
        all += bytes;
    }
    HOLDS(fstat(a.fd, &st) == 0 && (uint64_t)st.st_blocks * 512 >= all &&
          a.backed <= (uint64_t)st.st_blocks * 512);
    ft_arena_check(&a);
    for (int i = 0; i < 3; i++)
        HOLDS(*(char *)ft_arena_ptr(&a, block[i]) == i + 1);
    ft_arena_destroy(&a);
}

/* Runs in a process of its own, which may be allowed to mount. 77: it is not. */
static int fill_small_tmpfs(const char *size, uint64_t all, uint64_t each)
{
    struct ft_arena a;
    uint64_t off, got = 0;
    char dir[] = "/tmp/ftrma-test-XXXXXX";
    if (!mkdtemp(dir))
        return 77;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("ftrma-test", dir, "tmpfs", 0, size) != 0) {
        rmdir(dir);
        return 77;
    }
    int bad = ft_arena_create(&a, 0, 2, 1ull << 30, dir) != FT_OK ||
              !ft_arena_set_aside(&a, 2 << 20); /* it is had in the end */
    if (!bad) {
        uint64_t before = ft_arena_left(&a); /* what finds no room takes none */
        bad = ft_arena_set_aside(&a, all + 1) || ft_arena_left(&a) != before;
        bad = bad || ft_arena_alloc(&a, all + (8 << 20), 64) != 0;
        bad = bad || ft_arena_left(&a) < before;
    }
    while (!bad && (off = ft_arena_alloc(&a, each, 64)) != 0) {
        memset(ft_arena_ptr(&a, off), 7, each);
        got += each;
        ft_arena_check(&a);
    }
    bad = bad || got + each + (1 << 20) < all || got > all;
    while (!bad && ft_arena_alloc(&a, 4096, 64)) /* the rest */
        ft_arena_check(&a);
    struct ft_arena second; /* not even its control block finds room */
    enum ft_status st = ft_arena_create(&second, 1, 4000, 1ull << 30, dir);
    bad = bad || st != FT_ERR_NOMEM;
    umount2(dir, MNT_DETACH);
    rmdir(dir);
    return bad;
}

static void a_full_file_system_is_a_code_and_no_signal(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            _exit(large ? fill_small_tmpfs("size=63M", 63 << 20, 3 << 20)
                        : fill_small_tmpfs("size=4M", 4 << 20, 100 << 10));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip();
        assert_int_equal(status, 0);
    }
}

static struct ft_arena *pressed;
static int asked;

static int give(uint64_t bytes)
{
    assert_int_equal(bytes, 64 << 10);
    asked++;
    return ft_arena_use_reserve(pressed);
}

static void what_was_put_by_is_there_when_all_is_full(void **state)
{
    struct ft_arena a;
    int n = 0;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 1, 8 << 20, "memfd"), FT_OK);
    ft_arena_put_by(&a, 3);
    uint64_t used = a.in_use;
    while (ft_arena_alloc(&a, 64 << 10, FT_CACHE_LINE))
        ;
    assert_int_equal(ft_arena_need(&a, 64 << 10, FT_CACHE_LINE),
                     0); /* nobody gives anything back */
    pressed = &a;
    ft_no_room = give;
    while (ft_arena_need(&a, 64 << 10, FT_CACHE_LINE))
        n++;
    assert_true(n >= 2 * 3); /* two chunks for each reserved block */
    assert_int_equal(asked, 3 + 1);
    assert_true(used > 3 * FT_RESERVE_BYTES);
    ft_arena_check(&a);
    ft_arena_destroy(&a);
}

static uint64_t real_bytes(const struct ft_arena *a)
{
    struct stat s;
    assert_int_equal(fstat(a->fd, &s), 0);
    return (uint64_t)s.st_blocks * 512;
}

static void what_is_set_aside_is_file_space(void **state)
{
    struct ft_arena a;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 1, 64 << 20, "memfd"), FT_OK);
    uint64_t before = real_bytes(&a);
    for (uint64_t bytes = 0; bytes <= 4 << 20; bytes += (1 << 20) + 1) {
        assert_int_equal(ft_arena_set_aside(&a, bytes), 1);
        assert_int_equal(real_bytes(&a), before + ft_align_up(bytes, ft_page_bytes()));
    }
    assert_int_equal(ft_arena_set_aside(&a, 100), 1); /* less */
    assert_int_equal(real_bytes(&a), before + ft_page_bytes());
    assert_int_equal(ft_arena_set_aside(&a, 0), 1);
    assert_int_equal(real_bytes(&a), before);
    ft_arena_destroy(&a);
}

/* tests/interrupted_fallocate.c interrupts it. */
static void much_is_set_aside_in_spite_of_signals(void **state)
{
    struct ft_arena a;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 1, 64 << 20, "memfd"), FT_OK);
    uint64_t before = real_bytes(&a), much = 33 << 20;
    assert_int_equal(ft_arena_set_aside(&a, much), 1);
    assert_int_equal(real_bytes(&a), before + much);
    ft_arena_destroy(&a);
}

static void a_bad_directory_is_an_error(void **state)
{
    struct ft_arena a;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 1, 1 << 20, "/nowhere"), FT_ERR_SYS);
    assert_int_equal(errno, ENOENT);
}

static void a_new_one_is_empty(void **state)
{
    struct ft_arena a;
    (void)state;
    assert_int_equal(ft_arena_create(&a, 2, 5, 8 << 20, "memfd"), FT_OK);
    assert_int_equal(a.ctl->magic, FT_CTL_MAGIC);
    assert_int_equal(a.ctl->slot, 2);
    assert_int_equal(a.ctl->nslots, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(a.ctl->peer[i].chan | a.ctl->peer[i].mailbox | a.ctl->peer[i].released |
                             a.ctl->peer[i].mails_taken,
                         0);
    assert_true(a.heap_begin >= sizeof(struct ft_ctl) + 5 * sizeof(struct ft_ctl_peer));
    assert_int_equal(a.in_use, 0);
    ft_arena_check(&a);
    ft_arena_destroy(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_one_is_empty),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(against_a_model),
        cmocka_unit_test(its_address_space_has_an_end),
        cmocka_unit_test(large_blocks_are_real),
        cmocka_unit_test(a_full_file_system_is_a_code_and_no_signal),
        cmocka_unit_test(what_was_put_by_is_there_when_all_is_full),
        cmocka_unit_test(what_is_set_aside_is_file_space),
        cmocka_unit_test(much_is_set_aside_in_spite_of_signals),
        cmocka_unit_test(a_bad_directory_is_an_error),
    };
    return cmocka_run_group_tests(tests, seeded, NULL);
}
