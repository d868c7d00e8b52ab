/* SPDX-License-Identifier: BSD-3-Clause
 *
 * note.h - what a rank has to report about its program's memory: something changes and is not
 * protected. A note lies on the board, so that ftrun can print it once for all ranks.
 */
#ifndef FT_BASE_NOTE_H
#define FT_BASE_NOTE_H

#include <stdint.h>

#define FT_NOTES 24 /* of one slot */
#define FT_NOTE_TEXT 160

/* Value type. Ranks that say the same have equal texts; addresses may differ. */
struct ft_note {
    char what[FT_NOTE_TEXT]; /* "'u' (80 KB, heat.c)" */
    char args[FT_NOTE_TEXT]; /* of FTRMA_Protect: "u, sizeof u"; empty: it has no name */
    uint64_t at;             /* its address; 0: `what` says enough */
};

/* Writes "rank 0: 'u' (80 KB, heat.c) changes in body and is not protected: ..." without a newline;
 * `who` is "rank 0" or "ranks 0-3". Returns the length that was written. */
int ft_note_format(const struct ft_note *n, const char *who, char *out, int size);

#endif
