/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpirun.h - finds the host MPI's launcher, and makes its command line and environment. One table
 * has all that differs between versions.
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

/* Finds Open MPI's mpirun on PATH and asks for its version. On an error err says what is wrong and
 * how to get one. */
enum ft_status ft_host_find(struct ft_host_launcher *h, char *err, int errlen);
/* Sets the environment that mpirun runs in. dir: the job's private directory. */
void ft_host_environment(const struct ft_host_launcher *h, const char *dir);
/* The program's LD_PRELOAD: preload, which is libftrma.so, what is beside it and wanted, and the
 * user's own libraries. To be freed. */
char *ft_host_preload(const char *preload);
/* mpirun's argument vector for nprocs processes of o->program, with preload as first preloaded
 * library. To be freed with ft_host_free_arguments. On FT_ERR_ARG (--host-args that cannot be
 * split) err says why. */
enum ft_status ft_host_arguments(const struct ft_host_launcher *h, const struct ft_options *o,
                                 int nprocs, const char *preload, char ***argv, char *err,
                                 int errlen);
void ft_host_free_arguments(char **argv);

/* Whether options for mpirun concern the ranks' output (tags, files). */
int ft_host_handles_output(const struct ft_options *o);
int ft_host_handles_input(const struct ft_options *o); /* whether they concern standard input */

/* Looks for name on PATH as execvp does (a name with a slash is taken directly): an executable
 * file. */
enum ft_status ft_find_program(const char *name, char *path, int size);
/* Finds the libftrma.so that belongs to this ftrun; 0: it is not there, or not readable. */
int ft_find_library(char *out, size_t size);

#endif
