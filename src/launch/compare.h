/* SPDX-License-Identifier: BSD-3-Clause
 *
 * compare.h - is what a run left the same as what several runs without a death, the references,
 * have left? What differs between these already (times, process ids, an order of arrival) is left
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
    uint64_t left_out; /* lines (blocks) that differ between references as well, lines at least in
                          some words */
    uint64_t times;    /* lines that differ in nothing but what looks like a time or a rate */
    char what[400]; /* differs: where, what there is and what there should be; else, with times: the
                       first of them */
};

/* Lines, word by word. Where references have the same lines in another order, or another number of
 * lines, order does not count. */
void ft_compare_text(const struct ft_text *ref, int n, struct ft_text run, struct ft_compared *out);
/* Blocks of a region that differ between references. A rank's are the other ranks' as well: what
 * one of them has there by chance all may have. [Who came first, a word that is the same in some
 * runs.] */
struct ft_varying {
    uint64_t blocks;
    unsigned char *at; /* [blocks], malloc'ed */
};

/* Region i of memory files (base/kept.h); a NULL text is a file that is not there. 0: ref[0] has no
 * region i. First each rank's blocks are or'ed into v, then each is compared. A region of which
 * much varies is left out as a whole. */
int ft_region_varying(const struct ft_text *ref, int n, int i, struct ft_varying *v);
int ft_compare_region(const struct ft_text *ref, int n, struct ft_text run, int i,
                      const struct ft_varying *v, struct ft_compared *out);

#endif
