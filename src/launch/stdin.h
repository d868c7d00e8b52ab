/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stdin.h - ftrun's standard input is given to rank 0, and to whatever process carries rank 0
 * later, each time from its first byte.
 *
 *   our stdin --read on demand--> kept (in a file without a name) --a feed a slot--> pipe
 *
 * A regular file is not copied, but read again where it lies.
 *
 * Rank 0's first process has a feed, and so has each spare from its start, since its main may read
 * before MPI_Init. base/streams.h, struct ft_board_input, says where a slot's pipe is and how much
 * has been written to it; src/runtime/input.c is the other end. At first a pipe holds one piece at
 * a time, a line or a part of one: so a reader that takes all that is there takes no line that the
 * program has not asked for, and what was read in setup can be told from what is read later.
 * [Fortran's library takes 8 KiB ahead, and nobody can ask how much of it the program has had.] A
 * line costs a change of processes each. So what comes after FT_INPUT_BY_LINE bytes comes in large
 * pieces.
 *
 * A thread of its own does all this. Nothing is read from a terminal while ftrun is in the
 * background.
 */
#ifndef FT_LAUNCH_STDIN_H
#define FT_LAUNCH_STDIN_H

#include <stddef.h>

#include "base/board.h"

#define FT_STDIN_PIECE 4096
/* How much of data, which begins at byte `at` of standard input, is given to a reader at once: at
 * first up to a line's end. Pure. */
size_t ft_stdin_piece(uint64_t at, const char *data, size_t bytes);

struct ft_stdin;
/* fd: what is kept and given on; it is neither closed nor moved if it is a regular file. dir: where
 * the rest is kept, as a file without a name. FT_ERR_NOMEM; FT_ERR_SYS with errno. */
enum ft_status ft_stdin_create(int fd, const char *dir, struct ft_stdin **out);
/* Makes the pipes, enters them on the board, and begins to feed them: before anything is started.
 * Once, and again after each stop. FT_ERR_SYS with errno: nothing of it is on the board. */
enum ft_status ft_stdin_serve(struct ft_stdin *in, struct ft_board *b);
/* The job is over, and another one is to be served from the first byte on. in may be NULL. */
void ft_stdin_stop(struct ft_stdin *in);
void ft_stdin_destroy(struct ft_stdin *in);

#endif
