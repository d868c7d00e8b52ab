/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim.h - a deterministic simulator. It has processes that run the machines of src/proto and
 * src/recover, FIFO channels with latencies, virtual time, and crashes at any step, all from one
 * seed. A *model* says what a process is and does. *Checkers* (files of their own) look at
 * everything after each step.
 *
 * What can happen next is a *choice*: a message at the head of a channel arrives, a process does
 * something by itself, or a process dies. In the first two, the process may also die after some of
 * its sends. A run is its list of choices, which can be kept, shortened and replayed (history.c).
 *
 * All state is bytes without pointers: the world (the model's struct), who lives, and the messages
 * under way, whose bodies are numbers in a pool. So it can be copied, compared and hashed, as the
 * exhaustive search needs it (explore.c). sim_model.h says what a model is, sim_run.h how it is
 * run.
 *
 *   free   everything that is possible may come next: sim_choices, sim_do. For small n.
 *   timed  what arrives first happens first: sim_step. Processes act by themselves at set times
 *          (sim_after). For any n.
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
#include "sim_model.h"

#define SIM_BODY (16 * sizeof(struct ft_bitset) + 1024) /* most bytes of a message */

struct sim_msg {
    uint64_t at, seq; /* timed: when it arrives; the order in which messages were sent */
    int32_t from, to;
    uint32_t body, lane; /* lane 1: a timer of `to`, body is act << 20 | q */
};

struct sim_pool { /* each body is in it once */
    unsigned char *bytes;
    size_t used, cap;
    size_t *at; /* [n + 1] */
    uint32_t n, capn, *table, mask;
};

struct sim {
    struct sim_options o;
    const struct sim_model *m;
    struct ft_prng rng;
    uint64_t now, seq, steps, sent; /* sent: messages, without timers */
    unsigned char *world;
    size_t world_bytes;
    uint8_t *alive;
    int crashes;         /* how many are still allowed */
    struct sim_msg *msg; /* free: sorted by (from, to), and each channel in its order. Timed: a heap
                            by (at, seq). */
    int nmsg, capmsg;
    struct {
        int from, to;
        uint64_t ticks;
    } slow[8];
    int nslow;
    struct sim_pool pool;
    int self, cut;              /* of the step under way; self -1: no machine is running */
    char wrong[240];            /* what a checker has found; "": nothing so far */
    uint64_t seldom;            /* random: one in this many steps is one that need not happen */
    int at_quiet;               /* `wrong` was found when nothing more could happen */
    struct sim_choice *history; /* of a free run */
    int nhistory, caphistory;
    int recording, searching;
    uint64_t *happened; /* counts by what and where, over all runs */
};

/* --- for models and checkers --- */
/* `from` may die in this call, and then its step ends here. */
void sim_send(struct sim *s, int from, int to, const void *body, size_t bytes);
void sim_after(struct sim *s, int p, uint64_t ticks, int act, int q); /* timed: later, p does act */
/* p dies. In free runs, lost != 0 draws which of its last messages are lost. */
void sim_crash(struct sim *s, int p, uint64_t lost);
void sim_wrong(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline int sim_alive(const struct sim *s, int p) { return s->alive[p]; }

uint64_t sim_hash(const void *p, size_t n);

/* places.c: counts what happened where. */
void sim_happens(struct sim *s, int what, int where);

#endif
