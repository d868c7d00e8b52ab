/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_saved.c - each byte of a file counts: a change or truncation anywhere is found.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "save/saved.h"

#define BYTES (3u << 20 | 77)

static char *image;

static int make(struct ft_saved_head *h, struct ft_saved_tail *t)
{
    int fd = memfd_create("saved", 0);
    *h = (struct ft_saved_head){.magic = FT_SAVED_MAGIC,
                                .format = FT_SAVED_FORMAT,
                                .nranks = 4,
                                .rank = 2,
                                .job = 99,
                                .version = 7,
                                .bytes = BYTES};
    assert_true(fd >= 0);
    assert_int_equal(ft_saved_write(fd, h, image, t, NULL, NULL), FT_OK);
    return fd;
}

static enum ft_status read_back(int fd, void *to)
{
    struct ft_saved_head h;
    struct ft_saved_tail t;
    char why[200] = "";
    lseek(fd, 0, SEEK_SET);
    enum ft_status st = ft_saved_begin(fd, &h, why, sizeof why);
    if (st == FT_OK)
        st = ft_saved_image(fd, &h, to, &t, why, sizeof why);
    assert_int_equal(st == FT_OK, why[0] == '\0');
    return st;
}

static void what_was_written_is_read(void **state)
{
    struct ft_saved_head h;
    struct ft_saved_tail t;
    char *back = malloc(BYTES);
    int fd = make(&h, &t);
    (void)state;
    assert_int_equal(lseek(fd, 0, SEEK_END), sizeof h + BYTES + sizeof t);
    assert_int_equal(read_back(fd, NULL), FT_OK);
    assert_int_equal(read_back(fd, back), FT_OK);
    assert_memory_equal(back, image, BYTES);
    close(fd);
    free(back);
}

static void damage_is_found(void **state)
{
    struct ft_saved_head h;
    struct ft_saved_tail t;
    const off_t places[] = {0,
                            8,
                            16,
                            24,
                            32,
                            40,
                            48,
                            sizeof h,
                            sizeof h + BYTES / 2,
                            sizeof h + BYTES - 1,
                            sizeof h + BYTES + 15};
    (void)state;
    for (size_t i = 0; i < FT_COUNTOF(places); i++) {
        int fd = make(&h, &t);
        char c;
        assert_int_equal(pread(fd, &c, 1, places[i]), 1);
        c ^= 4;
        assert_int_equal(pwrite(fd, &c, 1, places[i]), 1);
        assert_int_not_equal(read_back(fd, NULL), FT_OK);
        close(fd);
    }
    for (off_t cut = 0; cut < (off_t)(sizeof h + BYTES); cut = 2 * cut + 30) {
        int fd = make(&h, &t);
        assert_int_equal(ftruncate(fd, cut), 0);
        assert_int_not_equal(read_back(fd, NULL), FT_OK);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_written_is_read),
                                       cmocka_unit_test(damage_is_found)};
    image = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        image[i] = (char)(i * 2654435761u >> 7);
    int bad = cmocka_run_group_tests(tests, NULL, NULL);
    free(image);
    return bad;
}
