/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mismatch.h - the words of a divergence (R0): what a replay does, and what the lost process had
 * done according to the records. What no record holds is not mentioned.
 *
 * Each difference is appended to a text of one line: "; tag: now 7, in the lost process 12". Any
 * thread.
 */
#ifndef FT_ALOG_MISMATCH_H
#define FT_ALOG_MISMATCH_H

#include "alog/log.h"

struct ft_mismatch {
    size_t n;
    char text[400]; /* what does not fit is omitted */
};

/* Appends a difference of two numbers, or hashes (in hex); nothing if they are equal. */
void ft_mismatch_number(struct ft_mismatch *b, const char *what, int64_t is, int64_t was);
void ft_mismatch_hash(struct ft_mismatch *b, const char *what, uint64_t is, uint64_t was);
/* Appends a difference of data: the lengths, and up to 8 bytes of both from the first difference
 * on, as a number in the processor's byte order. Nothing if they are equal. A length of 0 stands
 * for "nothing". */
void ft_mismatch_data(struct ft_mismatch *b, const char *what, const void *is, size_t nis,
                      const void *was, size_t nwas);
/* Writes what a record of the home log says: kind, place and contents. out is terminated by 0, and
 * truncated if it does not fit. */
void ft_act_format(char *out, size_t size, const struct ft_act *a);
/* The same for what is done now. bytes < 0: not known. */
void ft_step_words(char *out, size_t size, enum ft_act_kind kind, uint32_t win, int where,
                   uint64_t off, int64_t bytes);

#endif
