/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log_read.h - reads a log, in the writer's or another process.
 */
#ifndef FT_ALOG_LOG_READ_H
#define FT_ALOG_LOG_READ_H

#include "alog/log.h"

/* base: address of offset 0 of the memory that holds the chunks. */
struct ft_log_reader {
    char *base;
    struct ft_log_chunk *chunk;
    char *pos;
    uint64_t seq;
};
/* Begins at a place, or (place.chunk 0) at the header's oldest chunk. Returns 0 if there is nothing
 * yet: ask again later. */
int ft_log_read_from(struct ft_log_reader *r, char *base, const struct ft_log_hdr *hdr,
                     struct ft_log_place place);
/* Passes and returns the next action; NULL: there is none yet. */
struct ft_act *ft_log_read(struct ft_log_reader *r);
/* Where the reader is. */
struct ft_log_place ft_log_reader_place(const struct ft_log_reader *r);
/* A new writer continues where a reader has found the end of a former writer's log. The chunks from
 * the header's oldest on belong to the new writer from here on. `base` + offset is a chunk's
 * address for the new writer. */
void ft_log_resume(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, char *base,
                   const struct ft_log_reader *end);

#endif
