/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mock_homelog.h - a script of actions and a rank that performs them: the tests of the home log
 * write these and read them again.
 */
#ifndef FT_ALOG_MOCK_HOMELOG_H
#define FT_ALOG_MOCK_HOMELOG_H

#include "alog/homelog.h"
#include "base/failpoint.h"
#include "transport/test_job.h"

enum { SLOTS = 5, N = 900, SETUP = 150, EVERY = 97, WINS = 2, TARGETS = 3, NDATA = 3000 };
enum {
    WRITTEN = 0,
    CUT_VERSION,
    OVER,
    IN_RUN,
    PLACE = 4,
    HELD = 20
}; /* words of job.sh; PLACE: three for each of two cuts, and the number of the next action */
#define W(i) job.sh->word[i]

/* --- the script: what is done, the first SETUP of it before the run --- */

struct made {
    enum ft_act_kind kind;
    uint64_t call, off, count, stamp;
    uint32_t win, bytes;
    int where, flags;
};
static struct made script[N];
static int spec_setup,
    spec_end; /* the run begins before the first; all is over before the second */

static void write_script(void)
{
    struct ft_prng r = {job.seed};
    uint64_t call = 1, wild = 7;
    int outcome = 0; /* the call has had one, which ends it */
    for (int i = 0; i < N; i++) {
        struct made m = {.kind = FT_ACT_GET + (enum ft_act_kind)ft_prng_below(&r, 8)};
        uint64_t step = ft_prng_below(&r, 3);
        call += outcome && step == 0 ? 1 : step;
        m.call = call;
        outcome = m.kind == FT_ACT_OUTCOME;
        if (m.kind < FT_ACT_WILD) {
            m.win = 1 + (uint32_t)ft_prng_below(&r, WINS);
            m.where = (int)ft_prng_below(&r, TARGETS + (m.kind == FT_ACT_CLOSE)) -
                      (m.kind == FT_ACT_CLOSE);
        }
        if (m.kind == FT_ACT_WILD) {
            m.where = (int)ft_prng_below(&r, TARGETS);
            m.count = wild++;
        } else if (m.kind != FT_ACT_LOCK && m.kind != FT_ACT_UNLOCK) {
            m.bytes = (uint32_t)ft_prng_below(&r, ft_prng_below(&r, 8) ? 40 : NDATA);
        }
        if (m.kind <= FT_ACT_ATOMIC)
            m.off = ft_prng_below(&r, 1000);
        if (m.kind == FT_ACT_ATOMIC) {
            m.flags = (int)ft_prng_below(&r, 8);
            m.stamp = 1 + ft_prng_below(&r, 100000);
        }
        script[i] = m;
    }
}

static char byte_of(int i, uint32_t k) { return (char)((unsigned)i * 37 + k * 11 + 1); }

static void note_one(int i)
{
    const struct made *m = &script[i];
    ft_calls = m->call;
    struct ft_act *a = ft_homelog_begin(m->kind, m->win, m->where, m->off, m->bytes);
    if (!a)
        return;
    a->count = m->count;
    a->flags = (uint16_t)m->flags;
    atomic_store_explicit(&a->stamp, m->stamp, memory_order_relaxed);
    for (uint32_t k = 0; k < m->bytes; k++)
        a->data[k] = byte_of(i, k);
    ft_homelog_publish(a);
}

static void note_all(int i, int end)
{
    for (; i < end; i++)
        note_one(i);
}

static void save_place(uint64_t version, struct ft_log_place p, int next)
{
    _Atomic uint64_t *w = &W(PLACE + 4 * (version & 1));
    atomic_store(&w[0], p.seq);
    atomic_store(&w[1], p.chunk);
    atomic_store(&w[2], p.pos);
    atomic_store(&w[3], (uint64_t)next);
    atomic_store(&W(CUT_VERSION), version);
}

/* Performs actions [i, spec_end), with cuts at random; each is committed at once, and every other
 * one trimmed. */
static void go_on(int i)
{
    for (; i < spec_end; i++) {
        if (i == spec_setup)
            ft_homelog_segment(FT_SEG_RUN, 1);
        if (i >= spec_setup && i % EVERY == 0) {
            uint64_t version = (uint64_t)(i / EVERY);
            save_place(version, ft_homelog_cut(version), i);
            if (version & 1)
                ft_homelog_trim(version);
        }
        note_one(i);
        atomic_store(&W(WRITTEN), (uint64_t)i + 1);
    }
}

#endif
