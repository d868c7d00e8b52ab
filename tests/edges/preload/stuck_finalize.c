/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stuck_finalize.c - preloaded below the library: the host's finalize as it is when a process that
 * it waits for has died.
 */
#include <mpi.h>
#include <unistd.h>

int PMPI_Finalize(void)
{
    for (;;)
        pause();
}
