/* SPDX-License-Identifier: BSD-3-Clause
 *
 * words.h - lists of words of which one must be chosen, written "off|puts|all", and suggestions for
 * mistyped words. Nothing is allocated.
 */
#ifndef FT_BASE_WORDS_H
#define FT_BASE_WORDS_H

#include <stddef.h>

/* Returns the index of the word in the list, from 0; -1: it is not there. */
int ft_word_index(const char *list, const char *word);

/* Writes "must be off, puts or all", and "; did you mean puts?" if the word is similar to one of
 * them. */
void ft_word_explain(const char *list, const char *word, char *out, size_t size);

/* Finds the candidate that was probably meant. Begin with the word, then try each candidate;
 * `found` is NULL if none is similar. One slip is a letter inserted, omitted or changed, or two
 * letters swapped. */
struct ft_nearest {
    const char *word;
    int len;
    int slips; /* slips of the nearest so far; at first the largest number that is accepted */
    const char *found;
    int found_len;
};
struct ft_nearest ft_nearest_begin(const char *word, int len);
void ft_nearest_try(struct ft_nearest *n, const char *candidate, int len);

/* Writes what is wrong with an option that getopt_long refused. c is what getopt_long returned:
 * '?', or ':' if its short options begin with that. The option is argv[optind - 1]. If one is
 * similar, the text names the option that was probably meant. */
struct option;
void ft_option_refused(const struct option *options, int c, const char *word, char *out,
                       size_t size);

#endif
