/* SPDX-License-Identifier: BSD-3-Clause
 *
 * proc.h - what the kernel says of a process, and the clock. Nothing here allocates.
 */
#ifndef FT_BASE_PROC_H
#define FT_BASE_PROC_H

#include "base/base.h"

/* What /proc/pid/stat says of a process: 1; 0: it is gone or a zombie; -1 (errno): it cannot be
 * looked at, for want of descriptors. One whose first thread alone has ended looks like a zombie,
 * but lives (D1), and is still the parent of its children. Does not allocate. */
struct ft_proc {
    int parent, at_work;        /* at_work: it runs, wants to, or waits for a disk */
    uint64_t start_time, ticks; /* ticks: processor time used, of all its threads */
};
int ft_proc_look(int pid, struct ft_proc *p);
/* The signal that it died of, + FT_CORE_DUMPED; 0: it lives, ended otherwise, or has been reaped
 * and the kernel does not tell any more (before Linux 6.15). fd: a pidfd of it, or -1. Does not
 * allocate. */
#define FT_CORE_DUMPED 0x80
int ft_proc_signal(int pid, int fd);
/* Its start time, 0: as above, or it cannot be looked at. */
uint64_t ft_proc_start_time(int pid);
/* 1: the process (pid, start_time) has gone, or is a zombie; 0: it has not; -1 (errno): not known.
 */
int ft_proc_gone(int pid, uint64_t start_time);
/* A pidfd for (pid, start_time), or -1: the process is gone (errno ESRCH) or pidfds are not to be
 * had. */
int ft_proc_pidfd(int pid, uint64_t start_time);
uint64_t ft_now_ns(void); /* CLOCK_MONOTONIC */

#endif
