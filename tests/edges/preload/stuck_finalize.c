/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stuck_finalize.c - preloaded below the library: a host finalize that waits for a process that has
 * died.
 */
#include <mpi.h>
#include <unistd.h>

int PMPI_Finalize(void)
{
    for (;;)
        pause();
}
