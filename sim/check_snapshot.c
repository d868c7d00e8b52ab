/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_snapshot.c - what must hold of a cut. A get overlaps it when the get is under way at its
 * source's image. It crosses the cut when request and read are on different sides, and the request
 * is not kept in the target's image: it was sent before the source's image and read after the
 * target's, or the other way round.
 */
#include "model_snapshot.h"

static void gets(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    const struct snap_op *op = w->touched >= 0 ? &w->op[w->touched] : NULL;
    (void)p;
    if (!op || op->kind != SNAP_GET)
        return;
    int overlaps = op->done_at != op->sent_at;
    int crosses = op->read_at != op->sent_at && !op->in_image;
    int promised = s->o.alg != FT_SNAP_VANILLA && s->o.alg != FT_SNAP_DELAY;
    w->overlaps += (uint64_t)overlaps;
    w->crosses += (uint64_t)crosses;
    if (s->o.timed && !promised)
        return; /* counted */
    if (crosses && s->o.property != 2)
        sim_wrong(s,
                  "get %d of %d from %d crosses the cut: requested after %u images of %d, read "
                  "after %u of %d",
                  w->touched, op->source, op->target, op->sent_at, op->source, op->read_at,
                  op->target);
    if (overlaps && (s->o.property == 2 || (s->o.property != 1 && promised)))
        sim_wrong(
            s,
            "get %d of %d from %d overlaps the cut: requested after %u images of %d, used after %u",
            w->touched, op->source, op->target, op->sent_at, op->source, op->done_at);
}

static void puts_(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    const struct snap_op *op = w->touched >= 0 ? &w->op[w->touched] : NULL;
    (void)p;
    if (!op || op->kind != SNAP_PUT)
        return;
    if (op->sent_at > op->read_at)
        sim_wrong(s, "put %d of %d is in %d's image, and was sent after its own", w->touched,
                  op->source, op->target);
    if (op->sent_at < op->read_at && !op->in_image)
        sim_wrong(s, "put %d of %d is in nobody's image: sent before its own, come after %d's",
                  w->touched, op->source, op->target);
    if (op->sent_at == op->read_at && op->in_image)
        sim_wrong(s, "put %d of %d is twice in %d's image", w->touched, op->source, op->target);
}

/* Set v of images counts. It must be one cut, with its channel state. */
void snap_check_counted(struct sim *s, uint32_t v)
{
    const struct snap_world *w = snap_world(s);
    for (int q = 0; q < s->o.n; q++)
        if (snap_versions(s, q)[v % 2] != v)
            sim_wrong(s, "image set %u counts, and %d has no image of it", v, q);
    for (int i = 0; i < w->nops; i++) {
        const struct snap_op *op = &w->op[i];
        int from = op->image[v % 2].source, to = op->image[v % 2].target;
        int issued = !!(from & SNAP_B_ISSUED),
            there = !!(to & SNAP_B_APPLIED) + !!(to & SNAP_B_RECORDED);
        if (op->state != SNAP_NONE && op->kind == SNAP_PUT && issued != there)
            sim_wrong(
                s,
                "image set %u counts, and has put %d of %d %d times at its source, %d times at %d",
                v, i, op->source, issued, there, op->target);
        int pending = issued && !(from & SNAP_B_USED), kept = !!(to & SNAP_B_HELD);
        if (op->state != SNAP_NONE && op->kind == SNAP_GET && s->o.alg == FT_SNAP_DELAY &&
            pending != kept)
            sim_wrong(s, "image set %u counts, and get %d of %d is %s", v, i, op->source,
                      pending ? "pending there, and its request is nowhere"
                              : "not pending there, and its request is kept");
    }
}

static void machine(struct sim *s, int p)
{
    snap_world(s)->touched = -1; /* no part of the state */
    if (s->o.n <= 16 && sim_alive(s, p))
        ft_snap_check(snap_machine(s, p));
}

static void ended_counting(struct sim *s)
{
    const struct snap_world *w = snap_world(s);
    if ((int)w->counted != s->o.starters)
        sim_wrong(s, "all is quiet, and %u image sets of %d count", w->counted, s->o.starters);
    for (int i = 0; i < w->nops; i++)
        if (w->op[i].state == SNAP_DONE && w->op[i].kind == SNAP_PUT && w->op[i].applied != 1)
            sim_wrong(s, "put %d of %d was applied %d times", i, w->op[i].source, w->op[i].applied);
}

static void ended(struct sim *s)
{
    const struct snap_world *w = snap_world(s);
    if (snap_counts(s))
        ended_counting(s);
    uint64_t n = (uint64_t)s->o.n, all = n * (n - 1), waves = snap_machine(s, 0)->wave;
    for (int p = 0; p < s->o.n; p++) {
        const struct ft_snap *m = snap_machine(s, p);
        if (m->phase != FT_SNAP_IDLE)
            sim_wrong(s, "all is quiet, and the wave is not over at %d", p);
        if (m->taken != waves || m->wave != waves)
            sim_wrong(s, "all is quiet, and %d has taken %u images of %" PRIu64, p, m->taken,
                      waves);
    }
    for (int i = 0; i < w->nops; i++)
        if (w->op[i].state != SNAP_DONE && w->op[i].state != SNAP_NONE)
            sim_wrong(s, "all is quiet, and op %d of %d is not done", i, w->op[i].source);
    if (w->markers[FT_SNAP_FIRST] != waves * all)
        sim_wrong(s, "%" PRIu64 " first markers in %" PRIu64 " waves", w->markers[FT_SNAP_FIRST],
                  waves);
    if (w->markers[FT_SNAP_SECOND] != (s->o.alg == FT_SNAP_DOUBLE ? waves * all : 0))
        sim_wrong(s, "%" PRIu64 " second markers", w->markers[FT_SNAP_SECOND]);
    if (w->markers[FT_SNAP_FLUSH] != w->pairs || w->markers[FT_SNAP_FLUSHED] != w->pairs)
        sim_wrong(s, "%" PRIu64 " marked markers and %" PRIu64 " answers for %" PRIu64 " pairs",
                  w->markers[FT_SNAP_FLUSH], w->markers[FT_SNAP_FLUSHED], w->pairs);
}

const struct sim_checker sim_check_gets = {"gets and the cut", gets, NULL};
const struct sim_checker sim_check_puts = {"puts and the cut", puts_, NULL};
const struct sim_checker sim_check_waves = {"waves", machine, ended};
