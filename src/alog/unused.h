/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unused.h - memory in the file of a home log that no log has: what processes of this rank that
 * were lost had free, or what a rollback has dropped. The process that carries the rank now finds
 * it by what the logs' chains do not hold, and uses it again. [Each of them takes more after the
 * end: many deaths fill /dev/shm.]
 *
 * Thread rules: main thread only.
 */
#ifndef FT_ALOG_UNUSED_H
#define FT_ALOG_UNUSED_H

#include "alog/log.h"

struct ft_unused {
    uint64_t *used; /* bits, by page; NULL: nothing is known to be unused */
    uint64_t npages;
};
/* [0, end) of the file is mapped at base. All of it is unused but the first page and what is in the
 * logs of these headers. */
void ft_unused_find(struct ft_unused *u, char *base, uint64_t end, const struct ft_log_hdr *hdr,
                    int n);
/* The offset of so many bytes (a multiple of a page), which are in use from here on; 0: there are
 * none. */
uint64_t ft_unused_take(struct ft_unused *u, uint64_t bytes);

#endif
