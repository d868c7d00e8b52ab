/* SPDX-License-Identifier: BSD-3-Clause
 *
 * notes.h - what ranks say about their memory (base/note.h), said once: equal notes of several
 * ranks become one line that names the ranks.
 */
#ifndef FT_LAUNCH_NOTES_H
#define FT_LAUNCH_NOTES_H

#include "base/board.h"

#define FT_NOTES_SAID 20 /* lines of a job */

struct ft_notes;
enum ft_status ft_notes_create(const struct ft_board *b, struct ft_notes **out);
void ft_notes_destroy(struct ft_notes *n);
/* Looks what is new on the board. Says what was heard of `wait_ns` ago or earlier, so that other
 * ranks had time to say the same; what comes later of a note that was said is dropped. say: a line
 * without a newline. */
void ft_notes_step(struct ft_notes *n, uint64_t now_ns, uint64_t wait_ns,
                   void (*say)(void *arg, const char *line), void *arg);
/* "rank 3", "ranks 0-2 5". */
void ft_ranks_format(const struct ft_bitset *ranks, char *out, size_t size);

#endif
