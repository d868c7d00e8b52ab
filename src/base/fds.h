/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fds.h - the library's descriptors, in a process whose program may close every descriptor that it
 * does not know.
 *
 * Three things protect them. They have high numbers. The program's close and similar calls pass
 * over them (runtime/descriptors.c asks ft_fd_is_ours). The agent has a descriptor table of its
 * own, where the program cannot reach. If the program closes one nevertheless, by the system call
 * itself, ft_fd_sound notices it before the descriptor is used.
 */
#ifndef FT_BASE_FDS_H
#define FT_BASE_FDS_H

#include <stdint.h>

#define FT_FD_MOST 16384 /* descriptors with higher numbers are never recognized as ours */

struct ft_fd_file {
    uint64_t dev, ino;
};

/* Makes fd a close-on-exec descriptor of the library. Moves it to a high number if one is free, and
 * returns the number. -1 stays -1. In the agent's table, where nobody else closes anything, the
 * number does not change. Any thread; not from a signal handler. */
int ft_fd_keep(int fd);
/* Closes a descriptor of ours, or any that the calling thread has opened for itself. Leaves errno
 * unchanged. */
void ft_fd_close(int fd);
/* Returns 1 for a descriptor of the library in this process, as the calling thread sees it. A
 * forked child has none. Async-signal-safe. */
int ft_fd_is_ours(int fd);
int ft_fd_next_of_ours(int from); /* the lowest descriptor of ours from `from` on; -1: none */

/* Identifies the file of fd; dev and ino are 0 if fd is not open. */
struct ft_fd_file ft_fd_file_of(int fd);
/* Returns 1 if fd is still this file. If it is not, but the agent has the file under the same
 * number, it is taken from there again. 0: it is lost, or the program has another file under this
 * number. Any thread. */
int ft_fd_sound(int fd, struct ft_fd_file file);

/* The same as open with O_CLOEXEC. When the program has used up all descriptors, a reserved one is
 * released for this call. The caller must then close it soon by ft_fd_close. Returns -1 with errno.
 * */
int ft_fd_open(const char *path, int flags);
/* The same for a descriptor of another process, as its thread `task` sees it (0: as its first
 * thread does). EBADF: it is not the file `expected`. */
int ft_fd_open_of(int pid, int task, int theirs, int flags, struct ft_fd_file expected);
int ft_fd_short(void);   /* 1: a reserved descriptor is in use */
void ft_fd_put_by(void); /* reserves descriptors; call it at start */

/* Gives the calling thread, and the threads that it starts from now on, a descriptor table of their
 * own. It holds the descriptors of `keep` under their numbers, standard error, and no others.
 * Returns 0 if the kernel refuses; then nothing changes. Once in a process. */
int ft_fd_own_table(const int *keep, int n);
int ft_fd_table(void); /* the thread that owns that table; 0: there is none */
int ft_fd_in_own_table(void);

#endif
