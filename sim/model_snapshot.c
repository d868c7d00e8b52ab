/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_snapshot.c - one-sided traffic as messages. A put is one message. A get is a request and
 * its data. All travel on the channels of the markers. Memory is not modelled: what matters is on
 * which side of the cut an operation was sent, read and used.
 */
#include "model_snapshot.h"

enum { ACT_START, ACT_GET, ACT_PUT };
static const char *const acts[] = {"start", "get", "put", NULL};
static const char *const mutants[] = {"no-hold",     "no-peek",         "late-image",
                                      "untracked",   "no-record",       "lost-marker",
                                      "early-count", "taken-is-enough", NULL};

static size_t bytes(const struct sim_options *o)
{
    return snap_machines_at(o) + (size_t)o->n * snap_machine_bytes(o->n);
}

static void send_msg(struct sim *s, int from, int to, uint32_t kind, int what, uint32_t taken)
{
    struct snap_msg m = {kind, (uint32_t)what, taken};
    sim_send(s, from, to, &m, sizeof m);
}

static void request(struct sim *s, int i)
{
    struct snap_op *op = &snap_world(s)->op[i];
    struct ft_snap *m = snap_machine(s, op->source);
    op->state = SNAP_SENT;
    op->sent_at = m->taken;
    if (s->o.mutant != SNAP_M_UNTRACKED)
        ft_snap_issued(m, op->target);
    send_msg(s, op->source, op->target, SNAP_MSG_REQUEST, i, 0);
}

static void answer(struct sim *s, int i)
{
    struct snap_op *op = &snap_world(s)->op[i];
    op->state = SNAP_READ;
    op->read_at = snap_machine(s, op->target)->taken;
    send_msg(s, op->target, op->source, SNAP_MSG_DATA, i, op->read_at);
}

static void send_marker(struct sim *s, int p, int to, enum ft_snap_marker kind)
{
    snap_world(s)->markers[kind]++;
    if (s->o.mutant == SNAP_M_LOST_MARKER && p == 0 && to == s->o.n - 1)
        return;
    send_msg(s, p, to, SNAP_MSG_MARKER, (int)kind, 0);
}

/* Answers requests that were held and issues operations that were put off, if the machine allows
 * it. */
static void take_up(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    struct ft_snap *m = snap_machine(s, p);
    for (int i = 0; i < w->nops; i++) {
        if (w->op[i].state == SNAP_HELD && w->op[i].target == p && ft_snap_may_answer(m))
            answer(s, i);
        if (w->op[i].state == SNAP_PUT_OFF && w->op[i].source == p && ft_snap_may_issue(m))
            request(s, i);
    }
}

static void wave_over(struct sim *s, int p)
{
    enum ft_snap_alg alg = snap_machine(s, p)->alg;
    snap_world(s)->ended = s->now;
    if (snap_counts(s) && s->o.mutant != SNAP_M_TAKEN)
        snap_whole(s, p);
    if (alg == FT_SNAP_DELAY || alg == FT_SNAP_PEEK)
        take_up(s, p);
}

static void carry_out(struct sim *s, int p, const struct ft_snap_actions *out)
{
    struct ft_snap *m = snap_machine(s, p);
    for (int i = 0; i < out->n; i++) {
        const struct ft_snap_action *a = &out->a[i];
        if (a->act == FT_SNAP_ACT_SEND)
            send_marker(s, p, a->to, a->marker);
        if (a->act == FT_SNAP_ACT_OVER)
            wave_over(s, p);
        if (a->act == FT_SNAP_ACT_TAKE && snap_counts(s))
            snap_image(s, p);
        for (int k = 0;
             k < snap_world(s)->nops && a->act == FT_SNAP_ACT_TAKE && m->alg == FT_SNAP_DELAY; k++)
            snap_world(s)->op[k].in_image |=
                snap_world(s)->op[k].state == SNAP_HELD && snap_world(s)->op[k].target == p;
        for (int q = 0; q < s->o.n && (a->act == FT_SNAP_ACT_FLOOD || a->act == FT_SNAP_ACT_FLUSH);
             q++) {
            if (q == p || (a->act == FT_SNAP_ACT_FLUSH && !m->peer[q].flush))
                continue;
            snap_world(s)->pairs += a->act == FT_SNAP_ACT_FLUSH;
            send_marker(s, p, q, a->marker);
        }
    }
}

static void act(struct sim *s, int p, int what, int q)
{
    struct snap_world *w = snap_world(s);
    struct ft_snap *m = snap_machine(s, p);
    struct ft_snap_actions out;
    w->touched = -1;
    if (what == ACT_START) {
        w->waves += ft_snap_may_issue(m);
        w->began = ft_snap_may_issue(m) ? s->now : w->began;
        ft_snap_start(m, &out);
        carry_out(s, p, &out);
        snap_left(s, p)[s->o.n] = 0;
        return;
    }
    if (!ft_snap_may_issue(m)) { /* timed: it tries later */
        sim_after(s, p, 500, what, q);
        return;
    }
    int i = p * s->o.ops + s->o.ops - (*snap_left(s, p))--;
    w->op[i] = (struct snap_op){.kind = what == ACT_GET ? SNAP_GET : SNAP_PUT,
                                .state = SNAP_SENT,
                                .source = p,
                                .target = q,
                                .sent_at = m->taken};
    if (what == ACT_GET)
        request(s, i);
    else
        send_msg(s, p, q, SNAP_MSG_PUT, i, 0);
}

static void arrived(struct sim *s, int p, const struct snap_msg *msg, int recorded)
{
    struct snap_world *w = snap_world(s);
    struct ft_snap *m = snap_machine(s, p);
    struct snap_op *op = &w->op[msg->what];
    struct ft_snap_actions out = {.n = 0};
    int record = recorded && s->o.mutant != SNAP_M_NO_RECORD;
    if (msg->kind == SNAP_MSG_PUT) {
        op->state = SNAP_DONE;
        op->read_at = op->done_at = m->taken;
        op->applied++;
        op->in_image = (uint8_t)record;
        w->recorded += (uint64_t)recorded;
        w->touched = (int)msg->what;
        if (record)
            snap_record(s, p, (int)msg->what, SNAP_B_RECORDED);
    } else if (msg->kind == SNAP_MSG_REQUEST) {
        if (ft_snap_may_answer(m) || s->o.mutant == SNAP_M_NO_HOLD) {
            answer(s, (int)msg->what);
            return;
        }
        op->state = SNAP_HELD;
        op->in_image |= (uint8_t)recorded;
        w->held++;
        if (record)
            snap_record(s, p, (int)msg->what, SNAP_B_HELD);
    } else {
        uint32_t taken = s->o.mutant == SNAP_M_NO_PEEK ? 0 : msg->taken;
        uint32_t done_at = m->taken; /* the data is used before the image that it makes possible */
        int use = s->o.mutant == SNAP_M_UNTRACKED || ft_snap_answered(m, op->target, taken, &out);
        op->state = use ? SNAP_DONE : SNAP_PUT_OFF;
        op->done_at = done_at;
        w->put_off += !use;
        if (use)
            w->touched = (int)msg->what;
        if (use && record)
            snap_record(s, p, (int)msg->what, SNAP_B_USED);
        carry_out(s, p, &out);
    }
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    struct ft_snap *m = snap_machine(s, p);
    struct ft_snap_actions out = {.n = 0};
    struct snap_msg msg;
    FT_ASSERT(size == sizeof msg);
    memcpy(&msg, body, sizeof msg);
    snap_world(s)->touched = -1;
    if (msg.kind == SNAP_MSG_MARKER) {
        ft_snap_marker(m, from, (enum ft_snap_marker)msg.what, &out);
        carry_out(s, p, &out);
        return;
    }
    int recorded = s->o.mutant == SNAP_M_LATE_IMAGE
                       ? m->phase == FT_SNAP_WAVE && m->taken == m->wave && !m->peer[from].first
                       : ft_snap_arrives(m, from, &out);
    carry_out(s, p, &out);
    arrived(s, p, &msg, recorded);
}

static void can(struct sim *s, struct sim_choices *out)
{
    for (int p = 0; p < s->o.n; p++) {
        if (!ft_snap_may_issue(snap_machine(s, p)))
            continue;
        if (snap_counts(s) ? snap_may_start(s, p) : snap_left(s, p)[s->o.n])
            sim_can(out, p, ACT_START, 0, SIM_MUST);
        for (int q = 0; q < s->o.n && *snap_left(s, p); q++)
            if (q != p) {
                sim_can(out, p, ACT_GET, q, SIM_MAY);
                sim_can(out, p, ACT_PUT, q, SIM_MAY);
            }
    }
}

static void start(struct sim *s)
{
    int n = s->o.n;
    snap_world(s)->touched = -1;
    snap_world(s)->nops = n * s->o.ops;
    for (int p = 0; p < n; p++) {
        ft_snap_init(snap_machine(s, p), (enum ft_snap_alg)s->o.alg, p, n);
        *snap_left(s, p) = (uint8_t)s->o.ops;
        snap_left(s, p)[n] = p < s->o.starters;
        for (int k = 0; k < s->o.ops && s->o.timed && n > 1; k++) {
            int q = (int)ft_prng_below(&s->rng, (uint64_t)n - 1);
            sim_after(s, p, ft_prng_below(&s->rng, 4000),
                      ft_prng_below(&s->rng, 3) ? ACT_GET : ACT_PUT, q + (q >= p));
        }
    }
    for (int k = 0; k < s->o.starters && s->o.timed; k++)
        sim_after(s, k % n, 2000 + 20000 * (uint64_t)k, ACT_START, 0);
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const marker[] = {"", "marker", "second marker", "marked marker",
                                         "answer to the marked marker"};
    static const char *const kind[] = {"", "put", "request of get", "data of get"};
    struct snap_msg m;
    (void)size;
    memcpy(&m, body, sizeof m);
    if (m.kind == SNAP_MSG_MARKER)
        snprintf(out, (size_t)room, "%s", marker[m.what]);
    else if (m.kind == SNAP_MSG_DATA)
        snprintf(out, (size_t)room, "data of get %u, read after %u images", m.what, m.taken);
    else
        snprintf(out, (size_t)room, "%s %u, sent after %u images", kind[m.kind], m.what,
                 snap_world(s)->op[m.what].sent_at);
}

static const char *const counted[] = {"overlaps",      "puts recorded", "gets put off",
                                      "requests held", "image sets",    NULL};
static void tally(const struct sim *s, uint64_t *sums)
{
    const struct snap_world *w = snap_world(s);
    sums[0] += w->overlaps;
    sums[1] += w->recorded;
    sums[2] += w->put_off;
    sums[3] += w->held;
    sums[4] += w->counted;
}

static const struct sim_checker *const checkers[] = {&sim_check_gets, &sim_check_puts,
                                                     &sim_check_waves, NULL};
const struct sim_model sim_model_snapshot = {"snapshot", acts, mutants, checkers, bytes, start,
                                             deliver,    can,  act,     NULL,     say,   1,
                                             64,         4000, counted, tally,    NULL};
