/* SPDX-License-Identifier: BSD-3-Clause
 *
 * notes.c - see notes.h.
 */
#include "launch/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENT 256 /* notes that are distinguished */

struct note_entry {
    struct ft_note note; /* as the first rank has said it */
    struct ft_bitset ranks;
    uint64_t since_ns;
    int said;
};

struct ft_notes {
    const struct ft_board *b;
    uint32_t *next; /* of each slot */
    struct note_entry *e;
    int n, lines;
    int more, more_said; /* notes that were not printed: too many */
};

enum ft_status ft_notes_create(const struct ft_board *b, struct ft_notes **out)
{
    struct ft_notes *n = calloc(1, sizeof *n);
    if (n) {
        n->next = calloc((size_t)b->nslots, sizeof *n->next);
        n->e = calloc(DIFFERENT, sizeof *n->e);
    }
    if (!n || !n->next || !n->e) {
        ft_notes_destroy(n);
        return FT_ERR_NOMEM;
    }
    n->b = b;
    *out = n;
    return FT_OK;
}

void ft_notes_destroy(struct ft_notes *n)
{
    if (!n)
        return;
    free(n->next);
    free(n->e);
    free(n);
}

static void hear(struct ft_notes *n, const struct ft_note *note, uint32_t who, uint64_t now_ns)
{
    struct note_entry *e = n->e, *end = e + n->n;
    int rank = (int)(who & 0xffffff);
    while (e < end && strcmp(e->note.what, note->what) != 0)
        e++;
    if (e == end) {
        if (n->n == DIFFERENT) {
            n->more++;
            return;
        }
        n->n++;
        *e = (struct note_entry){.note = *note, .since_ns = now_ns};
    }
    if (rank < FT_MAX_SLOTS)
        ft_bit_set(&e->ranks, rank);
}

void ft_ranks_format(const struct ft_bitset *ranks, char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, ft_bitset_count(ranks) == 1 ? "rank" : "ranks");
    for (int r = 0; r < FT_MAX_SLOTS && len < size; r++) {
        int last = r;
        if (!ft_bit_get(ranks, r))
            continue;
        while (last + 1 < FT_MAX_SLOTS && ft_bit_get(ranks, last + 1))
            last++;
        if (size - len < 32) {
            snprintf(out + len, size - len, " ...");
            return;
        }
        len += (size_t)snprintf(out + len, size - len, last > r ? " %d-%d" : " %d", r, last);
        r = last;
    }
}

void ft_notes_step(struct ft_notes *n, uint64_t now_ns, uint64_t wait_ns,
                   void (*say)(void *arg, const char *line), void *arg)
{
    char who[200], text[600], line[640];
    for (int i = 0; i < n->b->nslots; i++) {
        const struct ft_board_slot *s = &n->b->slot[i];
        uint32_t have = atomic_load_explicit(&s->notes, memory_order_acquire);
        for (; n->next[i] < have; n->next[i]++) {
            if (n->next[i] < FT_NOTES)
                hear(n, &s->note[n->next[i]], atomic_load(&s->who), now_ns);
            else
                n->more++;
        }
    }
    for (struct note_entry *e = n->e; e < n->e + n->n; e++) {
        if (e->said || now_ns - e->since_ns < wait_ns)
            continue;
        e->said = 1;
        if (n->lines == FT_NOTES_SAID) {
            n->more++;
            continue;
        }
        n->lines++;
        ft_ranks_format(&e->ranks, who, sizeof who);
        ft_note_format(&e->note, who, text, sizeof text);
        snprintf(line, sizeof line, "note: %s", text);
        say(arg, line);
    }
    if (wait_ns == 0 && n->more > n->more_said) {
        snprintf(line, sizeof line,
                 "note: %d more note%s of this kind; --report has the first %d of each rank",
                 n->more - n->more_said, n->more - n->more_said == 1 ? "" : "s", FT_NOTES);
        n->more_said = n->more;
        say(arg, line);
    }
}
