/* SPDX-License-Identifier: BSD-3-Clause
 *
 * host.c - finds the host's own functions, which follow ours in symbol lookup.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/mpi_internal.h"

void *ft_host_symbol(const char *name)
{
    void *fn = dlsym(RTLD_NEXT, name);
    if (!fn) {
        fprintf(stderr,
                "ftrma: Open MPI has no %s. Load libftrma before the library of Open MPI: by "
                "LD_PRELOAD, or linked before -lmpi\n",
                name);
        exit(2);
    }
    return fn;
}
