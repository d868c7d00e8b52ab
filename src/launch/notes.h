/* SPDX-License-Identifier: BSD-3-Clause
 *
 * notes.h - prints what ranks report about their memory (base/note.h) once: equal notes of several
 * ranks become one line that names the ranks.
 */
#ifndef FT_LAUNCH_NOTES_H
#define FT_LAUNCH_NOTES_H

#include "base/board.h"

#define FT_NOTES_SAID 20 /* lines of a job */

struct ft_notes;
enum ft_status ft_notes_create(const struct ft_board *b, struct ft_notes **out);
void ft_notes_destroy(struct ft_notes *n);
/* Looks for new notes on the board, and prints those that were first heard at least `wait_ns` ago,
 * so that other ranks had time for the same note. Later copies of a printed note are dropped. say:
 * prints a line; it gets no newline. */
void ft_notes_step(struct ft_notes *n, uint64_t now_ns, uint64_t wait_ns,
                   void (*say)(void *arg, const char *line), void *arg);
/* "rank 3", "ranks 0-2 5". */
void ft_ranks_format(const struct ft_bitset *ranks, char *out, size_t size);

#endif
