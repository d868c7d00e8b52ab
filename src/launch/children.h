/* SPDX-License-Identifier: BSD-3-Clause
 *
 * children.h - starts mpirun, and controls everything that it started. As child subreaper ftrun
 * remains the ancestor of every process of the job, whichever process dies in between.
 */
#ifndef FT_LAUNCH_CHILDREN_H
#define FT_LAUNCH_CHILDREN_H

#include <signal.h>
#include <sys/types.h>

/* Blocks every signal that would end this process, and SIGCHLD and SIGTSTP, so that its loop takes
 * them from the descriptor that is returned and ends in order; *mask: these. SIGHUP stays
 * ignored if it was (nohup). Signals of a failed write are ignored, since the write reports the
 * error itself. -1 with errno. */
int ft_take_over_signals(sigset_t *mask);
/* Call once, before anything is started. 0, or -1 with errno. */
int ft_children_adopt(void);
/* Starts argv in a session of its own (so that Ctrl-C reaches only ftrun), without address
 * randomisation; its stderr is a pipe whose reading end is *err_fd. Returns its pid, or -1 with
 * errno. *randomised = 1 if the kernel refuses to switch randomisation off. */
pid_t ft_children_start(char **argv, int *err_fd, int *randomised);
/* Sends sig to all descendants except `except` (0: none); returns how many there are. Zombies do
 * not count. */
int ft_children_signal(int sig, pid_t except);
/* Ctrl-Z: all descendants stop, and continue with this process. */
void ft_children_pause(void);
/* Kills all descendants, also new ones, and reaps them. Returns how many do not die (they are stuck
 * in the kernel), else 0. */
int ft_children_kill_all(void);
/* Removes a directory and everything in it. */
void ft_remove_tree(const char *dir);

/* Ends this process by the signal, so that its parent sees what ended it, as for any program. */
void ft_end_by(int sig);
/* Opens descriptors 0 to 2 if they are closed, so that none of ours becomes a standard stream. 0:
 * that failed. */
int ft_have_standard_streams(void);

#endif
