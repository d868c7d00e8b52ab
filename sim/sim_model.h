/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_model.h - what a model is: what its processes are and do, and its options.
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
    int crashes; /* most crashes */
    int mutant;  /* which mutant of the model; 0: none */
    int alg;     /* snapshot, job: enum ft_snap_alg */
    int ops;     /* snapshot: how many puts and gets each process makes */
    /* snapshot: how many processes begin a wave by themselves; in timed runs and with --property
     * sets: how many waves there are, one after another */
    int starters;
    int timed;
    int latency;    /* timed: the latency of a channel is drawn from 1 to this many ticks */
    int everywhere; /* job: the seed draws where things happen */
    int demand;     /* job: ranks take images alone */
    int deviations; /* exhaustive: 0: every order; 1 + K: at most K deviations (explore.c) */
    /* snapshot: what counts as wrong. 0: any crossing, and what else the algorithm rules out; 1:
     * only crossings; 2: only overlaps; 3: as 0, and sets of images are counted */
    int property;
};

enum sim_what { SIM_DELIVER, SIM_DO, SIM_CRASH };
/* MUST: it has to happen at some time. A run is over when no such choice is left. Random runs take
 * a SELDOM choice now and then, and end when no others are left. */
enum sim_idle { SIM_MUST, SIM_SELDOM, SIM_MAY };
struct sim_choice {
    uint8_t what;
    uint8_t idle; /* enum sim_idle */
    int16_t cut;  /* >= 0: the process dies after this many sends of the step */
    /* DELIVER: to p from q. DO: p does `act` with q. CRASH: p dies; q != 0 draws which of its last
     * messages are lost. */
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

/* Counts of what has happened where, over all runs of this program. */
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
    void (*start)(struct sim *s); /* the world is all 0; whatever is drawn is drawn here */
    void (*deliver)(struct sim *s, int p, int from, const void *body, size_t bytes);
    /* What processes may do next. Timed runs do not ask. */
    void (*can)(struct sim *s, struct sim_choices *out);
    void (*act)(struct sim *s, int p, int act, int q);
    void (*crashed)(struct sim *s, int p); /* NULL: nothing */
    /* A message in words. */
    void (*say)(const struct sim *s, const void *body, size_t bytes, char *out, int size);
    int least, most, most_timed; /* processes; most_timed 0: it has no timers */
    const char *const
        *counted; /* names of what tally counts, NULL at the end; NULL: it counts nothing */
    void (*tally)(const struct sim *s, uint64_t *sums);
    const struct sim_places *places; /* NULL: none */
};
#define SIM_TALLIES 8

extern const struct sim_model sim_model_snapshot, sim_model_agree, sim_model_job, sim_model_demand,
    sim_model_member, sim_model_nodes, sim_model_txn, sim_model_txn_far, sim_model_told;
const struct sim_model *sim_model_by_name(const char *name);
int sim_fits(const struct sim_model *m,
             const struct sim_options *o); /* 0: they do not fit, and this prints why */
int sim_parse_mutant(const struct sim_model *m, const char *name); /* -1: unknown */

#endif
