/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mail_words.c - for each struct one function, which writes the fields to a list or reads them from
 * it.
 */
#include "recover/mail_words.h"

#include <string.h>

struct walk {
    uint64_t *to;         /* NULL: reads */
    const uint64_t *from; /* n of them */
    int at, n, bad, nslots;
};

static uint64_t word(struct walk *x, uint64_t is)
{
    if (x->to)
        x->to[x->at++] = is;
    else if (x->at < x->n)
        is = x->from[x->at++];
    else
        x->bad = 1;
    return is;
}

#define FIELD(x, field) ((field) = (__typeof__(field))word(x, (uint64_t)(field)))

static void set(struct walk *x, struct ft_bitset *s)
{
    for (int i = 0; i < (x->nslots + 63) / 64; i++)
        FIELD(x, s->w[i]);
}

static void testimony(struct walk *x, struct ft_testimony *t)
{
    FIELD(x, t->slot);
    FIELD(x, t->latest);
    FIELD(x, t->own_from);
    FIELD(x, t->calls);
    FIELD(x, t->position);
    FIELD(x, t->events);
    FIELD(x, t->heap_from);
    FIELD(x, t->arena_at);
    FIELD(x, t->strayed);
    FIELD(x, t->log_here);
    FIELD(x, t->tag);
    FIELD(x, t->tag_by);
}

static void data(struct walk *x, struct ft_agree_data *d)
{
    FIELD(x, d->committed);
    FIELD(x, d->flags);
    FIELD(x, d->shared_until);
    for (size_t i = 0; i < FT_COUNTOF(d->exposers.most); i++) {
        FIELD(x, d->exposers.most[i].until);
        FIELD(x, d->exposers.most[i].slot);
    }
    set(x, &d->incomplete);
    FIELD(x, d->told.n);
    if (d->told.n > FT_TESTIMONIES) {
        d->told.n = 0;
        x->bad = 1;
    }
    for (uint32_t i = 0; i < d->told.n; i++)
        testimony(x, &d->told.of[i]);
}

static void agree(struct walk *x, struct ft_agree_msg *m)
{
    FIELD(x, m->kind);
    FIELD(x, m->oldest);
    set(x, &m->failed);
    data(x, &m->data);
    FIELD(x, m->last.generation);
    set(x, &m->last.failed);
    data(x, &m->last.data);
}

static void order(struct walk *x, struct ft_order_msg *m)
{
    FIELD(x, m->kind);
    FIELD(x, m->generation);
    FIELD(x, m->seq);
    FIELD(x, m->order);
    FIELD(x, m->arg);
    FIELD(x, m->flags);
    FIELD(x, m->ready.max);
    FIELD(x, m->ready.bytes);
    FIELD(x, m->ready.not_ok);
    FIELD(x, m->ready.came);
    FIELD(x, m->ready.running);
    FIELD(x, m->ready.no_snapshot);
}

static void mail(struct walk *x, struct ft_mail *m)
{
    FIELD(x, m->kind);
    switch (m->kind) {
    case FT_MAIL_AGREE: agree(x, &m->u.agree); break;
    case FT_MAIL_ORDER: order(x, &m->u.order); break;
    case FT_MAIL_DEMAND:
        FIELD(x, m->u.demand.kind);
        FIELD(x, m->u.demand.generation);
        FIELD(x, m->u.demand.rank);
        FIELD(x, m->u.demand.ch);
        FIELD(x, m->u.demand.version);
        FIELD(x, m->u.demand.round);
        break;
    case FT_MAIL_MARKER:
    case FT_MAIL_SNAPSHOT_OFF:
        FIELD(x, m->u.marker.snapshot);
        FIELD(x, m->u.marker.rank);
        FIELD(x, m->u.marker.kind);
        break;
    case FT_MAIL_LEFT: testimony(x, &m->u.left); break;
    case FT_MAIL_DUE:
    case FT_MAIL_ASKS_LEFT: FIELD(x, m->u.number); break;
    case FT_MAIL_PING:
    case FT_MAIL_PONG:
    case FT_MAIL_ROLLBACK: break;
    default: x->bad = 1;
    }
}

int ft_mail_to_words(const struct ft_mail *m, int nslots, uint64_t *out)
{
    struct ft_mail copy = *m; /* the same function writes each field again */
    struct walk x = {.to = out, .nslots = nslots};
    mail(&x, &copy);
    return x.at;
}

int ft_agree_data_to_words(const struct ft_agree_data *d, int nslots, uint64_t *out)
{
    struct ft_agree_data copy = *d;
    struct walk x = {.to = out, .nslots = nslots};
    data(&x, &copy);
    return x.at;
}

int ft_mail_from_words(struct ft_mail *m, int nslots, const uint64_t *w, int n)
{
    struct walk x = {.from = w, .n = n, .nslots = nslots};
    memset(m, 0, sizeof *m);
    mail(&x, m);
    return !x.bad && x.at == n;
}

int ft_agree_data_from_words(struct ft_agree_data *d, int nslots, const uint64_t *w, int n)
{
    struct walk x = {.from = w, .n = n, .nslots = nslots};
    memset(d, 0, sizeof *d);
    data(&x, d);
    return !x.bad && x.at == n;
}
