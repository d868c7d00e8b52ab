/* SPDX-License-Identifier: BSD-3-Clause
 *
 * slurm.c - asks scontrol for the hosts of the allocation.
 */
#define _GNU_SOURCE 1
#include "launch/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum ft_status ft_slurm_hosts(char **list, char *err, int errlen)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *names = getenv("SLURM_JOB_NODELIST");
    char line[300];
    size_t size = 0;
    *list = NULL;
    if (!nodes || atoi(nodes) < 2 || !names || !*names)
        return FT_OK;
    FILE *from = popen("scontrol show hostnames \"$SLURM_JOB_NODELIST\"", "re"),
         *to = open_memstream(list, &size);
    while (from && to && fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = '\0';
        fprintf(to, "%s%s", ftell(to) > 0 ? "," : "", line);
    }
    if (to)
        fclose(to);
    int status = from ? pclose(from) : -1;
    if (status == 0 && *list && strchr(*list, ','))
        return FT_OK;
    snprintf(err, (size_t)errlen,
             "this is a Slurm allocation of %s nodes, and 'scontrol show hostnames' does not say "
             "which they are: name them by --host, or ask for one node",
             nodes);
    free(*list);
    *list = NULL;
    return FT_ERR_ARG;
}
