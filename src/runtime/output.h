/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.h - what a rank prints is shown once: under ftrun its stdout and stderr are anonymous
 * files of ftrun's, and each byte has a logical position in what the rank prints, which does not
 * depend on who carries it (base/streams.h, struct ft_board_output). The count as of the cut is in
 * the image; whoever restores it goes on from there, and ftrun drops what it has shown before.
 *
 * Main only. Without ftrun, or when the program has redirected a stream before MPI_Init, nothing
 * happens to that stream.
 */
#ifndef FT_RUNTIME_OUTPUT_H
#define FT_RUNTIME_OUTPUT_H

#include <stdint.h>

struct ft_rt;

/* The library's own words keep their way through mpirun. Before there is another thread. */
void ft_output_prepare(struct ft_rt *rt);
/* This process carries a rank from here on: position 0 of it is the next byte. Never fails: a
 * stream that cannot be had stays as it is. */
void ft_output_begin(struct ft_rt *rt);
/* Flushes stdio (Fortran's units too) and gives the positions of both streams; 0 for one that is
 * not ours. */
void ft_output_mark(uint64_t pos[2]);
/* Flushes stdio; the next byte printed has position pos. Waits for ftrun, a second at the most, if
 * it has fallen far behind. */
void ft_output_jump(const uint64_t pos[2]);

#endif
