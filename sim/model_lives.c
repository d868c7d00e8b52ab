/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_lives.c - deaths in the snapshot model, and which image sets count. Process 0, the root,
 * begins a wave when all have flipped to the last image set. Who is done with a wave (OVER: image
 * and channel state are whole) says READY; with all of them the root commits the set, and all flip.
 * A death opens a ballot; votes carry the newest set that was flipped to, and the decision is a new
 * generation in which everybody, a replacement at the dead one's place included, restores that set,
 * begins a new machine and drops what was sent before. Nobody goes on before all have restored. How
 * votes and orders travel is in the models agree and job.
 */
#include "model_snapshot.h"

static uint64_t all(const struct sim *s) { return s->o.n == 64 ? ~0ull : (1ull << s->o.n) - 1; }

void snap_image(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    uint32_t v = snap_version(s, p);
    struct snap_life *me = snap_life(s, p);
    for (int i = 0; i < w->nops; i++) {
        struct snap_op *op = &w->op[i];
        int put = op->kind == SNAP_PUT;
        if (op->state == SNAP_NONE)
            continue;
        if (op->source == p)
            op->image[v % 2].source =
                (uint8_t)(SNAP_B_ISSUED | (!put && op->state == SNAP_DONE ? SNAP_B_USED : 0));
        if (op->target == p)
            op->image[v % 2].target = (uint8_t)((put && op->applied ? SNAP_B_APPLIED : 0) |
                                                (!put && op->state == SNAP_HELD ? SNAP_B_HELD : 0));
    }
    me->image[v % 2].version = v;
    me->image[v % 2].generation = me->generation;
    if (s->o.mutant == SNAP_M_TAKEN)
        snap_whole(s, p);
}

void snap_record(struct sim *s, int p, int i, enum snap_bit bit)
{
    struct snap_op *op = &snap_world(s)->op[i];
    uint32_t slot = snap_version(s, p) % 2;
    if (snap_lives(s))
        *(bit == SNAP_B_USED ? &op->image[slot].source : &op->image[slot].target) |= (uint8_t)bit;
}

/* ---- which sets count ---- */

static void flip(struct sim *s, int p, uint32_t v)
{
    if (!sim_alive(s, p))
        return;
    snap_life(s, p)->flipped = v;
    if (p)
        snap_send(s, p, 0, SNAP_MSG_FLIPPED, 0, v);
    else
        snap_world(s)->flips |= 1;
}

static void ready(struct sim *s, int p, uint32_t v)
{
    struct snap_world *w = snap_world(s);
    w->ready |= 1ull << p;
    if (w->ready != all(s) && s->o.mutant != SNAP_M_EARLY_COUNT)
        return;
    w->ready = 0;
    snap_check_counted(s, 0, v);
    for (int q = 1; q < s->o.n; q++)
        snap_send(s, 0, q, SNAP_MSG_COMMIT, 0, v);
    flip(s, 0, v);
}

void snap_whole(struct sim *s, int p)
{
    struct snap_life *me = snap_life(s, p);
    uint32_t v = snap_version(s, p);
    if (!sim_alive(s, p) || me->flipped >= v)
        return;
    if (p == 0)
        ready(s, p, v);
    else if (s->o.mutant != SNAP_M_EARLY_COUNT)
        snap_send(s, p, 0, SNAP_MSG_READY, 0, v);
}

int snap_hears(struct sim *s, int p, int from, struct snap_msg *msg)
{
    struct snap_life *me = snap_life(s, p);
    int late = s->o.mutant == SNAP_M_LATE_COMMIT && msg->kind == SNAP_MSG_COMMIT;
    if ((msg->generation != me->generation && s->o.mutant != SNAP_M_OLD_TRAFFIC) ||
        (me->ending && !late))
        return 1;
    if (msg->kind == SNAP_MSG_COMMIT)
        flip(s, p, msg->taken);
    else if (msg->kind == SNAP_MSG_READY)
        ready(s, from, msg->taken);
    else if (msg->kind == SNAP_MSG_FLIPPED)
        snap_world(s)->flips |= 1ull << from;
    return msg->kind >= SNAP_MSG_READY;
}

int snap_goes_on(const struct sim *s, int p)
{
    const struct snap_life *me = snap_life(s, p);
    return sim_alive(s, p) && !me->ending && !me->parked && !snap_world(s)->lost;
}

int snap_may_start(const struct sim *s, int p)
{
    return p == 0 && (int)snap_life(s, 0)->flipped < s->o.starters &&
           snap_world(s)->flips == all(s);
}

/* ---- a death ---- */

void snap_crashed(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    int living = 0;
    (void)p;
    w->ballot = 1; /* whatever was decided: all vote again */
    for (int q = 0; q < s->o.n; q++) {
        snap_life(s, q)->voted = 0;
        living += sim_alive(s, q);
        w->given_up +=
            sim_alive(s, q) && !s->searching && snap_machine(s, q)->phase != FT_SNAP_IDLE;
    }
    w->lost = living == 0;
}

static void vote(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    uint32_t newest = 0;
    snap_life(s, p)->voted = snap_life(s, p)->ending = 1;
    for (int q = 0; q < s->o.n; q++) {
        if (!sim_alive(s, q))
            continue;
        if (!snap_life(s, q)->voted)
            return;
        newest = newest > snap_life(s, q)->flipped ? newest : snap_life(s, q)->flipped;
    }
    w->ballot = 2;
    w->generation++;
    w->version = newest;
}

/* p's side of each op as in its image of version v, with what was recorded for it. */
static void restore(struct sim *s, int p, uint32_t v)
{
    struct snap_world *w = snap_world(s);
    *snap_left(s, p) = (uint8_t)s->o.ops;
    for (int i = 0; i < w->nops; i++) {
        struct snap_op *op = &w->op[i];
        int from = v ? op->image[v % 2].source : 0, to = v ? op->image[v % 2].target : 0;
        if (op->state != SNAP_NONE && op->target == p)
            op->applied = (uint8_t)(!!(to & SNAP_B_APPLIED) + !!(to & SNAP_B_RECORDED));
        if (op->state == SNAP_NONE || op->source != p)
            continue;
        if (!(from & SNAP_B_ISSUED)) {
            *op = (struct snap_op){0};
            continue;
        }
        (*snap_left(s, p))--;
        op->sent_at = op->read_at = op->done_at = op->in_image = 0;
        op->state = op->kind == SNAP_PUT || from & SNAP_B_USED ? SNAP_DONE
                    : to & SNAP_B_HELD                         ? SNAP_HELD
                                                               : SNAP_PUT_OFF;
        if (op->state == SNAP_HELD) /* the target will answer */
            ft_snap_issued(snap_machine(s, p), op->target);
    }
}

static void adopt(struct sim *s, int p)
{
    struct snap_world *w = snap_world(s);
    struct snap_life *me = snap_life(s, p);
    int survives = sim_alive(s, p), waits = 0;
    if (survives && me->flipped > w->version)
        sim_wrong(s, "%d has flipped to image set %u, and the decision says %u", p, me->flipped,
                  w->version);
    if (w->version && me->image[w->version % 2].version != w->version)
        sim_wrong(s, "%d goes back to image set %u, and has none of it", p, w->version);
    s->alive[p] = 1;
    if (!survives || s->o.mutant != SNAP_M_SAME_WAVE)
        ft_snap_init(snap_machine(s, p), (enum ft_snap_alg)s->o.alg, p, s->o.n);
    me->generation = w->generation;
    me->flipped = me->base = w->version;
    me->ending = me->voted = 0;
    me->parked = 1;
    restore(s, p, w->version);
    if (p == 0) {
        w->ready = 0;
        w->flips = all(s); /* this is what adopting is */
    }
    for (int q = 0; q < s->o.n; q++)
        waits |= !sim_alive(s, q) || snap_life(s, q)->generation != w->generation;
    if (!waits)
        w->ballot = 0;
}

void snap_can(struct sim *s, struct sim_choices *out, int act_votes)
{
    const struct snap_world *w = snap_world(s);
    for (int p = 0; p < s->o.n && !w->lost; p++) {
        const struct snap_life *me = snap_life(s, p);
        if (w->ballot == 1 && sim_alive(s, p) && !me->voted)
            sim_can(out, p, act_votes, 0, SIM_MUST);
        if (w->ballot == 2 && (!sim_alive(s, p) || me->generation != w->generation))
            sim_can(out, p, act_votes + 1, 0, SIM_MUST);
        if ((w->ballot == 0 || (s->o.mutant == SNAP_M_EARLY_RESUME && w->ballot == 2 &&
                                me->generation == w->generation)) &&
            sim_alive(s, p) && me->parked)
            sim_can(out, p, act_votes + 2, 0, SIM_MUST);
    }
}

void snap_act(struct sim *s, int p, int act)
{
    if (act == 0) {
        vote(s, p);
    } else if (act == 1) {
        adopt(s, p);
    } else {
        snap_life(s, p)->parked = 0;
        snap_take_up(s, p);
    }
}
