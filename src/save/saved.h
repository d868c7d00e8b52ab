/* SPDX-License-Identifier: BSD-3-Clause
 *
 * saved.h - the file of one rank's image in a set (F4, ftrma-save(5)):
 *
 *   struct ft_saved_head | the image (image/image.h) | struct ft_saved_tail
 *
 * The contents of a file are trusted only if its checksums are right. Any thread; does not use the
 * heap.
 */
#ifndef FT_SAVE_SAVED_H
#define FT_SAVE_SAVED_H

#include <stdio.h>

#include "base/base.h"

#define FT_SAVED_MAGIC 0x31676d69616d7466ull /* "ftmaimg1" */
#define FT_SAVED_FORMAT 1u

struct ft_saved_head {
    uint64_t magic;
    uint32_t format, nranks, rank;
    uint32_t layout;       /* of the image: sizeof(struct ft_image) of the build that wrote it */
    uint64_t job, version; /* which checkpoint of which job */
    uint64_t bytes;        /* of the image */
    uint64_t sum;          /* XXH3 (64 bits) of all that precedes it */
    uint64_t more;         /* 0 */
};
_Static_assert(sizeof(struct ft_saved_head) == FT_CACHE_LINE, "the image is aligned in its file");

struct ft_saved_tail {
    uint64_t low, high; /* XXH3 (128 bits) of the image */
};

/* The name of a rank's file in its set. */
static inline int ft_saved_name(int rank, char *out, size_t size)
{
    return snprintf(out, size, "rank.%d", rank);
}

/* Writes a file from begin to end, without syncing it to the disk. head: its sum is computed here.
 * piece: called from time to time with the number of bytes written (may be NULL). FT_ERR_SYS with
 * errno. */
enum ft_status ft_saved_write(int fd, struct ft_saved_head *head, const void *image,
                              struct ft_saved_tail *tail, void (*piece)(void *arg, uint64_t done),
                              void *arg);
/* Reads the head from the file's begin. Returns FT_OK, or `why` says what is wrong. */
enum ft_status ft_saved_begin(int fd, struct ft_saved_head *head, char *why, size_t size);
/* Then reads the image to `image` (room for head->bytes; NULL: it is only checked), and verifies
 * it. */
enum ft_status ft_saved_image(int fd, const struct ft_saved_head *head, void *image,
                              struct ft_saved_tail *tail, char *why, size_t size);

#endif
