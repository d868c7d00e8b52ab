/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_writer.c - the images that make one set, and those that do not.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/image.h"
#include "launch/children.h"
#include "launch/sets.h"
#include "launch/writer.h"
#include "transport/ctl.h"

enum { RANKS = 3, VERSION = 7, BEGIN = 1 << 16 };

static struct ft_board *b;
static struct ft_written *out;
static int board_fd, arena[2 * RANKS];
static char dir[] = "/tmp/ftrma-test-writer-XXXXXX";

static void make_image(int rank, uint64_t generation)
{
    uint64_t bytes = ft_image_measure(NULL, 0, 0);
    int fd = memfd_create("arena", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(BEGIN + bytes)), 0);
    struct ft_ctl *ctl = mmap(NULL, BEGIN + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(ctl, MAP_FAILED);
    struct ft_image_counters c = {.rank = (uint32_t)rank, .generation = generation};
    ft_image_begin((char *)ctl + BEGIN, VERSION, NULL, 0, 0, &c);
    ctl->magic = FT_CTL_MAGIC;
    ctl->image[1].off = BEGIN;
    ctl->image[1].bytes = bytes;
    ctl->image[1].version = VERSION;
    munmap(ctl, BEGIN + bytes);
    arena[2 * rank] = fd;
    arena[2 * rank + 1] = -1;
}

static int make(void **state)
{
    (void)state;
    out = mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return out == MAP_FAILED || !mkdtemp(dir) ||
           ft_board_create(RANKS, 0, 0, (int)getpid(), &b, &board_fd) != FT_OK;
}

static int end(void **state)
{
    (void)state;
    munmap(b, ft_board_bytes(b->nslots));
    munmap(out, sizeof *out);
    close(board_fd);
    ft_remove_tree(dir);
    return 0;
}

/* Returns the writer's exit status. */
static int write_set(unsigned number, const uint64_t generation[RANKS])
{
    for (int r = 0; r < RANKS; r++)
        make_image(r, generation[r]);
    struct ft_writing w = {.part = FT_WRITES_ALL,
                           .board = b,
                           .dir = dir,
                           .number = number,
                           .request = 1,
                           .version = VERSION,
                           .arena = arena,
                           .m = {.nranks = RANKS},
                           .out = out};
    memset(out, 0, sizeof *out);
    pid_t pid = fork();
    if (pid == 0)
        ft_writer_run(&w);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (int r = 0; r < RANKS; r++)
        close(arena[2 * r]);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void one_checkpoint(void **state)
{
    struct stat st;
    char path[100];
    (void)state;
    assert_int_equal(write_set(1, (uint64_t[]){4, 4, 4}), 0);
    assert_string_equal(out->why, "");
    snprintf(path, sizeof path, "%s/set.1/" FT_MANIFEST_NAME, dir);
    assert_int_equal(stat(path, &st), 0);
}

/* The image of rank `old` is of an earlier attempt at the checkpoint, which was called off. */
static void called_off(void **state)
{
    (void)state;
    for (int old = 0; old < RANKS; old++) {
        char path[100], rank[20];
        struct stat st;
        uint64_t generation[] = {4, 4, 4};
        generation[old] = 3;
        assert_int_not_equal(write_set(2, generation), 0);
        snprintf(rank, sizeof rank, "rank %d ", old);
        assert_non_null(strstr(out->why, rank));
        for (int part = 0; part < 2; part++) {
            ft_set_path(dir, 2, part, path, sizeof path);
            assert_int_not_equal(stat(path, &st), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_checkpoint),
                                       cmocka_unit_test(called_off)};
    return cmocka_run_group_tests(tests, make, end);
}
