/* SPDX-License-Identifier: BSD-3-Clause
 *
 * life.h - learning of another process's death before the kernel has freed its memory (D1).
 *
 * A pidfd reports a death only after that, which takes 10 to 30 ms for each 100 MiB that the
 * process had mapped. So there are two faster steps. A thread of the watched process holds a word
 * in shared memory as a robust futex; the kernel marks the word before it gives the thread's memory
 * back, and this wakes the watcher. The proof of death is that no thread of the process has memory
 * any more.
 */
#ifndef FT_BASE_LIFE_H
#define FT_BASE_LIFE_H

#include <stdatomic.h>
#include <stdint.h>

/* 0: no thread has held it yet. The word is shared by processes; its holder must keep it mapped
 * until it ends. */
typedef _Atomic uint32_t ft_life;

/* The calling thread holds the word until it ends, however it ends. Once in a thread, and once in a
 * process. The thread must use no robust mutex of the C library. */
void ft_life_hold(ft_life *w);
/* Returns 1 when the thread that held the word can run no instruction any more, or when
 * ft_life_close was called. */
int ft_life_over(ft_life *w);
/* Waits for that and returns 1. Returns 0 when no thread has held the word for a while: then the
 * kernel may have refused to report. If several threads await one word, one of them is woken for
 * certain. */
int ft_life_await(ft_life *w);
/* Makes ft_life_await return. Called when the death was learnt by other means. */
void ft_life_close(ft_life *w);

/* Returns 1 when no thread of process pid can run an instruction of its own any more. All its
 * threads must be on their way out by one and the same signal or exit, so that none can start
 * another: ft_life_over must be true for a thread that ends only with its process. Returns 0 when
 * that is not known, and also when the process has gone. Does not allocate. */
int ft_proc_threads_ended(int pid);

#endif
