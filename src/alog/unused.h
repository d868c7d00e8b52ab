/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unused.h - memory in the file of a home log that no log holds: free chunks of lost processes of
 * this rank, and what a rollback has dropped. The rank's present carrier finds it as the complement
 * of the logs' chains, and uses it again. [Each of them takes more after the end: many deaths fill
 * /dev/shm.]
 *
 * Thread rules: main thread only.
 */
#ifndef FT_ALOG_UNUSED_H
#define FT_ALOG_UNUSED_H

#include "alog/log.h"

struct ft_unused {
    uint64_t *used; /* one bit for each page; NULL: nothing is known to be unused */
    uint64_t npages;
};
/* [0, end) of the file is mapped at base. Marks all of it as unused, except for the first page and
 * what belongs to the logs of these headers. */
void ft_unused_find(struct ft_unused *u, char *base, uint64_t end, const struct ft_log_hdr *hdr,
                    int n);
/* Takes `bytes` (a multiple of a page) and returns their offset; 0: there is no such room. */
uint64_t ft_unused_take(struct ft_unused *u, uint64_t bytes);

#endif
