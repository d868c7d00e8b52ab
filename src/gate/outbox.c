/* SPDX-License-Identifier: BSD-3-Clause
 *
 * outbox.c - queues of frames.
 */
#include "gate/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "gate/counts.h"

enum ft_status ft_outbox_open(struct ft_outbox *o, int self, int nnodes)
{
    *o = (struct ft_outbox){.self = self, .nnodes = nnodes};
    o->queue = calloc((size_t)nnodes, sizeof *o->queue);
    return o->queue ? FT_OK : FT_ERR_NOMEM;
}

static void clear(struct ft_outbox_queue *q)
{
    for (struct ft_outbox_frame *f = q->first, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    q->first = q->last = q->unsent = NULL;
    q->waiting = 0;
}

void ft_outbox_drop(struct ft_outbox *o, int node)
{
    o->out |= 1ull << node;
    for (int c = 0; c < FT_WIRE_CLASSES; c++)
        clear(&o->queue[node][c]);
}

void ft_outbox_close(struct ft_outbox *o)
{
    for (int k = 0; o->queue && k < o->nnodes; k++)
        ft_outbox_drop(o, k);
    free(o->queue);
    o->queue = NULL;
}

struct ft_outbox_frame *ft_outbox_frame(struct ft_outbox *o, int node, enum ft_wire_class c,
                                        size_t room)
{
    struct ft_outbox_queue *q = &o->queue[node][c];
    if (o->out >> node & 1)
        return NULL;
    if (q->unsent && sizeof q->last->data - q->last->used >= room)
        return q->last;
    struct ft_outbox_frame *f = malloc(sizeof *f);
    if (!f) {
        o->failed = 1;
        return NULL;
    }
    f->next = NULL;
    f->used = 0;
    if (q->last)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
    if (!q->unsent)
        q->unsent = f;
    q->waiting++;
    return f;
}

void ft_outbox_item(struct ft_outbox *o, int node, enum ft_wire_class c, const struct ft_item *item,
                    const void *data)
{
    struct ft_outbox_frame *f = ft_outbox_frame(o, node, c, ft_item_size(item->bytes));
    if (!f)
        return;
    memcpy(f->data + f->used, item, sizeof *item);
    if (item->bytes)
        memcpy(f->data + f->used + sizeof *item, data, item->bytes);
    f->used += (uint32_t)ft_item_size(item->bytes);
    o->busy = 1;
}

void ft_outbox_to_all(struct ft_outbox *o, enum ft_wire_class c, const struct ft_item *item,
                      const void *data)
{
    for (int k = 0; k < o->nnodes; k++)
        if (k != o->self)
            ft_outbox_item(o, k, c, item, data);
}

int ft_outbox_waiting(const struct ft_outbox *o, int node, enum ft_wire_class c)
{
    return o->queue[node][c].waiting;
}

static void push(struct ft_outbox *o, int node, enum ft_wire_class c)
{
    struct ft_outbox_queue *q = &o->queue[node][c];
    while (q->unsent && q->unsent->used > 0) {
        struct ft_wire_piece piece = {q->unsent->data, q->unsent->used};
        if (ft_wire_send(o->wire, node, c, &piece, 1) != FT_OK)
            break;
        if (o->counts)
            ft_counts_frame(&o->counts[node], q->unsent->data, q->unsent->used);
        q->unsent = q->unsent->next;
        q->waiting--;
        q->sent++;
        o->busy = 1;
        ft_failpoint(GATE_FRAME);
    }
    for (uint64_t acked = ft_wire_acknowledged(o->wire, node, c); q->freed < acked; q->freed++) {
        struct ft_outbox_frame *f = q->first;
        FT_ASSERT(f && f != q->unsent);
        q->first = f->next;
        if (q->last == f)
            q->last = NULL;
        free(f);
    }
}

void ft_outbox_push(struct ft_outbox *o)
{
    for (int k = 0; k < o->nnodes; k++)
        for (int c = 0; c < FT_WIRE_CLASSES && k != o->self && !(o->out >> k & 1); c++)
            push(o, k, (enum ft_wire_class)c);
}
