/* SPDX-License-Identifier: BSD-3-Clause
 *
 * input.h - rank 0's standard input is a pipe that ftrun feeds from the first byte (launch/stdin.h)
 * in every process that carries rank 0. So setup, when it is repeated, reads what it had read. What
 * is read inside FTRMA_Run's body cannot be read again: a process goes back to an image, but its
 * input does not. So an image records how much had been read, and a process that restores it must
 * have read as much, or the job is lost.
 *
 * Only a descriptor 0 that is still what mpirun gave to the slot's first process is replaced; a
 * redirection by a wrapper or the program stays. Without ftrun nothing happens. Main only.
 */
#ifndef FT_RUNTIME_INPUT_H
#define FT_RUNTIME_INPUT_H

#include "base/board.h"

struct ft_rt;

/* Called in mpirun's first process of this slot, before main: a process that may carry rank 0, also
 * a spare, reads from the pipe. */
void ft_input_loaded(const struct ft_board *b, int slot);
/* This process carries a rank from here on. A spare that has read, and is not rank 0, reports
 * it. */
void ft_input_begin(struct ft_rt *rt);
/* For an image: returns how many bytes of standard input the program has taken. If that is more
 * than before body, it reports so, once in a job. */
uint64_t ft_input_mark(struct ft_rt *rt);
/* An image is restored that was taken at this byte. Ends the job if this process is at another
 * one. */
void ft_input_check(struct ft_rt *rt, uint64_t at);

#endif
