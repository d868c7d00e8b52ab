/* SPDX-License-Identifier: BSD-3-Clause
 *
 * words.c - lists of words, and the nearest word (optimal string alignment distance).
 */
#include "base/words.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define WORD_MOST 40 /* letters; longer words are no slips of anything */
#define SLIPS_MOST 4

int ft_word_index(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (int i = 0; *list; i++) {
        size_t n = strcspn(list, "|");
        if (n == len && memcmp(list, word, n) == 0)
            return i;
        list += n + (list[n] == '|');
    }
    return -1;
}

void ft_word_explain(const char *list, const char *word, char *out, size_t size)
{
    struct ft_nearest near = ft_nearest_begin(word, (int)strlen(word));
    size_t used = (size_t)snprintf(out, size, "must be ");
    for (const char *p = list, *next; *p; p = next) {
        int n = (int)strcspn(p, "|");
        next = p + n + (p[n] == '|');
        ft_nearest_try(&near, p, n);
        const char *between = !*next ? "" : strchr(next, '|') ? ", " : " or ";
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "%.*s%s", n, p, between);
    }
    if (near.found && used < size)
        snprintf(out + used, size - used, "; did you mean %.*s?", near.found_len, near.found);
}

static int least(int a, int b) { return a < b ? a : b; }

/* Row i of the table holds the slips between the first i letters of a and the first j of b. */
static int slips(const char *a, int na, const char *b, int nb)
{
    int row[3][WORD_MOST + 1];
    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        const int *before = row[(i + 1) % 3], *up = row[(i + 2) % 3];
        int *now = row[i % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            now[j] = least(least(up[j], now[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

struct ft_nearest ft_nearest_begin(const char *word, int len)
{
    return (struct ft_nearest){
        word, len, len > WORD_MOST ? -1 : least(len < 6 ? len > 1 : len / 3, SLIPS_MOST), NULL, 0};
}

void ft_nearest_try(struct ft_nearest *n, const char *candidate, int len)
{
    if (n->slips < 0 || len > WORD_MOST)
        return;
    int k = slips(n->word, n->len, candidate, len);
    if (k < n->slips || (k == n->slips && !n->found)) {
        n->slips = k;
        n->found = candidate;
        n->found_len = len;
    }
}

void ft_option_refused(const struct option *options, int c, const char *word, char *out,
                       size_t size)
{
    const char *name = word + strspn(word, "-");
    int len = (int)strcspn(word, "="), bare = len - (int)(name - word);
    struct ft_nearest near = ft_nearest_begin(name, bare);
    for (const struct option *o = options; o->name; o++)
        ft_nearest_try(&near, o->name, (int)strlen(o->name));
    if (c == ':')
        snprintf(out, size, "option '%s' needs a value", word);
    else if (near.found && near.slips == 0 && name[bare] == '=')
        snprintf(out, size, "option '%.*s' takes no value", len, word);
    else if (near.found && word[1] == '-')
        snprintf(out, size, "unknown option '%.*s'; did you mean --%s?", len, word, near.found);
    else
        snprintf(out, size, "unknown option '%.*s'", len, word);
}
