/* SPDX-License-Identifier: BSD-3-Clause
 *
 * domains.h - failure domains: levels of elements, each inside one element of the level above (the
 * paper's FDH, 5), and which process is where (the paper's M). Read from a small text, documented
 * in ftrma-domains(5):
 *
 *   level node in psu    count 1408 fails 0.30142e-2 1.3567       level 1: what a process runs on
 *   level psu  in rack   count  352 fails 1.1836e-4  1.4831       level 2: 4 nodes each
 *   level rack           count   44                               level 3 = nlevels
 *   process per 3                                                 processes 0 1 2 on node0, 3 4 5
 * on node1 ...
 *
 * Levels are counted from 1, as in the paper; 0 stands for "none". The elements of a level are
 * numbered from 0 such that those inside one element of a level above are neighbours:
 *
 *   level 3 (rack)        0               1
 *   level 2 (psu)     0       1       2       3
 *   level 1 (node)   0 1     2 3     4 5     6 7
 *
 * So an element at any level is a run of nodes ("node" is an element of level 1, whatever the file
 * calls it). A placement that is good for runs is good at all levels at once (placement.h).
 */
#ifndef FT_TOPOLOGY_DOMAINS_H
#define FT_TOPOLOGY_DOMAINS_H

#include <stddef.h>

#include "base/status.h"

#define FT_DOMAIN_LEVELS 16 /* at most */
#define FT_DOMAIN_NAME 64   /* bytes, including the zero at the end */

struct ft_domain_level {
    char name[FT_DOMAIN_NAME];
    int count;   /* elements, > 0 */
    int *parent; /* [count], ascending: the element's parent in the level above; NULL at the top */
    char **element; /* [count] names; NULL: the level's name followed by the number */
    /* x of them fail together at a rate of a exp(-b x) a day (the paper's 7.1); a = 0: unknown */
    double fail_a, fail_b;
};

struct ft_domains {
    int nlevels;                                        /* >= 1 */
    struct ft_domain_level level[FT_DOMAIN_LEVELS + 1]; /* [1 .. nlevels] are in use */
    /* What the text says about processes: M. */
    int per_node; /* > 0: process p is on node p / per_node */
    /* else the length of on_node; 0: it says nothing, and processes are placed by their hosts'
     * names */
    int nprocesses;
    int *on_node; /* [nprocesses], -1: not said */
};

/* Parses the text of a file (len bytes; no NUL needed). `name` is for messages. FT_ERR_ARG: err is
 * "name:LINE: what and why" (without LINE if no line is to blame), and *d is unchanged.
 * FT_ERR_NOMEM. */
enum ft_status ft_domains_parse(const char *name, const char *text, size_t len,
                                struct ft_domains *d, char *err, size_t errlen);
/* Makes one level, "node", of hosts in their order: processes with the same number in node, or if
 * that is NULL with the same name, are on the same one. */
enum ft_status ft_domains_discover(const char *const *host, const int *node, int n,
                                   struct ft_domains *d);
void ft_domains_finish(struct ft_domains *d); /* frees */

/* The level's number, or 0. */
int ft_domains_level(const struct ft_domains *d, const char *name);
/* The element of `level` that node is in; level 1 gives node itself. O(levels). */
int ft_domains_at(const struct ft_domains *d, int node, int level);
/* An element's number by its name, or -1. O(count): for few lookups. */
int ft_domains_find(const struct ft_domains *d, int level, const char *element);
/* An element's name, in out. Returns out. */
const char *ft_domains_name(const struct ft_domains *d, int level, int element, char *out,
                            size_t size);
/* The node of process p according to the text; -1: not said, or there are fewer nodes. */
int ft_domains_node_of(const struct ft_domains *d, int p);
/* Distributes n processes over all nodes in runs of equal length, as far as possible: node[p] = p *
 * nodes / n. */
void ft_domains_spread(const struct ft_domains *d, int n, int *node);

#endif
