/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim.h - a deterministic simulator: processes that run the machines of src/proto and src/recover,
 * FIFO channels with latencies, virtual time, crashes at any step, everything from one seed. A
 * *model* says what a process is and does, *checkers* (files of their own) look at all of it after
 * every step.
 *
 * What can happen next is a *choice*: a message at the head of a channel arrives, a process does
 * something of its own, one dies; with each of the first two, the process may die after a number of
 * its sends. A run is its list of choices, which can be kept, shortened and replayed (history.c).
 *
 * The whole state is bytes without pointers: the world (the model's struct), who lives, and the
 * messages under way, whose bodies are numbers in a pool. So it can be copied, compared and hashed,
 * for the exhaustive search (explore.c).
 *
 *   free   every order of what is possible: sim_choices, sim_do. For small n
 *   timed  what arrives first happens first: sim_step. What processes do of their own they do at
 * times (sim_after). For any n
 *
 * Thread rules: none.
 */
#ifndef FT_SIM_H
#define FT_SIM_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/prng.h"

struct sim_options {
    uint64_t seed;
    int n;        /* processes */
    int crashes;  /* at most */
    int mutant;   /* of the model: 0 none */
    int alg;      /* snapshot: enum ft_snap_alg */
    int ops;      /* snapshot: puts and gets by process */
    int starters; /* snapshot: processes that begin a wave of their own accord; waves one after the
                     other in timed runs */
    int timed;
    int latency;    /* timed: of a channel, 1 to this many ticks */
    int everywhere; /* job: the seed draws where things happen */
    int demand;     /* job: ranks take images alone */
    int property;   /* snapshot: what counts as wrong. 0: what the algorithm promises not to happen,
                       and any crossing; 1: crossings only; 2: overlaps only */
};

enum sim_what { SIM_DELIVER, SIM_DO, SIM_CRASH };
/* Whether it must happen sometime. A run without such choices has come to its end; random runs take
 * SELDOM ones now and then, and end when there are no others. */
enum sim_idle { SIM_MUST, SIM_SELDOM, SIM_MAY };
struct sim_choice {
    uint8_t what;
    uint8_t idle; /* enum sim_idle */
    int16_t cut;  /* >= 0: the process dies after so many sends of this step */
    int32_t p, q; /* DELIVER: to p from q. DO: p does `act` with q. CRASH: p; q != 0 draws what is
                     lost of p's last messages */
    int32_t act;
};
#define SIM_CHOICES 1024
#define SIM_BODY (16 * sizeof(struct ft_bitset) + 1024) /* of a message */
struct sim_choices {
    int n;
    struct sim_choice c[SIM_CHOICES];
};

struct sim_msg {
    uint64_t at, seq; /* timed: arrival and order of sending */
    int32_t from, to;
    uint32_t body, lane; /* lane 1: a timer of `to`, body is act << 20 | q */
};

struct sim;
struct sim_checker {
    const char *name;
    void (*step)(struct sim *s, int p); /* after a step of p; NULL: nothing */
    void (*quiet)(struct sim *s);       /* when nothing more can happen; NULL: nothing */
};
struct sim_model {
    const char *name;
    const char *const *acts;                      /* names of what processes do, NULL at the end */
    const char *const *mutants;                   /* names, from 1 on, NULL at the end */
    const struct sim_checker *const *checkers;    /* NULL at the end */
    size_t (*bytes)(const struct sim_options *o); /* of the world */
    void (*start)(struct sim *s); /* the world is zeroed; everything drawn here, nothing later */
    void (*deliver)(struct sim *s, int p, int from, const void *body, size_t bytes);
    void (*can)(struct sim *s,
                struct sim_choices *out); /* what processes may do; not asked in timed runs */
    void (*act)(struct sim *s, int p, int act, int q);
    void (*crashed)(struct sim *s, int p); /* NULL: nothing */
    void (*say)(const struct sim *s, const void *body, size_t bytes, char *out,
                int size);       /* a message in words */
    int least, most, most_timed; /* processes; most_timed 0: it has no timers */
    const char *const *counted;  /* what tally counts, NULL at the end; NULL: nothing */
    void (*tally)(const struct sim *s, uint64_t *sums);
    const struct sim_places *places; /* NULL: none */
};
#define SIM_TALLIES 8

/* What happened where, over all runs of this program. */
struct sim_places {
    const char *const *what, *const *where; /* names, NULL at the end */
    int (*must)(const struct sim_options *o, int what, int where);
};

struct sim_pool { /* bodies, each once */
    unsigned char *bytes;
    size_t used, cap;
    size_t *at; /* [n + 1] */
    uint32_t n, capn, *table, mask;
};

struct sim {
    struct sim_options o;
    const struct sim_model *m;
    struct ft_prng rng;
    uint64_t now, seq, steps, sent; /* sent: without timers */
    unsigned char *world;
    size_t world_bytes;
    uint8_t *alive;
    int crashes; /* still allowed */
    struct sim_msg
        *msg; /* free: sorted by (from, to), each channel in order. Timed: a heap by (at, seq) */
    int nmsg, capmsg;
    struct {
        int from, to;
        uint64_t ticks;
    } slow[8];
    int nslow;
    struct sim_pool pool;
    int self, cut;              /* during a step; self -1: nobody is inside of its machine */
    char wrong[240];            /* what a checker found, "" so far nothing */
    uint64_t seldom;            /* random: one step in so many is something that need not happen */
    int at_quiet;               /* it was found when nothing more could happen */
    struct sim_choice *history; /* of a free run */
    int nhistory, caphistory;
    int recording, searching;
    uint64_t *happened; /* by what and where; of all runs */
};

extern const struct sim_model sim_model_snapshot, sim_model_agree, sim_model_job, sim_model_demand,
    sim_model_member, sim_model_nodes, sim_model_txn, sim_model_told;
int sim_fits(const struct sim_model *m, const struct sim_options *o); /* 0: not so, which is said */
const struct sim_model *sim_model_by_name(const char *name);

void sim_init(struct sim *s, const struct sim_model *m, const struct sim_options *o);
void sim_finish(struct sim *s);

/* --- for models and checkers --- */
void sim_send(struct sim *s, int from, int to, const void *body,
              size_t bytes); /* may be the step's death of from */
void sim_after(struct sim *s, int p, uint64_t ticks, int act, int q); /* timed: p does act */
void sim_wrong(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline int sim_alive(const struct sim *s, int p) { return s->alive[p]; }
static inline void sim_can(struct sim_choices *out, int p, int act, int q, int idle)
{
    FT_ASSERT(out->n < SIM_CHOICES);
    out->c[out->n++] = (struct sim_choice){
        .what = SIM_DO, .idle = (uint8_t)idle, .cut = -1, .p = p, .q = q, .act = act};
}

uint64_t sim_hash(const void *p, size_t n);

/* --- places.c --- */
void sim_happens(struct sim *s, int what, int where);
/* Prints them; 1: each has come where it must. */
int sim_print_places(const struct sim *s, FILE *out);

/* --- running --- */
int sim_step(struct sim *s); /* timed: the next thing that happens; 0: nothing is left, or something
                                is wrong */
int sim_step_until(struct sim *s, int (*done)(const struct sim *s)); /* 1: it is */
void sim_crash(struct sim *s, int p,
               uint64_t lost); /* lost != 0 draws what is lost of its last messages (free) */
void sim_delay(struct sim *s, int from, int to,
               uint64_t ticks); /* what from sends to to takes so much longer from now on */
int sim_choices(struct sim *s,
                struct sim_choices
                    *out); /* free: all but cuts; returns how many of them must happen sometime */
int sim_do(struct sim *s, const struct sim_choice *c); /* returns the number of sends in the step */
void sim_quiet(struct sim *s);                         /* runs the checkers for the end */
int sim_random(struct sim *s,
               uint64_t max_steps); /* free or timed to the end; 1: nothing is wrong */

/* --- explore.c: every order. Stops at the first that is wrong; its history is in s then, shortest
 * in steps among those tried ---
 */
struct sim_explored {
    uint64_t states, quiet;
    int complete; /* 0: max_states was reached */
};
int sim_explore(struct sim *s, uint64_t max_states,
                struct sim_explored *out); /* 1: nothing is wrong */

/* --- history.c --- */
void sim_shrink(struct sim *s); /* of a run that is wrong; s->history is what is left, and the state
                                   is that after it */
void sim_print_history(struct sim *s, FILE *out); /* a transcript; runs it once more */
/* Runs a transcript: 1, and s is as after it; 0: it cannot be read, which is said. *expected: what
 * it says was wrong (or ""). */
int sim_replay(struct sim *s, FILE *in, char *expected, size_t size);
int sim_parse_mutant(const struct sim_model *m, const char *name); /* -1: unknown */

#endif
