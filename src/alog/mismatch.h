/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mismatch.h - the words of a divergence (R0): what a replay does, and what a record has of the
 * lost process. What no record holds is not said.
 *
 * Each thing that differs is added to a text of one line: "; tag: now 7, in the lost process 12".
 * Any thread.
 */
#ifndef FT_ALOG_MISMATCH_H
#define FT_ALOG_MISMATCH_H

#include "alog/log.h"

struct ft_mismatch {
    size_t n;
    char text[400]; /* what does not fit is left out */
};

/* A number, or a hash (in hex); nothing where they are equal. */
void ft_mismatch_number(struct ft_mismatch *b, const char *what, int64_t is, int64_t was);
void ft_mismatch_hash(struct ft_mismatch *b, const char *what, uint64_t is, uint64_t was);
/* Data: lengths, and from the first byte on that differs up to 8 of both, as a number of the
 * processor's order; nothing where they are equal. A length of 0 stands for "nothing". */
void ft_mismatch_data(struct ft_mismatch *b, const char *what, const void *is, size_t nis,
                      const void *was, size_t nwas);
/* What a record of the home log says was done: kind, place, and what it holds. out: ended by 0, cut
 * where it does not fit. */
void ft_act_format(char *out, size_t size, const struct ft_act *a);
/* The same of what is done now. bytes < 0: not known. */
void ft_step_words(char *out, size_t size, enum ft_act_kind kind, uint32_t win, int where,
                   uint64_t off, int64_t bytes);

#endif
