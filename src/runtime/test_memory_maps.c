/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_memory_maps.c - the mappings of this process, and the program's own static data by the
 * symbols of its file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "runtime/maps.h"

int test_maps_global[100] = {1};
static double test_maps_static[33];

struct wanted {
    uint64_t at;
    int found, private, ordered;
    uint64_t before;
    char path[300];
};

static void find(void *arg, const struct ft_map *m)
{
    struct wanted *w = arg;
    w->ordered &= m->from >= w->before && m->to > m->from;
    w->before = m->to;
    if (w->at < m->from || w->at >= m->to)
        return;
    w->found++;
    w->private = strcmp(m->rights, "rw-p") == 0;
    snprintf(w->path, sizeof w->path, "%s", m->path);
}

static struct wanted look_for(const void *p)
{
    struct wanted w = {.at = (uint64_t)(uintptr_t)p, .ordered = 1};
    assert_true(ft_maps_each(find, &w));
    assert_true(w.ordered);
    return w;
}

static void mappings_are_listed(void **state)
{
    (void)state;
    int here = 0;
    struct wanted w = look_for(&here);
    assert_int_equal(w.found, 1);
    assert_true(w.private);
    char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + 4096, 4096, PROT_NONE), 0);
    assert_true(look_for(p).private);
    assert_false(look_for(p + 4096).private);
    munmap(p, 3 * 4096);
    w = look_for((const void *)(uintptr_t)&look_for); /* code, of this program's file */
    assert_int_equal(w.found, 1);
    assert_non_null(strstr(w.path, "test_memory_maps"));
}

/* As many lines as fill the buffer more than once. */
static void many_mappings_are_listed(void **state)
{
    (void)state;
    enum { N = 400 };
    char *p = mmap(NULL, 2 * N * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    for (int i = 0; i < N; i++)
        assert_int_equal(mprotect(p + (size_t)(2 * i) * 4096, 4096, PROT_READ), 0);
    for (int i = 0; i < N; i += 37) {
        assert_int_equal(look_for(p + (size_t)(2 * i) * 4096).found, 1);
        assert_false(look_for(p + (size_t)(2 * i) * 4096).private);
        assert_true(look_for(p + (size_t)(2 * i + 1) * 4096).private);
    }
    munmap(p, 2 * N * 4096);
}

static void lists_grow(void **state)
{
    (void)state;
    ft_span_list l = {0};
    for (uint64_t i = 0; i < 5000; i++)
        assert_true(ft_span_add(&l, i, i + 1));
    assert_int_equal(l.n, 5000);
    for (uint64_t i = 0; i < 5000; i++)
        assert_true(l.v[i].from == i && l.v[i].to == i + 1);
    FT_LIST_FREE(&l);
    assert_true(l.v == NULL && l.cap == 0);
}

struct statics {
    int global, local, unnamed, after_end, ended;
    char source[100];
};

static int each(void *arg, uint64_t addr, uint64_t bytes, const char *name, const char *source)
{
    struct statics *s = arg;
    s->after_end += s->ended;
    if (!name) {
        s->unnamed++;
        return 1;
    }
    if (strcmp(name, "test_maps_global") == 0 && addr == (uint64_t)(uintptr_t)test_maps_global) {
        s->global++;
        assert_int_equal(bytes, sizeof test_maps_global);
    }
    if (strncmp(name, "test_maps_static", 16) == 0 &&
        addr == (uint64_t)(uintptr_t)test_maps_static) {
        s->local++;
        assert_int_equal(bytes, sizeof test_maps_static);
        snprintf(s->source, sizeof s->source, "%s", source ? source : "");
    }
    return 1;
}

static int only_one(void *arg, uint64_t addr, uint64_t bytes, const char *name, const char *source)
{
    struct statics *s = arg;
    (void)addr, (void)bytes, (void)name, (void)source;
    s->after_end += s->ended;
    s->ended = 1;
    return 0;
}

static void statics_have_names(void **state)
{
    (void)state;
    static struct ft_elf e;
    struct statics s = {0};
    test_maps_static[1] = 2;
    ft_elf_open(&e);
    assert_true(e.n >= 1);
    assert_non_null(strstr(e.program, "test_memory_maps"));
    assert_false(e.fortran);
    for (int i = 0; i < e.n; i++) /* not those of the system */
        assert_null(strstr(e.file[i].path, "/usr/lib/"));
    int loaded = 0;
    for (size_t i = 0; i < e.loaded.n; i++)
        loaded += e.loaded.v[i].from <= (uint64_t)(uintptr_t)test_maps_global &&
                  (uint64_t)(uintptr_t)test_maps_global < e.loaded.v[i].to;
    assert_true(loaded > 0);
    ft_elf_statics(&e, each, &s);
    assert_int_equal(s.global, 1);
    assert_int_equal(s.local, 1);
    assert_non_null(strstr(s.source, "test_memory_maps.c"));
    memset(&s, 0, sizeof s);
    ft_elf_statics(&e, only_one, &s);
    assert_int_equal(s.after_end, 0);
    ft_elf_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_are_listed), cmocka_unit_test(many_mappings_are_listed),
        cmocka_unit_test(lists_grow), cmocka_unit_test(statics_have_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
