/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filespace.c - see filespace.h.
 */
#define _GNU_SOURCE
#include "base/filespace.h"

#include <errno.h>
#include <fcntl.h>

#include "base/base.h"

/* As large as a huge page. Pieces end at its multiples, so that no huge page lies in two of them.
 * It takes less than a millisecond, and in such pieces as much time as in one. */
#define PIECE (2ull << 20)

uint64_t ft_file_take(int fd, uint64_t from, uint64_t to)
{
    for (uint64_t piece = PIECE; from < to;) {
        uint64_t end = ft_min_u64(to, (from / piece + 1) * piece);
        if (fallocate(fd, 0, (off_t)from, (off_t)(end - from)) == 0) {
            from = end;
            piece = PIECE;
        } else if (errno == EINTR) {
            /* so that it ends even if signals come faster than such a piece can be had */
            piece = ft_max_u64(piece / 2, ft_page_bytes());
        } else {
            break;
        }
    }
    return from;
}

int ft_file_give_back(int fd, uint64_t from, uint64_t to)
{
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                     (off_t)(to - from)) == 0
               ? 0
               : errno;
}
