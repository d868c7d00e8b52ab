/* SPDX-License-Identifier: BSD-3-Clause
 *
 * explore.c - tries every order, depth first. A state is known by a hash of 128 bits over all its
 * bytes. The chance that two different states have the same hash is about states^2 / 2^128.
 *
 * With --deviations K every order is tried up to the first death. From then on the first thing that
 * has to happen comes next, except in at most K steps, where anything else that is possible may
 * happen (delay-bounded scheduling: Emmi, Qadeer, Rakamaric, POPL 2011).
 */
#include "sim_run.h"

struct key {
    uint64_t a, b;
};
struct search {
    struct sim *s;
    struct key *seen;
    uint64_t mask, max;
    int crashes; /* how many are allowed at the beginning */
    int left;    /* how many deviations are left */
    struct sim_explored *out;
    unsigned char *flat; /* scratch */
    size_t flat_size;
};

/* world, who lives, crashes, deviations, messages */
static size_t flat_bytes(const struct sim *s)
{
    return s->world_bytes + (size_t)s->o.n + sizeof s->crashes + sizeof(int) +
           (size_t)s->nmsg * 3 * sizeof(int32_t);
}

static void flatten(const struct sim *s, int left, unsigned char *out)
{
    memcpy(out, s->world, s->world_bytes);
    out += s->world_bytes;
    memcpy(out, s->alive, (size_t)s->o.n);
    out += s->o.n;
    memcpy(out, &s->crashes, sizeof s->crashes);
    out += sizeof s->crashes;
    memcpy(out, &left, sizeof left);
    out += sizeof left;
    for (int i = 0; i < s->nmsg; i++) {
        int32_t v[3] = {s->msg[i].from, s->msg[i].to, (int32_t)s->msg[i].body};
        memcpy(out, v, sizeof v);
        out += sizeof v;
    }
}

struct frame {
    int nmsg, n;
    unsigned char *world; /* then alive, then messages */
    struct sim_choice *c;
};

static void save(const struct sim *s, struct frame *f)
{
    size_t msgs = (size_t)s->nmsg * sizeof *s->msg;
    f->nmsg = s->nmsg;
    f->world = malloc(s->world_bytes + (size_t)s->o.n + sizeof s->crashes + msgs);
    FT_ASSERT(f->world);
    memcpy(f->world, s->world, s->world_bytes);
    memcpy(f->world + s->world_bytes, s->msg, msgs);
    memcpy(f->world + s->world_bytes + msgs, s->alive, (size_t)s->o.n);
    memcpy(f->world + s->world_bytes + msgs + s->o.n, &s->crashes, sizeof s->crashes);
}

static void restore(struct sim *s, const struct frame *f)
{
    size_t msgs = (size_t)f->nmsg * sizeof *s->msg;
    s->nmsg = f->nmsg;
    memcpy(s->world, f->world, s->world_bytes);
    memcpy(s->msg, f->world + s->world_bytes, msgs);
    memcpy(s->alive, f->world + s->world_bytes + msgs, (size_t)s->o.n);
    memcpy(&s->crashes, f->world + s->world_bytes + msgs + s->o.n, sizeof s->crashes);
}

static void insert(struct search *x, struct key k)
{
    uint64_t at = k.a & x->mask;
    while (x->seen[at].a | x->seen[at].b)
        at = (at + 1) & x->mask;
    x->seen[at] = k;
}

static void grow(struct search *x)
{
    struct key *old = x->seen;
    uint64_t n = x->mask + 1;
    x->mask = 2 * n - 1;
    x->seen = calloc(2 * n, sizeof *x->seen);
    FT_ASSERT(x->seen);
    for (uint64_t i = 0; i < n; i++)
        if (old[i].a | old[i].b)
            insert(x, old[i]);
    free(old);
}

/* Returns 1 if this state was not seen before. */
static int is_new(struct search *x)
{
    size_t n = flat_bytes(x->s);
    if (n > x->flat_size) {
        x->flat = realloc(x->flat, x->flat_size = 2 * n);
        FT_ASSERT(x->flat);
    }
    flatten(x->s, x->left, x->flat);
    struct key k = {sim_hash(x->flat, n), 0xa5};
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t v;
        memcpy(&v, x->flat + i, 8);
        k.b = (k.b + v) * 0xd6e8feb86659fd93ull;
        k.b ^= k.b >> 32;
    }
    for (uint64_t at = k.a & x->mask; x->seen[at].a | x->seen[at].b; at = (at + 1) & x->mask)
        if (x->seen[at].a == k.a && x->seen[at].b == k.b)
            return 0;
    insert(x, k);
    if (++x->out->states > x->mask / 2)
        grow(x);
    return 1;
}

static void visit(struct search *x);

/* Takes choice c from frame f. If the process may die in the middle, it takes it again for each
 * number of sends after which it dies. */
static void follow(struct search *x, const struct frame *f, struct sim_choice c, int depth)
{
    struct sim *s = x->s;
    int cuts = 0;
    for (int cut = -1; cut < cuts && !s->wrong[0] && x->out->complete; cut++) {
        restore(s, f);
        s->nhistory = depth;
        s->recording = 1;
        c.cut = (int16_t)cut;
        int sent = sim_do(s, &c);
        if (cut < 0 && c.what != SIM_CRASH)
            cuts = s->crashes > 0 ? sent : 0;
        if (!s->wrong[0])
            visit(x);
    }
}

/* The choice that counts as no deviation; -1: none of them is a deviation. */
static int first_choice(const struct search *x, const struct sim_choices *can)
{
    int first = can->n;
    if (!x->s->o.deviations || x->s->crashes == x->crashes)
        return -1;
    for (int i = can->n - 1; i >= 0; i--)
        if (can->c[i].idle == SIM_MUST && can->c[i].what != SIM_CRASH)
            first = i;
    return first;
}

static void visit(struct search *x)
{
    static struct sim_choices can;
    struct sim *s = x->s;
    struct frame f;
    if (!is_new(x))
        return;
    if (x->out->states >= x->max) {
        x->out->complete = 0;
        return;
    }
    if (sim_choices(s, &can) == 0) {
        x->out->quiet++;
        sim_quiet(s);
        if (s->wrong[0])
            return;
    }
    int n = can.n, depth = s->nhistory, first = first_choice(x, &can), left = x->left;
    f.c = malloc(((size_t)n + 1) * sizeof *f.c);
    FT_ASSERT(f.c);
    memcpy(f.c, can.c, (size_t)n * sizeof *f.c);
    save(s, &f);
    for (int i = 0; i < n && !s->wrong[0] && x->out->complete; i++) {
        x->left = left - (first >= 0 && i != first && f.c[i].what != SIM_CRASH);
        if (first < 0 || x->left >= 0)
            follow(x, &f, f.c[i], depth);
    }
    x->left = left;
    free(f.c);
    free(f.world);
}

int sim_explore(struct sim *s, uint64_t max_states, struct sim_explored *out)
{
    struct search x = {.s = s,
                       .mask = 1023,
                       .max = max_states,
                       .out = out,
                       .crashes = s->crashes,
                       .left = s->o.deviations - 1};
    FT_ASSERT(!s->o.timed);
    s->searching = 1;
    *out = (struct sim_explored){.complete = 1};
    x.seen = calloc(x.mask + 1, sizeof *x.seen);
    FT_ASSERT(x.seen);
    visit(&x);
    free(x.seen);
    free(x.flat);
    return !s->wrong[0];
}
