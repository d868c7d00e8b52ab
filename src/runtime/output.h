/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.h - shows a rank's output once: under ftrun its stdout and stderr are anonymous files of
 * ftrun, and each byte has a logical position in the rank's output, which does not depend on the
 * carrier (base/streams.h, struct ft_board_output). An image holds the count at its cut. A process
 * that restores the image continues from there, and ftrun drops what it has shown before.
 *
 * Main only. Nothing happens to a stream without ftrun, or if the program has redirected it before
 * MPI_Init.
 */
#ifndef FT_RUNTIME_OUTPUT_H
#define FT_RUNTIME_OUTPUT_H

#include <stdint.h>

struct ft_rt;

/* The library's own messages continue to go through mpirun. To be called before there is another
 * thread. */
void ft_output_prepare(struct ft_rt *rt);
/* This process carries a rank from here on: the next byte has position 0. Never fails: a stream
 * that cannot be replaced stays as it is. */
void ft_output_begin(struct ft_rt *rt);
/* Flushes stdio (also Fortran's units) and returns the positions of both streams; 0 for a stream
 * that is not ours. */
void ft_output_mark(uint64_t pos[2]);
/* Flushes stdio; the next byte printed has position pos. If ftrun has fallen far behind, waits for
 * it, at most a second. */
void ft_output_jump(const uint64_t pos[2]);
/* Flushes stdio; the next byte comes after all that the rank's former carriers have printed. */
void ft_output_go_on(struct ft_rt *rt);

#endif
