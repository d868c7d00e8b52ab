/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filespace.h - takes the memory of a file on a tmpfs before it is used, and gives it back.
 *
 * Before about mid-2024 Linux ended fallocate on a tmpfs with EINTR whenever a signal was pending,
 * and took back all that the call had taken. So a large range is taken in pieces. [A program with a
 * timer of 10 ms, and a range that takes longer: one call would never come to its end.]
 */
#ifndef FT_BASE_FILESPACE_H
#define FT_BASE_FILESPACE_H

#include <stdint.h>

/* Takes memory for [from, to) of the file, however often signals come. Contents that are there
 * stay. Returns how far it got: to, or less with errno (ENOSPC, ...). What it has taken before an
 * error stays taken. */
uint64_t ft_file_take(int fd, uint64_t from, uint64_t to);
/* Gives back the memory of [from, to), which then reads as zeros. Returns 0, or errno. */
int ft_file_give_back(int fd, uint64_t from, uint64_t to);

#endif
