/* SPDX-License-Identifier: BSD-3-Clause
 *
 * life.h - the death of another process, told before the kernel has freed its memory (D1).
 *
 * A pidfd tells it only after that, which takes 10 to 30 ms for each 100 MiB that the process had
 * mapped. Two steps instead. What wakes the watcher is a word in shared memory that a thread of the
 * watched process holds as a robust futex: the kernel marks it before it gives the thread's memory
 * back. What proves the death is that no thread of the process has memory any more.
 */
#ifndef FT_BASE_LIFE_H
#define FT_BASE_LIFE_H

#include <stdatomic.h>
#include <stdint.h>

/* 0: nobody has held it yet. Shared by processes; the holder must have it mapped until it ends. */
typedef _Atomic uint32_t ft_life;

/* The calling thread holds the word until it ends, by whatever. Once in a thread and a process,
 * which must use no robust mutex of the C library's. */
void ft_life_hold(ft_life *w);
/* 1: the thread that held it can run no instruction any more, or ft_life_close was called. */
int ft_life_over(ft_life *w);
/* Returns 1 when that is so; 0 when nobody has held it for a while: then the kernel may have
 * refused to tell. Of several that await one word, one is woken for certain. */
int ft_life_await(ft_life *w);
/* Whoever awaits it is to return: its process was learnt to be dead by other means. */
void ft_life_close(ft_life *w);

/* 1: no thread of process pid, all of which are on their way out of it by one and the same signal
 * or exit (so that none can begin another: ft_life_over of a thread that ends with its process
 * only), can run an instruction of its own any more. 0: not known; also when the process has gone.
 * Does not allocate. */
int ft_proc_threads_ended(int pid);

#endif
