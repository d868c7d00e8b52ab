/* SPDX-License-Identifier: BSD-3-Clause
 *
 * held.c - see held.h.
 */
#include "launch/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "image/image.h"
#include "launch/children.h"
#include "transport/ctl.h"

void ft_held_begin(struct ft_held *h, int nranks)
{
    size_t bytes = (size_t)nranks * sizeof *h->arena;
    ft_held_end(h);
    h->nranks = nranks;
    h->arena = ft_need(calloc((size_t)nranks, sizeof *h->arena), bytes, "the ranks' arenas");
    for (int r = 0; r < nranks; r++)
        h->arena[r] = (struct ft_arena_of){-1, -1, -1};
}

static void drop(int fd)
{
    if (fd >= 0)
        close(fd);
}

void ft_held_end(struct ft_held *h)
{
    for (int r = 0; h->arena && r < h->nranks; r++) {
        drop(h->arena[r].before);
        drop(h->arena[r].fd);
    }
    free(h->arena);
    h->arena = NULL;
}

/* It begins in a slot of this board that has not ended. */
static int is_here(const struct ft_board *b, int rank)
{
    if (b->nodes.n == 0)
        return 1;
    for (int i = b->near_from; i < b->near_end; i++)
        if (b->slot[i].at_first == FT_WHO(FT_ROLE_RANK, rank))
            return ft_board_slot_end(b, i) == FT_SLOT_THERE;
    return 0;
}

int ft_held_image(int fd, int rank, uint64_t version, struct ft_held_place *at)
{
    __typeof__(((struct ft_ctl *)0)->image) image;
    struct ft_image head;
    if (pread(fd, image, sizeof image, offsetof(struct ft_ctl, image)) != (ssize_t)sizeof image)
        return 0;
    for (int i = 0; i < FT_IMAGES; i++) {
        *at = (struct ft_held_place){i, atomic_load(&image[i].off), atomic_load(&image[i].bytes)};
        if (atomic_load(&image[i].version) == version &&
            pread(fd, &head, sizeof head, (off_t)at->off) == (ssize_t)sizeof head &&
            head.magic == FT_IMAGE_MAGIC && head.version == version && head.bytes == at->bytes &&
            at->bytes >= sizeof head && head.counters.rank == (uint32_t)rank)
            return 1;
    }
    return 0;
}

static int has_image(int fd, int rank, uint64_t version)
{
    struct ft_held_place at;
    return ft_held_image(fd, rank, version, &at);
}

/* The next carrier is here. [q' has taken q's place, has not yet rebuilt its image, and all is
 * lost.] If the carrier before has not got that far either, the earlier arena is kept on. [q' dies
 * in setup, before it publishes the image; so does q''.] Only the arenas tell. [q' has taken q's
 * place and a checkpoint was committed, both since the last look, and then q' dies: it had the
 * image, and q had not.] */
static void next_carrier(struct ft_arena_of *a, int rank, int64_t incarnation, int fd,
                         uint64_t committed)
{
    int keeps = a->before >= 0 && !has_image(a->fd, rank, committed);
    drop(keeps ? a->fd : a->before);
    *a = (struct ft_arena_of){incarnation, fd, keeps ? a->before : a->fd};
}

void ft_held_step(struct ft_held *h, struct ft_board *b)
{
    uint64_t committed = atomic_load(&b->save.committed);
    /* A writer may still have to open an image that is older than the committed one (F3). */
    int saving = atomic_load(&b->save.ready) > atomic_load(&b->save.over);
    for (int i = 0; i < b->nslots; i++) {
        uint32_t who = atomic_load(&b->slot[i].who), r = who & 0xffffff;
        int64_t incarnation = atomic_load(&b->slot[i].incarnation);
        if (who >> 24 != FT_ROLE_RANK || r >= (uint32_t)b->nranks ||
            incarnation < h->arena[r].incarnation)
            continue;
        struct ft_arena_of *a = &h->arena[r];
        if (a->before >= 0 && !saving && has_image(a->fd, (int)r, committed)) {
            drop(a->before);
            a->before = -1;
        }
        errno = 0;
        int fd = incarnation > a->incarnation ? ft_board_open_arena(&b->slot[i], O_RDONLY) : -1;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE))
            atomic_store(&b->save.held, 1); /* never: nobody needs to wait for that */
        if (fd < 0)
            continue;
        next_carrier(a, (int)r, incarnation, fd, committed);
    }
    int all = 1;
    for (int r = 0; r < b->nranks && !atomic_load(&b->save.held); r++)
        all = all && (h->arena[r].fd >= 0 || !is_here(b, r));
    if (all)
        atomic_store(&b->save.held, 1);
}

void ft_held_list(const struct ft_held *h, int *arena)
{
    for (int r = 0; r < h->nranks; r++) {
        arena[2 * r] = h->arena[r].fd;
        arena[2 * r + 1] = h->arena[r].before;
    }
}
