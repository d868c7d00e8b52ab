/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mail.c - see mail.h.
 *
 * A mail's number says whom it is for and its position among all mails to that process; the number
 * is stored last. So a reader never takes a mail that was written for another: [q looks at the
 * mailbox that was its own and is now r's]. A mailbox changes its reader only when the previous
 * reader has taken all of its mails, or has gone.
 */
#include "transport/shm/mail.h"

#include <string.h>

#include "base/failpoint.h"
#include "base/private.h"

#define BOXES 16 /* tree, ring and root need six; with snapshots a rank mails to all others */
#define MAILS 8
/* The number of mails that can wait. A newer ballot recalls an older one, and orders and demands
 * come one at a time: at most some ten to one process. */
#define NOTES(nslots) (64 + 8 * (nslots))

struct mail {
    _Atomic uint64_t number; /* stored when the mail is complete */
    uint32_t len, pad;
    char text[FT_MAIL_BYTES];
};

struct mailbox {
    struct mail mail[MAILS];
};

struct note { /* a waiting mail */
    int next; /* index; -1: it is the last */
    uint32_t len;
    char text[FT_MAIL_BYTES];
};

struct mail_line {   /* all mails to and from one process */
    int first, last; /* notes; -1: none */
    int box;         /* -1: none */
    int gone;
    uint64_t sent, taken;
};

struct ft_post {
    int nslots, nnotes;
    int unused;  /* the first note that is in use no more; -1: there is none */
    int fresh;   /* notes from here on were never used, so they take no memory */
    int waiting; /* how many notes are in use */
    struct note *note;
    uint64_t off; /* of the mailboxes in the own arena */
    struct mailbox *box;
    int reader[BOXES]; /* -1: nobody */
    int last;          /* the mailbox that was given to a reader last */
    size_t bytes;
    struct mail_line line[];
};

static uint64_t number_of(int reader, uint64_t n)
{
    return (uint64_t)(reader + 1) << 48 | (n & 0xffffffffffffull);
}

struct ft_post *ft_post_open(struct ft_tp *tp)
{
    size_t bytes = sizeof(struct ft_post) + (size_t)tp->nslots * sizeof(struct mail_line);
    struct ft_post *p = ft_private_alloc(bytes);
    if (!p)
        return NULL;
    p->bytes = bytes;
    p->nslots = tp->nslots;
    p->nnotes = NOTES(tp->nslots);
    p->note = ft_private_alloc((size_t)p->nnotes * sizeof *p->note);
    p->off = ft_arena_alloc(tp->own, BOXES * sizeof *p->box, FT_CACHE_LINE);
    if (!p->note || !p->off) {
        ft_arena_free(tp->own, p->off);
        ft_private_free(p->note, (size_t)p->nnotes * sizeof *p->note);
        ft_private_free(p, bytes);
        return NULL;
    }
    p->box = ft_arena_ptr(tp->own, p->off);
    memset(p->box, 0, BOXES * sizeof *p->box);
    for (int i = 0; i < BOXES; i++)
        p->reader[i] = -1;
    p->unused = -1;
    for (int i = 0; i < p->nslots; i++)
        p->line[i] = (struct mail_line){.first = -1, .last = -1, .box = -1};
    return p;
}

void ft_post_close(struct ft_post *p)
{
    ft_private_free(p->note, (size_t)p->nnotes * sizeof *p->note);
    ft_private_free(p, p->bytes);
}

/* --- the queue --- */

static int append(struct ft_post *p, struct mail_line *l, const void *text, uint32_t len)
{
    int n = p->unused;
    if (n < 0 && p->fresh == p->nnotes)
        return 0;
    if (n < 0)
        n = p->fresh++;
    else
        p->unused = p->note[n].next;
    p->waiting++;
    p->note[n].next = -1;
    p->note[n].len = len;
    memcpy(p->note[n].text, text, len);
    if (l->first < 0)
        l->first = n;
    else
        p->note[l->last].next = n;
    l->last = n;
    return 1;
}

/* Drops the note after `before` (-1: the first). */
static void drop(struct ft_post *p, struct mail_line *l, int before)
{
    int n = before < 0 ? l->first : p->note[before].next, next = p->note[n].next;
    if (before < 0)
        l->first = next;
    else
        p->note[before].next = next;
    if (l->last == n)
        l->last = before;
    p->note[n].next = p->unused;
    p->unused = n;
    p->waiting--;
}

void ft_post_recall(struct ft_post *p, int slot, ft_mail_test *is_old, const void *newer)
{
    struct mail_line *l = &p->line[slot];
    for (int before = -1, n = l->first; n >= 0; n = before < 0 ? l->first : p->note[before].next) {
        if (is_old(p->note[n].text, newer))
            drop(p, l, before);
        else
            before = n;
    }
}

void ft_post_forget(struct ft_post *p, int slot)
{
    struct mail_line *l = &p->line[slot];
    while (l->first >= 0)
        drop(p, l, -1);
    if (l->box >= 0)
        p->reader[l->box] = -1;
    l->box = -1;
    l->gone = 1;
}

/* --- mailboxes --- */

static uint64_t taken_by(const struct ft_tp *tp, const struct ft_ctl *reader)
{
    return atomic_load_explicit(&reader->peer[tp->self].mails_taken, memory_order_acquire);
}

/* Returns a mailbox that nobody reads, or from which all is taken; -1: there is none. */
static int free_box(struct ft_tp *tp, struct ft_post *p)
{
    for (int i = 1; i <= BOXES; i++) {
        int b = (p->last + i) % BOXES, r = p->reader[b];
        if (r < 0)
            return b;
        struct ft_ctl *ctl = ft_tp_ctl(tp, r); /* it is attached, since it has had mails */
        if (!ctl || taken_by(tp, ctl) != p->line[r].sent)
            continue;
        atomic_store_explicit(&ctl->peer[tp->self].mailbox, 0, memory_order_release);
        p->line[r].box = -1;
        p->reader[b] = -1;
        return b;
    }
    return -1;
}

static int give_box(struct ft_tp *tp, struct ft_post *p, int slot, struct ft_ctl *ctl)
{
    int b = free_box(tp, p);
    if (b < 0)
        return 0;
    ft_failpoint(MAIL_BOX);
    p->last = b;
    p->reader[b] = slot;
    p->line[slot].box = b;
    atomic_store_explicit(&ctl->peer[tp->self].mailbox, p->off + (uint64_t)b * sizeof *p->box,
                          memory_order_release);
    return 1;
}

/* Moves waiting mails for this process into its mailbox, as far as there is room. */
static void flush_line(struct ft_tp *tp, struct ft_post *p, int slot)
{
    struct mail_line *l = &p->line[slot];
    int some = 0;
    while (l->first >= 0) {
        struct ft_ctl *ctl;
        if (tp->ops->attach(tp, slot) == FT_ERR_DEAD) {
            ft_post_forget(p, slot);
            return;
        }
        if (!(ctl = ft_tp_ctl(tp, slot)) || (l->box < 0 && !give_box(tp, p, slot, ctl)) ||
            l->sent - taken_by(tp, ctl) >= MAILS)
            /* it cannot be reached now (which was reported), or there is no room: try later */
            break;
        struct mail *m = &p->box[l->box].mail[l->sent % MAILS];
        const struct note *n = &p->note[l->first];
        memcpy(m->text, n->text, n->len);
        m->len = n->len;
        atomic_store_explicit(&m->number, number_of(slot, ++l->sent), memory_order_release);
        drop(p, l, -1);
        some = 1;
    }
    if (some) {
        ft_failpoint(MAIL_SENT);
        ft_bell_ring(tp->board, slot);
    }
}

/* Whoever takes a mail rings if mails wait here. Either it sees that they wait, or this process
 * sees that it has taken one. */
int ft_post_flush(struct ft_tp *tp, struct ft_post *p)
{
    _Atomic uint32_t *wait = &tp->own->ctl->mails_wait;
    for (int again = 0; p->waiting > 0 && again < 2; again++) {
        for (int i = 0; i < p->nslots; i++)
            if (p->line[i].first >= 0)
                flush_line(tp, p, i);
        if (p->waiting > 0 && again == 0)
            atomic_store(wait, 1);
    }
    if (p->waiting == 0 && atomic_load_explicit(wait, memory_order_relaxed))
        atomic_store(wait, 0);
    return p->waiting;
}

enum ft_status ft_post_mail(struct ft_tp *tp, struct ft_post *p, int slot, const void *text,
                            uint32_t len)
{
    struct mail_line *l = &p->line[slot];
    FT_ASSERT(len > 0 && len <= FT_MAIL_BYTES);
    if (l->gone)
        return FT_ERR_DEAD;
    if (!append(p, l, text, len))
        return FT_ERR_AGAIN;
    flush_line(tp, p, slot);
    if (l->gone)
        return FT_ERR_DEAD;
    if (l->first >= 0) {
        ft_failpoint(MAIL_WAITS);
        ft_post_flush(tp, p);
    }
    return FT_OK;
}

uint32_t ft_post_take(struct ft_tp *tp, struct ft_post *p, int slot, void *buf)
{
    struct ft_ctl_peer *me = &tp->own->ctl->peer[slot];
    struct mail_line *l = &p->line[slot];
    uint64_t off = atomic_load_explicit(&me->mailbox, memory_order_acquire);
    if (!off)
        return 0;
    struct mailbox *in = tp->ops->map(tp, slot, off, sizeof *in, FT_TP_CONTROL);
    if (!in)
        return 0;
    struct mail *m = &in->mail[l->taken % MAILS];
    if (atomic_load_explicit(&m->number, memory_order_acquire) != number_of(tp->self, l->taken + 1))
        return 0;
    uint32_t len = m->len;
    FT_ASSERT(len > 0 && len <= FT_MAIL_BYTES);
    memcpy(buf, m->text, len);
    ft_failpoint(MAIL_TAKEN);
    atomic_store(&me->mails_taken, ++l->taken);
    if (atomic_load(&ft_tp_ctl(tp, slot)->mails_wait))
        ft_bell_ring(tp->board, slot);
    return len;
}
