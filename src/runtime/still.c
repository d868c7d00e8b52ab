/* SPDX-License-Identifier: BSD-3-Clause
 *
 * still.c - nothing moves any more: some ranks are over and the others wait for them, or all wait
 * for each other. Reports where each rank is (D8).
 *
 * Once a second each agent looks at its main, and counts on the board for how many consecutive
 * looks main has been asleep inside one call, without progress. The root's agent compares these
 * counts. When each has grown by STILL_LOOKS since all began to sleep, it asks all mains where they
 * are. A main answers from its waiting loop, after it has looked once more for what it waits for.
 * So when all have answered nothing is under way to any of them: nobody is left who could send it.
 * [A stopped process: its count does not grow, and its main does not answer. A rank that computes,
 * tests in a loop or waits for a file is not asleep here.]
 */
#define _GNU_SOURCE 1 /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "alog/homelog.h"
#include "alog/log.h"
#include "base/join.h"
#include "base/private.h"
#include "runtime/agent.h"
#include "transport/turn.h"
#include "transport/wait.h"

#define LOOK_NS 1000000000ull
#define STILL_LOOKS 5 /* seconds, each lived through by every process */
#define NAMED 4       /* waiting ranks that the message names */

/* ---- main: where it is ---- */

/* The outermost function of the library with a name that the program knows: the call in which main
 * is. Calls record nothing on entry; this library is compiled with frame pointers, and only such
 * functions are visible. */
static const char *name_of_call(void)
{
    void **frame = __builtin_frame_address(0);
    const char *name = "a call";
    Dl_info own, at;
    if (!dladdr((void *)(uintptr_t)&ft_still_answer, &own))
        return name;
    for (int depth = 0; frame && depth < 64; depth++) {
        void **next = frame[0];
        if (!frame[1] || !dladdr((char *)frame[1] - 1, &at) || at.dli_fbase != own.dli_fbase)
            break;
        if (at.dli_sname)
            name = at.dli_sname + (strncmp(at.dli_sname, "PMPI_", 5) == 0);
        if (next <= frame || next > frame + (1 << 17))
            break;
        frame = next;
    }
    return name;
}

void ft_still_answer(struct ft_rt *rt)
{
    struct ft_board_place *p = &rt->me->place;
    uint32_t asked = atomic_load(&rt->board->places_asked);
    snprintf(p->call, sizeof p->call, "%s", name_of_call());
    p->at = ft_main_at(rt);
    p->on = ft_waiting ? ft_waiting->on : 0;
    atomic_store_explicit(&p->answered, asked, memory_order_release);
}

/* ---- each agent ---- */

/* Whether main sleeps in one call. */
static int sleeps(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint32_t naps = atomic_load(&ft_wait_naps), before = a->still.naps;
    a->still.naps = naps;
    return ft_is_rank(rt) && !ft_runtime_threads && a->main.place != FT_AT_INIT &&
           !a->main.replaying && atomic_load(&ft_in_call) &&
           (atomic_load(&ft_wait_asleep) || naps != before) && !ft_agent_main_busy(a);
}

static void look_at_main(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t now[] = {atomic_load(&ft_wait_progress), atomic_load(&rt->me->testament.calls),
                      atomic_load(&rt->box.generation), a->main.moves};
    int same = memcmp(now, a->still.was, sizeof now) == 0, asleep = sleeps(a);
    memcpy(a->still.was, now, sizeof now);
    atomic_store(&rt->me->still, same && asleep ? atomic_load(&rt->me->still) + 1 : 0);
    if (a->still.answered != atomic_load(&rt->board->places_asked) && ft_is_rank(rt)) {
        a->still.answered = atomic_load(&rt->board->places_asked);
        ft_agent_attention(a, FT_ATT_PLACE);
    }
}

/* ---- the root's ---- */

enum { TEXT = 700 };

static struct ft_board_slot *carrier(struct ft_agent *a, int rank)
{
    return &a->rt->board->slot[ft_agent_map(a).slot_of[rank]];
}

/* " 0 2": the ranks that stand there; returns how many. */
static int list(struct ft_agent *a, enum ft_place at, struct ft_joined *out)
{
    int n = 0;
    for (int r = 0; r < a->rt->board->nranks; r++)
        if (carrier(a, r)->place.at == (int)at && n++ < 32)
            ft_join(out, " %d", r);
    if (n > 32)
        ft_join(out, " ...");
    return n;
}

/* "body has ended on rank 0", "ranks 0 2 are in MPI_Finalize". one, several: the words after the
 * list. */
static void add_standing(struct ft_agent *a, enum ft_place at, const char *before, const char *one,
                         const char *several, struct ft_joined *out)
{
    char names[TEXT];
    struct ft_joined ranks = {.out = names, .size = sizeof names};
    int n = list(a, at, &ranks);
    if (n)
        ft_join(out, "%s%s%s%s%s", out->len ? "; " : "", before, n == 1 ? "rank" : "ranks", names,
                n == 1 ? one : several);
}

static void add_waiting(struct ft_agent *a, struct ft_joined *out)
{
    int n = 0;
    for (int r = 0; r < a->rt->board->nranks; r++) {
        const struct ft_board_place *p = &carrier(a, r)->place;
        if (ft_place_stands((enum ft_place)p->at) || n++ >= NAMED)
            continue;
        ft_join(out, "%srank %d waits in %.*s", out->len ? "; " : "", r, (int)sizeof p->call,
                p->call);
        if (p->on)
            ft_join(out, " for rank %d", (int)p->on - 1);
    }
    if (n > NAMED)
        ft_join(out, "; %d more rank%s", n - NAMED, n - NAMED == 1 ? " waits" : "s wait");
}

static int count(struct ft_agent *a, enum ft_place at)
{
    int n = 0;
    for (int r = 0; r < a->rt->board->nranks; r++)
        n += carrier(a, r)->place.at == (int)at;
    return n;
}

/* The ranks that wait in a call of their own. */
static int under_way(struct ft_agent *a)
{
    int n = 0;
    for (int r = 0; r < a->rt->board->nranks; r++)
        n += !ft_place_stands((enum ft_place)carrier(a, r)->place.at);
    return n;
}

/* No action of the agents is under way that could move a main. */
static int idle(const struct ft_agent *a)
{
    const struct ft_order *o = &a->p->order;
    return o->active && o->order == FT_ORDER_NONE && a->p->carrier.order.kind == FT_ORDER_NONE &&
           !ft_agree_pending(&a->p->agree);
}

static void describe(struct ft_agent *a, struct ft_joined *out)
{
    add_standing(a, FT_AT_OVER, "body has ended on ", "", "", out);
    add_standing(a, FT_AT_FINALIZE, "", " is in MPI_Finalize", " are in MPI_Finalize", out);
    add_standing(a, FT_AT_ENTRY, "", " waits at the start of FTRMA_Run",
                 " wait at the start of FTRMA_Run", out);
    add_waiting(a, out);
    if (count(a, FT_AT_OVER) && atomic_load(&a->rt->board->generation))
        ft_join(out, "; probably a loop variable is not protected");
}

static void say(struct ft_agent *a)
{
    char what[TEXT], line[TEXT];
    struct ft_joined found = {.out = what, .size = sizeof what};
    struct ft_joined t = {.out = line, .size = sizeof line};
    int over = count(a, FT_AT_OVER) + count(a, FT_AT_FINALIZE);
    describe(a, &found);
    ft_join(&t, "ftrma: note: %s (nothing has moved for %d s", what, STILL_LOOKS);
    if (over && a->still.limit > 0)
        ft_join(&t, "; ftrma ends the job in %lld s", (long long)a->still.limit);
    ft_join(&t, ")\n");
    ft_print(line, t.len);
    a->still.step = over && a->still.limit > 0 ? FT_STILL_ENDING : FT_STILL_SAID;
}

static int all_have_answered(struct ft_agent *a)
{
    uint32_t asked = atomic_load(&a->rt->board->places_asked);
    for (int r = 0; r < a->rt->board->nranks; r++)
        if (atomic_load_explicit(&carrier(a, r)->place.answered, memory_order_acquire) != asked)
            return 0;
    return 1;
}

/* The least growth of the ranks' counts since they were noted; -1: one of them has moved since. */
static int64_t grown(struct ft_agent *a)
{
    int64_t least = INT64_MAX;
    for (int r = 0; r < a->rt->board->nranks; r++) {
        uint32_t still = atomic_load(&carrier(a, r)->still);
        if (still == 0 || still < a->still.from[r])
            return -1;
        least = still - a->still.from[r] < least ? still - a->still.from[r] : least;
    }
    return least;
}

static void note_counts(struct ft_agent *a)
{
    for (int r = 0; r < a->rt->board->nranks; r++)
        a->still.from[r] = atomic_load(&carrier(a, r)->still);
}

static _Noreturn void give_up(struct ft_agent *a)
{
    char what[TEXT];
    struct ft_joined found = {.out = what, .size = sizeof what};
    describe(a, &found);
    ft_give_up(ALL_WAIT, what);
}

static void look_at_all(struct ft_agent *a)
{
    int64_t n = grown(a);
    if (n < 0) {
        a->still.step = FT_STILL_MOVING;
        note_counts(a);
        return;
    }
    switch (a->still.step) {
    case FT_STILL_MOVING:
        if (n < STILL_LOOKS || !idle(a))
            return;
        atomic_fetch_add(&a->rt->board->places_asked, 1);
        a->still.step = FT_STILL_ASKED;
        break;
    case FT_STILL_ASKED:
        if (!idle(a) || !all_have_answered(a))
            return;
        note_counts(a);
        /* otherwise the library waits for itself: for a codeword, or for the root */
        if (under_way(a))
            say(a);
        else
            a->still.step = FT_STILL_SAID;
        break;
    case FT_STILL_ENDING:
        if (n >= a->still.limit && idle(a))
            give_up(a);
        break;
    case FT_STILL_SAID: break;
    }
}

void ft_still_look(struct ft_agent *a, uint64_t now)
{
    if (now < a->still.next_ns ||
        a->limit_ms == 0) /* 0: somebody debugs, or nobody is to be taken for dead */
        return;
    a->still.next_ns = now + LOOK_NS;
    look_at_main(a);
    if (ft_order_is_root(&a->p->order) && a->still.from &&
        atomic_load(&a->rt->board->state) == FT_JOB_RUNNING)
        look_at_all(a);
}

void ft_still_start(struct ft_agent *a)
{
    char err[128];
    a->still.from = ft_private_alloc((size_t)a->rt->board->nranks * sizeof *a->still.from);
    ft_setting_i64(FT_SET_OVER_LIMIT, &a->still.limit, err, sizeof err);
}
