/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_model.h - what a model is, and its options: what a process of the simulator is and does.
 */
#ifndef FT_SIM_MODEL_H
#define FT_SIM_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

struct sim_options {
    uint64_t seed;
    int n;       /* processes */
    int crashes; /* at most */
    int mutant;  /* of the model; 0: none */
    int alg;     /* snapshot, job: enum ft_snap_alg */
    int ops;     /* snapshot: puts and gets of each process */
    /* snapshot: the number of processes that begin a wave of their own accord; in timed runs and
     * with --property sets, the number of waves, one after another */
    int starters;
    int timed;
    int latency;    /* timed: a channel's is drawn from 1 to this many ticks */
    int everywhere; /* job: the seed draws where things happen */
    int demand;     /* job: ranks take images alone */
    int deviations; /* exhaustive: 0: every order; 1 + K: explore.c, at most K deviations */
    /* snapshot: what counts as wrong. 0: what the algorithm promises not to happen, and any
     * crossing; 1: crossings only; 2: overlaps only; 3: as 0, and image sets are counted */
    int property;
};

enum sim_what { SIM_DELIVER, SIM_DO, SIM_CRASH };
/* MUST: it must happen sometime. A run without such choices has come to its end. Random runs take
 * SELDOM ones now and then. They end when there are no others. */
enum sim_idle { SIM_MUST, SIM_SELDOM, SIM_MAY };
struct sim_choice {
    uint8_t what;
    uint8_t idle; /* enum sim_idle */
    int16_t cut;  /* >= 0: the process dies after this many sends of this step */
    /* DELIVER: to p from q. DO: p does `act` with q. CRASH: p; q != 0 draws what is lost of p's
     * last messages */
    int32_t p, q;
    int32_t act;
};
#define SIM_CHOICES 1024
struct sim_choices {
    int n;
    struct sim_choice c[SIM_CHOICES];
};
static inline void sim_can(struct sim_choices *out, int p, int act, int q, int idle)
{
    FT_ASSERT(out->n < SIM_CHOICES);
    out->c[out->n++] = (struct sim_choice){
        .what = SIM_DO, .idle = (uint8_t)idle, .cut = -1, .p = p, .q = q, .act = act};
}

struct sim;
struct sim_checker {
    const char *name;
    void (*step)(struct sim *s, int p); /* after a step of p; NULL: nothing */
    void (*quiet)(struct sim *s);       /* when nothing more can happen; NULL: nothing */
};

/* What happened where, over all runs of this program. */
struct sim_places {
    const char *const *what, *const *where; /* names, NULL at the end */
    int (*must)(const struct sim_options *o, int what, int where);
};

struct sim_model {
    const char *name;
    const char *const *acts;                      /* names of what processes do, NULL at the end */
    const char *const *mutants;                   /* names, from 1 on, NULL at the end */
    const struct sim_checker *const *checkers;    /* NULL at the end */
    size_t (*bytes)(const struct sim_options *o); /* of the world */
    void (*start)(struct sim *s); /* the world is zeroed; everything drawn here, nothing later */
    void (*deliver)(struct sim *s, int p, int from, const void *body, size_t bytes);
    /* What processes may do. Not asked in timed runs. */
    void (*can)(struct sim *s, struct sim_choices *out);
    void (*act)(struct sim *s, int p, int act, int q);
    void (*crashed)(struct sim *s, int p); /* NULL: nothing */
    /* A message in words. */
    void (*say)(const struct sim *s, const void *body, size_t bytes, char *out, int size);
    int least, most, most_timed; /* processes; most_timed 0: it has no timers */
    const char *const *counted;  /* what tally counts, NULL at the end; NULL: nothing */
    void (*tally)(const struct sim *s, uint64_t *sums);
    const struct sim_places *places; /* NULL: none */
};
#define SIM_TALLIES 8

extern const struct sim_model sim_model_snapshot, sim_model_agree, sim_model_job, sim_model_demand,
    sim_model_member, sim_model_nodes, sim_model_txn, sim_model_told;
const struct sim_model *sim_model_by_name(const char *name);
int sim_fits(const struct sim_model *m, const struct sim_options *o); /* 0: not so, which is said */
int sim_parse_mutant(const struct sim_model *m, const char *name);    /* -1: unknown */

#endif
