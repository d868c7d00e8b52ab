/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order.c - orders go down the tree, READYs and milestones go up, and the root chooses what comes
 * next (P1, C2 to C6, G1).
 */
#include "proto/order.h"

#include <stdio.h>
#include <string.h>

#include "base/board.h"

#define MAX_SNAPSHOTS_OFF 2

static struct ft_order_action *push(struct ft_order_actions *out, enum ft_order_action_kind kind)
{
    FT_ASSERT(out->n < FT_ORDER_MAX_ACTIONS);
    struct ft_order_action *a = &out->a[out->n++];
    memset(a, 0, sizeof *a);
    a->kind = kind;
    return a;
}

static struct ft_order_msg *push_send(const struct ft_order *m, struct ft_order_actions *out,
                                      int to, enum ft_order_msg_kind kind)
{
    struct ft_order_action *a = push(out, FT_OA_SEND);
    a->to = to;
    a->msg.kind = kind;
    a->msg.generation = m->generation;
    a->msg.seq = m->seq;
    return &a->msg;
}

int ft_order_is_root(const struct ft_order *m) { return m->started && m->tree.parent < 0; }

/* ---- milestones ---- */

static int subtree_milestone(const struct ft_order *m)
{
    int low = m->own_mile;
    for (int i = 0; i < m->tree.nchildren; i++)
        if (m->child_mile[i] < low)
            low = m->child_mile[i];
    return low;
}

static void report_milestone(struct ft_order *m, struct ft_order_actions *out)
{
    int low = subtree_milestone(m);
    if (!m->active || m->tree.parent < 0 || low == m->sent_mile)
        return;
    m->sent_mile = low;
    push_send(m, out, m->tree.parent, FT_OM_MILESTONE)->order = (uint32_t)low;
}

/* After a rollback ranks are in body again. This commutes with the minimum, so parent and child
 * still agree. */
static void milestones_to_run(struct ft_order *m)
{
    int *mile[] = {&m->own_mile, &m->child_mile[0], &m->child_mile[1], &m->sent_mile};
    for (size_t i = 0; i < FT_COUNTOF(mile); i++)
        if (*mile[i] != FT_MILE_NONE)
            *mile[i] = FT_MILE_RUN;
}

/* ---- one order ---- */

static void begin(struct ft_order *m, enum ft_order_kind order, uint64_t arg, uint32_t flags,
                  struct ft_order_actions *out)
{
    m->seq++;
    m->order = order;
    m->arg = arg;
    m->flags = flags;
    m->own_ready = m->child_ready[0] = m->child_ready[1] = 0;
    m->rolled |= order == FT_ORDER_RECOVER;
    if (order == FT_ORDER_TARGET)
        m->target = arg;
    if (order == FT_ORDER_RESTORE)
        milestones_to_run(m);
    for (int i = 0; i < m->tree.nchildren; i++) {
        struct ft_order_msg *msg = push_send(m, out, m->tree.child[i], FT_OM_ORDER);
        msg->order = order;
        msg->arg = arg;
        msg->flags = flags;
    }
    struct ft_order_action *a = push(out, FT_OA_EXECUTE);
    a->seq = m->seq;
    a->order = order;
    a->arg = arg;
    a->flags = flags;
}

static void merge_ready(struct ft_ready *a, const struct ft_ready *b)
{
    a->max = ft_max_u64(a->max, b->max);
    a->bytes += b->bytes;
    a->not_ok = a->not_ok > b->not_ok ? a->not_ok : b->not_ok;
    a->came |= b->came;
    a->running |= b->running;
    a->no_snapshot |= b->no_snapshot;
}

/* The root. Some checkpoint must come about, so a snapshot is tried again, and after that there is
 * a barrier. */
static void call_off(struct ft_order *m, uint64_t why, uint32_t flags, struct ft_order_actions *out)
{
    if (flags & FT_ORDER_SNAPSHOT) {
        m->snapshots_off++;
        m->due = 1;
    } else {
        m->snapshots_off = 0;
    }
    begin(m, FT_ORDER_CANCEL, why, flags, out);
}

static void end_of_run(struct ft_order *m, uint32_t flags)
{
    m->entered |= (flags & FT_ORDER_ENTRY) != 0;
    m->run_over |= (flags & FT_ORDER_EXIT) != 0;
}

/* The root: all have carried out the order under way. */
static void all_ready(struct ft_order *m, const struct ft_ready *r, struct ft_order_actions *out)
{
    enum ft_order_kind done = m->order;
    uint32_t flags = m->flags;
    m->order = FT_ORDER_NONE;
    if (r->not_ok && (done == FT_ORDER_PROPOSE || done == FT_ORDER_TARGET || done == FT_ORDER_CUT ||
                      done == FT_ORDER_LEAVE)) {
        if (r->not_ok == FT_SKIP_DIVERGED && m->committed > 0 &&
            !m->rolled) { /* FT_OE_ROLLBACK may still be on its way */
            m->rollback = m->due = 0;
            begin(m, FT_ORDER_RECOVER, m->committed, 0, out);
        } else if (r->not_ok == FT_SKIP_FAILURE && flags & (FT_ORDER_ENTRY | FT_ORDER_EXIT) &&
                   !m->again) {
            /* [Somebody is lost while the parity is computed, and the root hears that the parity
             * failed before it hears of the loss. Body would not be run.] The process that is lost
             * does not answer now, and in a new generation the checkpoint begins again. */
            m->again = 1;
            begin(m, FT_ORDER_CUT, m->arg, flags, out);
        } else {
            call_off(m, r->not_ok, flags, out);
        }
        return;
    }
    switch (done) {
    case FT_ORDER_PROPOSE:
        if (!r->running || r->max == FT_SP_NONE)
            begin(m, FT_ORDER_CANCEL, FT_SKIP_NONE, flags, out);
        else
            begin(m, FT_ORDER_TARGET, r->max,
                  m->snapshots && !r->no_snapshot && m->snapshots_off < MAX_SNAPSHOTS_OFF
                      ? FT_ORDER_SNAPSHOT
                      : 0,
                  out);
        break;
    case FT_ORDER_TARGET:
        if (r->came & FT_CAME_NOT && r->came & FT_CAME_LATER && !(flags & FT_ORDER_SNAPSHOT))
            begin(m, FT_ORDER_TARGET, m->arg, flags, out);
        else if (r->came & FT_CAME_NOT)
            call_off(m, FT_SKIP_WAITING, flags, out);
        else
            begin(m, FT_ORDER_CUT, m->committed + 1, flags, out);
        break;
    case FT_ORDER_CUT: begin(m, FT_ORDER_LEAVE, m->arg, flags, out); break;
    case FT_ORDER_LEAVE:
        if (m->checkpoints)
            begin(m, FT_ORDER_COMMIT, m->arg, flags, out);
        else
            end_of_run(m, flags);
        break;
    case FT_ORDER_COMMIT:
        FT_ASSERT(m->arg == m->committed + 1);
        m->committed = m->arg;
        m->snapshots_off = 0;
        end_of_run(m, flags);
        break;
    case FT_ORDER_CANCEL:
        end_of_run(m, flags & FT_ORDER_ENTRY ? FT_ORDER_ENTRY | FT_ORDER_EXIT
                                             : flags); /* the entry failed: body is not run */
        break;
    case FT_ORDER_RECOVER: begin(m, FT_ORDER_RESTORE, m->arg, flags, out); break;
    case FT_ORDER_RESTORE: begin(m, FT_ORDER_RESUME, m->arg, flags, out); break;
    case FT_ORDER_NONE: FT_ASSERT(!"an order was answered that nobody gave"); break;
    case FT_ORDER_RESUME:
    case FT_ORDER_REJOIN:
    case FT_ORDER_DONE: break;
    }
}

/* When this process and all below it are ready, it answers for the subtree, or the root goes on. */
static void try_answer(struct ft_order *m, struct ft_order_actions *out)
{
    if (m->order == FT_ORDER_NONE || !m->own_ready)
        return;
    struct ft_ready all = m->own;
    for (int i = 0; i < m->tree.nchildren; i++) {
        if (!m->child_ready[i])
            return;
        merge_ready(&all, &m->child[i]);
    }
    if (m->tree.parent < 0) {
        all_ready(m, &all, out);
        return;
    }
    m->order = FT_ORDER_NONE;
    push_send(m, out, m->tree.parent, FT_OM_READY)->ready = all;
}

/* The root chooses what is next when nothing is under way. */
static void choose(struct ft_order *m, struct ft_order_actions *out)
{
    if (!m->active || m->tree.parent >= 0 || m->order != FT_ORDER_NONE || m->done)
        return;
    int low = subtree_milestone(m);
    if (low >= FT_MILE_FINALIZE) {
        m->done = 1;
        begin(m, FT_ORDER_DONE, 0, 0, out);
        return;
    }
    if (m->rollback && m->committed > 0 && !m->run_over) {
        m->rollback = m->due = 0;
        begin(m, FT_ORDER_RECOVER, m->committed, 0, out);
        return;
    }
    uint32_t flags = 0;
    if (low >= FT_MILE_RUN && !m->entered)
        flags = FT_ORDER_ENTRY;
    else if (low >= FT_MILE_OVER && !m->run_over)
        flags = FT_ORDER_EXIT;
    if (flags && !m->checkpoints) {
        begin(m, FT_ORDER_LEAVE, flags == FT_ORDER_EXIT ? FT_SP_OVER : 0, flags, out);
    } else if (flags) {
        m->due = 0;
        begin(m, FT_ORDER_CUT, m->committed + 1, flags, out);
    } else if (m->due && low == FT_MILE_RUN && m->committed > 0 && !m->run_over) {
        m->due = 0;
        begin(m, FT_ORDER_PROPOSE, 0, 0, out);
    }
}

/* ---- events ---- */

static void on_generation(struct ft_order *m, const struct ft_order_event *ev,
                          struct ft_order_actions *out)
{
    FT_ASSERT(!m->started || ev->generation > m->generation);
    FT_ASSERT(ev->first == FT_ORDER_NONE || ev->first == FT_ORDER_REJOIN ||
              (ev->first == FT_ORDER_RECOVER && ev->checkpoints));
    m->started = m->active = 1;
    m->generation = ev->generation;
    m->failed = *ev->failed;
    ft_tree_make(&m->tree, m->nslots, &m->failed, m->self);
    m->seq = 0;
    m->order = FT_ORDER_NONE;
    m->child_mile[0] = m->child_mile[1] = m->sent_mile =
        FT_MILE_SETUP; /* parents assume this until they hear otherwise */
    m->committed = ev->committed;
    m->checkpoints = ev->checkpoints;
    m->run_over = ev->checkpoints && ev->run_over;
    m->entered = ev->checkpoints && (ev->committed > 0 || ev->run_over);
    m->due = m->done = m->rollback = m->rolled = m->again = 0;
    if (m->tree.parent < 0 && ev->first != FT_ORDER_NONE)
        begin(m, ev->first, ev->arg, 0, out);
}

static void on_message(struct ft_order *m, int from, const struct ft_order_msg *msg,
                       struct ft_order_actions *out)
{
    FT_ASSERT(m->started);
    if (!m->active || msg->generation != m->generation || ft_bit_get(&m->failed, from))
        return; /* An older generation is over. A newer one will be superseded. A message of the
                   dead belongs to another decision of this number. See order.h. */
    if (msg->kind == FT_OM_ORDER) {
        FT_ASSERT(from == m->tree.parent && msg->seq == m->seq + 1);
        begin(m, (enum ft_order_kind)msg->order, msg->arg, msg->flags, out);
        return;
    }
    FT_ASSERT(from == m->tree.child[0] || from == m->tree.child[1]);
    int i = from == m->tree.child[1];
    if (msg->kind == FT_OM_MILESTONE) {
        m->child_mile[i] = (int)msg->order;
    } else if (msg->seq == m->seq) {
        FT_ASSERT(msg->kind == FT_OM_READY && m->order != FT_ORDER_NONE && !m->child_ready[i]);
        m->child_ready[i] = 1;
        m->child[i] = msg->ready;
        try_answer(m, out);
    } else {
        FT_ASSERT(msg->seq < m->seq); /* it answers an order that was superseded */
    }
}

static void on_ready(struct ft_order *m, const struct ft_order_event *ev,
                     struct ft_order_actions *out)
{
    if (!m->active || ev->seq != m->seq || m->order == FT_ORDER_NONE || m->own_ready)
        return;
    FT_ASSERT(ev->kind == FT_OE_READY || m->order == FT_ORDER_TARGET);
    m->own_ready = 1;
    m->own = ev->ready;
    m->own.came |= ev->kind == FT_OE_STUCK ? FT_CAME_NOT : 0;
    if (m->own.max == FT_SP_OVER)
        m->own.max = FT_SP_NONE;
    try_answer(m, out);
}

void ft_order_init(struct ft_order *m, int self, int nslots)
{
    FT_ASSERT(self >= 0 && self < nslots && nslots <= FT_MAX_SLOTS);
    memset(m, 0, sizeof *m);
    m->self = self;
    m->nslots = nslots;
    m->own_mile = FT_MILE_SETUP;
}

void ft_order_step(struct ft_order *m, const struct ft_order_event *ev,
                   struct ft_order_actions *actions)
{
    actions->n = 0;
    switch (ev->kind) {
    case FT_OE_GENERATION: on_generation(m, ev, actions); break;
    case FT_OE_MSG: on_message(m, ev->from, ev->msg, actions); break;
    case FT_OE_READY:
    case FT_OE_STUCK: on_ready(m, ev, actions); break;
    case FT_OE_MILESTONE:
        FT_ASSERT(ev->arg <= FT_MILE_NONE);
        m->own_mile = (int)ev->arg;
        break;
    case FT_OE_DUE:
        /* A checkpoint whose images are not taken yet is as good as the one that is asked for. Once
         * mains go on (LEAVE), it is not. [Main is at its next multiple of K before the codeword of
         * the last checkpoint is staged, and waits there for ever.] */
        if (m->order < FT_ORDER_PROPOSE || m->order > FT_ORDER_CUT ||
            ((m->flags & FT_ORDER_SNAPSHOT) && ev->arg > m->target))
            m->due = ft_order_is_root(m) && m->active && m->checkpoints;
        break;
    case FT_OE_LATE:
        if (ft_order_is_root(m) && m->active && m->order == FT_ORDER_TARGET)
            call_off(m, ev->ready.not_ok ? ev->ready.not_ok : FT_SKIP_WAITING, m->flags, actions);
        break;
    case FT_OE_ROLLBACK:
        m->rollback = ft_order_is_root(m) && m->active && m->checkpoints && !m->rolled;
        /* PROPOSE and TARGET are superseded, since nobody has taken an image yet, and the exit's
         * CUT, which nobody goes on from. [The one who asks stands at body's end, and would not
         * answer: what it has to repeat is lost.] */
        if (m->rollback && (m->order == FT_ORDER_PROPOSE || m->order == FT_ORDER_TARGET ||
                            (m->order == FT_ORDER_CUT && m->flags & FT_ORDER_EXIT)))
            m->order = FT_ORDER_NONE;
        break;
    case FT_OE_ENDING:
        m->active = 0;
        m->order = FT_ORDER_NONE;
        break;
    }
    report_milestone(m, actions);
    choose(m, actions);
}

void ft_order_check(const struct ft_order *m)
{
    FT_ASSERT(!m->active || m->started);
    FT_ASSERT(m->order == FT_ORDER_NONE || (m->active && m->seq > 0));
    FT_ASSERT(m->own_mile >= FT_MILE_SETUP && m->own_mile <= FT_MILE_NONE);
    FT_ASSERT(!m->active || m->tree.parent < 0 || m->sent_mile == subtree_milestone(m));
    FT_ASSERT(m->order != FT_ORDER_CUT || m->tree.parent >= 0 || m->arg == m->committed + 1);
    int waits = !m->own_ready;
    for (int i = 0; i < m->tree.nchildren; i++)
        waits |= !m->child_ready[i];
    FT_ASSERT(m->order == FT_ORDER_NONE ||
              waits); /* an order that is complete is answered in the same step */
}

int ft_order_dump(const struct ft_order *m, char *out, int size)
{
    static const char *const name[] = {"idle",   "PROPOSE", "TARGET",  "CUT",    "LEAVE",  "COMMIT",
                                       "CANCEL", "RECOVER", "RESTORE", "RESUME", "REJOIN", "DONE"};
    return snprintf(out, (size_t)size,
                    "order: slot %d, generation %u%s, parent %d, children %d, order %u %s(%llu), "
                    "ready %d%d%d, milestones %d %d %d, "
                    "committed %llu%s%s%s",
                    m->self, m->generation, m->active ? "" : " (ending)", m->tree.parent,
                    m->tree.nchildren, m->seq, name[m->order], (unsigned long long)m->arg,
                    m->own_ready, m->child_ready[0], m->child_ready[1], m->own_mile,
                    m->child_mile[0], m->child_mile[1], (unsigned long long)m->committed,
                    m->entered ? ", entered" : "", m->run_over ? ", run over" : "",
                    m->done ? ", done" : "");
}
