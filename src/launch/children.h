/* SPDX-License-Identifier: BSD-3-Clause
 *
 * children.h - starting mpirun, and power over everything that it started: as child subreaper ftrun
 * remains the ancestor of every process of the job, whatever dies in between.
 */
#ifndef FT_LAUNCH_CHILDREN_H
#define FT_LAUNCH_CHILDREN_H

#include <sys/types.h>

/* Call once, before anything is started. 0, or -1 with errno. */
int ft_children_adopt(void);
/* Starts argv in a session of its own (so that Ctrl-C reaches ftrun alone), without address
 * randomisation, its stderr into a pipe whose reading end is *err_fd. Returns its pid, or -1 with
 * errno. *randomised = 1 when the kernel refuses to switch randomisation off. */
pid_t ft_children_start(char **argv, int *err_fd, int *randomised);
/* Sends sig to all descendants except `except` (0: none); returns how many there are. Zombies do
 * not count. */
int ft_children_signal(int sig, pid_t except);
/* Kills all descendants, new ones too, and reaps them. Returns how many refuse to die (a process
 * stuck in the kernel), else 0. */
int ft_children_kill_all(void);
/* Removes a directory and all in it. */
void ft_remove_tree(const char *dir);

/* Ends this process by the signal: whoever waits for it sees what ended it, as of any program. */
void ft_end_by(int sig);
/* Descriptors 0 to 2 are open: one of ours must never be what everybody writes to. 0: they are
 * not. */
int ft_have_standard_streams(void);

#endif
