/* SPDX-License-Identifier: BSD-3-Clause
 *
 * start.h - how a process joins the job: the carriers at start, and the host's descriptors.
 */
#ifndef FT_RUNTIME_START_H
#define FT_RUNTIME_START_H

#include "runtime/rt.h"

/* job_layout.c: finds out on which nodes slots are. Fills layout and where. Returns FT_OK;
 * otherwise `why` says what is impossible. */
enum ft_status ft_rt_place(struct ft_rt *rt, int parity, char *why, size_t size);
/* How long a wait for a process at start has taken, and how many had come by then. All 0 at first.
 */
struct ft_arrival {
    uint64_t ns;
    int arrived;
};
/* One step of a wait for a slot at start, when no agent watches anybody yet. Returns 0 if its
 * process is gone. Ends the job if the wait lasts too long. */
int ft_rt_await_start(struct ft_rt *rt, int slot, struct ft_arrival *w);
int ft_rt_first_slot(const struct ft_rt *rt,
                     int pos);                     /* the slot that carries a position at first */
void ft_rt_bind(const struct ft_rt *rt, int rank); /* bind.c: binds main of this rank to its core */
void ft_rt_role(const struct ft_rt *rt, int slot, enum ft_role *role,
                int *index); /* the role of a slot at first */

/* hostfds.c: called before the host's MPI_Init, after it, and in MPI_Finalize. Returns 0 if the
 * program has closed some of the host's descriptors. */
void ft_host_fds_before(void);
void ft_host_fds_note(void);
int ft_host_fds_intact(void);

#endif
