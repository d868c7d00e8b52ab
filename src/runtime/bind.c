/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bind.c - binds a rank's main to a core. The kernel may take two ranks that talk all the time for
 * one task that hands work to itself, and keep them on one core for long while another is idle. So
 * the host binds, and so does the library where the host would. Only main is bound: the agent,
 * checksum processes and waiting spares run where there is room. A replacement gets its rank's
 * core.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/rt.h"
#include "runtime/start.h"

/* The first of the processors that share a core with this one. */
static int first_of_core(int cpu)
{
    char path[100], text[32] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 ? atoi(text) : cpu;
}

void ft_rt_bind(const struct ft_rt *rt, int rank)
{
    const char *how = ft_setting_str(FT_SET_BIND);
    int n = rt->board->nranks, found = 0, mine = -1;
    cpu_set_t allowed, one;
    /* auto is what the host does with a job of two. Threads that the program makes run where main
     * does. */
    if (strcmp(how, "core") != 0 && (strcmp(how, "auto") != 0 || n != 2 || rt->host.threads))
        return;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < n; cpu++) {
        int first = CPU_ISSET(cpu, &allowed) ? first_of_core(cpu) : -1;
        if (first < 0 || (first != cpu && CPU_ISSET(first, &allowed)))
            continue;
        if (found++ == rank)
            mine = cpu;
    }
    if (found < n) /* some ranks must share a core */
        return;
    CPU_ZERO(&one);
    CPU_SET(mine, &one);
    sched_setaffinity(0, sizeof one,
                      &one); /* of this thread; if the kernel refuses, nothing is lost */
}
