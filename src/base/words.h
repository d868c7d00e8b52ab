/* SPDX-License-Identifier: BSD-3-Clause
 *
 * words.h - lists of words of which one must be chosen, written "off|puts|all", and the word that
 * was probably meant. Nothing is allocated.
 */
#ifndef FT_BASE_WORDS_H
#define FT_BASE_WORDS_H

#include <stddef.h>

/* The place of the word in the list, from 0; -1: it is not there. */
int ft_word_index(const char *list, const char *word);

/* "must be off, puts or all", and "; did you mean puts?" if the word is near to one of them. */
void ft_word_explain(const char *list, const char *word, char *out, size_t size);

/* Looks for the candidate that was probably meant: begin with the word, try each candidate; `found`
 * is NULL if none is near. A slip is a letter that was put in, left out or changed, or two that
 * were swapped. */
struct ft_nearest {
    const char *word;
    int len;
    int slips; /* of the nearest so far; at first the most that may be */
    const char *found;
    int found_len;
};
struct ft_nearest ft_nearest_begin(const char *word, int len);
void ft_nearest_try(struct ft_nearest *n, const char *candidate, int len);

/* What is wrong with a word that getopt_long refused: c is what it returned ('?' or, if its short
 * options begin with ':', that), and the word is argv[optind - 1]. The option that was probably
 * meant is named, if there is one. */
struct option;
void ft_option_refused(const struct option *options, int c, const char *word, char *out,
                       size_t size);

#endif
