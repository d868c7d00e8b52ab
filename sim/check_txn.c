/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_txn.c - nothing is delivered twice to a life of a rank, and nothing that was acknowledged
 * is sent again. No answer comes from or goes to a life that is over. Each transaction ends once.
 * In the end nothing is outstanding.
 */
#include "model_txn.h"

void txn_check_delivered(struct sim *s, int p, enum ft_txn_kind kind, struct txn_body b)
{
    struct txn_world *w = txn_world(s);
    const struct txn_rank *me = &w->rank[p];
    int life = (int)w->life[me->generation][b.from];
    if (b.life != life)
        sim_wrong(s, "rank %d hears life %d of rank %d, whose life is %d in its generation", p,
                  b.life, b.from, life);
    if (kind == FT_TXN_PUT) {
        struct txn_op *op = &w->rank[p].op[me->life][b.op];
        if (b.for_life != me->life)
            sim_wrong(s, "an answer for life %d of rank %d comes to life %d", b.for_life, p,
                      me->life);
        if (op->ended++)
            sim_wrong(s, "operation %d of rank %d is answered twice", b.op, p);
        return;
    }
    struct txn_op *op = &w->rank[b.from].op[b.life][b.op];
    if (op->delivered & 1 << me->life)
        sim_wrong(s, "operation %d of rank %d is delivered twice to rank %d", b.op, b.from, p);
    if (op->delivered && op->kind == FT_TXN_MESSAGE && op->acked)
        sim_wrong(s, "message %d of rank %d was acknowledged, and comes again to rank %d", b.op,
                  b.from, p);
    if (op->ended)
        sim_wrong(s, "header %d of rank %d was answered, and comes again to rank %d", b.op, b.from,
                  p);
    op->delivered |= (uint8_t)(1 << me->life);
}

void txn_check_acked(struct sim *s, int p, struct txn_op *op)
{
    if (!op->ack || op->acked)
        sim_wrong(s, "rank %d is told %s of an acknowledgement", p,
                  op->ack ? "twice" : "without asking");
    if (!op->delivered)
        sim_wrong(s, "rank %d is told of an acknowledgement of what was never delivered", p);
    op->acked = 1;
}

void txn_check_told(struct sim *s, int p, const struct txn_request *r)
{
    if (r->state != TXN_ANSWERED)
        sim_wrong(s, "rank %d is told of an answer that it did not give", p);
}

static void quiet(struct sim *s)
{
    const struct txn_world *w = txn_world(s);
    for (int p = 0; p < s->o.n; p++) {
        const struct txn_rank *me = &w->rank[p];
        if (ft_txn_outstanding(txn_machine(s, p)))
            sim_wrong(s, "rank %d: %d items are outstanding for ever", p,
                      ft_txn_outstanding(txn_machine(s, p)));
        for (int i = 0; i < TXN_OPS; i++) {
            const struct txn_op *op = &me->op[me->life][i];
            if (!op->sent)
                continue;
            if (op->ack && !op->acked)
                sim_wrong(s, "rank %d never hears that operation %d was delivered", p, i);
            if (op->kind == FT_TXN_HEADER && !op->ended)
                sim_wrong(s, "operation %d of rank %d is never answered", i, p);
            if (!op->delivered)
                sim_wrong(s, "operation %d of rank %d was never delivered", i, p);
        }
        for (size_t i = 0; i < sizeof me->request / sizeof *me->request; i++)
            if (me->request[i].state == TXN_ANSWERED)
                sim_wrong(s, "rank %d never hears what became of an answer", p);
    }
}

const struct sim_checker sim_check_txn = {"txn", NULL, quiet};
