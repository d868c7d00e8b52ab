/* SPDX-License-Identifier: BSD-3-Clause
 *
 * txn_far.c - see txn_far.h.
 */
#include "txn_far.h"

#include "base/failpoint.h"

uint8_t ft_fp_armed[FT_FP_COUNT]; /* of lane.c: the model draws deaths itself */
void ft_fp_hit(enum ft_failpoint_id id) { (void)id; }

enum { /* acts_far of model_txn.c */
       FAR_TAKES,
       FAR_TELLS,
       FAR_ARRIVES,
       FAR_HEARS,
       FAR_BREAKS_OFF,
       FAR_RETURNS,
       FAR_READS,
       FAR_FLUSHES,
       FAR_NODE_ENDS
};
#define RECORD FT_CACHE_LINE
_Static_assert(sizeof(struct ft_lane_record) + sizeof(uint64_t) <= RECORD, "a frame is one line");

size_t far_bytes(const struct sim_options *o)
{
    size_t slots = (size_t)far_slots(o), n = (size_t)o->n;
    return sizeof(struct txn_far) + n * n * sizeof(struct far_peer) +
           slots * slots * sizeof(struct far_lane);
}

/* What p's endpoint knows of q. */
static struct far_peer *peer_of(const struct sim *s, int p, int q)
{
    return (struct far_peer *)(void *)(txn_far(s) + 1) + p * s->o.n + q;
}
static struct far_lane *lane_of(const struct sim *s, int a, int b)
{
    struct far_lane *all = (struct far_lane *)(void *)peer_of(s, s->o.n, 0);
    return &all[a * far_slots(&s->o) + b];
}

/* p's slot in generation g. */
static int slot(const struct sim *s, int g, int p)
{
    return s->o.mutant == FAR_LANE_AGAIN ? p : txn_far(s)->slot[g][p];
}
static int node_in(const struct sim *s, int g, int p)
{
    const struct txn_far *f = txn_far(s);
    return f->node_of[f->slot[g][p]];
}

/* The lane from p to q, in the generation of `by`. */
static struct far_lane *lane(const struct sim *s, int by, int p, int q)
{
    int g = txn_world(s)->rank[by].generation;
    return lane_of(s, slot(s, g, p), slot(s, g, q));
}

int far_between(const struct sim *s, int p, int q)
{
    int g = txn_world(s)->rank[p].generation;
    return txn_is_far(s) && node_in(s, g, p) != node_in(s, g, q);
}

void far_start(struct sim *s)
{
    struct txn_far *f = txn_far(s);
    f->nodes = (uint8_t)(s->o.n == 2 ? 2 : 2 + s->o.seed % 2);
    f->nslots = (uint8_t)s->o.n;
    for (int p = 0; p < s->o.n; p++) {
        f->slot[0][p] = (uint8_t)p;
        f->node_of[p] = (uint8_t)(p % f->nodes);
    }
}

/* --- the endpoint: src/ftt/progress.c --- */

static int has_room(const struct far_lane *l, const struct far_peer *e)
{
    return e->written.at + 2 * RECORD <= l->freed + FT_LANE_BYTES;
}

static int write_frame(struct sim *s, int p, int q, const struct ft_txn_frame *f)
{
    struct far_lane *l = lane(s, p, p, q);
    struct far_peer *e = peer_of(s, p, q);
    struct ft_lane_record head = {.generation = f->generation,
                                  .number = f->number,
                                  .bytes = sizeof f->body,
                                  .kind = (uint8_t)f->kind,
                                  .item = (uint8_t)f->item,
                                  .asks = f->asks != 0,
                                  .id = f->id};
    return ft_lane_write(&l->own, &e->written, l->freed, &head, &f->body);
}

void far_send(struct sim *s, int p, int q, const struct ft_txn_frame *f)
{
    struct far_peer *e = peer_of(s, p, q);
    if ((!e->n && write_frame(s, p, q, f)) || s->o.mutant == FAR_NO_ROOM)
        return;
    for (uint32_t i = 0; f->kind == FT_TXN_FRAME_ACK && i < e->n; i++)
        if (e->waiting[i].kind == FT_TXN_FRAME_ACK) {
            e->waiting[i] = *f;
            return;
        }
    FT_ASSERT(e->n < FAR_WAITING);
    e->waiting[e->n++] = *f;
}

static void flushes(struct sim *s, int p, int q)
{
    struct far_peer *e = peer_of(s, p, q);
    while (e->n && write_frame(s, p, q, &e->waiting[0])) {
        memmove(&e->waiting[0], &e->waiting[1], --e->n * sizeof e->waiting[0]);
        memset(&e->waiting[e->n], 0, sizeof e->waiting[0]);
    }
}

static void reads(struct sim *s, int p, int q)
{
    struct far_lane *l = lane(s, p, q, p);
    struct far_peer *e = peer_of(s, p, q);
    const struct ft_lane_record *r = ft_lane_read(&l->there, &e->read);
    struct ft_txn_frame f = {.kind = r->kind,
                             .item = r->item,
                             .generation = r->generation,
                             .asks = r->asks,
                             .number = r->number,
                             .id = r->id};
    memcpy(&f.body, r->data, sizeof f.body);
    e->read += RECORD;
    l->taken = e->read;
    txn_heard(s, p, q, &f);
}

/* The mutant: the lane between two ranks begins again. */
static void begins_again(struct sim *s, int p, int q)
{
    struct far_lane *out = lane_of(s, p, q);
    memset(out, 0, sizeof *out);
    ft_lane_begin(&out->own);
    ft_lane_begin(&out->there);
}

void far_adopts(struct sim *s, int p, int before)
{
    struct txn_far *f = txn_far(s);
    int now = txn_world(s)->rank[p].generation;
    for (int q = 0; q < s->o.n; q++) {
        struct far_peer *e = peer_of(s, p, q);
        e->n = 0;
        memset(e->waiting, 0, sizeof e->waiting);
        if (f->slot[before][q] == f->slot[now][q])
            continue;
        memset(e, 0, sizeof *e);
        if (s->o.mutant == FAR_LANE_AGAIN)
            begins_again(s, p, q);
    }
}

/* --- deaths --- */

static int other_node(const struct txn_far *f, int node)
{
    for (int i = 1; i < f->nodes; i++)
        if (!(f->gone & 1 << (node + i) % f->nodes))
            return (node + i) % f->nodes;
    return -1;
}

static int most_deaths(const struct sim *s) { return far_slots(&s->o) - s->o.n; }

static int ranks_on(const struct sim *s, int node)
{
    int n = 0;
    for (int p = 0; p < s->o.n; p++)
        n += node_in(s, txn_world(s)->generation, p) == node;
    return n;
}

int far_may_die(const struct sim *s, int p, int elsewhere)
{
    const struct txn_world *w = txn_world(s);
    return w->deaths < most_deaths(s) &&
           (!elsewhere || other_node(txn_far(s), node_in(s, w->generation, p)) >= 0);
}

static int node_may_end(const struct sim *s, int node)
{
    const struct txn_far *f = txn_far(s);
    int n = ranks_on(s, node);
    return !(f->gone & 1 << node) && n && txn_world(s)->deaths + n <= most_deaths(s) &&
           other_node(f, node) >= 0;
}

void far_dies(struct sim *s, int p, int lost, int elsewhere)
{
    struct txn_far *f = txn_far(s);
    int g = txn_world(s)->generation, was = f->slot[g - 1][p], node = f->node_of[was];
    f->slot[g][p] = f->nslots++;
    f->node_of[f->slot[g][p]] = (uint8_t)(elsewhere ? other_node(f, node) : node);
    for (int q = 0; q < s->o.n; q++)
        if (lost & 1 << q) {
            struct far_lane *l = lane_of(s, was, f->slot[g - 1][q]);
            l->ends = 1 + l->read;
        }
    for (int q = 0; q < s->o.n; q++) {
        memset(peer_of(s, p, q), 0, sizeof(struct far_peer));
        if (s->o.mutant == FAR_LANE_AGAIN)
            begins_again(s, p, q);
    }
}

/* Its gateway ends, and so does all that is on it. What it had sent and had not come is lost. */
static void node_ends(struct sim *s, int node)
{
    struct txn_far *f = txn_far(s);
    int before = txn_world(s)->generation;
    f->gone |= (uint8_t)(1 << node);
    for (int i = 0; i < f->nodes; i++) {
        memset(&f->link[i][node], 0, sizeof f->link[0][0]);
        memset(&f->link[node][i], 0, sizeof f->link[0][0]);
    }
    txn_new_generation(s);
    for (int p = 0; p < s->o.n; p++)
        if (node_in(s, before, p) == node) {
            far_dies(s, p, 0, 1);
            txn_replaced(s, p);
        }
}

/* --- gateways and links: src/gate/lanes.c, src/wire/link.h --- */

static struct far_way *way(const struct sim *s, int from, int to, int class)
{
    return &txn_far(s)->link[from][to].way[class];
}
static int is_full(const struct far_way *w) { return w->next - w->acked == FAR_WAY; }

static void put_on(struct far_way *w, const struct far_item *it)
{
    FT_ASSERT(!is_full(w));
    w->item[w->next++ % FAR_WAY] = *it;
}

static void takes(struct sim *s, int a, int b)
{
    struct txn_far *f = txn_far(s);
    struct far_lane *l = lane_of(s, a, b);
    struct far_item it = {.from = (uint8_t)a, .to = (uint8_t)b, .at = l->read};
    memcpy(it.record, ft_lane_read(&l->own, &l->read), RECORD);
    l->read += RECORD;
    put_on(way(s, f->node_of[a], f->node_of[b], FAR_OPS), &it);
}

static uint64_t to_tell(const struct sim *s, const struct far_lane *l)
{
    return s->o.mutant == FAR_TAKEN_EARLY ? l->came.at : l->taken;
}

static void tells(struct sim *s, int a, int b)
{
    struct txn_far *f = txn_far(s);
    struct far_lane *l = lane_of(s, a, b);
    l->told = to_tell(s, l);
    struct far_item it = {.from = (uint8_t)a, .to = (uint8_t)b, .at = l->told};
    put_on(way(s, f->node_of[b], f->node_of[a], FAR_CONTROL), &it);
}

static void came(struct sim *s, const struct far_item *it, int class)
{
    struct far_lane *l = lane_of(s, it->from, it->to);
    if (class == FAR_CONTROL) {
        if (it->at > l->read || it->at < l->freed)
            sim_wrong(s,
                      "lane %d to %d: %" PRIu64 " bytes are said to be taken, %" PRIu64
                      " were sent, %" PRIu64 " were taken before",
                      it->from, it->to, it->at, l->read, l->freed);
        l->freed = it->at;
        return;
    }
    struct ft_lane_record head;
    memcpy(&head, it->record, sizeof head);
    if (!ft_lane_write(&l->there, &l->came, l->taken, &head, it->record + sizeof head) ||
        l->came.at != it->at + RECORD)
        sim_wrong(s,
                  "lane %d to %d: what was at %" PRIu64 " comes at %" PRIu64 ", of which %" PRIu64
                  " is taken",
                  it->from, it->to, it->at, l->came.at, l->taken);
}

static void hears(struct far_way *w)
{
    while (w->acked != w->want)
        memset(&w->item[w->acked++ % FAR_WAY], 0, sizeof w->item[0]);
}

static int may_break(const struct sim *s)
{
    return txn_far(s)->breaks < s->o.starters && txn_far(s)->breaks < FAR_BREAKS;
}

static void arrives(struct sim *s, int from, int to, int class)
{
    struct far_way *w = way(s, from, to, class);
    came(s, &w->item[w->want % FAR_WAY], class);
    w->want++;
    if (!may_break(s))
        hears(w); /* nothing comes of when that is */
}

static void each_way(struct sim *s, int x, int y,
                     void (*fn)(const struct sim *s, struct far_way *w, int class))
{
    for (int c = 0; c < FAR_CLASSES; c++) {
        fn(s, way(s, x, y, c), c);
        fn(s, way(s, y, x, c), c);
    }
}

static void broken(const struct sim *s, struct far_way *w, int class)
{
    (void)s, (void)class;
    w->sent = w->next;
}

static void again(const struct sim *s, struct far_way *w, int class)
{
    if (s->o.mutant == FAR_ALL_AGAIN)
        w->want = w->acked;
    if (s->o.mutant == FAR_GOES_ON || (s->o.mutant == FAR_UNSAID && class == FAR_CONTROL))
        w->want = w->sent;
    hears(w);
}

static void turn(struct sim *s, int x, int y, int down)
{
    struct txn_far *f = txn_far(s);
    f->link[x][y].down = f->link[y][x].down = (uint8_t)down;
    f->breaks = (uint8_t)(f->breaks + down);
    each_way(s, x, y, down ? broken : again);
}

/* --- what can happen --- */

static void lane_can(struct sim *s, struct sim_choices *out, int first, int a, int b)
{
    struct txn_far *f = txn_far(s);
    struct far_lane *l = lane_of(s, a, b);
    int from = f->node_of[a], to = f->node_of[b];
    uint64_t at = l->read;
    if (from == to || f->gone & (1 << from | 1 << to))
        return;
    if ((!l->ends || l->read < l->ends - 1) && ft_lane_read(&l->own, &at) &&
        !is_full(way(s, from, to, FAR_OPS)))
        sim_can(out, 0, first + FAR_TAKES, a * FAR_SLOTS + b, SIM_MUST);
    if (to_tell(s, l) != l->told && !is_full(way(s, to, from, FAR_CONTROL)))
        sim_can(out, 0, first + FAR_TELLS, a * FAR_SLOTS + b, SIM_MUST);
}

static void link_can(struct sim *s, struct sim_choices *out, int first, int x, int y)
{
    const struct txn_far *f = txn_far(s);
    const struct far_link *l = &f->link[x][y];
    for (int c = 0; c < FAR_CLASSES; c++) {
        int q = (x * FAR_NODES + y) * FAR_CLASSES + c;
        if (!l->down && l->way[c].want != l->way[c].next)
            sim_can(out, 0, first + FAR_ARRIVES, q, SIM_MUST);
        if (!l->down && l->way[c].want != l->way[c].acked)
            sim_can(out, 0, first + FAR_HEARS, q, is_full(&l->way[c]) ? SIM_MUST : SIM_SELDOM);
    }
    if (x < y && l->down)
        sim_can(out, 0, first + FAR_RETURNS, x * FAR_NODES + y, SIM_MUST);
    else if (x < y && may_break(s))
        sim_can(out, 0, first + FAR_BREAKS_OFF, x * FAR_NODES + y, SIM_SELDOM);
}

static void endpoint_can(struct sim *s, struct sim_choices *out, int first, int p, int q)
{
    struct far_peer *e = peer_of(s, p, q);
    uint64_t at = e->read;
    if (!far_between(s, p, q))
        return;
    if (ft_lane_read(&lane(s, p, q, p)->there, &at))
        sim_can(out, p, first + FAR_READS, q, SIM_MUST);
    if (e->n && has_room(lane(s, p, p, q), e))
        sim_can(out, p, first + FAR_FLUSHES, q, SIM_MUST);
}

void far_can(struct sim *s, struct sim_choices *out, int first)
{
    const struct txn_far *f = txn_far(s);
    for (int a = 0; a < f->nslots; a++)
        for (int b = 0; b < f->nslots; b++)
            lane_can(s, out, first, a, b);
    for (int x = 0; x < f->nodes; x++) {
        for (int y = 0; y < f->nodes; y++)
            if (x != y && !(f->gone & (1 << x | 1 << y)))
                link_can(s, out, first, x, y);
        if (node_may_end(s, x))
            sim_can(out, 0, first + FAR_NODE_ENDS, x, SIM_SELDOM);
    }
    for (int p = 0; p < s->o.n; p++)
        for (int q = 0; q < s->o.n; q++)
            endpoint_can(s, out, first, p, q);
}

void far_act(struct sim *s, int p, int what, int q)
{
    int a = q / FAR_SLOTS, b = q % FAR_SLOTS;
    int l = q / FAR_CLASSES, from = l / FAR_NODES, to = l % FAR_NODES;
    switch (what) {
    case FAR_TAKES: takes(s, a, b); break;
    case FAR_TELLS: tells(s, a, b); break;
    case FAR_ARRIVES: arrives(s, from, to, q % FAR_CLASSES); break;
    case FAR_HEARS: hears(way(s, from, to, q % FAR_CLASSES)); break;
    case FAR_BREAKS_OFF: turn(s, q / FAR_NODES, q % FAR_NODES, 1); break;
    case FAR_RETURNS: turn(s, q / FAR_NODES, q % FAR_NODES, 0); break;
    case FAR_READS: reads(s, p, q); break;
    case FAR_FLUSHES: flushes(s, p, q); break;
    case FAR_NODE_ENDS: node_ends(s, q); break;
    }
}
