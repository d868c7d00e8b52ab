/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options_check.c - checks what the command line says, and fills in what it leaves open.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/failpoint.h"
#include "base/units.h"
#include "launch/hosts.h"
#include "launch/options_given.h"
#include "launch/sets.h"
#include "launch/slurm.h"
#include "topology/groups.h"
#include "topology/node_spread.h"
#include "wire/wire_net.h"

/* "--spares many" or "FTRMA_SPARES=many", as the user gave it. */
static const char *origin(const struct ft_options_given *g, enum ft_setting_id id, char *out, size_t size)
{
    if (g->option[id])
        snprintf(out, size, "%s %s", g->option[id], ft_setting_str(id));
    else
        snprintf(out, size, "%s=%s", ft_settings_table[id].env, ft_setting_str(id));
    return out;
}

static void export_number(enum ft_setting_id id, int v)
{
    char text[16];
    snprintf(text, sizeof text, "%d", v);
    setenv(ft_settings_table[id].env, text, 1);
}

/* A job with checkpoints on several nodes: they are coordinated, and groups are spread over the
 * nodes. */
static enum ft_status over_nodes(const struct ft_options_given *g, const char *how, char *err,
                                 int errlen)
{
    char from[300];
    int snapshot;
    if (ft_setting_choice(FT_SET_SNAPSHOT, &snapshot, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (snapshot != FT_SNAPSHOT_BARRIER)
        return BAD("%s with %s: only '--snapshot barrier' crosses nodes yet",
                   origin(g, FT_SET_SNAPSHOT, from, sizeof from), how);
    if (strcmp(ft_setting_str(FT_SET_DEMAND), "off") != 0 &&
        (g->option[FT_SET_DEMAND] || getenv(ft_settings_table[FT_SET_DEMAND].env)))
        return BAD("%s with %s: images of one rank alone do not cross nodes yet; write '--demand off'",
                   origin(g, FT_SET_DEMAND, from, sizeof from), how);
    setenv(ft_settings_table[FT_SET_DEMAND].env, "off", 1);
    return FT_OK;
}

/* In an allocation of several hosts they are the nodes, unless the command line says where processes
 * run. */
static enum ft_status ask_slurm(struct ft_options *o, char *err, int errlen)
{
    static char *list; /* the options point to it */
    if (o->virtual_nodes_text || o->hosts || o->hostfile || o->host_args || o->places)
        return FT_OK;
    free(list);
    if (ft_slurm_hosts(&list, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    o->hosts = list;
    if (list && !o->rsh)
        o->rsh = FT_SLURM_RSH;
    return FT_OK;
}

/* Words for mpirun, which has no part in a job on several hosts: variables are handed on. */
static enum ft_status without_mpirun(struct ft_options *o, char *err, int errlen)
{
    if (o->host_args)
        return BAD("--host-args is for mpirun, which does not start jobs on several hosts: leave it "
                   "out");
    for (int i = 0; i < o->nhanded; i++) {
        if (strcmp(o->handed[i], "-x") != 0)
            return BAD("%s is an option of mpirun, which does not start jobs on several hosts: leave "
                       "it out",
                       o->handed[i]);
        if (++i < o->nhanded && strchr(o->handed[i], '='))
            putenv((char *)o->handed[i]);
    }
    return FT_OK;
}

/* A job on several nodes: what cannot cross yet is refused, or left out where it was not asked for.
 */
static enum ft_status virtual_nodes(struct ft_options *o, const struct ft_options_given *g, int nranks,
                                    int64_t *checksums, int64_t *spares, char *err, int errlen)
{
    char from[300];
    int64_t n;
    int told = strcmp(ft_setting_str(FT_SET_RECOVERY), "program") == 0;
    if (ask_slurm(o, err, errlen) != FT_OK ||
        (!o->virtual_nodes_text && ft_hosts_find(o, err, errlen) != FT_OK))
        return FT_ERR_ARG;
    const char *how = o->virtual_nodes_text ? "--virtual-nodes" : o->hosts ? "--host" : "--hostfile";
    if (!o->virtual_nodes_text && !o->nhosts)
        return o->rsh ? BAD("--rsh is for jobs on several hosts: add --host HOST,HOST") : FT_OK;
    if (o->nhosts && without_mpirun(o, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (o->nhosts)
        n = o->nhosts;
    else if (ft_parse_i64(o->virtual_nodes_text, &n) != FT_OK || n < 1 || n > 64)
        return BAD("--virtual-nodes %s: must be a number of nodes from 1 to 64",
                   o->virtual_nodes_text);
    if (n == 1)
        return FT_OK;
    if (*checksums < 0) /* not asked for */
        *checksums = 0;
    if (n > nranks + *checksums)
        return BAD("%s %s with %d ranks and %d checksum processes: each node carries one of them at "
                   "least",
                   how,
                   !o->nhosts ? o->virtual_nodes_text
                   : o->hosts ? o->hosts
                              : o->hostfile,
                   nranks, (int)*checksums);
    if (*checksums == 0 && *spares > 0 && !told)
        return BAD(
            "%s with %s and without checkpoints: a rank that is lost there goes "
            "back to a checkpoint; write '--spares 0', or add '--checksums C'",
            origin(g, FT_SET_SPARES, from, sizeof from), how);
    if (*checksums == 0 && !told) /* a program that handles losses needs nothing but a process */
        *spares = 0;
    if (!o->nhosts && (o->hosts || o->hostfile || o->host_args || o->host_decides))
        return BAD("--virtual-nodes cuts this machine into nodes: leave out the options that say "
                   "where processes run");
    if (*ft_setting_str(FT_SET_DOMAINS) || *ft_setting_str(FT_SET_AWARE))
        return BAD("%s does not go with --domains and --aware yet: leave them out", how);
    o->virtual_nodes = (int)n;
    return *checksums ? over_nodes(g, how, err, errlen) : FT_OK;
}

/* As many as one failure takes: over nodes, the loss of a node, if the groups survive that. */
static int64_t default_spares(const struct ft_options *o, int64_t ranks, int64_t checksums,
                              int64_t parity)
{
    struct ft_spread_ask a = {.nranks = (int)ranks,
                              .nchecksums = (int)checksums,
                              .parity = (int)parity,
                              .nnodes = o->virtual_nodes};
    if (a.nnodes < 2 || checksums == 0 || ranks > (a.nnodes - 1) * checksums)
        return parity;
    return ft_spread_spares(&a);
}

/* How many processes of each kind. */
static enum ft_status check_counts(struct ft_options *o, struct ft_options_given *g, char *err, int errlen)
{
    int64_t n = 0, k, s, m;
    struct ft_groups groups;
    char from[300], why[200];
    static char saved[16];
    if (!g->ranks && o->restart && ft_sets_ranks(o->restart) > 0) {
        snprintf(saved, sizeof saved, "%d", ft_sets_ranks(o->restart));
        g->ranks = saved;
    }
    if (!g->ranks && o->restart)
        return BAD("--restart %s: there is no set to go on from", o->restart);
    if (!g->ranks)
        return BAD("the number of ranks is missing: ftrun -n N program");
    if (ft_parse_i64(g->ranks, &n) != FT_OK || n < 1 || n > FT_MAX_SLOTS)
        return BAD("-n %s: must be a whole number from 1 to %d", g->ranks, FT_MAX_SLOTS);
    if (ft_setting_i64(FT_SET_PARITY, &m, err, errlen) != FT_OK ||
        ft_setting_i64(FT_SET_CHECKSUMS, &k, err, errlen) != FT_OK ||
        ft_setting_i64(FT_SET_SPARES, &s, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (virtual_nodes(o, g, (int)n, &k, &s, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (k < 0)
        k = ft_default_checksums((int)n, (int)m);
    if (m == 1 && k > n)
        return BAD("%s: more checksum processes than ranks (%d); the default is one for 8 ranks",
                   origin(g, FT_SET_CHECKSUMS, from, sizeof from), (int)n);
    if (s < 0)
        s = default_spares(o, n, k, m);
    if (n + k + s > FT_MAX_SLOTS)
        return BAD("%d ranks, %d checksum processes and %lld spares are together more than %d "
                   "processes: ask for fewer",
                   (int)n, (int)k, (long long)s, FT_MAX_SLOTS);
    if (k > 0 && ft_groups_init(&groups, (int)n, (int)k, (int)m, NULL, why, sizeof why) != FT_OK)
        return BAD("%s: %s",
                   origin(g, g->option[FT_SET_CHECKSUMS] ? FT_SET_CHECKSUMS : FT_SET_PARITY, from,
                          sizeof from),
                   why);
    if (k > 0)
        ft_groups_finish(&groups);
    o->nranks = (int)n;
    o->nchecksums = (int)k;
    o->nspares = (int)s;
    o->parity = (int)m;
    export_number(FT_SET_CHECKSUMS, o->nchecksums);
    export_number(FT_SET_SPARES, o->nspares);
    export_number(FT_SET_PARITY, o->parity);
    if (k == 0) /* nowhere to keep parity */
        setenv(ft_settings_table[FT_SET_CHECKPOINT].env, "off", 1);
    return FT_OK;
}

/* Checks all settings by type and range. --log-limit is a setting whose plain numbers are MiB. */
static enum ft_status check_settings(const struct ft_options_given *g, char *err, int errlen)
{
    char from[300], text[32];
    int64_t bytes;
    if (strcmp(ft_setting_str(FT_SET_SNAPSHOT), "vanilla") == 0)
        return BAD("%s: ftrun does not offer this algorithm, since it gives wrong results for gets",
                   origin(g, FT_SET_SNAPSHOT, from, sizeof from));
    if (g->log_limit) {
        if (ft_parse_bytes(g->log_limit, 1 << 20, &bytes) != FT_OK || bytes < 1)
            return BAD("--log-limit %s: must be " FT_BYTES_EXAMPLES
                       ", above 0 (a number alone is MiB)",
                       g->log_limit);
        snprintf(text, sizeof text, "%lld", (long long)bytes);
        setenv(ft_settings_table[FT_SET_LOG_LIMIT].env, text, 1);
    }
    return ft_settings_check(g->option, err, errlen);
}

/* What needs checkpoints, on several nodes. */
#define WITHOUT_CHECKSUMS \
    "%s needs checkpoints, and a job on several nodes takes them only with --checksums C: add it"

static int lacks_checksums(const struct ft_options *o)
{
    return o->virtual_nodes && o->nchecksums == 0;
}

static enum ft_status check_rehearsal(struct ft_options *o, const struct ft_options_given *g, char *err,
                                      int errlen)
{
    int64_t n;
    if (!g->rehearse)
        return FT_OK;
    if (g->rehearse[strspn(g->rehearse, "0123456789")] || ft_parse_i64(g->rehearse, &n) != FT_OK ||
        n < 1 || n > 1000000)
        return BAD("--rehearse=%s: must be a number of deaths, 1 or more", g->rehearse);
    if (o->nspares == 0 && !g->option[FT_SET_SPARES] && lacks_checksums(o))
        return BAD(WITHOUT_CHECKSUMS, "--rehearse");
    if (o->nspares == 0)
        return BAD(
            "--rehearse with --spares 0: no spare can take the place of a rank that is killed");
    if (*ft_setting_str(FT_SET_INJECT))
        return BAD("--rehearse draws the deaths itself: leave out --inject (FTRMA_INJECT)");
    o->rehearse = (int)n;
    return FT_OK;
}

/* The last comma, as a directory's name may hold one. */
static enum ft_status check_save(struct ft_options *o, char *err, int errlen)
{
    const char *every = o->save ? strstr(o->save, ",every=") : NULL;
    int64_t n = 0;
    o->save_every = 1;
    if (every) {
        const char *k = every + strlen(",every=");
        if (k[strspn(k, "0123456789")] || ft_parse_i64(k, &o->save_every) != FT_OK ||
            o->save_every < 1)
            return BAD("--save %s: every=K must be a number of checkpoints, 1 or more", o->save);
        o->save = strndup(o->save, (size_t)(every - o->save)); /* as long as ftrun */
        if (!o->save || !*o->save)
            return BAD("--save: the directory is missing: --save DIR[,every=K]");
    }
    if (o->restarts_text && (o->restarts_text[strspn(o->restarts_text, "0123456789")] ||
                             ft_parse_i64(o->restarts_text, &n) != FT_OK || n > 1000000))
        return BAD("--restarts %s: must be a number, 0 or more", o->restarts_text);
    o->restarts = (int)n;
    if (o->restarts && !o->save)
        return BAD("--restarts needs --save DIR, which writes what a restart goes on from");
    if (o->mixed && !o->restart && !o->nhosts)
        return BAD("--mixed works only with --restart DIR, and with several hosts");
    if (!o->save && !o->restart)
        return FT_OK;
    const char *option = o->save ? "--save" : "--restart";
    if (o->rehearse)
        return BAD("--rehearse does not go with %s: rehearse without it", option);
    if (lacks_checksums(o))
        return BAD(WITHOUT_CHECKSUMS, option);
    if (strcmp(ft_setting_str(FT_SET_CHECKPOINT), "off") == 0)
        return BAD(
            "%s needs checkpoints: leave out --checkpoint off, --checksums 0 and their settings",
            option);
    return FT_OK;
}

static enum ft_status check_rest(struct ft_options *o, const struct ft_options_given *g, char *err, int errlen)
{
    struct ft_wire_faults faults;
    int on;
    char why[400];
    int64_t v;
    if (check_rehearsal(o, g, err, errlen) != FT_OK || check_save(o, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (ft_fp_check(ft_setting_str(FT_SET_INJECT), o->nranks, o->nchecksums, o->nspares,
                    o->virtual_nodes, why, sizeof why) != FT_OK)
        return BAD("%s: %s",
                   g->option[FT_SET_INJECT] ? "--inject" : ft_settings_table[FT_SET_INJECT].env,
                   why);
    if (!ft_wire_faults_read(ft_setting_str(FT_SET_WIRE_FAULTS), 0, &faults, &on))
        return BAD("%s=%s: must be delay=MS, cut=N, slow=N and from=K, some of them",
                   ft_settings_table[FT_SET_WIRE_FAULTS].env, ft_setting_str(FT_SET_WIRE_FAULTS));
    if (ft_setting_i64(FT_SET_LEASE, &v, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (v > 0 && v < 1000)
        return BAD("%s=%s: must be 0 or from 1000 to 3600000",
                   ft_settings_table[FT_SET_LEASE].env, ft_setting_str(FT_SET_LEASE));
    if (ft_setting_i64(FT_SET_VERBOSE, &v, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    o->verbose = g->verbose > v ? g->verbose : (int)ft_min_u64((uint64_t)v, 2);
    export_number(FT_SET_VERBOSE, o->verbose);
    return FT_OK;
}

enum ft_status ft_options_check(struct ft_options *o, struct ft_options_given *g, char *err,
                                int errlen)
{
    enum ft_status st = check_settings(g, err, errlen);
    if (st == FT_OK)
        st = check_counts(o, g, err, errlen);
    return st == FT_OK ? check_rest(o, g, err, errlen) : st;
}
