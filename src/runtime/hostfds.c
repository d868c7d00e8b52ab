/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hostfds.c - the host's own descriptors, which it has opened in its MPI_Init. A program that
 * closes all descriptors that it does not know closes these as well. Nothing uses them before
 * MPI_Finalize, but there the host would wait for ever, so its finalize is left out then.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/private.h"
#include "runtime/rt.h"
#include "runtime/start.h"

#define MOST 1024 /* of each kind */

static int before[MOST], nbefore; /* open when MPI_Init was entered */
static struct {
    int fd;
    struct ft_fd_file file;
} * host;
static int nhost;

static int list(int *fds)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    for (struct dirent *e; d && n < MOST && (e = readdir(d));) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && fd != dirfd(d))
            fds[n++] = fd;
    }
    if (d)
        closedir(d);
    return n;
}

static int was_open(int fd)
{
    for (int i = 0; i < nbefore; i++)
        if (before[i] == fd)
            return 1;
    return 0;
}

void ft_host_fds_before(void) { nbefore = list(before); }

void ft_host_fds_note(void)
{
    static int now[MOST];
    int n = list(now);
    host = ft_private_alloc(MOST * sizeof *host);
    for (int i = 0; host && i < n; i++) {
        if (was_open(now[i]))
            continue;
        host[nhost].fd = now[i];
        host[nhost++].file = ft_fd_file_of(now[i]);
    }
}

int ft_host_fds_intact(void)
{
    for (int i = 0; i < nhost; i++) {
        struct ft_fd_file now = ft_fd_file_of(host[i].fd);
        if (now.ino != host[i].file.ino || now.dev != host[i].file.dev)
            return 0;
    }
    return 1;
}
