/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_layout.c - finds out where the job's processes are, and so what each carries at first. Each
 * process does so for itself, once, at start.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/near.h"
#include "base/private.h"
#include "base/textfile.h"
#include "runtime/rt.h"
#include "runtime/start.h"

static void tell_node(struct ft_rt *rt)
{
    if (gethostname(rt->me->node, sizeof rt->me->node) != 0)
        strcpy(rt->me->node, "unknown");
    atomic_store_explicit(&rt->me->node_known, 1, memory_order_release);
}

static int arrived(const struct ft_rt *rt)
{
    int n = 0;
    for (int i = 0; i < rt->nslots; i++)
        n += (atomic_load(&rt->board->slot[i].arena_fd) >= 0) +
             (atomic_load(&rt->board->slot[i].node_known) != 0);
    return n;
}

/* A nap lasts an eighth of the time that the wait for this slot has taken, within these bounds. [64
 * processes on two cores wait, each with a timer that is due every 200 us: the processors do
 * nothing else, and the processes that are waited for cannot start.] */
#define START_NAP_NS 200000
#define START_NAP_MOST_NS 20000000

int ft_rt_await_start(struct ft_rt *rt, int slot, struct ft_arrival *w)
{
    const struct ft_board_slot *s = &rt->board->slot[slot];
    int pid = atomic_load(&s->pid), state = atomic_load(&rt->board->state), n;
    if (pid && ft_proc_gone(pid, atomic_load(&s->start_time)) > 0)
        return 0;
    /* [On another node, it has ended before its gateway could say that it is there.] */
    if (rt->board->nodes.n && ft_board_slot_end(rt->board, slot) != FT_SLOT_THERE)
        return 0;
    if (state == FT_JOB_FAILED || state == FT_JOB_LOST)
        _exit(atomic_load(&rt->board->status));
    uint64_t nap = ft_min_u64(ft_max_u64(w->ns / 8, START_NAP_NS), START_NAP_MOST_NS);
    nanosleep(&(struct timespec){.tv_nsec = (long)nap}, NULL);
    /* time that this process lived through itself: [Ctrl-Z stops all, and all go on] */
    w->ns += nap;
    if (rt->start_limit_ns && w->ns >= rt->start_limit_ns) {
        if ((n = arrived(rt)) == w->arrived)
            ft_give_up(START_STUCK, slot, pid, (unsigned long long)(rt->start_limit_ns / 1000000));
        *w = (struct ft_arrival){.arrived =
                                     /* others come: on a loaded machine this may take a while */
                                 n};
    }
    return 1;
}

/* The names of all slots' hosts, once they are there. In a job on several nodes these are known,
 * and only for messages. A process that dies before it has told its host is taken to be where the
 * previous one is: all see the same, since the dead tell nothing any more. */
static void gather_nodes(struct ft_rt *rt, const char **host)
{
    for (int i = 0; i < rt->nslots; i++) {
        struct ft_board_slot *s = &rt->board->slot[i];
        int gone = 0;
        if (rt->board->nodes.n) {
            host[i] = rt->board->nodes.name[ft_board_node_of(rt->board, i)];
            continue;
        }
        struct ft_arrival w = {0};
        while (!atomic_load_explicit(&s->node_known, memory_order_acquire) && !gone)
            gone = !ft_rt_await_start(rt, i, &w);
        host[i] = atomic_load_explicit(&s->node_known, memory_order_acquire) ? s->node
                  : i > 0                                                    ? host[i - 1]
                                                                             : "unknown";
    }
}

static void know_where(struct ft_rt *rt)
{
    struct ft_job_layout *l = &rt->layout;
    struct ft_where *w = ft_need(ft_private_alloc(sizeof *w), sizeof *w, "the failure domains");
    *w = (struct ft_where){.domains = &l->domains,
                           .node_of = l->node_of,
                           .group_of = l->place.group_of,
                           .parity = l->place.parity,
                           .aware = l->aware,
                           .holds = l->place.aware};
    size_t n = ft_place_spares_scratch(&l->domains, l->place.npositions, rt->board->nspares);
    w->scratch = ft_need(ft_private_alloc(n * sizeof *w->scratch), n * sizeof *w->scratch,
                         "the failure domains");
    rt->where = w;
}

enum ft_status ft_rt_place(struct ft_rt *rt, int parity, char *why, size_t size)
{
    struct ft_board *b = rt->board;
    struct ft_job_layout_ask ask = {.nranks = b->nranks,
                                    .nchecksums = b->nchecksums,
                                    .nspares = b->nspares,
                                    .parity = parity,
                                    .file = ft_setting_str(FT_SET_DOMAINS),
                                    .aware = ft_setting_str(FT_SET_AWARE),
                                    .nnodes = b->nodes.n};
    const char **host = ft_need(calloc((size_t)rt->nslots, sizeof *host),
                                (size_t)rt->nslots * sizeof *host, "the names of nodes");
    char *text = NULL;
    if (*ask.file) {
        if (ft_read_text(ask.file, &text, &ask.len) != FT_OK) {
            snprintf(why, size, "%s: cannot be read: %s", ask.file, strerror(errno));
            free(host);
            return FT_ERR_SYS;
        }
        ask.text = text;
    }
    if (text || *ask.aware)
        tell_node(rt);
    enum ft_status st = ft_job_layout_make(&ask, host, &rt->layout, why, size);
    if (st == FT_ERR_AGAIN) { /* it depends on where they really are */
        gather_nodes(rt, host);
        st = ft_job_layout_make(&ask, host, &rt->layout, why, size);
    }
    free(host);
    free(text);
    if (st == FT_ERR_NOMEM)
        snprintf(why, size, "there is not enough memory to place %d processes", rt->nslots);
    if (st == FT_OK)
        rt->groups = rt->layout.groups;
    if (st == FT_OK && rt->layout.known && b->nchecksums > 0)
        know_where(rt);
    return st;
}

int ft_rt_first_slot(const struct ft_rt *rt, int pos)
{
    return rt->layout.place.slot_of ? rt->layout.place.slot_of[pos] : pos;
}

void ft_rt_role(const struct ft_rt *rt, int slot, enum ft_role *role, int *index)
{
    *role = ft_job_layout_role(&rt->layout, rt->board->nranks, rt->board->nchecksums, slot, index);
}

int ft_rt_slot_at(struct ft_rt *rt, int pos)
{
    pthread_mutex_lock(&rt->map_lock);
    int slot = rt->slot_of[pos];
    pthread_mutex_unlock(&rt->map_lock);
    return slot;
}
