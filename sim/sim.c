/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim.c - processes, channels, time, and steps.
 */
#include "sim_run.h"

#include <stdarg.h>

static const struct sim_model *const models[] = {
    &sim_model_snapshot, &sim_model_agree, &sim_model_job, &sim_model_demand,
    &sim_model_member,   &sim_model_nodes, &sim_model_txn, &sim_model_txn_far, &sim_model_told,
};

const struct sim_model *sim_model_by_name(const char *name)
{
    for (size_t i = 0; i < FT_COUNTOF(models); i++)
        if (!strcmp(models[i]->name, name))
            return models[i];
    return NULL;
}

int sim_fits(const struct sim_model *m, const struct sim_options *o)
{
    int most = o->timed ? m->most_timed : m->most;
    if (most == 0)
        fprintf(stderr, "ftrma-sim: model %s has no runs in virtual time\n", m->name);
    else if (o->n < m->least || o->n > most)
        fprintf(stderr, "ftrma-sim: model %s takes %d to %d processes here\n", m->name, m->least,
                most);
    else if (o->demand && (o->timed || m != &sim_model_job))
        fprintf(stderr, "ftrma-sim: --demand is for free runs of model job\n");
    else if (o->crashes > 0 && m == &sim_model_snapshot)
        fprintf(stderr, "ftrma-sim: in model snapshot nobody dies; snapshots with deaths are "
                        "--model job --alg A\n");
    else if (o->ops < 0 || o->ops > 255 || o->crashes < 0 || o->starters < 0 || o->alg < 0 ||
             o->alg > 4)
        fprintf(stderr,
                "ftrma-sim: --ops takes 0 to 255, --crashes and --starters take 0 or more\n");
    else
        return 1;
    return 0;
}

int sim_parse_mutant(const struct sim_model *m, const char *name)
{
    for (int i = 0; m->mutants && m->mutants[i]; i++)
        if (!strcmp(m->mutants[i], name))
            return i + 1;
    return strcmp(name, "none") ? -1 : 0;
}

static void *grown(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (!p) {
        fprintf(stderr, "ftrma-sim: there is no memory for this many processes or states\n");
        exit(3);
    }
    return p;
}

/* ---- bodies ---- */

uint64_t sim_hash(const void *p, size_t n)
{
    const unsigned char *b = p;
    uint64_t h = 0xcbf29ce484222325ull ^ n;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t w;
        memcpy(&w, b + i, 8);
        h = (h ^ w) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    for (; i < n; i++)
        h = (h ^ b[i]) * 0x100000001b3ull;
    return h ^ h >> 32;
}

static size_t body_bytes(const struct sim_pool *p, uint32_t id)
{
    return p->at[id + 1] - p->at[id];
}

static void pool_table(struct sim_pool *p, uint32_t size)
{
    p->mask = size - 1;
    p->table = grown(p->table, size * sizeof *p->table);
    memset(p->table, 0xff, size * sizeof *p->table);
    for (uint32_t id = 0; id < p->n; id++) {
        uint64_t at = sim_hash(p->bytes + p->at[id], body_bytes(p, id)) & p->mask;
        while (p->table[at] != UINT32_MAX)
            at = (at + 1) & p->mask;
        p->table[at] = id;
    }
}

static uint32_t intern(struct sim_pool *p, const void *body, size_t bytes)
{
    if (p->n * 2 >= p->mask)
        pool_table(p, p->mask ? 2 * (p->mask + 1) : 64);
    uint64_t at = sim_hash(body, bytes) & p->mask;
    for (; p->table[at] != UINT32_MAX; at = (at + 1) & p->mask) {
        uint32_t id = p->table[at];
        if (body_bytes(p, id) == bytes && !memcmp(p->bytes + p->at[id], body, bytes))
            return id;
    }
    if (p->used + bytes > p->cap)
        p->bytes = grown(p->bytes, p->cap = 2 * (p->used + bytes));
    if (p->n + 2 > p->capn)
        p->at = grown(p->at, (p->capn = 2 * (p->n + 2)) * sizeof *p->at);
    memcpy(p->bytes + p->used, body, bytes);
    p->at[p->n] = p->used;
    p->at[p->n + 1] = p->used += bytes;
    p->table[at] = p->n;
    return p->n++;
}

/* ---- messages under way ---- */

static int before(const struct sim_msg *a, const struct sim_msg *b)
{
    return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void heap_push(struct sim *s, struct sim_msg m)
{
    int i = s->nmsg++;
    for (; i > 0 && before(&m, &s->msg[(i - 1) / 2]); i = (i - 1) / 2)
        s->msg[i] = s->msg[(i - 1) / 2];
    s->msg[i] = m;
}

static struct sim_msg heap_pop(struct sim *s)
{
    struct sim_msg top = s->msg[0], m = s->msg[--s->nmsg];
    int i = 0;
    for (int c; (c = 2 * i + 1) < s->nmsg; i = c) {
        if (c + 1 < s->nmsg && before(&s->msg[c + 1], &s->msg[c]))
            c++;
        if (!before(&s->msg[c], &m))
            break;
        s->msg[i] = s->msg[c];
    }
    s->msg[i] = m;
    return top;
}

static int same_channel(const struct sim_msg *a, int from, int to)
{
    return a->from == from && a->to == to;
}

static void put_message(struct sim *s, struct sim_msg m)
{
    if (s->nmsg == s->capmsg)
        s->msg = grown(s->msg, (size_t)(s->capmsg = 2 * s->capmsg + 64) * sizeof *s->msg);
    if (s->o.timed) {
        heap_push(s, m);
        return;
    }
    int i = s->nmsg++;
    for (; i > 0 && (s->msg[i - 1].from > m.from ||
                     (s->msg[i - 1].from == m.from && s->msg[i - 1].to > m.to));
         i--)
        s->msg[i] = s->msg[i - 1];
    s->msg[i] = m;
}

/* The latency of a channel is drawn once, so the channel is FIFO without further care. */
static uint64_t latency(const struct sim *s, int from, int to)
{
    struct ft_prng r = {s->o.seed ^ ((uint64_t)from << 32 | (uint32_t)to) * 0x9e3779b97f4a7c15ull};
    uint64_t t = 1 + ft_prng_below(&r, (uint64_t)s->o.latency);
    for (int i = 0; i < s->nslow; i++)
        if (s->slow[i].from == from && s->slow[i].to == to)
            t += s->slow[i].ticks;
    return t;
}

void sim_send(struct sim *s, int from, int to, const void *body, size_t bytes)
{
    if (!s->alive[from])
        return;
    if (from == s->self && s->cut == 0) {
        sim_crash(s, from, 0);
        return;
    }
    if (from == s->self && s->cut > 0)
        s->cut--;
    s->sent++;
    if (!s->alive[to])
        return;
    struct sim_msg m = {.from = from, .to = to, .body = intern(&s->pool, body, bytes)};
    if (s->o.timed) {
        m.seq = s->seq++;
        m.at = s->now + latency(s, from, to);
    }
    put_message(s, m);
}

void sim_after(struct sim *s, int p, uint64_t ticks, int act, int q)
{
    FT_ASSERT(s->o.timed && act < 4096 && q >= 0 && q < 1 << 20);
    put_message(
        s, (struct sim_msg){s->now + ticks, s->seq++, p, p, (uint32_t)act << 20 | (uint32_t)q, 1});
}

void sim_delay(struct sim *s, int from, int to, uint64_t ticks)
{
    FT_ASSERT(s->nslow < (int)FT_COUNTOF(s->slow));
    s->slow[s->nslow].from = from;
    s->slow[s->nslow].to = to;
    s->slow[s->nslow++].ticks = ticks;
}

/* Fail-stop. On each channel, what it has sent arrives up to some message. What was on its way to
 * it is gone. */
void sim_crash(struct sim *s, int p, uint64_t lost)
{
    struct ft_prng r = {lost};
    int n = 0, to = -1, losing = 0;
    s->alive[p] = 0;
    s->crashes--;
    for (int i = 0; i < s->nmsg && !s->o.timed; i++) {
        struct sim_msg *m = &s->msg[i];
        losing = m->from == p && m->to == to && losing;
        to = m->from == p ? m->to : -1;
        losing |= m->from == p && lost && ft_prng_below(&r, 8) == 0;
        if (m->to != p && !losing)
            s->msg[n++] = *m;
    }
    if (!s->o.timed)
        s->nmsg = n; /* timed: they are dropped when they arrive */
    if (s->m->crashed)
        s->m->crashed(s, p);
}

/* ---- what is wrong ---- */

void sim_wrong(struct sim *s, const char *format, ...)
{
    va_list ap;
    if (s->wrong[0])
        return;
    va_start(ap, format);
    vsnprintf(s->wrong, sizeof s->wrong, format, ap);
    va_end(ap);
}

/* A failed assertion of a machine counts as a finding of a checker. FT_ASSERT calls this in code
 * that is built for the simulator. */
static jmp_buf assert_jump;
static struct sim *assert_sim;
_Noreturn void sim_assert_fail(const char *expr, const char *file, int line);
_Noreturn void sim_assert_fail(const char *expr, const char *file, int line)
{
    if (!assert_sim) {
        fprintf(stderr, "ftrma-sim: assertion '%s' failed at %s:%d\n", expr, file, line);
        abort();
    }
    const char *slash = strrchr(file, '/');
    sim_wrong(assert_sim, "assertion '%s' of %s", expr, slash ? slash + 1 : file);
    longjmp(assert_jump, 1);
}

/* ---- one step ---- */

static void check_step(struct sim *s, int p)
{
    for (const struct sim_checker *const *c = s->m->checkers; *c && !s->wrong[0]; c++)
        if ((*c)->step)
            (*c)->step(s, p);
}

static int take_message(struct sim *s, int from, int to, struct sim_msg *out)
{
    for (int i = 0; i < s->nmsg; i++)
        if (same_channel(&s->msg[i], from, to)) {
            *out = s->msg[i];
            memmove(&s->msg[i], &s->msg[i + 1], (size_t)(--s->nmsg - i) * sizeof *s->msg);
            return 1;
        }
    return 0;
}

static void deliver(struct sim *s, const struct sim_msg *m)
{
    size_t bytes = body_bytes(&s->pool, m->body);
    _Alignas(16) unsigned char body[SIM_BODY]; /* the pool may move */
    FT_ASSERT(bytes <= sizeof body);
    memcpy(body, s->pool.bytes + s->pool.at[m->body], bytes);
    s->m->deliver(s, m->to, m->from, body, bytes);
}

static void record(struct sim *s, const struct sim_choice *c)
{
    if (!s->recording)
        return;
    if (s->nhistory == s->caphistory)
        s->history =
            grown(s->history, (size_t)(s->caphistory = 2 * s->caphistory + 64) * sizeof *c);
    s->history[s->nhistory++] = *c;
}

int sim_do(struct sim *s, const struct sim_choice *c)
{
    struct sim_msg m;
    uint64_t sent = s->sent;
    record(s, c);
    s->steps++;
    s->self = c->p;
    s->cut = c->cut;
    assert_sim = s;
    if (!setjmp(assert_jump)) {
        if (c->what == SIM_CRASH) {
            s->self = -1;
            sim_crash(s, c->p, (uint64_t)c->q);
        } else if (c->what == SIM_DO) {
            s->m->act(s, c->p, c->act, c->q);
        } else {
            int there = take_message(s, c->q, c->p, &m);
            FT_ASSERT(there);
            deliver(s, &m);
        }
        if (c->cut >= 0 && s->alive[c->p]) {
            s->self = -1;
            sim_crash(s, c->p, 0);
        }
        check_step(s, c->p);
    }
    assert_sim = NULL;
    s->cut = -1;
    return (int)(s->sent - sent);
}

int sim_step(struct sim *s)
{
    if (s->wrong[0] || s->nmsg == 0)
        return 0;
    struct sim_msg m = heap_pop(s);
    s->now = m.at;
    if (!s->alive[m.to])
        return 1;
    s->steps++;
    s->self = m.to;
    s->cut = -1;
    assert_sim = s;
    if (!setjmp(assert_jump)) {
        if (m.lane)
            s->m->act(s, m.to, (int)(m.body >> 20), (int)(m.body & ((1u << 20) - 1)));
        else
            deliver(s, &m);
        check_step(s, m.to);
    }
    assert_sim = NULL;
    return !s->wrong[0];
}

int sim_step_until(struct sim *s, int (*done)(const struct sim *s))
{
    while (!done(s))
        if (!sim_step(s))
            return 0;
    return 1;
}

int sim_choices(struct sim *s, struct sim_choices *out)
{
    int must = 0;
    out->n = 0;
    for (int i = 0; i < s->nmsg; i++) {
        const struct sim_msg *m = &s->msg[i];
        if (i > 0 && same_channel(m, s->msg[i - 1].from, s->msg[i - 1].to))
            continue;
        sim_can(out, m->to, 0, m->from, SIM_MUST);
        out->c[out->n - 1].what = SIM_DELIVER;
    }
    s->m->can(s, out);
    for (int i = 0; i < out->n; i++)
        must += !out->c[i].idle;
    for (int p = 0; p < s->o.n && s->crashes > 0; p++)
        if (s->alive[p]) {
            sim_can(out, p, 0, 0, SIM_SELDOM);
            out->c[out->n - 1].what = SIM_CRASH;
        }
    return must;
}

void sim_quiet(struct sim *s)
{
    assert_sim = s;
    if (!setjmp(assert_jump))
        for (const struct sim_checker *const *c = s->m->checkers; *c && !s->wrong[0]; c++)
            if ((*c)->quiet) {
                (*c)->quiet(s);
                s->at_quiet = s->wrong[0] != 0;
            }
    assert_sim = NULL;
}

/* Draws one of the choices. Those that need not happen are drawn seldom. */
static int random_step(struct sim *s)
{
    static struct sim_choices can;
    int often = 0, n = 0;
    sim_choices(s, &can);
    for (int i = 0; i < can.n; i++)
        often += can.c[i].idle != SIM_SELDOM;
    if (often == 0 && (can.n == 0 || ft_prng_below(&s->rng, 4) == 0))
        return 0;
    int seldom = often == 0 || ft_prng_below(&s->rng, s->seldom) == 0;
    for (int i = 0; i < can.n; i++)
        if ((can.c[i].idle == SIM_SELDOM) == seldom)
            can.c[n++] = can.c[i];
    if (n == 0)
        return 1;
    struct sim_choice c = can.c[ft_prng_below(&s->rng, (uint64_t)n)];
    if (c.what == SIM_CRASH)
        c.q = 1 + (int)ft_prng_below(&s->rng, 1000000);
    else if (s->crashes > 0 && ft_prng_below(&s->rng, 5 * s->seldom) == 0)
        c.cut = (int16_t)ft_prng_below(&s->rng, 4);
    sim_do(s, &c);
    return 1;
}

int sim_random(struct sim *s, uint64_t max_steps)
{
    s->recording = !s->o.timed;
    s->seldom = 8ull << ft_prng_below(&s->rng, 8); /* so that some die early, some late */
    while (!s->wrong[0] && (s->o.timed ? sim_step(s) : random_step(s)))
        if (s->steps > max_steps) {
            sim_wrong(s, "no end after %" PRIu64 " steps", max_steps);
            return 0;
        }
    if (!s->wrong[0])
        sim_quiet(s);
    return !s->wrong[0];
}

void sim_init(struct sim *s, const struct sim_model *m, const struct sim_options *o)
{
    struct sim old = *s; /* its memory is used again */
    memset(s, 0, sizeof *s);
    s->o = *o;
    s->m = m;
    s->rng.s = o->seed;
    s->cut = s->self = -1;
    s->crashes = o->crashes;
    s->world_bytes = (m->bytes(o) + 7) & ~(size_t)7;
    s->world = grown(old.world, s->world_bytes);
    memset(s->world, 0, s->world_bytes);
    s->alive = grown(old.alive, (size_t)o->n);
    memset(s->alive, 1, (size_t)o->n);
    s->capmsg = old.capmsg ? old.capmsg : 64;
    s->msg = grown(old.msg, (size_t)s->capmsg * sizeof *s->msg);
    s->pool = old.pool;
    s->pool.n = 0;
    s->pool.used = 0;
    pool_table(&s->pool, 64);
    if (!s->pool.at)
        s->pool.at = grown(NULL, (s->pool.capn = 64) * sizeof *s->pool.at);
    s->pool.at[0] = 0;
    s->history = old.history;
    s->caphistory = old.caphistory;
    s->happened = old.m == m ? old.happened : NULL;
    if (old.m != m)
        free(old.happened);
    m->start(s);
}

void sim_finish(struct sim *s)
{
    free(s->world);
    free(s->alive);
    free(s->msg);
    free(s->pool.bytes);
    free(s->pool.at);
    free(s->pool.table);
    free(s->history);
    free(s->happened);
    memset(s, 0, sizeof *s);
}
