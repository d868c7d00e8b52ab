/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mail_words.h - mails, and what a process contributes to a vote, as lists of numbers. Records hold
 * them so (runtime/record.h): a program with smaller sets of slots reads what one with larger sets
 * has written.
 */
#ifndef FT_RECOVER_MAIL_WORDS_H
#define FT_RECOVER_MAIL_WORDS_H

#include "recover/process.h"

#define FT_MAIL_WORDS (32 + 4 * (FT_MAX_SLOTS / 64) + 2 * (8 + 10 * FT_TESTIMONIES)) /* at most */

/* Return how many words there are. */
int ft_mail_to_words(const struct ft_mail *m, int nslots, uint64_t *out);
int ft_agree_data_to_words(const struct ft_agree_data *d, int nslots, uint64_t *out);
/* 0: these are not the words of such a thing, or it has more testimonies than fit here. */
int ft_mail_from_words(struct ft_mail *m, int nslots, const uint64_t *w, int n);
int ft_agree_data_from_words(struct ft_agree_data *d, int nslots, const uint64_t *w, int n);

#endif
