/* SPDX-License-Identifier: BSD-3-Clause
 *
 * manifest.h - the manifest of a set (F4, ftrma-save(5)): a JSON text, and its contents as a
 * struct. Its last member is a checksum of all others.
 */
#ifndef FT_LAUNCH_MANIFEST_H
#define FT_LAUNCH_MANIFEST_H

#include "base/base.h"
#include "topology/groups.h"

#define FT_MANIFEST_FORMAT 1
#define FT_MANIFEST_NAME "manifest.json"

struct ft_manifest_rank {
    uint64_t bytes, sum[2]; /* of its image: size, and XXH3 (128 bits), low half first */
    uint64_t printed[2];    /* positions on stdout and stderr at the image */
    uint64_t generation;    /* in which it was taken; not in the file */
};

struct ft_manifest {
    uint64_t job, version; /* which checkpoint of which job */
    int nranks, nchecksums, parity, nspares;
    double wtime; /* MPI_Wtime at the commit */
    /* The program with its arguments; the identities of it, of the library and of the processor;
     * NULL: not known. */
    char *program, *program_id, *library_id, *processor;
    char **arguments;               /* NULL-terminated; not read back */
    const struct ft_groups *groups; /* NULL: not known; not read back */
    struct ft_manifest_rank *rank;  /* [nranks] */
};

/* malloc'ed; NULL: no memory. */
char *ft_manifest_print(const struct ft_manifest *m);
/* Returns FT_OK, or `why` says what is wrong with it. */
enum ft_status ft_manifest_parse(const char *text, struct ft_manifest *m, char *why, size_t size);
void ft_manifest_finish(struct ft_manifest *m); /* the result of parse */

#endif
