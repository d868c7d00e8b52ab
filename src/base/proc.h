/* SPDX-License-Identifier: BSD-3-Clause
 *
 * proc.h - what the kernel says about a process, and the clock. Nothing here allocates.
 */
#ifndef FT_BASE_PROC_H
#define FT_BASE_PROC_H

#include "base/base.h"

/* ft_proc_look reads /proc/pid/stat. It returns 1; 0 if the process is gone or a zombie; -1 with
 * errno if it cannot look, for want of descriptors. A process of which only the first thread has
 * ended looks like a zombie, but it lives (D1), and is still the parent of its children. */
struct ft_proc {
    int parent, at_work;        /* at_work: it does not sleep: it runs, is runnable, waits
                                 * for a disk, or was stopped */
    uint64_t start_time, ticks; /* ticks: processor time used by all its threads */
};
int ft_proc_look(int pid, struct ft_proc *p);
/* Returns the signal that killed the process, + FT_CORE_DUMPED if it left a core. 0: it lives, it
 * ended otherwise, or it has been reaped and the kernel no longer tells (before Linux 6.15). fd: a
 * pidfd of it, or -1. */
#define FT_CORE_DUMPED 0x80
int ft_proc_signal(int pid, int fd);
/* Its start time; 0: it is gone or a zombie, or it cannot be looked at. */
uint64_t ft_proc_start_time(int pid);
/* Returns 1 if the process (pid, start_time) is gone or a zombie, 0 if it is not, -1 with errno if
 * that is not known. */
int ft_proc_gone(int pid, uint64_t start_time);
/* Returns a pidfd for (pid, start_time), or -1: the process is gone (errno ESRCH), or no pidfd can
 * be had. */
int ft_proc_pidfd(int pid, uint64_t start_time);
uint64_t ft_now_ns(void);      /* CLOCK_MONOTONIC */
uint64_t ft_boottime_ns(void); /* CLOCK_BOOTTIME: it goes on while the machine sleeps */

#endif
