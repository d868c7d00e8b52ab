/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_held.c - which arenas of a rank's carriers stay open, in whichever order carriers came and
 * checkpoints were committed. q, q', q'' ... are the carriers of rank 0, in slots 0, 1, 2 ...
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "image/image.h"
#include "launch/held.h"
#include "transport/ctl.h"

#define SLOTS 5
#define NONE (-1)
#define HEADS sizeof(struct ft_ctl) /* where the images begin */
#define BYTES (HEADS + FT_IMAGES * sizeof(struct ft_image))

static struct ft_board *b;
static int board_fd;
static struct ft_held h;
static struct ft_ctl *ctl[SLOTS]; /* of arenas that have the heads of their images alone */

static void make_arena(int slot)
{
    struct ft_board_slot *s = &b->slot[slot];
    int fd = memfd_create("arena", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)BYTES), 0);
    ctl[slot] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(ctl[slot], MAP_FAILED);
    s->arena_file = ft_fd_file_of(fd);
    s->arena_fd = fd;
    s->pid = (int32_t)getpid();
}

static struct ft_image *image_in(int slot, int i)
{
    return (struct ft_image *)((char *)ctl[slot] + HEADS) + i;
}

static int make(void **state)
{
    (void)state;
    if (ft_board_create(1, 0, SLOTS - 1, 0, &b, &board_fd) != FT_OK)
        return -1;
    for (int i = 0; i < SLOTS; i++)
        make_arena(i);
    ft_held_begin(&h, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ft_held_end(&h);
    for (int i = 0; i < SLOTS; i++) {
        munmap(ctl[i], BYTES);
        close(b->slot[i].arena_fd);
    }
    munmap(b, ft_board_bytes(b->nslots));
    return close(board_fd);
}

/* The process in this slot takes the rank over. */
static void takes_over(int slot)
{
    b->slot[slot].who = FT_WHO(FT_ROLE_RANK, 0);
    b->slot[slot].incarnation = (uint32_t)slot;
}

/* It publishes its image of this version. */
static void publishes(int slot, uint64_t version)
{
    int i = (int)(version % FT_IMAGES);
    *image_in(slot, i) = (struct ft_image){
        .magic = FT_IMAGE_MAGIC, .version = version, .bytes = sizeof(struct ft_image)};
    ctl[slot]->image[i].off = HEADS + (uint64_t)i * sizeof(struct ft_image);
    ctl[slot]->image[i].bytes = sizeof(struct ft_image);
    ctl[slot]->image[i].version = version;
}

/* After a look the arenas in these slots are open: the present carrier's, and an earlier one's. */
static void look(int present, int earlier)
{
    int expected[2] = {present, earlier}, held[2];
    ft_held_step(&h, b);
    ft_held_list(&h, held);
    for (int i = 0; i < 2; i++) {
        if (expected[i] == NONE) {
            assert_int_equal(held[i], -1);
            continue;
        }
        assert_true(held[i] >= 0);
        assert_int_equal(ft_fd_file_of(held[i]).ino, b->slot[expected[i]].arena_file.ino);
    }
}

/* q has the image of checkpoint 1, which is committed. */
static void begin(void)
{
    takes_over(0);
    publishes(0, 1);
    b->save.committed = 1;
    look(0, NONE);
}

static void an_arena_stays_until_the_next_has_the_image(void **state)
{
    (void)state;
    begin();
    takes_over(1);
    look(1, 0);
    publishes(1, 1);
    look(1, NONE);
    assert_int_equal(b->save.held, 1);
}

static void lost_again_in_setup(void **state)
{
    (void)state;
    begin();
    takes_over(1);
    look(1, 0);
    takes_over(2);
    look(2, 0);
    takes_over(3);
    look(3, 0);
    publishes(3, 1);
    takes_over(4);
    look(4, 3);
}

/* Between two looks a carrier came, and a checkpoint was committed. */
static void a_commit_after_a_replacement(void **state)
{
    (void)state;
    begin();
    takes_over(1);
    publishes(1, 1);
    publishes(1, 2);
    b->save.committed = 2;
    look(1, 0);
    takes_over(2);
    look(2, 1);
    takes_over(3);
    look(3, 1);
}

static void a_commit_after_a_second_replacement(void **state)
{
    (void)state;
    begin();
    takes_over(1);
    look(1, 0);
    takes_over(2);
    publishes(2, 1);
    publishes(2, 2);
    b->save.committed = 2;
    ft_held_step(&h, b); /* neither q nor q' has it */
    takes_over(3);
    look(3, 2);
}

static void a_commit_before_a_replacement(void **state)
{
    (void)state;
    begin();
    publishes(0, 2);
    b->save.committed = 2;
    takes_over(1);
    look(1, 0);
    publishes(1, 2);
    publishes(1, 3);
    b->save.committed = 3;
    takes_over(2);
    look(2, 1);
}

/* [The look had read which checkpoint was committed, then came both.] */
static void a_commit_that_is_seen_later(void **state)
{
    (void)state;
    begin();
    publishes(0, 2);
    takes_over(1);
    look(1, 0);
    b->save.committed = 2;
    look(1, 0);
    publishes(1, 2);
    look(1, NONE);
}

/* One place says that it is the image, and another one that it is not. */
static void what_is_no_image(void **state)
{
    (void)state;
    begin();
    takes_over(1);
    look(1, 0);
    publishes(1, 1);
    image_in(1, 1)->magic = 0; /* the arena stands in for a process of another node */
    look(1, 0);
    publishes(1, 1);
    image_in(1, 1)->version = 5;
    look(1, 0);
    publishes(1, 1);
    ctl[1]->image[1].version = 0; /* it is being written over */
    look(1, 0);
    publishes(1, 1);
    image_in(1, 1)->counters.rank = 1;
    look(1, 0);
    publishes(1, 1);
    ctl[1]->image[1].off = BYTES;
    look(1, 0);
    publishes(1, 1);
    look(1, NONE);
}

/* The writer has still to open the image of checkpoint 1, and q' has only the next one. */
static void a_set_is_being_written(void **state)
{
    (void)state;
    begin();
    publishes(0, 2);
    b->save.asked = b->save.ready = 1;
    b->save.committed = 2;
    takes_over(1);
    publishes(1, 2);
    look(1, 0);
    look(1, 0);
    b->save.over = 1;
    look(1, NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_arena_stays_until_the_next_has_the_image, make, end),
        cmocka_unit_test_setup_teardown(lost_again_in_setup, make, end),
        cmocka_unit_test_setup_teardown(a_commit_after_a_replacement, make, end),
        cmocka_unit_test_setup_teardown(a_commit_after_a_second_replacement, make, end),
        cmocka_unit_test_setup_teardown(a_commit_before_a_replacement, make, end),
        cmocka_unit_test_setup_teardown(a_commit_that_is_seen_later, make, end),
        cmocka_unit_test_setup_teardown(what_is_no_image, make, end),
        cmocka_unit_test_setup_teardown(a_set_is_being_written, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
