/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stdin.h - gives ftrun's standard input to rank 0, and to every process that carries rank 0 later,
 * each time from its first byte.
 *
 *   our stdin --read on demand--> kept (in a file without a name) --a feed a slot--> pipe
 *
 * A regular file is not copied, but read again.
 *
 * Rank 0's first process has a feed, and so has each spare from its start, because its main may
 * read before MPI_Init. base/streams.h, struct ft_board_input, says where a slot's pipe is and how
 * much has been written to it; src/runtime/input.c is the other end. At first a pipe holds one
 * piece at a time, a line or a part of one. So a reader that takes all that is there takes no line
 * that the program has not asked for, and what was read in setup can be told from what is read
 * later. [Fortran's library reads 8 KiB ahead, and nobody can ask how much of it the program has
 * had.] Each line costs two process switches, so what follows the first FT_INPUT_BY_LINE bytes
 * comes in large pieces.
 *
 * A separate thread does all this. Nothing is read from a terminal while ftrun is in the
 * background.
 */
#ifndef FT_LAUNCH_STDIN_H
#define FT_LAUNCH_STDIN_H

#include <stddef.h>

#include "base/board.h"

#define FT_STDIN_PIECE 4096
/* How much of data, which begins at byte `at` of standard input, a reader gets at once: at first up
 * to the end of a line. Pure. */
size_t ft_stdin_piece(uint64_t at, const char *data, size_t bytes);

struct ft_stdin;
/* fd: the input; if it is a regular file, it is neither closed nor moved. dir: where the copy is
 * kept, as an unnamed file. FT_ERR_NOMEM; FT_ERR_SYS with errno. */
enum ft_status ft_stdin_create(int fd, const char *dir, struct ft_stdin **out);
/* Makes the pipes, enters them on the board, and begins to feed them. To be called before anything
 * is started, once, and again after each stop. FT_ERR_SYS with errno: the board has none of it. */
enum ft_status ft_stdin_serve(struct ft_stdin *in, struct ft_board *b);
/* Whether the slot, of this board's own node, has a pipe: it may carry rank 0. */
int ft_stdin_may_read(const struct ft_board *b, int slot);
/* The same for n hosts, in the place of ft_stdin_serve: fd[i] is the end from which host i's part is
 * read, in pieces of any size; not to be closed. The keeper there serves its slots from that. */
enum ft_status ft_stdin_serve_far(struct ft_stdin *in, int n, int *fd);
/* The job is over, and another one will be served from the first byte on. in may be NULL. */
void ft_stdin_stop(struct ft_stdin *in);
/* To be called in each child that does not exec. Otherwise no reader would find the end of the
 * input as long as the child lives. in may be NULL. */
void ft_stdin_leave(const struct ft_stdin *in);
void ft_stdin_destroy(struct ft_stdin *in);

#endif
