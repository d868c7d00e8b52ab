/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hosts.h - which hosts are the nodes of a job: those of --host or --hostfile, if they are several.
 */
#ifndef FT_LAUNCH_HOSTS_H
#define FT_LAUNCH_HOSTS_H

#include "launch/options.h"

/* Sets o->host and o->nhosts, which stays 0 if one host is named: then mpirun starts the processes.
 * A line of the file is "NAME", "NAME:N" or "NAME slots=N"; a name on several lines has as many
 * slots. Only whether all hosts have equally many slots is looked at. FT_ERR_ARG: err says why not.
 */
enum ft_status ft_hosts_find(struct ft_options *o, char *err, int errlen);

#endif
