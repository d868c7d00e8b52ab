/* SPDX-License-Identifier: BSD-3-Clause
 *
 * traced.c - makes libftrma.so of the tests the traced one: the linker puts these functions around
 * the library's (--wrap), so the library itself has no line for it. ORDERS_FILE names the file,
 * which must be there (theorems.sh). ORDERS_MUTANT breaks the library in one way, which the
 * checker must find. ORDERS_LOST names the rank that the test loses.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alog/homelog_replay.h"
#include "image/image.h"
#include "orders.h"
#include "rma/rma_internal.h"
#include "runtime/ckpt.h"

#define REAL(type, name, args)           \
    __typeof__(type) __real_##name args; \
    __typeof__(type) __wrap_##name args; \
    __typeof__(type) __wrap_##name args

static struct order_file *file;

__attribute__((constructor)) static void open_file(void)
{
    const char *name = getenv("ORDERS_FILE");
    int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    file = p == MAP_FAILED ? NULL : p;
}

static int mutant(const char *name)
{
    const char *is = getenv("ORDERS_MUTANT");
    return is && strcmp(is, name) == 0;
}

/* Returns the event's index, or -1 if it was not written. */
static int64_t note(enum order_kind kind, int peer, uint64_t win, uint64_t off, const void *data,
                    size_t bytes)
{
    if (!file)
        return -1;
    uint32_t i = atomic_fetch_add(&file->n, 1);
    if (i >= ORDER_EVENTS)
        return -1; /* the checker says that the trace is too long */
    struct order_event *e = &file->event[i];
    e->kind = (uint16_t)kind;
    e->slot = (uint16_t)ft_transport->self;
    e->rank = (int16_t)ft_rma_me;
    e->peer = (int16_t)peer;
    e->win = (uint32_t)win;
    e->bytes = (uint32_t)bytes;
    e->off = off;
    if (data)
        memcpy(&e->value, data, bytes < sizeof e->value ? bytes : sizeof e->value);
    atomic_store_explicit(&e->there, 1, memory_order_release);
    return i;
}

static int world(const struct ft_win *w, int target)
{
    return target < 0 ? -1 : w->ctx.world[target];
}

/* The event of this index, once it is there. */
static const struct order_event *await_event(uint32_t i)
{
    const struct order_event *e = &file->event[i];
    while (!atomic_load_explicit(&e->there, memory_order_acquire))
        sched_yield();
    return e;
}

static int64_t new_image = -1; /* since which this process has made no access; -1: none */

static int is_to_be_lost(void)
{
    const char *lost = getenv("ORDERS_LOST");
    return lost && *lost && atoi(lost) == ft_rma_me && ft_transport->self == ft_rma_me;
}

/* The rank that is to be lost waits before its first access after each image until all others have
 * put to it after the same image. Otherwise it may be lost before anybody has, and its replacement
 * has nothing to replay. */
static void await_puts(void)
{
    int64_t own = new_image;
    new_image = -1;
    if (own < 0 || !is_to_be_lost())
        return;
    uint64_t image[SLOTS] = {0};
    int put[SLOTS] = {0}, left = ft_rma_nranks - 1;
    for (uint32_t i = 0; left && i < ORDER_EVENTS; i++) {
        const struct order_event *e = await_event(i);
        if (e->slot >= SLOTS || e->slot == ft_transport->self)
            continue;
        if (e->kind == ORDER_IMAGE_DONE && e->off)
            image[e->slot] = e->off;
        if (e->kind == ORDER_PUT_DONE && e->peer == ft_rma_me && !put[e->slot] &&
            image[e->slot] == file->event[own].off) {
            put[e->slot] = 1;
            left--;
        }
    }
}

/* --- accesses and synchronisation --- */

REAL(enum ft_status, ft_put,
     (struct ft_win * w, int target, size_t off, const void *buf, size_t len))
{
    await_puts();
    note(ORDER_PUT, world(w, target), w->id, off, buf, len);
    enum ft_status st = __real_ft_put(w, target, off, buf, len);
    note(ORDER_PUT_DONE, world(w, target), w->id, off, buf, len);
    return st;
}

REAL(enum ft_status, ft_get, (struct ft_win * w, int target, size_t off, void *buf, size_t len))
{
    await_puts();
    note(ORDER_GET, world(w, target), w->id, off, NULL, len);
    enum ft_status st = __real_ft_get(w, target, off, buf, len);
    note(ORDER_GET_DONE, world(w, target), w->id, off, buf, len);
    return st;
}

REAL(void, ft_win_flush, (struct ft_win * w, int target))
{
    __real_ft_win_flush(w, target);
    note(ORDER_CLOSE, world(w, target), w->id, 0, NULL, 0);
}

REAL(void, ft_win_flush_all, (struct ft_win * w))
{
    __real_ft_win_flush_all(w);
    note(ORDER_CLOSE, -1, w->id, 0, NULL, 0);
}

REAL(void, ft_win_fence, (struct ft_win * w))
{
    note(ORDER_CLOSE, -1, w->id, 0, NULL, 0);
    note(ORDER_FENCE_IN, -1, w->id, 0, NULL, 0);
    __real_ft_win_fence(w);
    note(ORDER_FENCE_OUT, -1, w->id, 0, NULL, 0);
}

REAL(void, ft_win_lock, (struct ft_win * w, int target, int exclusive))
{
    await_puts();
    __real_ft_win_lock(w, target, exclusive);
    note(ORDER_LOCK, world(w, target), w->id, (uint64_t)exclusive, NULL, 0);
}

REAL(void, ft_win_unlock, (struct ft_win * w, int target))
{
    note(ORDER_CLOSE, world(w, target), w->id, 0, NULL, 0);
    note(ORDER_UNLOCK, world(w, target), w->id, 0, NULL, 0);
    __real_ft_win_unlock(w, target);
}

REAL(void, ft_win_unlock_all, (struct ft_win * w))
{
    note(ORDER_CLOSE, -1, w->id, 0, NULL, 0);
    __real_ft_win_unlock_all(w);
}

/* --- checkpoints --- */

/* What the image of this version holds of windows. With snapshots it may still change when it has
 * been taken, so this is looked at when the next one is about to be. */
static void note_words(struct ft_rt *rt, uint64_t version)
{
    uint64_t bytes;
    const struct ft_image *im = ft_ckpt_image_of(rt, ft_transport->self, version, &bytes);
    for (uint64_t i = 0; im && i < im->nregions; i++)
        for (const struct ft_win *w = ft_windows; w; w = w->next) {
            const char *in = (const char *)im + ft_image_region_at(im, (int)i);
            if (ft_image_region_address(im, (int)i) != w->base)
                continue;
            for (uint64_t at = 0; at + 8 <= w->bytes; at += 8)
                note(ORDER_WORD, (int)version, w->id, at, in + at, 8);
        }
}

/* What a mutant puts: a value that the program never puts. */
static uint64_t wrong = UINT64_C(0xbad);

static void put_wrong(void)
{
    struct ft_win *w = ft_windows;
    __wrap_ft_put(w, w->ctx.size - 1, 0, &wrong, sizeof wrong);
}

REAL(void, ft_rma_cut, (uint64_t version))
{
    __real_ft_rma_cut(version);
    note(ORDER_CLOSE, -1, 0, 0, NULL, 0);
    if (version == 2 && ft_rma_me == 0 && mutant("open-epoch"))
        put_wrong();
}

/* A mutant's other half: waits for what rank 0 does when it has its image of this version. */
static void await_rank_0(uint64_t version, enum order_kind kind)
{
    int imaged = 0;
    for (uint32_t i = 0; file && i < ORDER_EVENTS; i++) {
        const struct order_event *e = await_event(i);
        imaged |= e->rank == 0 && e->kind == ORDER_IMAGE_DONE && e->off == version;
        if (imaged && e->rank == 0 && e->kind == kind)
            return;
    }
}

/* C_0, then a lock of rank 1 and its release by rank 0, then by the last rank, then its C. */
static void pass_lock(void)
{
    __wrap_ft_win_lock(ft_windows, 1, 1);
    __wrap_ft_win_unlock(ft_windows, 1);
}

REAL(struct ft_answer, ft_ckpt_copy, (struct ft_rt * rt, uint64_t version, uint64_t snapshot))
{
    int late = version == 2 && mutant("late-put"), chain = version == 2 && mutant("chain");
    int last = ft_rma_me == ft_rma_nranks - 1;
    if (late && last)
        await_rank_0(version, ORDER_PUT_DONE);
    if (chain && last) {
        await_rank_0(version, ORDER_UNLOCK);
        pass_lock();
    }
    if (version > 1)
        note_words(rt, version - 1);
    note(ORDER_IMAGE, -1, 0, version, NULL, 0);
    struct ft_answer a = __real_ft_ckpt_copy(rt, version, snapshot);
    int64_t at = note(ORDER_IMAGE_DONE, -1, 0, a.reason ? 0 : version, NULL, 0);
    if (!a.reason)
        new_image = at;
    if (late && ft_rma_me == 0)
        put_wrong();
    if (chain && ft_rma_me == 0)
        pass_lock();
    return a;
}

/* --- recovery --- */

REAL(void, ft_rma_replay_begin,
     (enum ft_segment seg, uint64_t version, uint64_t covered, uint64_t calls, uint64_t lost_calls))
{
    if (seg == FT_SEG_RUN)
        note(ORDER_RESTORED, -1, 0, version, NULL, 0);
    __real_ft_rma_replay_begin(seg, version, covered, calls, lost_calls);
}

static void note_act(enum order_kind kind, const struct ft_eligible_act *a)
{
    const struct ft_act *act = a->what;
    note(kind, a->source, act->win, act->off, act->data, act->bytes);
}

REAL(struct ft_eligible_act *, ft_putlog_gather,
     (struct ft_tp * tp, int nranks, int me, const int *slot_of, enum ft_segment seg,
      uint64_t version, uint64_t covered, size_t *n, uint64_t *bytes))
{
    struct ft_eligible_act *a =
        __real_ft_putlog_gather(tp, nranks, me, slot_of, seg, version, covered, n, bytes);
    if (*n > 0 && mutant("postponed")) /* the last put was not logged when its process went on */
        (*n)--;
    for (size_t i = 0; i < *n; i++)
        note_act(ORDER_FETCHED, &a[i]);
    return a;
}

static const struct ft_eligible_act *given, *held;

REAL(const struct ft_eligible_act *, ft_eligible_next, (struct ft_eligible * o, uint64_t calls))
{
    const struct ft_eligible_act *a;
    if (given && mutant("twice")) {
        a = given;
        given = NULL;
    } else {
        given = a = __real_ft_eligible_next(o, calls);
    }
    if (a && mutant("skipped") && o->next == 1)
        a = __real_ft_eligible_next(o, calls);
    if (a &&
        (mutant("swapped") || mutant("unlocked"))) { /* the first one comes after the last one */
        if (!held) {
            held = a;
            a = __real_ft_eligible_next(o, calls);
        }
    } else if (!a && held && o->next == o->n) {
        a = held;
        held = NULL;
    }
    if (a)
        note_act(ORDER_APPLIED, a);
    return a;
}

REAL(const struct ft_act *, ft_homelog_expect,
     (enum ft_act_kind kind, uint32_t win, int where, uint64_t off, int64_t bytes))
{
    const struct ft_act *a = __real_ft_homelog_expect(kind, win, where, off, bytes);
    if (a && kind == FT_ACT_GET)
        note(ORDER_FED, where, win, off, a->data, a->bytes);
    return a;
}
