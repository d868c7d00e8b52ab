/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log_read.h - reading a log, in the writer's or another process.
 */
#ifndef FT_ALOG_LOG_READ_H
#define FT_ALOG_LOG_READ_H

#include "alog/log.h"

/* base: address of offset 0 of the memory that chunks
 * lie in. */
struct ft_log_reader {
    char *base;
    struct ft_log_chunk *chunk;
    char *pos;
    uint64_t seq;
};
/* From a place on, or (place.chunk 0) from the header's oldest. 0: there is nothing yet (ask again
 * later). */
int ft_log_read_from(struct ft_log_reader *r, char *base, const struct ft_log_hdr *hdr,
                     struct ft_log_place place);
/* The next action that is there, passing it; NULL: none. */
struct ft_act *ft_log_read(struct ft_log_reader *r);
/* Where the reader is. */
struct ft_log_place ft_log_reader_place(const struct ft_log_reader *r);
/* A new writer goes on where a reader has found the end of what a former one wrote; the chunks from
 * the header's oldest on are its own from here on. `at`: address of a chunk's offset for the new
 * writer is base + offset. */
void ft_log_resume(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, char *base,
                   const struct ft_log_reader *end);

#endif
