/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fds.h - the library's descriptors, in a process whose program may close all that it does not
 * know.
 *
 * Three things keep them: they have high numbers; the program's close and its like pass over them
 * (runtime/descriptors.c asks ft_fd_is_ours); and the agent has a descriptor table of its own,
 * where the program cannot reach. What the program does in spite of that, by the system call
 * itself, is noticed before a descriptor is used (ft_fd_sound).
 */
#ifndef FT_BASE_FDS_H
#define FT_BASE_FDS_H

#include <stdint.h>

#define FT_FD_MOST 16384 /* descriptors with higher numbers are not known to be ours */

struct ft_fd_file {
    uint64_t dev, ino;
};

/* fd, close-on-exec, is ours from here on: moved to a high number if there is one, which is
 * returned. -1 stays -1. In the agent's table, where nobody else closes anything, it stays as it
 * is. Any thread; not from a signal's handler. */
int ft_fd_keep(int fd);
/* For descriptors of ours, and for any that the calling thread has opened for itself. errno stays.
 */
void ft_fd_close(int fd);
/* 1: a descriptor of the library's in this process, seen from the calling thread. A forked child
 * has none. Async-signal-safe. */
int ft_fd_is_ours(int fd);
int ft_fd_next_of_ours(int from); /* the lowest of these from `from` on; -1: none */

/* The file that fd is; dev and ino are 0 if it is none. */
struct ft_fd_file ft_fd_file_of(int fd);
/* 1: fd is still this file; else, where the agent has it under the same number, it is had from
 * there again. 0: it is lost, or the program has something else under this number. Any thread. */
int ft_fd_sound(int fd, struct ft_fd_file file);

/* The same as open with O_CLOEXEC. When the program has used up all descriptors, one that was put
 * by is given back for it: then there is one, as long as it is closed again soon by ft_fd_close.
 * -1: errno. */
int ft_fd_open(const char *path, int flags);
int ft_fd_short(void);   /* 1: what was put by is in use */
void ft_fd_put_by(void); /* at start */

/* The calling thread has a table of its own from here on, as have the threads that it starts: with
 * the descriptors of `keep` under their numbers, standard error, and no other. 0: the kernel
 * refuses; all stays as it is. Once in a process. */
int ft_fd_own_table(const int *keep, int n);
int ft_fd_table(void); /* the thread whose table that is; 0: there is none */
int ft_fd_in_own_table(void);

#endif
