/* SPDX-License-Identifier: BSD-3-Clause
 *
 * open.c - an endpoint begins and ends, and its helper thread.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/private.h"
#include "ftt/open.h"
#include "runtime/carriers.h"
#include "runtime/helper.h"
#include "runtime/runtime.h"
#include "transport/wait.h"

FT_STATE(struct ft_endpoint *, ft_own_endpoint);

#define ROOM 4096 /* items of the program that may be outstanding */

void ft_endpoint_news(void)
{
    struct ft_endpoint *e = ft_own_endpoint;
    if (!e)
        return;
    atomic_fetch_add(&e->news, 1);
    ft_wake(e->dock, FT_BELL_HELPER);
    ft_wake(e->dock, FT_BELL_PROGRAM);
}

/* --- the helper thread --- */

#define NAP_NS 500000 /* between two looks, while the program calls often */

static void *helper(void *arg)
{
    struct ft_endpoint *e = arg;
    uint64_t counted = 0;
    ft_engine_enter(e->engine);
    ft_endpoint_lock(e);
    while (!e->over) {
        uint32_t heard = atomic_load(&e->dock->bell[FT_BELL_HELPER]);
        int sleeps = 1;
        struct timespec nap = {.tv_nsec = NAP_NS}, *limit = NULL;
        if (e->pollers == 0 && e->helper_on) {
            while (ft_progress(e))
                ;
            ft_progress_acks(e);
        }
        e->brisk &= e->counted != counted;
        counted = e->counted;
        if (e->brisk) {
            limit = &nap;
        } else if (e->pollers == 0 && e->helper_on) {
            e->calls = 0;
            atomic_store(&e->dock->sleeps, 1u << FT_BELL_HELPER);
            atomic_thread_fence(memory_order_seq_cst);
            sleeps = ft_progress_idle(e);
        }
        ft_endpoint_unlock(e);
        if (sleeps)
            syscall(SYS_futex, &e->dock->bell[FT_BELL_HELPER], FUTEX_WAIT, heard, limit, NULL, 0);
        ft_endpoint_lock(e);
    }
    ft_endpoint_unlock(e);
    return NULL;
}

int ft_endpoint_progress(FTT_Transport *t, int on)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    ft_endpoint_lock(e);
    e->helper_on = on != 0;
    e->brisk = 0;
    if (!e->pollers)
        atomic_store(&e->dock->sleeps, on ? 1u << FT_BELL_HELPER : 0);
    ft_endpoint_unlock(e);
    ft_wake(e->dock, FT_BELL_HELPER);
    return FTT_OK;
}

/* --- open --- */

static int make_dock(struct ft_endpoint *e)
{
    struct ft_arena *a = ft_transport->own;
    e->dock_at = ft_dock_make(a, 0, ft_transport->nslots, sizeof(struct ft_tables));
    if (!e->dock_at)
        return 0;
    e->dock = ft_arena_ptr(a, e->dock_at);
    e->tables = ft_arena_ptr(a, e->dock_at + e->dock->tables_at);
    return 1;
}

static void *need(size_t bytes) { return ft_need(ft_private_alloc(bytes), bytes, "the transport"); }

static int make(struct ft_endpoint *e, int rank, int n)
{
    size_t ranks = (size_t)n * 4;
    e->program.calls = &ft_endpoint_calls;
    e->rank = rank;
    e->n = n;
    e->room = ROOM;
    e->helper_on = 1;
    e->spin = ft_wait_spin() ? 4000 : 16;
    e->engine = ft_engine_here();
    e->incarnation = need(ranks);
    e->scratch = need(ranks);
    e->dead = need((size_t)n);
    e->slot = need(ranks);
    e->peer = need((size_t)n * sizeof *e->peer);
    pthread_mutex_init(&e->lock, NULL);
    if (!make_dock(e))
        return FTT_ERR_NO_MEMORY;
    ft_own_endpoint = e; /* from now on it hears of generations */
    e->generation = ft_carriers_now(e->slot, e->incarnation, e->dead, ft_endpoint_news);
    for (int i = 0; i < n; i++)
        ft_peer_is(e, i);
    /* besides the program's items: answers to fetches, votes, collectives */
    int room = ROOM + 1024 + 16 * n;
    e->txn = need(ft_txn_bytes(n, room));
    ft_txn_init(e->txn, n, room, rank, e->generation, e->incarnation);
    struct ft_round_to to = ft_endpoint_rounds;
    to.arg = e;
    e->rounds = need(ft_rounds_bytes(n));
    ft_rounds_init(e->rounds, n, rank, e->generation, e->incarnation, &to);
    return FTT_OK;
}

static void announce(struct ft_endpoint *e)
{
    ft_failpoint(FTT_OPENED);
    ft_carriers_opened();
    atomic_store_explicit(&ft_transport->own->ctl->endpoint, e->dock_at, memory_order_release);
    if (ft_helper_start(helper, e) != 0)
        e->helper_on = 0; /* then the program's calls alone make progress */
    else
        atomic_store(&e->dock->sleeps, 1u << FT_BELL_HELPER);
    ft_wake(e->dock, FT_BELL_HELPER); /* others have written before */
}

FT_EXPORT int FTT_Open(FTT_Transport **out)
{
    static const int status[] = {[FT_JOINED] = FTT_OK,
                                 [FT_JOIN_NO_JOB] = FTT_ERR_NO_LIBRARY,
                                 [FT_JOIN_LEVEL] = FTT_ERR_LEVEL,
                                 [FT_JOIN_IN_RUN] = FTT_ERR_IN_RUN,
                                 [FT_JOIN_OVER] = FTT_ERR_OPEN};
    int own, st;
    if (!out)
        return FTT_ERR_ARG;
    if (ft_own_endpoint)
        return FTT_ERR_OPEN;
    if ((st = status[ft_carriers_join(&own)]) != FTT_OK)
        return st;
    struct ft_endpoint *e = need(sizeof *e);
    e->self_opened = own;
    if ((st = make(e, ft_my_rank(), ft_nranks())) != FTT_OK)
        return st;
    ft_carriers_output();
    announce(e);
    *out = &e->program;
    return FTT_OK;
}

/* --- close --- */

static void drop_events(struct ft_endpoint *e)
{
    while (e->events) {
        struct ft_parcel *b = e->events;
        e->events = b->next;
        if (b->ev.kind == FTT_EV_HEADER)
            ft_answer_closed(e, b->ev.rank, b->ev.incarnation, b->ev.id);
        ft_block_put(e, b);
    }
    ft_progress_out(e);
}

/* Items that have no answer yet, and what waits for the machine. Messages among them may have been
 * delivered only to somebody who is dead. */
static int is_settled(const struct ft_endpoint *e)
{
    return ft_txn_outstanding(e->txn) == 0 && !e->backlog;
}

static void await_close(struct ft_endpoint *e)
{
    e->closing = FT_CLOSE_AGAIN;
    while (e->closing != FT_CLOSE_AGREED || !is_settled(e)) {
        if (e->closing == FT_CLOSE_AGAIN) {
            e->closing = FT_CLOSE_ASKED;
            ft_endpoint_unlock(e);
            int st = ft_collective(&e->program, 0, FT_CLOSE_LABEL, 0, 0, 0, NULL, 0);
            ft_endpoint_lock(e);
            if (st != FTT_OK) /* too many of the program's are outstanding: when some have ended */
                e->closing = FT_CLOSE_AGAIN;
        }
        drop_events(e);
        ft_endpoint_wait(e, NULL, 100);
    }
    ft_progress_acks(e);
}

int ft_endpoint_close(FTT_Transport *t)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    ft_failpoint(FTT_CLOSING);
    /* [The agreement may come before messages that were sent earlier: their senders are in FTT_Close,
     * and wait until these were read.] */
    ft_endpoint_progress(t, 1);
    ft_endpoint_lock(e);
    await_close(e);
    ft_endpoint_unlock(e);
    if (!e->self_opened)
        return FTT_OK; /* the helper goes on until MPI_Finalize: a replacement may still come */
    ft_carriers_end();
    ft_endpoint_lock(e);
    e->over = 1;
    ft_endpoint_unlock(e);
    ft_wake(e->dock, FT_BELL_HELPER);
    return FTT_OK;
}
