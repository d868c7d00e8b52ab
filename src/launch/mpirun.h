/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpirun.h - the host MPI's launcher: finding it, and what it has to be told. All that differs
 * between versions is in one table.
 */
#ifndef FT_LAUNCH_MPIRUN_H
#define FT_LAUNCH_MPIRUN_H

#include <limits.h>

#include "launch/options.h"

#define FT_HASH_SEED "PYTHONHASHSEED" /* 0 unless the user has set it */

struct ft_host_launcher {
    char path[PATH_MAX];
    int major; /* version of Open MPI */
};

/* Finds Open MPI's mpirun on PATH and asks for its version; on an error err says what is wrong and
 * how to get one. */
enum ft_status ft_host_find(struct ft_host_launcher *h, char *err, int errlen);
/* Sets the environment that mpirun runs in. dir: the job's private directory. */
void ft_host_environment(const struct ft_host_launcher *h, const char *dir);
/* mpirun's argument vector for nprocs processes of o->program with preload as first preloaded
 * library. Free with ft_host_free_arguments. On FT_ERR_ARG (--host-args that cannot be split) err
 * says why. */
enum ft_status ft_host_arguments(const struct ft_host_launcher *h, const struct ft_options *o,
                                 int nprocs, const char *preload, char ***argv, char *err,
                                 int errlen);
void ft_host_free_arguments(char **argv);

/* Whether options for mpirun ask it to do something about what the ranks print (to tag it, to put
 * it into files). */
int ft_host_handles_output(const struct ft_options *o);
int ft_host_handles_input(const struct ft_options *o); /* about who reads standard input */

/* Looks for name on PATH as execvp would (or takes it as it is when it has a slash): a file that
 * may be executed. */
enum ft_status ft_find_program(const char *name, char *path, int size);
/* The libftrma.so that belongs to this ftrun; 0: it is not there, or cannot be read. */
int ft_find_library(char *out, size_t size);

#endif
