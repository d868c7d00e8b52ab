/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_job.c - what must hold in a job. It is checked where it happens, and after each step.
 */
#include "check_job.h"

#include "job_images.h"
#include "job_shell.h"

/* All adopt one decision, and derive the same from it. */
static void check_decision(struct sim *s, int p, const struct ft_decision *d, int lost,
                           int rollback)
{
    struct job_world *w = job_world(s);
    uint64_t h = (sim_hash(d, sizeof *d) << 2 | (uint64_t)(lost << 1 | rollback)) << 1 | 1;
    uint32_t g = d->generation;
    if (!ft_bitset_equal(&w->failed[g],
                         &d->failed)) { /* another decision of this number died with its adopters */
        w->failed[g] = d->failed;
        w->superseded[g] = 0;
        memset(job_said(s, g, 0), 0, (size_t)s->o.n * sizeof(uint32_t));
    }
    for (int q = 0; q < s->o.n; q++) {
        if (ft_bit_get(&d->failed, q) && sim_alive(s, q))
            sim_wrong(s, "%d was declared dead and lives", q);
        if (q != p && sim_alive(s, q) && *job_adopted(s, g, q) && *job_adopted(s, g, q) != h)
            sim_wrong(s, "two decisions or plans for generation %u: at %d and %d", g, q, p);
    }
    *job_adopted(s, g, p) = h;
}

/* Told recovery: whether main q knows who is new, and has said that it is repaired. */
static int has_repaired(const struct sim_main *m)
{
    return m->reached > 0 ||
           (m->place >= FT_AT_OVER && m->place != FT_AT_PARKED && m->place != FT_AT_RESTORED);
}

void job_note_vote(struct sim *s, int p)
{
    struct sim_main *m = &job_proc(s, p)->main;
    m->unrepaired = m->rank >= 0 && !has_repaired(m);
}

/* p has adopted a decision by which some rank is not new any more. Then all living ones were told
 * of that rank. */
static void check_told_still(struct sim *s, int p)
{
    const struct job_world *w = job_world(s);
    const struct ft_heir *heir = job_heirs(s, p);
    for (int r = 0; w->told && r < w->nranks; r++) {
        int q = job_process(s, p)->map[r];
        struct sim_main *m = &job_proc(s, q)->main;
        if (!sim_alive(s, q) || !m->is_new || heir[r].is_new || m->rank != r)
            continue;
        m->is_new = 0;
        for (int o = 0; o < s->o.n; o++) {
            const struct sim_main *other = &job_proc(s, o)->main;
            if (!sim_alive(s, o) || other->rank < 0 || other->fresh || o == q)
                continue;
            if (!(m->told_by >> o & 1))
                sim_wrong(s, "rank %d is not new any more, and %d was not told of it", r, o);
            else if (other->unrepaired)
                sim_wrong(s, "rank %d is not new any more, and %d has not come to a safepoint", r,
                          o);
        }
    }
}

/* p has adopted a decision, and its main does not know it yet. */
void job_check_adopted(struct sim *s, int p, const struct ft_decision *d, int lost, int rollback)
{
    const struct sim_main *m = &job_proc(s, p)->main;
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    check_decision(s, p, d, lost, rollback);
    if (lost)
        return;
    if (m->committed > d->data.committed)
        sim_wrong(s, "%d has committed what the decision does not know", p);
    check_told_still(s, p);
    if (m->committed < d->data.committed && c->pos >= 0 && m->copied != d->data.committed &&
        !c->incomplete && c->lacks != d->data.committed)
        sim_wrong(s, "version %" PRIu64 " was committed, and %d has not staged it",
                  d->data.committed, p);
    if (m->place == FT_AT_PARKED && !rollback)
        sim_wrong(s, "%d is parked for ever", p);
}

/* Nodes that were lost with slots that are new in the decision. The decision has all slots of such
 * a node, and says that a node was lost. Nobody goes back alone from what only that node had. */
void job_check_nodes(struct sim *s, int p, const struct ft_decision *d, int lost, int rollback)
{
    static struct ft_bitset before;
    const struct job_world *w = job_world(s);
    int some = 0, ranks = 0, all = lost || rollback || d->data.flags & FT_AGREE_DONE;
    if (!w->nodes_lost)
        return;
    memset(&before, 0, sizeof before);
    if (d->generation > 1)
        before = w->failed[d->generation - 1];
    for (int q = 0; q < s->o.n; q++) {
        if (!ft_bit_get(&d->failed, q) || ft_bit_get(&before, q))
            continue;
        ranks += job_proc(s, q)->main.rank >= 0;
        for (int i = 0; i < s->o.n && job_lost_with_node(s, q); i++)
            if (job_lost_with_node(s, i) && job_node(s, i) == job_node(s, q) &&
                !ft_bit_get(&d->failed, i))
                sim_wrong(s, "%d adopts that %d failed, and %d of the same node has not", p, q, i);
        some |= job_lost_with_node(s, q);
    }
    if (some && ranks && !all)
        sim_wrong(s, "%d adopts that a rank goes back alone, and its logs were lost with a node",
                  p);
    if (some && !all && job_proc(s, p)->main.rank >= 0 && job_proc(s, p)->main.replaying)
        sim_wrong(s, "%d replays, and goes on though a node was lost", p);
}

/* In large jobs the root stands for all, since it acts after all others have answered. */
static int look_at_all(const struct sim *s, int p)
{
    return s->o.n <= 64 || ft_order_is_root(&job_process(s, p)->order);
}

void job_note_said(struct sim *s, int p)
{
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    uint32_t *said = job_said(s, c->generation, p);
    if (c->answered_seq > *said)
        *said = c->answered_seq;
}

/* Checks the orders that a step of p has handed out. */
void job_check_orders(struct sim *s, int p, uint32_t generation, uint32_t seq)
{
    const struct job_world *w = job_world(s);
    const struct ft_process *me = job_process(s, p);
    uint32_t g = me->order.generation, now = me->order.seq;
    job_note_said(s, p);
    if (!me->order.active || now == (generation == g ? seq : 0))
        return;
    for (int q = 0; q < s->o.n && look_at_all(s, p); q++)
        if (!ft_bit_get(&w->failed[g], q) && *job_said(s, g, q) < now - 1 &&
            w->superseded[g] != now - 1)
            sim_wrong(s, "order %u came to %d before %d had carried out the one before it", now, p,
                      q);
}

void job_check_copies(struct sim *s, int p, const struct ft_command_arg *a)
{
    const struct job_world *w = job_world(s);
    const struct ft_process *me = job_process(s, p);
    const struct sim_main *mine = &job_proc(s, p)->main;
    uint32_t g = me->order.generation;
    if (a->generation != g || !me->order.active || me->carrier.order.kind != FT_ORDER_CUT)
        return; /* void */
    for (int q = 0; q < s->o.n && look_at_all(s, p); q++) {
        const struct ft_process *o = job_process(s, q);
        const struct sim_main *m = &job_proc(s, q)->main;
        if (!sim_alive(s, q) || ft_bit_get(&w->failed[g], q) || m->rank < 0 ||
            o->order.generation != g || !o->order.active)
            continue; /* its generation is ending, so its main may go on */
        if (m->place != FT_AT_ENTRY && m->place != FT_AT_HELD && m->place != FT_AT_OVER)
            sim_wrong(s, "a cut before %d had arrived", q);
        /* at the exit it may still repeat; it does not copy before it is live */
        int waits = me->carrier.order.flags & FT_ORDER_EXIT && m->place == FT_AT_OVER && q != p;
        if (m->replaying && m->committed > 0 && !waits)
            sim_wrong(s, "a cut before %d, a replacement, is where the lost process was", q);
        if (m->place == FT_AT_HELD && mine->place == FT_AT_HELD && m->reached != mine->reached)
            sim_wrong(s, "mains stand at different safepoints");
    }
    if (a->version != mine->committed + 1)
        sim_wrong(s, "versions must grow one by one: %" PRIu64 " after %" PRIu64, a->version,
                  mine->committed);
}

/* p is about to take its image in a snapshot. All others must see the snapshot, and nobody may be
 * in the middle of an access to p. */
void job_check_image(struct sim *s, int p, const struct ft_command_arg *a)
{
    const struct ft_process *me = job_process(s, p);
    const struct sim_main *mine = &job_proc(s, p)->main;
    uint32_t g = me->order.generation;
    if (a->generation != g || !me->order.active || me->carrier.order.kind != FT_ORDER_TARGET)
        return; /* void */
    for (int q = 0; q < s->o.n; q++) {
        const struct ft_process *o = job_process(s, q);
        const struct sim_main *m = &job_proc(s, q)->main;
        if (!sim_alive(s, q) || m->rank < 0 || o->order.generation != g ||
            o->order.seq > me->order.seq)
            continue; /* for these the snapshot is called off */
        if (m->gate != a->snapshot)
            sim_wrong(s, "%d takes its image in a snapshot that %d does not see", p, q);
        if (m->inside && m->of == 1 + p)
            sim_wrong(s, "%d takes its image while %d is inside an access to it", p, q);
    }
    if (mine->replaying)
        sim_wrong(s, "%d takes its image in a snapshot, and repeats what the lost one did", p);
    if (mine->place == FT_AT_HELD && mine->reached != me->carrier.order.arg)
        sim_wrong(s, "%d takes its image at safepoint %" PRIu64 ", not %" PRIu64, p, mine->reached,
                  me->carrier.order.arg);
    if (a->version != mine->committed + 1)
        sim_wrong(s, "versions must grow one by one: %" PRIu64 " after %" PRIu64, a->version,
                  mine->committed);
}

/* p writes to q. If p has its image of a snapshot, the write must not be in q's image of it. If p
 * has none yet, the write must be in q's image: p knows of the snapshot, and writes to the image,
 * too. */
void job_check_access(struct sim *s, int p, int q)
{
    const struct sim_main *from = &job_proc(s, p)->main;
    struct sim_main *to = &job_proc(s, q)->main;
    if (!sim_alive(s, q))
        return;
    if (from->imaged && to->imaged != from->imaged)
        to->met = from->imaged;
    if (to->imaged && from->imaged != to->imaged && from->gate != to->imaged)
        to->torn = to->copied;
}

void job_check_restores(struct sim *s, int p, const struct ft_command_arg *a)
{
    const struct ft_process *me = job_process(s, p);
    const struct sim_main *mine = &job_proc(s, p)->main;
    int others = !a->alone && a->generation == me->order.generation;
    for (int q = 0; q < s->o.n && others && look_at_all(s, p); q++) {
        enum ft_place at = (enum ft_place)job_proc(s, q)->main.place;
        if (sim_alive(s, q) && job_proc(s, q)->main.rank >= 0 &&
            job_process(s, q)->order.generation == a->generation && !ft_place_stands(at))
            sim_wrong(s, "%d restores while %d is not parked", p, q);
    }
    if (!FT_VERSION_ALONE(a->version) && mine->copied != a->version && mine->before != a->version)
        sim_wrong(s, "%d restores version %" PRIu64 ", which is not there", p, a->version);
    if (others && mine->committed != a->version)
        sim_wrong(s, "%d restores version %" PRIu64 ", not the committed one", p, a->version);
    if (mine->oldest > FT_VERSION_BASE(a->version))
        sim_wrong(s, "%d goes back to version %" PRIu64 ", and its logs begin with %" PRIu64, p,
                  a->version, mine->oldest);
}

/* Counts the blocks of this version in p's group. A block is not counted if it was rebuilt after
 * its owner had voted that it is not there: all have decided that it is lost for good. */
static int blocks_left(const struct sim *s, int p, uint64_t version)
{
    struct ft_process *me = job_process(s, p);
    const struct ft_groups *g = job_groups();
    int group = ft_group_of_position(g, me->carrier.pos), k = ft_group_size(g, group), there = 0;
    for (int i = 0; i < k + g->parity; i++) {
        int slot = me->map[ft_group_block(g, group, i)];
        const struct sim_main *m = &job_proc(s, slot)->main;
        there += sim_alive(s, slot) && job_process(s, slot)->carrier.lacks != version &&
                 (m->copied == version || m->before == version);
    }
    return there;
}

/* Told recovery: survivors keep what they have, and new ranks get what is there. */
void job_check_told(struct sim *s, int p, const struct ft_command_arg *a)
{
    const struct ft_process *me = job_process(s, p);
    const struct sim_main *mine = &job_proc(s, p)->main;
    int current = a->generation == me->order.generation && me->order.active;
    for (int q = 0; q < s->o.n && current; q++) {
        enum ft_place at = (enum ft_place)job_proc(s, q)->main.place;
        if (sim_alive(s, q) && job_proc(s, q)->main.rank >= 0 &&
            job_process(s, q)->order.generation == a->generation && !ft_place_stands(at))
            sim_wrong(s, "%d begins again while %d is not parked", p, q);
    }
    if (a->told == FT_TOLD_KEEPS) {
        if (mine->fresh)
            sim_wrong(s, "%d keeps its memory, and has none", p);
        return;
    }
    if (!mine->fresh && !mine->is_new)
        sim_wrong(s, "%d loses its memory, and is not new", p);
    if (a->version && mine->copied != a->version && mine->before != a->version)
        sim_wrong(s, "%d restores version %" PRIu64 ", which is not there", p, a->version);
    int group = ft_group_of_position(job_groups(), me->carrier.pos);
    if (!a->version && current &&
        blocks_left(s, p, mine->committed) >= ft_group_size(job_groups(), group))
        sim_wrong(s, "%d comes without an image that could be made", p);
}

/* Main of p is told who is new in this generation, and enters body. */
void job_note_told(struct sim *s, int p, uint32_t generation)
{
    const struct job_world *w = job_world(s);
    const struct ft_heir *heir = job_heirs(s, p);
    for (int r = 0; r < w->nranks && job_process(s, p)->generation == generation; r++) {
        int q = job_process(s, p)->map[r];
        struct sim_main *m = &job_proc(s, q)->main;
        if (!heir[r].is_new || !sim_alive(s, q))
            continue;
        if (m->restored_in != generation || m->holds != heir[r].version)
            sim_wrong(s, "%d is told that rank %d has version %" PRIu64 ", which it has not", p, r,
                      heir[r].version);
        m->told_by |= 1ull << p;
    }
}

/* p begins as a rank that another process has carried, and must know what that one has left. */
void job_check_left(struct sim *s, int p)
{
    const struct sim_main *m = &job_proc(s, p)->main;
    if (!m->left)
        sim_wrong(s, "%d begins as rank %d and does not know what the lost process left", p,
                  m->rank);
    else if (sim_alive(s, m->left - 1) || (job_proc(s, m->left - 1)->main.rank != m->rank &&
                                           job_proc(s, m->left - 1)->main.rank >= 0))
        sim_wrong(s, "%d begins as rank %d with what %d left", p, m->rank, m->left - 1);
}

/* The newest carrier of p's rank that had all of the home log must have been on the node of slot
 * `home`. Other nodes have older parts only. */
void job_check_log(struct sim *s, int p, int home)
{
    int rank = job_proc(s, p)->main.rank, newest = -1;
    for (int q = 0; q < s->o.n; q++) {
        const struct sim_main *m = &job_proc(s, q)->main;
        if (q != p && m->rank == rank && m->log_here &&
            (newest < 0 || m->nth > job_proc(s, newest)->main.nth))
            newest = q;
    }
    if (newest < 0 || job_node(s, newest) != job_node(s, home))
        sim_wrong(s, "%d has the log of rank %d from the node of %d, and %d had it last", p, rank,
                  home, newest);
}

/* [The root goes on, and is lost before anybody has heard. Its replacement waits at the entry.] */
void job_check_fails(struct sim *s, int p)
{
    const struct ft_process *me = job_process(s, p);
    for (int q = 0; q < s->o.n && ft_order_is_root(&me->order); q++)
        if (sim_alive(s, q) && job_process(s, q)->generation == me->generation &&
            !(job_process(s, q)->carrier.facts & FT_FACT_REFUSED))
            sim_wrong(s, "%d leaves a refused run before %d has heard of that", p, q);
}

int job_check_sources(struct sim *s, int p, uint64_t version)
{
    struct ft_process *me = job_process(s, p);
    const struct ft_groups *g = job_groups();
    int group = ft_group_of_position(g, me->carrier.pos), k = ft_group_size(g, group);
    int there = 0, gone = 0;
    for (int i = 0; i < k + g->parity; i++) {
        int slot = me->map[ft_group_block(g, group, i)];
        const struct sim_main *m = &job_proc(s, slot)->main;
        gone += !sim_alive(s, slot);
        there += sim_alive(s, slot) && (m->copied == version || m->before == version);
    }
    if (there + gone < k && me->carrier.lacks != version) /* else it was told to before */
        sim_wrong(s, "%d rebuilds version %" PRIu64 ", of which only %d blocks are left", p,
                  version, there);
    return there >= k;
}

void job_check_publishes(struct sim *s, int p, const struct ft_action *a)
{
    const struct sim_main *m = &job_proc(s, p)->main;
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    if (a->word == FT_WORD_COMMITTED && c->pos >= 0 && !c->incomplete && c->lacks != a->value &&
        (a->value != m->committed + 1 || m->copied != a->value))
        sim_wrong(s, "%d commits what it has not staged", p);
    if (a->word == FT_WORD_COMMITTED && c->pos >= 0 && m->torn == a->value)
        sim_wrong(s, "%d commits an image that is not on one side of the cut", p);
    if (a->word == FT_WORD_REJOINED && m->inside && m->inside < 1 + (int32_t)a->value)
        sim_wrong(s, "%d has rejoined, and its main accesses a lost process", p);
}

static void step(struct sim *s, int p)
{
    const struct job_world *w = job_world(s);
    const struct ft_process *me = job_process(s, p);
    const struct sim_main *mine = &job_proc(s, p)->main;
    static struct ft_process_cfg cfg;
    if (!sim_alive(s, p) || w->lost || !look_at_all(s, p))
        return;
    cfg.carrier = (struct ft_carrier_cfg){.nranks = w->nranks,
                                          .checkpoints = w->nchecksums > 0,
                                          .every = w->every,
                                          .told = w->told,
                                          .demand = s->o.demand,
                                          .snapshot = w->alg};
    ft_process_check(me, &cfg);
    job_images_check(s, p);
    if (me->carrier.facts & FT_FACT_DONE && mine->rank >= 0 && mine->place != FT_AT_FINALIZE &&
        mine->place != FT_AT_GONE)
        sim_wrong(s, "done before %d was", p);
    if (me->carrier.order.kind == FT_ORDER_TARGET && mine->rank >= 0 &&
        (mine->place == FT_AT_BODY || mine->place == FT_AT_HELD) &&
        mine->passed >= me->carrier.order.arg)
        sim_wrong(s, "%d has passed the safepoint that it had promised to stop at", p);
    for (int q = 0; q < s->o.n; q++) {
        const struct ft_process *o = job_process(s, q);
        if (q == p || !sim_alive(s, q) || o->order.generation != me->order.generation ||
            o->generation != me->generation)
            continue;
        if (mine->rank >= 0 && job_proc(s, q)->main.rank == mine->rank)
            sim_wrong(s, "%d and %d act for rank %d", p, q, mine->rank);
        if (ft_order_is_root(&me->order) && me->order.active &&
            o->carrier.committed < me->order.committed)
            sim_wrong(s, "the root believes in version %" PRIu64 ", which %d has not",
                      me->order.committed, q);
    }
}

static void quiet(struct sim *s)
{
    const struct job_world *w = job_world(s);
    for (int p = 0; p < s->o.n && !w->lost; p++) {
        const struct ft_process *me = job_process(s, p);
        if (!sim_alive(s, p))
            continue;
        if (ft_agree_pending(&me->agree) || !ft_bitset_equal(&me->agree.failed, &w->crashed))
            sim_wrong(s, "all is quiet, and %d has not decided", p);
        if (job_proc(s, p)->main.gate)
            sim_wrong(s, "all is quiet, and %d still looks at the gate of a snapshot", p);
        if (w->alone) {
            if (w->dues == 0 && me->carrier.order.kind != FT_ORDER_NONE)
                sim_wrong(s, "all is quiet, and %d has not carried out its order", p);
            if (w->dues == 0 && me->carrier.committed < 2 && ft_bitset_empty(&w->crashed))
                sim_wrong(s, "all is quiet, and %d has not committed the checkpoint", p);
        } else if (job_proc(s, p)->main.place != FT_AT_GONE)
            sim_wrong(s, "all is quiet, and %d has not left MPI_Finalize", p);
    }
}

const struct sim_checker sim_check_job = {"jobs", step, quiet};
