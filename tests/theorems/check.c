/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.c - checks the trace of a small run (orders.h) against what the paper claims:
 *
 *   check FILE RULE...    each rule must hold, and must have had something to look at
 *   check FILE dump       prints the events
 *
 *   3.1      definition 3.1: each committed-to set of images is RMA-consistent. No C_p is before
 *            another C_q in cohb; no image is taken within an epoch of its process; and what the
 *            definition is for: an image holds exactly the puts that were issued before the image
 *            of their issuer, and nobody has got anything else by then. Without losses.
 *   4.1      each fetched action is replayed exactly once, and all that must be was fetched
 *   4.2      the replay preserves the order of gsyncs
 *   so       the replay preserves the order of locks (Algorithm 3)
 *   orphan   what the lost process had put, its replacement puts again: nobody's state depends on
 *            an access that was not made (figure 4)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "orders.h"

#define VERSIONS 64

static const struct order_event *ev;
static uint32_t n;
static int looked, broken;
static const char *rule;

/* Derived from the events: what a slot had done by then. */
static uint64_t gnc[ORDER_EVENTS]; /* fences that were left */

struct image {
    uint32_t begin, done; /* indices; done 0: there is none */
    uint64_t clock[RANKS];
    uint64_t own;    /* the event's number in its rank */
    uint32_t within; /* an access of an epoch that was open: 1 + its index */
};
static struct image image[VERSIONS][RANKS];
static int ranks;

static void fails(uint32_t i, const char *what)
{
    const struct order_event *e = &ev[i];
    printf("%s: does not hold: event %u, rank %d (slot %u), peer %d, displacement %" PRIu64
           ", value %" PRIu64 ": %s\n",
           rule, i, e->rank, e->slot, e->peer, e->off, e->value, what);
    broken++;
}

static int is(uint32_t i, enum order_kind k) { return ev[i].kind == k; }

static int same(const struct order_event *a, const struct order_event *b)
{
    return a->win == b->win && a->off == b->off && a->value == b->value && a->bytes == b->bytes;
}

/* --- the orders --- */

static uint64_t clock_of[RANKS][RANKS], fence[ORDER_EVENTS / 16][RANKS], unlocked[RANKS][RANKS];
static uint32_t open_since[SLOTS][RANKS]; /* 1 + the first access since the epoch was closed */

static void join(uint64_t *into, const uint64_t *from)
{
    for (int r = 0; r < RANKS; r++)
        into[r] = into[r] > from[r] ? into[r] : from[r];
}

static void close_epochs(const struct order_event *e)
{
    for (int q = 0; q < RANKS; q++)
        if (e->peer < 0 || e->peer == q)
            open_since[e->slot][q] = 0;
}

static uint32_t within(unsigned slot)
{
    for (int q = 0; q < RANKS; q++)
        if (open_since[slot][q])
            return open_since[slot][q];
    return 0;
}

/* hb as vector clocks over ranks, epochs, and the numbers of gsyncs. */
static void derive(void)
{
    static uint64_t left[SLOTS];
    for (uint32_t i = 0; i < n; i++) {
        const struct order_event *e = &ev[i];
        int p = e->rank;
        uint64_t *mine = clock_of[p];
        mine[p]++;
        ranks = p >= ranks ? p + 1 : ranks;
        if (is(i, ORDER_RESTORED)) { /* the replacement goes on with the number of its image */
            const struct image *im = e->off < VERSIONS ? &image[e->off][p] : NULL;
            left[e->slot] = im && im->done ? gnc[im->done] : 0;
        }
        if (is(i, ORDER_PUT) || is(i, ORDER_GET)) {
            if (!open_since[e->slot][e->peer])
                open_since[e->slot][e->peer] = i + 1;
        } else if (is(i, ORDER_CLOSE)) {
            close_epochs(e);
        } else if (is(i, ORDER_LOCK)) {
            join(mine, unlocked[e->peer]);
        } else if (is(i, ORDER_UNLOCK)) {
            join(unlocked[e->peer], mine);
        } else if (is(i, ORDER_FENCE_IN)) {
            join(fence[left[e->slot]], mine);
        } else if (is(i, ORDER_FENCE_OUT)) {
            join(mine, fence[left[e->slot]++]);
        } else if (is(i, ORDER_IMAGE) && e->off < VERSIONS) {
            struct image *im = &image[e->off][p];
            im->begin = i;
            im->own = mine[p];
            memcpy(im->clock, mine, sizeof im->clock);
        } else if (is(i, ORDER_IMAGE_DONE) && e->off && e->off < VERSIONS) {
            image[e->off][p].done = i;
            image[e->off][p].within = within(e->slot);
        }
        gnc[i] = left[e->slot];
    }
}

/* --- definition 3.1 --- */

static int is_complete(int v)
{
    for (int p = 0; p < ranks; p++)
        if (!image[v][p].done)
            return 0;
    return ranks > 0;
}

/* Whether the put i was issued before its process took its image of version v, in po. */
static int before_cut(uint32_t i, int v) { return i < image[v][ev[i].rank].begin; }

/* A word of an image: the last put before the cut left it. */
static void check_word(uint32_t i, int v)
{
    const struct order_event *w = &ev[i];
    uint32_t last = n;
    int after = 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct order_event *e = &ev[k];
        if (!is(k, ORDER_PUT) || e->peer != w->rank || e->win != w->win || e->off != w->off)
            continue;
        if (before_cut(k, v))
            last = k;
        else
            after |= e->value == w->value;
    }
    looked++;
    if ((last == n ? 0 : ev[last].value) == w->value)
        return;
    fails(i, after ? "a put that was issued after the cut is in the image"
                   : "the last put before the cut is not in the image");
}

static void check_got(uint32_t i, int v)
{
    const struct order_event *g = &ev[i];
    if (!is(i, ORDER_GET_DONE) || !before_cut(i, v))
        return;
    for (uint32_t k = 0; k < n; k++)
        if (is(k, ORDER_PUT) && ev[k].peer == g->peer && same(&ev[k], g)) {
            looked++;
            if (!before_cut(k, v))
                fails(i, "got before the cut what was put after it");
        }
}

static void definition_3_1(void)
{
    for (int v = 1; v < VERSIONS; v++) {
        if (!is_complete(v))
            continue;
        for (int p = 0; p < ranks; p++) {
            const struct image *c = &image[v][p];
            if (c->within)
                fails(c->within - 1, "its epoch is not closed, and an image was taken");
            for (int q = 0; q < ranks; q++) {
                looked++;
                if (p != q && image[v][q].clock[p] >= c->own && c->begin < image[v][q].begin)
                    fails(image[v][q].begin, "another image of the set is before this one in cohb");
            }
            for (uint32_t i = c->done; i < n; i++)
                if (is(i, ORDER_WORD) && ev[i].rank == p && ev[i].peer == v)
                    check_word(i, v);
        }
        for (uint32_t i = 0; i < n; i++)
            check_got(i, v);
    }
}

/* --- recovery --- */

static uint32_t restored, base; /* the events from which the replacement and the lost one count */
static unsigned fresh, lost;    /* their slots */
static int failed;              /* p_f */
static uint32_t since[SLOTS];   /* each process's cut */

/* Finds the replacement of this run. Returns 0 if there is not exactly one. */
static int find_loss(void)
{
    int found = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is(i, ORDER_RESTORED)) {
            restored = i;
            found++;
        }
    if (found != 1) {
        printf("%s: does not hold: %d replays in the trace, where one is wanted\n", rule, found);
        broken++;
        return 0;
    }
    failed = ev[restored].rank;
    fresh = ev[restored].slot;
    for (uint32_t i = 0; i < restored; i++) {
        if (ev[i].rank == failed && ev[i].slot != fresh)
            lost = ev[i].slot;
        if (is(i, ORDER_IMAGE_DONE) && ev[i].off == ev[restored].off)
            since[ev[i].slot] = i;
    }
    base = since[lost];
    return 1;
}

static uint8_t taken[ORDER_EVENTS];

/* Takes the first event of this kind and slot (-1: any other than the replacement's) that is the
 * same access as `like`. Returns n if there is none. */
static uint32_t take(enum order_kind kind, int slot, int peer, const struct order_event *like)
{
    for (uint32_t i = 0; i < n; i++)
        if (is(i, kind) && !taken[i] && (slot < 0 ? ev[i].slot != fresh : ev[i].slot == slot) &&
            (slot < 0 ? ev[i].rank == like->peer && ev[i].peer == peer : ev[i].peer == peer) &&
            same(&ev[i], like)) {
            taken[i] = 1;
            return i;
        }
    return n;
}

static void theorem_4_1(void)
{
    memset(taken, 0, sizeof taken);
    for (uint32_t i = restored; i < n; i++)
        if (is(i, ORDER_APPLIED) && ev[i].slot == fresh) {
            looked++;
            if (take(ORDER_FETCHED, (int)fresh, ev[i].peer, &ev[i]) == n)
                fails(i, "replayed twice, or never fetched");
        }
    for (uint32_t i = restored; i < n; i++)
        if (is(i, ORDER_FETCHED) && ev[i].slot == fresh && !taken[i])
            fails(i, "fetched, and never replayed");
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0; i < restored; i++) /* what was complete must have been fetched */
        if (is(i, ORDER_PUT_DONE) && ev[i].peer == failed && ev[i].rank != failed &&
            i > since[ev[i].slot]) {
            looked++;
            if (take(ORDER_FETCHED, (int)fresh, ev[i].rank, &ev[i]) == n)
                fails(i, "put since the image, and not fetched");
        }
    uint32_t fed = restored;
    for (uint32_t i = base; i < restored; i++) {
        if (!is(i, ORDER_GET_DONE) || ev[i].slot != lost || ev[i].peer == failed)
            continue;
        while (fed < n && !(is(fed, ORDER_FED) && ev[fed].slot == fresh))
            fed++;
        looked++;
        if (fed == n || ev[fed].peer != ev[i].peer || !same(&ev[fed], &ev[i])) {
            fails(i, "got by the lost process, and not given to its replacement in this order");
            return;
        }
        fed++;
    }
}

/* The put that a replayed action repeats. */
static uint32_t origin_of(uint32_t i) { return take(ORDER_PUT, -1, failed, &ev[i]); }

static void theorem_4_2(void)
{
    uint64_t most = 0, in = 0;
    memset(taken, 0, sizeof taken);
    for (uint32_t i = restored; i < n; i++) {
        if (ev[i].slot != fresh)
            continue;
        if (is(i, ORDER_FENCE_IN))
            in = gnc[i] + 1;
        if (!is(i, ORDER_APPLIED))
            continue;
        uint32_t a = origin_of(i);
        looked++;
        if (a == n) {
            fails(i, "no such put was issued");
            continue;
        }
        if (gnc[a] < most)
            fails(i, "replayed after an action of a later gsync");
        /* It was issued when p_f had entered the gsync before it, and was over in the next one. */
        if (gnc[i] > gnc[a] || (in && in < gnc[a]))
            fails(i, "replayed in another phase than it was issued in");
        most = gnc[a] > most ? gnc[a] : most;
    }
}

/* Locks order the puts to one word; the trace has them in that order. */
static void so(void)
{
    memset(taken, 0, sizeof taken);
    for (uint32_t i = restored; i < n; i++) {
        if (!is(i, ORDER_APPLIED) || ev[i].slot != fresh)
            continue;
        uint32_t a = origin_of(i);
        looked++;
        for (uint32_t k = restored; k < i && a < n; k++)
            if (is(k, ORDER_APPLIED) && ev[k].slot == fresh && ev[k].off == ev[i].off) {
                uint32_t b = n;
                for (uint32_t j = 0; j < n; j++)
                    if (is(j, ORDER_PUT) && ev[j].slot != fresh && ev[j].peer == failed &&
                        ev[j].rank == ev[k].peer && same(&ev[j], &ev[k]))
                        b = j;
                if (b < n && b > a)
                    fails(i, "replayed after an action that a lock had ordered after it");
            }
    }
}

static void orphan(void)
{
    uint32_t again = restored;
    for (uint32_t i = base; i < restored; i++) {
        if (!is(i, ORDER_PUT_DONE) || ev[i].slot != lost || ev[i].peer == failed)
            continue;
        while (again < n &&
               !(is(again, ORDER_PUT) && ev[again].slot == fresh && ev[again].peer != failed))
            again++;
        looked++;
        if (again == n || ev[again].peer != ev[i].peer || !same(&ev[again], &ev[i])) {
            fails(i, "the replacement did not put this: its target is an orphan");
            return;
        }
        again++;
    }
}

static const struct {
    const char *name;
    void (*check)(void);
    int after_loss;
} rules[] = {{"3.1", definition_3_1, 0},
             {"4.1", theorem_4_1, 1},
             {"4.2", theorem_4_2, 1},
             {"so", so, 1},
             {"orphan", orphan, 1}};

static void dump(void)
{
#define ORDER_STRING(name) #name,
    static const char *const kind[] = {ORDER_KINDS(ORDER_STRING)};
    for (uint32_t i = 0; i < n; i++)
        printf("%5u slot %2u rank %2d %-10s peer %2d off %4" PRIu64 " bytes %u value %" PRIu64
               " GNC %" PRIu64 "\n",
               i, ev[i].slot, ev[i].rank, kind[ev[i].kind], ev[i].peer, ev[i].off, ev[i].bytes,
               ev[i].value, gnc[i]);
}

int main(int argc, char **argv)
{
    int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
    const struct order_file *f =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *f, PROT_READ, MAP_SHARED, fd, 0);
    if (f == MAP_FAILED) {
        fprintf(stderr, "usage: check FILE 3.1|4.1|4.2|so|orphan|dump...\n");
        return 2;
    }
    ev = f->event;
    n = atomic_load(&f->n);
    if (n > ORDER_EVENTS) {
        printf("the trace has %u events, and room for %u\n", n, ORDER_EVENTS);
        return 2;
    }
    for (uint32_t i = 0; i < n; i++) /* a process was killed while it wrote one */
        if (!atomic_load(&ev[i].there) || ev[i].rank < 0 || ev[i].rank >= RANKS ||
            ev[i].slot >= SLOTS || (ev[i].peer >= RANKS && !is(i, ORDER_WORD))) {
            printf("event %u is not complete\n", i);
            return 2;
        }
    derive();
    for (int k = 2; k < argc; k++) {
        rule = argv[k];
        if (strcmp(rule, "dump") == 0) {
            dump();
            continue;
        }
        size_t r = 0;
        while (r < sizeof rules / sizeof *rules && strcmp(rules[r].name, rule) != 0)
            r++;
        if (r == sizeof rules / sizeof *rules)
            return 2;
        int was = broken;
        looked = 0;
        if (!rules[r].after_loss || find_loss())
            rules[r].check();
        if (broken == was && !looked) {
            printf("%s: nothing to look at\n", rule);
            broken++;
        } else if (broken == was) {
            printf("%s: holds: %d events, %d comparisons\n", rule, (int)n, looked);
        }
    }
    return broken != 0;
}
