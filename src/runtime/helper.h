/* SPDX-License-Identifier: BSD-3-Clause
 *
 * helper.h - threads of the library's own in the program's process.
 */
#ifndef FT_RUNTIME_HELPER_H
#define FT_RUNTIME_HELPER_H

/* Starts a detached thread, with all signals blocked. Returns 0, or an error number. The C library
 * takes memory from the heap for a thread, and gives what it had of one that has ended to the next
 * one, which may be the program's (runtime/heap.c). Any thread. */
int ft_helper_start(void *(*body)(void *), void *arg);

#endif
