/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mail_words.h - mails and contributions to votes as lists of numbers. Records hold these lists
 * (runtime/record.h), so a program with smaller sets of slots can read what one with larger sets
 * has written.
 */
#ifndef FT_RECOVER_MAIL_WORDS_H
#define FT_RECOVER_MAIL_WORDS_H

#include "recover/process.h"

#define FT_MAIL_WORDS (32 + 4 * (FT_MAX_SLOTS / 64) + 2 * (8 + 10 * FT_TESTIMONIES)) /* at most */

/* Return how many words there are. */
int ft_mail_to_words(const struct ft_mail *m, int nslots, uint64_t *out);
int ft_agree_data_to_words(const struct ft_agree_data *d, int nslots, uint64_t *out);
/* 0: the words are not those of such a struct, or there are more testimonies than fit here. */
int ft_mail_from_words(struct ft_mail *m, int nslots, const uint64_t *w, int n);
int ft_agree_data_from_words(struct ft_agree_data *d, int nslots, const uint64_t *w, int n);

#endif
