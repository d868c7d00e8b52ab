/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_seen.c - memory that the program sees: guards, contents after a block was freed and taken
 * again, what an image records.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/seen.h"

static int is_zero(const char *p, uint64_t bytes)
{
    return bytes == 0 || (p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

/* Returns 1 if a store at p ends a process. */
static int guarded(char *p)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)p = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status != 0;
}

static void windows_have_guards(void **state)
{
    struct ft_arena a;
    struct stat st;
    uint64_t page = ft_page_bytes(), off[3], bytes[3] = {page, 5 << 20, 3 * page};
    (void)state;
    assert_int_equal(ft_arena_create(&a, 0, 2, 256 << 20, "memfd"), FT_OK);
    for (int i = 0; i < 3; i++) {
        off[i] = ft_arena_take(&a, bytes[i]);
        char *p = ft_arena_ptr(&a, off[i]);
        assert_true(off[i] >= a.seen.begin && ft_seen_has(&a, p));
        assert_true(is_zero(p, bytes[i]));
        memset(p, 7, bytes[i]);
    }
    for (int i = 0; i < 3; i++) {
        char *p = ft_arena_ptr(&a, off[i]);
        assert_true(guarded(p - 1) && guarded(p + bytes[i]) && !guarded(p) &&
                    !guarded(p + bytes[i] - 1));
    }
    assert_int_equal(fstat(a.fd, &st), 0);
    int64_t before = st.st_blocks;
    ft_arena_give_back(&a, off[1]);
    ft_area_check(&a.seen);
    assert_int_equal(fstat(a.fd, &st), 0);
    assert_true(before - st.st_blocks >= (5 << 20) / 512);
    assert_true(guarded(ft_arena_ptr(&a, off[1])));
    assert_int_equal(ft_arena_take(&a, bytes[1]), off[1]);
    assert_true(is_zero(ft_arena_ptr(&a, off[1]), bytes[1]));
    ft_arena_give_back(&a, 0);
    assert_int_equal(ft_arena_take(&a, 200 << 20), 0);
    assert_true(!ft_seen_has(&a, &a) && !ft_seen_has(&a, a.base));
    ft_arena_check(&a);
    ft_arena_destroy(&a);
}

/* The address of a window does not depend on what the heap holds. */
static void the_heap_is_apart(void **state)
{
    uint64_t off[2][3];
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct ft_arena a;
        assert_int_equal(ft_arena_create(&a, 0, 2, 64 << 20, "memfd"), FT_OK);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 10 * k; j++)
                assert_true(ft_arena_alloc(&a, 100000, 64) < a.seen.begin);
            off[k][i] = ft_arena_take(&a, 3000 * (uint64_t)(i + 1));
        }
        while (ft_arena_alloc(&a, 1 << 20, 64)) /* and its end is theirs */
            ;
        assert_true(a.heap_top <= a.seen.begin);
        ft_arena_destroy(&a);
    }
    assert_memory_equal(off[0], off[1], sizeof off[0]);
}

/* Runs in a process of its own, which may be allowed to mount. 77: it is not. */
static int fill_small_tmpfs(void)
{
    struct ft_arena a;
    uint64_t off, n = 0;
    char dir[] = "/tmp/ftrma-test-XXXXXX";
    if (!mkdtemp(dir))
        return 77;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("ftrma-test", dir, "tmpfs", 0, "size=40M") != 0) {
        rmdir(dir);
        return 77;
    }
    int bad = ft_arena_create(&a, 0, 2, 1ull << 30, dir) != FT_OK;
    uint64_t large = ft_arena_take(&a, 20 << 20), left = ft_arena_left(&a);
    bad = bad || !large || ft_arena_take(&a, 20 << 20) != 0 ||
          ft_arena_left(&a) != left; /* what could be had of it is given back */
    ft_arena_give_back(&a, large);
    for (uint64_t first = 0; !bad && (off = ft_arena_take(&a, 3 << 20)) != 0; n++) {
        memset(ft_arena_ptr(&a, off), 7, 3 << 20);
        first = first ? first : off;
        ft_area_check(&a.seen);
        if (n == 4)
            ft_arena_give_back(&a, first);
    }
    bad = bad || n < 12 || n > 14;
    umount2(dir, MNT_DETACH);
    rmdir(dir);
    return bad;
}

static void a_full_file_system_is_a_code(void **state)
{
    int status;
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(fill_small_tmpfs());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static char saved[2][4096];

static __attribute__((unused)) void save(int i)
{
    assert_true(ft_mem_state_bytes() <= sizeof saved[i]);
    ft_mem_state_save(saved[i]);
}

static uint64_t refused_want, refused_have;
static __attribute__((unused)) void note_refused(const char *what, uint64_t bytes, uint64_t want,
                                                 uint64_t have)
{
    (void)what, (void)bytes;
    refused_want = want;
    refused_have = have;
}

#if !defined(__SANITIZE_THREAD__)
static void memory_as_an_image_says(void **state)
{
    uint64_t page = ft_page_bytes(), want;
    char *p[5];
    (void)state;
    for (int i = 0; i < 5; i++) {
        p[i] = ft_mem_take((uint64_t)(i + 1) * page, i > 1);
        assert_true(is_zero(p[i], (uint64_t)(i + 1) * page));
        memset(p[i], i, page);
    }
    assert_true(guarded(p[0] - 1) && guarded(p[0] + page) && guarded(p[4] + 5 * page));
    assert_int_equal(ft_mem_give_back(p[1] + 1), 0);
    assert_int_equal(ft_mem_give_back(p[1]), 1);
    assert_int_equal(ft_mem_give_back(p[1]), 0);
    assert_int_equal(ft_mem_give_back(p[3]), 1);
    save(0); /* 0, 2, 4 */
    assert_int_equal(ft_mem_give_back(p[2]), 1);
    char *in_the_way = ft_mem_take(5 * page, 1), *other = ft_mem_take(9 * page, 1);
    assert_ptr_equal(in_the_way, p[1]);
    assert_int_equal(ft_mem_state_load(saved[0], &want), FT_OK);
    assert_int_equal(p[0][0] + p[2][0], 0); /* kept as it is, and new */
    assert_int_equal(p[4][0], 4);
    other[0] = 1; /* not in the way */
    assert_int_equal(ft_mem_give_back(other), 1);
    save(1);
    assert_memory_equal(saved[0], saved[1], ft_mem_state_bytes());
    /* a replacement: what setup took, and body had freed */
    p[1] = ft_mem_take(2 * page, 0);
    p[3] = ft_mem_take(4 * page, 1);
    assert_int_equal(ft_mem_state_load(saved[0], &want), FT_OK);
    p[1][0] = 1;
    ft_mem_state_settle(saved[0]);
    assert_int_equal(ft_mem_give_back(p[1]), 0);
    for (int i = 0; i < 5; i += i == 0 ? 2 : 1)
        assert_int_equal(ft_mem_give_back(p[i]), 1);
}

static void what_is_taken_by_others(void **state)
{
    uint64_t page = ft_page_bytes(), want = 0;
    static _Atomic uint64_t strayed;
    (void)state;
    ft_seen = (struct ft_seen_place){.strayed = &strayed, .refused = note_refused};
    char *p = ft_mem_take(page, 1);
    save(0);
    assert_int_equal(ft_mem_give_back(p), 1);
    assert_ptr_equal(mmap(p, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), p);
    assert_int_equal(ft_mem_state_load(saved[0], &want), FT_ERR_RANGE);
    assert_int_equal(want, (uint64_t)(uintptr_t)p);
    char *q = ft_mem_take(page, 0);
    assert_ptr_not_equal(p, q);
    assert_int_equal(refused_want, (uint64_t)(uintptr_t)p);
    assert_int_equal(refused_have, (uint64_t)(uintptr_t)q);
    assert_int_equal(atomic_load(&strayed), (uint64_t)(uintptr_t)p);
    q[0] = 1;
    save(1);
    assert_int_equal(ft_mem_give_back(q), 1);
    assert_int_equal(ft_mem_state_load(saved[1], &want), FT_OK); /* that address is free */
    q[0] = 1;
    assert_int_equal(ft_mem_give_back(q), 1);
    munmap(p, page);
    /* the lost process could not have that address, this one can */
    ft_seen.lost_strayed = (uint64_t)(uintptr_t)p;
    assert_ptr_equal(ft_mem_take(page, 1), p);
    assert_int_equal(refused_want, 0);
    assert_int_equal(ft_mem_give_back(p), 1);
    ft_seen = (struct ft_seen_place){.strayed = NULL};
}
#endif

static void views_repeat(void **state)
{
    uint64_t page = ft_page_bytes();
    (void)state;
    char *a = ft_view_take(page), *b = ft_view_take(3 * page), *c = ft_view_take(page);
    assert_true(a && b && c);
    ft_view_give_back(b);
#if !defined(__SANITIZE_THREAD__)
    assert_ptr_equal(ft_view_take(2 * page), b);
    ft_view_give_back(b);
#endif
    ft_view_give_back(a);
    ft_view_give_back(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_have_guards),
        cmocka_unit_test(the_heap_is_apart),
        cmocka_unit_test(a_full_file_system_is_a_code),
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(memory_as_an_image_says),
        cmocka_unit_test(what_is_taken_by_others),
#endif
        cmocka_unit_test(views_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
