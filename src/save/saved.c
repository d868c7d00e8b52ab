/* SPDX-License-Identifier: BSD-3-Clause
 *
 * saved.c - see saved.h.
 */
#include "save/saved.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* the library is preloaded: it brings no other library and no names with it */
#define XXH_INLINE_ALL
#include <xxhash.h>

#define PIECE (1ull << 20)

static uint64_t sum_of(const struct ft_saved_head *h)
{
    return XXH3_64bits(h, offsetof(struct ft_saved_head, sum));
}

static enum ft_status write_all(int fd, const void *data, uint64_t bytes)
{
    const char *p = data;
    while (bytes) {
        ssize_t n = write(fd, p, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return FT_ERR_SYS;
        }
        p += n;
        bytes -= (uint64_t)n;
    }
    return FT_OK;
}

/* Reads as many bytes as asked for, or as there are. -1 with errno. */
static ssize_t read_all(int fd, void *data, uint64_t bytes)
{
    uint64_t have = 0;
    while (have < bytes) {
        ssize_t n = read(fd, (char *)data + have, bytes - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (uint64_t)n;
    }
    return (ssize_t)have;
}

enum ft_status ft_saved_write(int fd, struct ft_saved_head *head, const void *image,
                              struct ft_saved_tail *tail, void (*piece)(void *arg, uint64_t done),
                              void *arg)
{
    XXH3_state_t state;
    head->sum = sum_of(head);
    enum ft_status st = write_all(fd, head, sizeof *head);
    XXH3_128bits_reset(&state);
    for (uint64_t at = 0; st == FT_OK && at < head->bytes; at += PIECE) {
        uint64_t n = ft_min_u64(PIECE, head->bytes - at);
        XXH3_128bits_update(&state, (const char *)image + at, n);
        st = write_all(fd, (const char *)image + at, n);
        if (piece && st == FT_OK)
            piece(arg, at + n);
    }
    XXH128_hash_t sum = XXH3_128bits_digest(&state);
    *tail = (struct ft_saved_tail){.low = sum.low64, .high = sum.high64};
    return st == FT_OK ? write_all(fd, tail, sizeof *tail) : st;
}

enum ft_status ft_saved_begin(int fd, struct ft_saved_head *head, char *why, size_t size)
{
    struct stat sb;
    *head = (struct ft_saved_head){0};
    ssize_t n = read_all(fd, head, sizeof *head);
    uint64_t all = sizeof *head + sizeof(struct ft_saved_tail) + head->bytes;
    if (n < 0 || fstat(fd, &sb) != 0)
        snprintf(why, size, "it cannot be read: %s", strerror(errno));
    else if (n < (ssize_t)sizeof *head)
        snprintf(why, size, "it is cut off");
    else if (head->magic != FT_SAVED_MAGIC)
        snprintf(why, size, "it is no image of ftrma");
    else if (head->format != FT_SAVED_FORMAT)
        snprintf(why, size, "its format is %u, and this ftrma reads format %u",
                 (unsigned)head->format, FT_SAVED_FORMAT);
    else if (head->sum != sum_of(head))
        snprintf(why, size, "its head is damaged");
    else if ((uint64_t)sb.st_size != all)
        snprintf(why, size, "it has %llu bytes instead of %llu", (unsigned long long)sb.st_size,
                 (unsigned long long)all);
    else
        return FT_OK;
    return FT_ERR_ARG;
}

enum ft_status ft_saved_image(int fd, const struct ft_saved_head *head, void *image,
                              struct ft_saved_tail *tail, char *why, size_t size)
{
    char room[64 << 10];
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (uint64_t at = 0, n; at < head->bytes; at += n) {
        n = ft_min_u64(image ? PIECE : sizeof room, head->bytes - at);
        char *to = image ? (char *)image + at : room;
        ssize_t k = read_all(fd, to, n);
        if (k < 0 || (uint64_t)k < n) {
            snprintf(why, size, "%s", k < 0 ? strerror(errno) : "it is cut off");
            return FT_ERR_SYS;
        }
        XXH3_128bits_update(&state, to, n);
    }
    XXH128_hash_t sum = XXH3_128bits_digest(&state);
    if (read_all(fd, tail, sizeof *tail) != (ssize_t)sizeof *tail)
        snprintf(why, size, "it is cut off");
    else if (tail->low != sum.low64 || tail->high != sum.high64)
        snprintf(why, size, "its contents are damaged (the checksum is wrong)");
    else
        return FT_OK;
    return FT_ERR_ARG;
}
