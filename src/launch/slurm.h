/* SPDX-License-Identifier: BSD-3-Clause
 *
 * slurm.h - the hosts of a Slurm allocation (salloc, sbatch).
 */
#ifndef FT_LAUNCH_SLURM_H
#define FT_LAUNCH_SLURM_H

#include "base/status.h"

/* What runs a command on a host of the allocation, whose name follows it. A step of its own for each
 * host: the loss of one ends no other. */
#define FT_SLURM_RSH                                                                      \
    "srun -N1 -n1 --overlap --no-kill --kill-on-bad-exit=0 --wait=0 --mpi=none --mem=0 " \
    "--cpu-bind=none -Q -u -w"

/* Sets *list to "a,b,c" when ftrun runs in an allocation of several hosts, else to NULL; the caller
 * frees it. FT_ERR_ARG: scontrol does not say which hosts they are; err says so. */
enum ft_status ft_slurm_hosts(char **list, char *err, int errlen);

#endif
