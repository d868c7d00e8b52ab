/* SPDX-License-Identifier: BSD-3-Clause
 *
 * layout.h - how a job lies on its machine. From the user's options (--checksums, --parity,
 * --domains, --aware) and the places of processes it makes groups, and decides what each slot
 * carries at first. ftrun asks before it starts anything, and each process asks when all are there;
 * the same input gives all of them the same result.
 */
#ifndef FT_TOPOLOGY_LAYOUT_H
#define FT_TOPOLOGY_LAYOUT_H

#include "base/failpoint.h"
#include "topology/groups.h"
#include "topology/placement.h"
#include "topology/node_spread.h"

struct ft_job_layout_ask {
    int nranks, nchecksums, parity, nspares; /* nchecksums 0: no groups */
    const char *file,
        *text; /* the domain file's name, for messages, and its text; text NULL: there is no file */
    size_t len;
    const char *aware; /* a level's name, "none", "best"; "": best with a file, else none. Without a
                          file there is one level, "node" */
    /* above 1: nodes are cut for the job (node_spread.h), and their names are only for messages;
     * text NULL, aware "" */
    int nnodes;
};

struct ft_job_layout {
    int nslots;
    int known; /* places of slots were needed and found: domains and node_of are valid */
    struct ft_domains domains;
    int *node_of; /* [nslots] */
    int aware; /* the level that was asked for; 0: none; with "best" the level that was reached */
    struct ft_groups groups;   /* with checksum processes */
    /* with checksum processes, or nodes that are cut; else position p is slot p */
    struct ft_placement place;
};

/* host[nslots]: the host names of slots, NULL if not known; only used for slots that the text does
 * not place. FT_ERR_ARG with why, and *out unchanged; FT_ERR_NOMEM. FT_ERR_AGAIN: no error so far,
 * but a host's name is missing. */
enum ft_status ft_job_layout_make(const struct ft_job_layout_ask *ask, const char *const *host,
                                  struct ft_job_layout *out, char *why, size_t size);
/* The numbers of a job whose nodes are cut for it. */
struct ft_spread_ask ft_job_layout_spread(const struct ft_job_layout_ask *a);
void ft_job_layout_finish(struct ft_job_layout *l); /* frees */
/* What the process of a slot is at first, in a job with this many ranks and checksum processes, and
 * its number among its kind. */
enum ft_role ft_job_layout_role(const struct ft_job_layout *l, int nranks, int nchecksums, int slot,
                                int *index);

#endif
