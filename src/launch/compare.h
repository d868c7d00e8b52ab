/* SPDX-License-Identifier: BSD-3-Clause
 *
 * compare.h - compares what a run left with what several runs without a death, the references, have
 * left. What already differs between references (times, process ids, an order of arrival) is left
 * out and counted. Pure: no descriptors, no clock.
 */
#ifndef FT_LAUNCH_COMPARE_H
#define FT_LAUNCH_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#define FT_REFERENCES 8 /* at most */

struct ft_text {
    const char *data;
    size_t len;
};

struct ft_compared {
    int differs;
    /* lines (blocks) that also differ between references; lines that differ in some words count,
     * too */
    uint64_t left_out;
    uint64_t times; /* lines that differ only in what looks like a time or a rate */
    /* differs: where, what there is and what there should be; else, with times: the first such
     * line */
    char what[400];
};

/* Compares lines, word by word. If references have the same lines in another order, or a different
 * number of lines, order does not count. */
void ft_compare_text(const struct ft_text *ref, int n, struct ft_text run, struct ft_compared *out);
/* The blocks of a region that differ between references. A rank's such blocks count for all ranks:
 * what one of them has there by chance all may have. [Who came first, a word that is the same in
 * some runs.] */
struct ft_varying {
    uint64_t blocks;
    unsigned char *at; /* [blocks], malloc'ed */
};

/* Compares region i of memory files (base/kept.h); a NULL text is a missing file. Returns 0 if
 * ref[0] has no region i. First each rank's blocks are or'ed into v, then each is compared. A
 * region in which much varies is left out entirely. */
int ft_region_varying(const struct ft_text *ref, int n, int i, struct ft_varying *v);
int ft_compare_region(const struct ft_text *ref, int n, struct ft_text run, int i,
                      const struct ft_varying *v, struct ft_compared *out);

#endif
