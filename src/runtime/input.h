/* SPDX-License-Identifier: BSD-3-Clause
 *
 * input.h - rank 0's standard input is a pipe that ftrun feeds from its first byte
 * (launch/stdin.h), in whatever process carries rank 0. So setup, repeated, reads what it had read.
 * What is read inside FTRMA_Run's body cannot be read again: a process goes back to an image, but
 * not its input. So an image says how much had been read, and whoever restores it must have read as
 * much, or the job is lost.
 *
 * Only a descriptor 0 that is still what mpirun gave to the slot's first process is replaced: a
 * wrapper's or the program's own redirection stays. Without ftrun nothing happens. Main only.
 */
#ifndef FT_RUNTIME_INPUT_H
#define FT_RUNTIME_INPUT_H

#include "base/board.h"

struct ft_rt;

/* mpirun's first process in this slot, before main: what may carry rank 0 reads from the pipe, a
 * spare too. */
void ft_input_loaded(const struct ft_board *b, int slot);
/* This process carries a rank from here on. A spare that has read, and is not rank 0, says so. */
void ft_input_begin(struct ft_rt *rt);
/* For an image: how many bytes of standard input the program has taken. Says so, once in a job,
 * when it is more than before body. */
uint64_t ft_input_mark(struct ft_rt *rt);
/* An image is restored that stood at this byte. Ends the job if this process stands elsewhere. */
void ft_input_check(struct ft_rt *rt, uint64_t at);

#endif
