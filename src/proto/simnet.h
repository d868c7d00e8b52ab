/* SPDX-License-Identifier: BSD-3-Clause
 *
 * simnet.h - the network of the protocol tests: a FIFO channel for each ordered pair of slots, reliable while both live. The
 * tests choose what happens next from a seed, which is printed when a run fails and taken back from FTRMA_TEST_SEED.
 */
#ifndef FT_PROTO_SIMNET_H
#define FT_PROTO_SIMNET_H

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/prng.h"

#define SIM_MAX 9

struct sim_msg {
    struct sim_msg *next;
    int proto; /* which machine it is for: the test's own numbering */
    _Alignas(max_align_t) unsigned char body[];
};

struct simnet {
    int n;
    int alive[SIM_MAX];
    struct sim_msg *head[SIM_MAX][SIM_MAX], **tail[SIM_MAX][SIM_MAX];
    long sent;
};

static inline void simnet_init(struct simnet *net, int n)
{
    memset(net, 0, sizeof *net);
    net->n = n;
    for (int i = 0; i < n; i++) {
        net->alive[i] = 1;
        for (int j = 0; j < n; j++)
            net->tail[i][j] = &net->head[i][j];
    }
}

static inline void simnet_send(struct simnet *net, int from, int to, int proto, const void *body, size_t bytes)
{
    struct sim_msg *m = malloc(sizeof *m + bytes);
    FT_ASSERT(m);
    m->next = NULL;
    m->proto = proto;
    memcpy(m->body, body, bytes);
    *net->tail[from][to] = m;
    net->tail[from][to] = &m->next;
    net->sent++;
}

/* Takes the oldest message of a channel; the caller frees it. NULL: empty. */
static inline struct sim_msg *simnet_take(struct simnet *net, int from, int to)
{
    struct sim_msg *m = net->head[from][to];
    if (!m)
        return NULL;
    net->head[from][to] = m->next;
    if (!m->next)
        net->tail[from][to] = &net->head[from][to];
    return m;
}

/* Fail-stop. What the dead had sent arrives up to some point of each channel. */
static inline void simnet_crash(struct simnet *net, int slot, struct ft_prng *rng)
{
    net->alive[slot] = 0;
    for (int j = 0; j < net->n; j++) {
        struct sim_msg **p = &net->head[slot][j], *m;
        while (*p && ft_prng_below(rng, 8) != 0)
            p = &(*p)->next;
        net->tail[slot][j] = p;
        while ((m = *p)) {
            *p = m->next;
            free(m);
        }
        while ((m = simnet_take(net, j, slot)))
            free(m);
    }
}

static inline void simnet_finish(struct simnet *net)
{
    for (int i = 0; i < net->n; i++)
        for (int j = 0; j < net->n; j++)
            for (struct sim_msg *m; (m = simnet_take(net, i, j));)
                free(m);
}

/* The run under way, for those that end in an assertion of the code under test. */
static uint64_t sim_current;
static inline void sim_on_abort(int sig)
{
    dprintf(2, "FTRMA_TEST_SEED=%" PRIu64 ": aborted\n", sim_current);
    signal(sig, SIG_DFL);
}

/* The seed of a test: FTRMA_TEST_SEED, or fixed, so that a test that passed passes again. *given: run this one alone. */
static inline uint64_t sim_seed(uint64_t otherwise, int *given)
{
    const char *s = getenv("FTRMA_TEST_SEED");
    signal(SIGABRT, sim_on_abort);
    *given = s && *s;
    return *given ? strtoull(s, NULL, 0) : otherwise;
}

#endif
