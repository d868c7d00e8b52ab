/* SPDX-License-Identifier: BSD-3-Clause
 *
 * round.c - see round.h.
 */
#include "ftt/round.h"

#include <string.h>

#include "base/failpoint.h"

enum state {
    FREE = 0,
    HEARD,   /* others have begun it */
    ASKING,  /* v2, v6 */
    TRYING,  /* the own part goes up when all children's parts have come */
    WAITING, /* VOTE: this process is no member, and is told the result */
};

struct round {
    uint8_t state, kind, op_type;
    uint16_t root;
    uint8_t sent, tried; /* the own part was sent in this generation; it was tried at all */
    uint32_t tag, bytes, need; /* need: answers that are still to come */
    char label[FT_ROUND_LABEL];
    unsigned char data[FT_ROUND_DATA]; /* the own part, alone */
    /* then: struct share part[n] */
};
struct share { /* of one rank, in this generation */
    uint32_t generation, answered; /* 0: not heard of; else 1 + the generation */
    uint32_t bytes, used;
    unsigned char data[FT_ROUND_DATA];
};
struct kept {
    uint8_t kind, there;
    uint16_t root;
    uint32_t bytes;
    char label[FT_ROUND_LABEL];
    unsigned char data[FT_ROUND_DATA];
};
struct ft_rounds {
    int32_t n, self;
    uint32_t generation, last, next_kept;
    uint32_t broken, all; /* all: all ranks are members of the vote (v4) */
    uint32_t aware, hears; /* aware: of the newest result (v6); hears: some result is here */
    struct ft_round_to to;
    struct kept kept[FT_ROUNDS_KEPT];
    /* then: uint32_t incarnation[n], result[n], before[n], fresh[n]; then rounds. fresh: this carrier
     * is new in this generation, and the one before was adopted here */
};

static uint32_t *incarnation(const struct ft_rounds *r) { return (uint32_t *)(r + 1); }
static uint32_t *result(const struct ft_rounds *r) { return incarnation(r) + r->n; }
static uint32_t *before(const struct ft_rounds *r) { return incarnation(r) + 2 * r->n; }
static uint32_t *fresh(const struct ft_rounds *r) { return incarnation(r) + 3 * r->n; }
static size_t heads(int n) { return ft_align_up(sizeof(struct ft_rounds) + (size_t)n * 16, 64); }
static size_t one(int n)
{
    return ft_align_up(sizeof(struct round) + (size_t)n * sizeof(struct share), 64);
}
static struct round *at(const struct ft_rounds *r, int i)
{
    return (struct round *)(void *)((char *)(uintptr_t)r + heads(r->n) + (size_t)i * one(r->n));
}
static struct share *part(const struct ft_rounds *r, const struct round *x, int p)
{
    (void)r;
    return (struct share *)(uintptr_t)(x + 1) + p;
}
size_t ft_rounds_bytes(int n) { return heads(n) + FT_ROUNDS_OPEN * one(n); }

void ft_rounds_init(struct ft_rounds *r, int n, int self, uint32_t generation,
                    const uint32_t *inc, const struct ft_round_to *to)
{ /* the memory is zeroed, and touched where it is used */
    r->n = n;
    r->self = self;
    r->generation = generation;
    r->to = *to;
    memcpy(incarnation(r), inc, (size_t)n * 4);
    r->aware = inc[self] == 0; /* v6 */
}

void ft_rounds_break(struct ft_rounds *r, enum ft_rounds_broken how) { r->broken = how; }

int ft_rounds_open(const struct ft_rounds *r)
{
    int open = 0;
    for (int i = 0; i < FT_ROUNDS_OPEN; i++)
        open += at(r, i)->state > HEARD;
    return open;
}

static struct round *find(const struct ft_rounds *r, int kind, uint32_t tag, const char *label)
{
    for (int i = 0; i < FT_ROUNDS_OPEN; i++) {
        struct round *x = at(r, i);
        if (x->state && (x->kind == FT_ROUND_VOTE) == (kind == FT_ROUND_VOTE) && x->tag == tag &&
            strcmp(x->label, label) == 0)
            return x;
    }
    return NULL;
}

static void release(const struct ft_rounds *r, struct round *x)
{
    x->state = FREE;
    for (int p = 0; p < r->n; p++)
        part(r, x, p)->generation = part(r, x, p)->answered = 0;
}

static struct round *make(struct ft_rounds *r, int kind, uint32_t tag, const char *label)
{
    for (int i = 0; i < FT_ROUNDS_OPEN; i++) {
        struct round *x = at(r, i);
        if (x->state)
            continue;
        x->state = HEARD;
        x->kind = (uint8_t)kind;
        x->tag = tag;
        x->sent = x->tried = 0;
        x->bytes = 0;
        strcpy(x->label, label);
        return x;
    }
    return NULL;
}

static struct kept *find_kept(struct ft_rounds *r, const char *label)
{
    for (int i = 0; i < FT_ROUNDS_KEPT; i++)
        if (r->kept[i].there && strcmp(r->kept[i].label, label) == 0)
            return &r->kept[i];
    return NULL;
}

/* --- the tree --- */

/* Its carrier is the one that the last vote has seen. */
static int lived_on(const struct ft_rounds *r, int p) { return incarnation(r)[p] == result(r)[p]; }

static int is_member(const struct ft_rounds *r, int kind, int p)
{
    return kind != FT_ROUND_VOTE || r->all || lived_on(r, p);
}

static int nobody_lived_on(const struct ft_rounds *r)
{
    for (int p = 0; p < r->n; p++)
        if (lived_on(r, p))
            return 0;
    return 1;
}

static int lowest(const struct ft_rounds *r, int kind)
{
    for (int p = 0; p < r->n; p++)
        if (is_member(r, kind, p))
            return p;
    return -1;
}

/* -1: it is the root */
static int parent(const struct ft_rounds *r, int kind, int p)
{
    int top = lowest(r, kind);
    if (p == top)
        return -1;
    for (int q = p; q > 0;) {
        q = (q - 1) / 2;
        if (is_member(r, kind, q) || r->broken == FT_ROUNDS_BROKEN_TREE)
            return q;
    }
    return top;
}

static int is_child(const struct ft_rounds *r, int kind, int p)
{
    return p != r->self && is_member(r, kind, p) && parent(r, kind, p) == r->self;
}

/* --- what is said --- */

static struct ft_round_message message(const struct ft_rounds *r, const struct round *x,
                                       enum ft_round_says says)
{
    struct ft_round_message m = {.says = (uint8_t)says,
                                 .kind = x->kind,
                                 .root = x->root,
                                 .op_type = x->op_type,
                                 .generation = r->generation,
                                 .tag = x->tag,
                                 .last = r->last,
                                 .aware = r->aware};
    strcpy(m.label, x->label);
    return m;
}

/* To those whose parts came up; the root of a vote tells new carriers, too. */
static void down(struct ft_rounds *r, const struct round *x, const void *data, uint32_t bytes,
                 int root)
{
    struct ft_round_message m = message(r, x, FT_ROUND_DOWN);
    int told = 0;
    for (int p = 0; p < r->n; p++) {
        int child = part(r, x, p)->generation == r->generation + 1;
        int new = root && x->kind == FT_ROUND_VOTE && before(r)[p] != result(r)[p];
        if (p == r->self || !(child || new))
            continue;
        m.bytes = bytes;
        r->to.send(r->to.arg, p, &m, data);
        if (!told++)
            ft_failpoint(FTT_DOWN);
    }
}

static void tell_vote(struct ft_rounds *r)
{
    r->to.done(r->to.arg, FT_ROUND_VOTE, FT_ROUND_OK, r->last, "", 0, result(r),
               (uint32_t)r->n * 8);
}

static void try_vote(struct ft_rounds *r, struct round *x);

/* A vote's result, not always the newest: whoever is not aware asks on. */
static void learn_vote(struct ft_rounds *r, uint32_t tag, const uint32_t *both)
{
    if ((r->aware || r->hears) && tag <= r->last)
        return;
    memcpy(result(r), both, (size_t)r->n * 8); /* and `before` */
    r->last = tag;
    r->hears = 1;
}

/* Whoever waited for a result that is here now, or for an earlier one, is told (v5). */
static void after_vote(struct ft_rounds *r)
{
    for (int i = 0; i < FT_ROUNDS_OPEN; i++) {
        struct round *x = at(r, i);
        if (!x->state || x->kind != FT_ROUND_VOTE || !r->aware)
            continue;
        if (x->tag <= r->last) {
            int mine = x->state > HEARD;
            release(r, x);
            if (mine)
                tell_vote(r);
        } else if (x->state == WAITING) {
            try_vote(r, x);
        }
    }
}

static void keep(struct ft_rounds *r, const struct round *x, const void *data, uint32_t bytes)
{
    struct kept *k = &r->kept[r->next_kept++ % FT_ROUNDS_KEPT];
    if (r->broken == FT_ROUNDS_FORGETS)
        return;
    k->there = 1;
    k->kind = x->kind;
    k->root = x->root;
    k->bytes = bytes;
    strcpy(k->label, x->label);
    memcpy(k->data, data, bytes);
}

static void finish(struct ft_rounds *r, struct round *x, enum ft_round_status st, const void *data,
                   uint32_t bytes)
{
    struct round head = {.kind = x->kind, .root = x->root};
    char label[FT_ROUND_LABEL];
    strcpy(label, x->label);
    if (st == FT_ROUND_OK) {
        keep(r, x, data, bytes);
        release(r, x);
    } else { /* it is called again: parts of others may be here. [They call it first now.] */
        x->state = HEARD;
        x->sent = x->tried = 0;
    }
    r->to.done(r->to.arg, (enum ft_round_kind)head.kind, st, 0, label, head.root, data, bytes);
}

/* --- up --- */

static int all_children(const struct ft_rounds *r, const struct round *x)
{
    for (int p = 0; p < r->n; p++)
        if (is_child(r, x->kind, p) && part(r, x, p)->generation != r->generation + 1)
            return 0;
    return 1;
}

static void try_vote(struct ft_rounds *r, struct round *x)
{
    r->all = !r->aware || nobody_lived_on(r);
    if (!is_member(r, FT_ROUND_VOTE, r->self)) {
        x->state = WAITING;
        return;
    }
    x->state = TRYING;
    x->tried = 1;
    if (x->sent || !all_children(r, x))
        return;
    int up = parent(r, FT_ROUND_VOTE, r->self);
    x->sent = 1;
    if (up >= 0) {
        struct ft_round_message m = message(r, x, FT_ROUND_UP);
        ft_failpoint(FTT_UP);
        r->to.send(r->to.arg, up, &m, NULL);
        return;
    }
    memcpy(before(r), r->aware ? result(r) : incarnation(r), (size_t)r->n * 4);
    memcpy(result(r), incarnation(r), (size_t)r->n * 4);
    r->last = x->tag;
    r->aware = 1;
    ft_failpoint(FTT_DECIDE);
    down(r, x, result(r), (uint32_t)r->n * 8, 1);
    after_vote(r);
}

static void fold(int op_type, void *into, const void *from, uint32_t bytes)
{
    int op = op_type >> 4, type = op_type & 15;
    for (uint32_t i = 0; i + 8 <= bytes; i += 8) {
        if (type == 1) {
            int64_t a, b;
            memcpy(&a, (char *)into + i, 8);
            memcpy(&b, (const char *)from + i, 8);
            a = op == 1   ? (int64_t)((uint64_t)a + (uint64_t)b)
                : op == 2 ? (a < b ? a : b)
                          : (a > b ? a : b);
            memcpy((char *)into + i, &a, 8);
        } else {
            double a, b;
            memcpy(&a, (char *)into + i, 8);
            memcpy(&b, (const char *)from + i, 8);
            a = op == 1 ? a + b : op == 2 ? (a < b ? a : b) : (a > b ? a : b);
            memcpy((char *)into + i, &a, 8);
        }
    }
}

/* GATHER: entries of rank, bytes, data. Puts the own one first, then the children's in order. */
static uint32_t gather(const struct ft_rounds *r, const struct round *x, unsigned char *out)
{
    uint32_t who[2] = {(uint32_t)r->self, x->bytes}, n = 8 + x->bytes;
    memcpy(out, who, 8);
    memcpy(out + 8, x->data, x->bytes);
    for (int p = 0; p < r->n; p++)
        if (is_child(r, x->kind, p)) {
            memcpy(out + n, part(r, x, p)->data, part(r, x, p)->bytes);
            n += part(r, x, p)->bytes;
        }
    return n;
}

static uint32_t combine(const struct ft_rounds *r, const struct round *x, unsigned char *out)
{
    if (x->kind == FT_ROUND_BARRIER)
        return 0;
    if (x->kind == FT_ROUND_GATHER)
        return gather(r, x, out);
    uint32_t bytes = x->bytes;
    if (x->kind == FT_ROUND_BROADCAST) {
        memcpy(out, x->data, r->self == x->root ? bytes : 0);
        bytes = r->self == x->root ? bytes : 0;
        for (int p = 0; p < r->n; p++)
            if (is_child(r, x->kind, p) && part(r, x, p)->used)
                memcpy(out, part(r, x, p)->data, bytes = part(r, x, p)->bytes);
        return bytes;
    }
    memcpy(out, x->data, bytes);
    for (int p = 0; p < r->n; p++)
        if (is_child(r, x->kind, p))
            fold(x->op_type, out, part(r, x, p)->data,
                 (uint32_t)ft_min_u64(bytes, part(r, x, p)->bytes));
    return bytes;
}

/* Whether root's data is in this part. */
static int has_root(const struct ft_rounds *r, const struct round *x)
{
    int has = x->root == r->self;
    for (int p = 0; p < r->n; p++)
        has |= is_child(r, x->kind, p) && part(r, x, p)->used;
    return has;
}

/* The root: entries become one row of data, in the order of ranks. */
static uint32_t in_order(const struct ft_rounds *r, const unsigned char *in, uint32_t bytes,
                         unsigned char *out)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < (uint32_t)r->n; p++)
        for (uint32_t i = 0; i < bytes;) {
            uint32_t who[2];
            memcpy(who, in + i, 8);
            if (who[0] == p) {
                memcpy(out + n, in + i + 8, who[1]);
                n += who[1];
            }
            i += 8 + who[1];
        }
    return n;
}

static void try_collective(struct ft_rounds *r, struct round *x)
{
    unsigned char data[FT_ROUND_DATA], row[FT_ROUND_DATA];
    x->state = TRYING;
    x->tried = 1;
    if (x->sent || !all_children(r, x))
        return;
    int up = parent(r, x->kind, r->self);
    uint32_t bytes = combine(r, x, data);
    x->sent = 1;
    if (up >= 0) {
        struct ft_round_message m = message(r, x, FT_ROUND_UP);
        m.bytes = bytes;
        m.from_root = has_root(r, x);
        ft_failpoint(FTT_UP);
        r->to.send(r->to.arg, up, &m, data);
        return;
    }
    if (x->kind == FT_ROUND_GATHER) {
        bytes = in_order(r, data, bytes, row);
        memcpy(data, row, bytes);
    }
    ft_failpoint(FTT_DECIDE);
    down(r, x, data, bytes, 1);
    finish(r, x, FT_ROUND_OK, data, bytes);
}

static void try(struct ft_rounds *r, struct round *x)
{
    if (x->kind == FT_ROUND_VOTE)
        try_vote(r, x);
    else
        try_collective(r, x);
}

/* --- asking --- */

/* everybody: a replacement asks all (v6); else carriers that are just new are left out (v2). */
static void ask(struct ft_rounds *r, struct round *x, int everybody)
{
    struct ft_round_message m = message(r, x, FT_ROUND_ASK);
    x->state = ASKING;
    x->sent = 0;
    x->need = 0;
    for (int p = 0; p < r->n; p++) {
        struct share *of = part(r, x, p);
        int asked = p != r->self && (everybody || !fresh(r)[p]);
        of->answered = asked ? 0 : r->generation + 1;
        x->need += (uint32_t)asked;
    }
    for (int p = 0; p < r->n; p++)
        if (part(r, x, p)->answered != r->generation + 1)
            r->to.send(r->to.arg, p, &m, NULL);
}

/* All have answered, and nobody has a result. */
static void nobody_has(struct ft_rounds *r, struct round *x)
{
    if (x->kind != FT_ROUND_VOTE && x->tried) { /* v3 */
        finish(r, x, FT_ROUND_FAILED, NULL, 0);
        return;
    }
    if (x->kind == FT_ROUND_VOTE && r->hears)
        r->aware = 1;
    if (x->kind == FT_ROUND_VOTE && r->aware && x->tag <= r->last)
        after_vote(r);
    else
        try(r, x);
}

static void on_ask(struct ft_rounds *r, int from, const struct ft_round_message *m)
{
    struct ft_round_message a = *m;
    struct kept *k = m->kind == FT_ROUND_VOTE ? NULL : find_kept(r, m->label);
    a.says = FT_ROUND_HAS_NOT;
    a.last = r->last;
    a.aware = r->aware;
    a.bytes = 0;
    const void *data = NULL;
    if (m->kind == FT_ROUND_VOTE && (r->aware || r->hears)) {
        a.aware = 1;
        a.bytes = (uint32_t)r->n * 8;
        data = result(r);
    } else if (k) {
        a.says = FT_ROUND_HAS;
        a.bytes = k->bytes;
        a.kind = k->kind;
        a.root = k->root;
        data = k->data;
    }
    r->to.send(r->to.arg, from, &a, data);
}

static void on_answer(struct ft_rounds *r, int from, const struct ft_round_message *m,
                      const void *data)
{
    if (m->kind == FT_ROUND_VOTE && m->aware) {
        learn_vote(r, m->last, data);
        after_vote(r);
    }
    struct round *x = find(r, m->kind, m->tag, m->label);
    if (!x || x->state != ASKING || part(r, x, from)->answered == r->generation + 1)
        return;
    if (m->says == FT_ROUND_HAS) {
        x->kind = m->kind;
        x->root = m->root;
        finish(r, x, FT_ROUND_OK, data, m->bytes);
        return;
    }
    part(r, x, from)->answered = r->generation + 1;
    if (--x->need == 0)
        nobody_has(r, x);
}

/* --- events --- */

static void on_up(struct ft_rounds *r, int from, const struct ft_round_message *m, const void *data)
{
    struct round *x = find(r, m->kind, m->tag, m->label);
    if (!x)
        x = make(r, m->kind, m->tag, m->label);
    FT_ASSERT(x); /* all ranks begin them in the same order */
    struct share *p = part(r, x, from);
    p->generation = r->generation + 1;
    p->used = m->from_root;
    p->bytes = m->bytes;
    memcpy(p->data, data, m->bytes);
    if (x->state == TRYING)
        try(r, x);
}

static void on_down(struct ft_rounds *r, const struct ft_round_message *m, const void *data)
{
    struct round *x;
    if (m->kind == FT_ROUND_VOTE) {
        if ((r->aware || r->hears) && m->tag <= r->last)
            return;
        x = find(r, FT_ROUND_VOTE, m->tag, "");
        learn_vote(r, m->tag, data);
        if (x && x->state == TRYING)
            r->aware = 1; /* it had a part in it */
        if (x)
            down(r, x, data, m->bytes, 0);
        after_vote(r);
        return;
    }
    x = find(r, m->kind, 0, m->label);
    if (!x || x->state <= HEARD)
        return;
    x->root = m->root;
    down(r, x, data, m->bytes, 0);
    finish(r, x, FT_ROUND_OK, data, m->bytes);
}

void ft_rounds_message(struct ft_rounds *r, int from, const struct ft_round_message *m,
                       const void *data)
{
    if (m->generation != r->generation && m->says != FT_ROUND_DOWN && r->broken != FT_ROUNDS_OLD)
        return; /* v1 */
    switch ((enum ft_round_says)m->says) {
    case FT_ROUND_UP: on_up(r, from, m, data); break;
    case FT_ROUND_DOWN: on_down(r, m, data); break;
    case FT_ROUND_ASK: on_ask(r, from, m); break;
    case FT_ROUND_HAS:
    case FT_ROUND_HAS_NOT: on_answer(r, from, m, data); break;
    }
}

void ft_rounds_generation(struct ft_rounds *r, uint32_t generation, const uint32_t *inc)
{
    for (int p = 0; p < r->n; p++)
        fresh(r)[p] = generation == r->generation + 1 && inc[p] != incarnation(r)[p];
    r->generation = generation;
    memcpy(incarnation(r), inc, (size_t)r->n * 4);
    for (int i = 0; i < FT_ROUNDS_OPEN; i++) {
        struct round *x = at(r, i);
        if (x->state == HEARD)
            release(r, x);
        if (x->state <= HEARD || (x->kind == FT_ROUND_VOTE && r->broken == FT_ROUNDS_GIVES_UP))
            continue;
        if (r->broken == FT_ROUNDS_SILENT) {
            nobody_has(r, x);
            continue;
        }
        ask(r, x, !x->tried || (x->kind == FT_ROUND_VOTE && !r->aware));
        if (!x->need)
            nobody_has(r, x);
    }
}

enum ft_round_begun ft_rounds_vote(struct ft_rounds *r, uint32_t tag)
{
    for (int i = 0; i < FT_ROUNDS_OPEN; i++)
        if (at(r, i)->state > HEARD && at(r, i)->kind == FT_ROUND_VOTE)
            return FT_ROUND_UNDER_WAY;
    if (r->aware && tag <= r->last) {
        tell_vote(r);
        return FT_ROUND_BEGUN;
    }
    struct round *x = find(r, FT_ROUND_VOTE, tag, "");
    if (!x)
        x = make(r, FT_ROUND_VOTE, tag, "");
    if (!x)
        return FT_ROUND_NO_ROOM;
    if (r->n == 1 || (r->aware && lived_on(r, r->self)) || r->broken == FT_ROUNDS_NAIVE)
        try_vote(r, x);
    else
        ask(r, x, 1);
    return FT_ROUND_BEGUN;
}

enum ft_round_begun ft_rounds_collective(struct ft_rounds *r, enum ft_round_kind kind,
                                         const char *label, int root, int op_type,
                                         const void *data, uint32_t bytes)
{
    struct round *x = find(r, (int)kind, 0, label);
    struct kept *k = find_kept(r, label);
    if (x && x->state > HEARD)
        return FT_ROUND_UNDER_WAY;
    if (k) { /* told again */
        r->to.done(r->to.arg, (enum ft_round_kind)k->kind, FT_ROUND_OK, 0, label, k->root, k->data,
                   k->bytes);
        return FT_ROUND_BEGUN;
    }
    if (!x)
        x = make(r, (int)kind, 0, label);
    if (!x)
        return FT_ROUND_NO_ROOM;
    x->kind = (uint8_t)kind;
    x->root = (uint16_t)root;
    x->op_type = (uint8_t)op_type;
    x->bytes = bytes;
    memcpy(x->data, data, bytes);
    if (incarnation(r)[r->self] && r->n > 1 && r->broken != FT_ROUNDS_NAIVE)
        ask(r, x, 1); /* v6 */
    else
        try_collective(r, x);
    return FT_ROUND_BEGUN;
}
