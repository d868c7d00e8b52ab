/* SPDX-License-Identifier: BSD-3-Clause
 *
 * part_none.c - what stands for part.c where the host has no partitioned communication: no request
 * has partitions.
 */
#include "mpi/request.h"

#ifndef FT_HOST_HAS_MPI4
void ft_partitioned_start(struct ft_request *q) { (void)q; }
void ft_partitioned_free(struct ft_request *q) { (void)q; }
#endif
