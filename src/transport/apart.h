/* SPDX-License-Identifier: BSD-3-Clause
 *
 * apart.h - a child that the program forks gets a copy of the memory that MPI_Win_create has
 * shared, as of all other memory of the program.
 *
 * The kernel would leave these pages shared between the two, with all that lies beside a window.
 * pthread_atfork comes too late: after fork both processes run on the same stack until its
 * functions are called, and a window may lie on this stack. So the program's fork is replaced
 * (runtime/fork.c). Its child is left as it is by what forks inside libc (daemon, forkpty).
 */
#ifndef FT_TRANSPORT_APART_H
#define FT_TRANSPORT_APART_H

#include <sys/types.h>

/* Calls libc's fork; the parent goes on when the child has its copy, or is dead. The same result as
 * of fork. -1 and ENOMEM: there is no memory for a copy. Any thread, also in a signal handler. */
pid_t ft_fork_apart(pid_t (*libc_fork)(void));
/* To be called in the child before the program's functions of pthread_atfork: these store, too. */
void ft_fork_child(void);

#endif
