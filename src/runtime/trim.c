/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trim.c - logs that grow, on main (C7, C8): it drops what others' latest images cover, and asks
 * for an image of the rank with the longest log, or for a checkpoint of all.
 */
#include "alog/homelog.h"
#include "msg/channels.h"
#include "rma/putlog.h"
#include "rma/windows.h"
#include "runtime/latest.h"
#include "runtime/rt.h"

/* Logs of less are not worth a checkpoint: so much stays in a cache. */
#define LONG_LEAST (4ull << 20)

/* What rank r has said that its latest image covers; 0: nothing, or its carrier is not (yet) live.
 */
static int covered_by(struct ft_rt *rt, int r, int me, uint64_t *stamp, uint64_t *seq)
{
    const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, rt->bound[r]);
    uint64_t v = atomic_load(&rt->box.committed), l = ctl ? ft_latest_of(rt, ctl) : v;
    if (l == v || !atomic_load_explicit(&ctl->live, memory_order_acquire))
        return 0;
    for (int i = 0; i < FT_IMAGES; i++)
        if (atomic_load_explicit(&ctl->image[i].version, memory_order_acquire) == l) {
            *stamp = atomic_load_explicit(&ctl->image[i].stamp, memory_order_acquire);
            *seq = atomic_load_explicit(&ctl->peer[me].covered[i], memory_order_acquire);
            /* Else they may be another image's: its rank takes the version away, then stores them. */
            return atomic_load(&ctl->image[i].version) == l && ft_latest_of(rt, ctl) == l;
        }
    return 0;
}

static uint64_t kept_for(int r) { return ft_putlog_kept_for(r) + ft_msg_kept_for(r); }

/* Inside an access, so that nobody reads these logs in place of their target: it would wait for us
 * (L5, L7). */
static void drop_covered(struct ft_rt *rt)
{
    int me = atomic_load(&rt->pos),
        was = (int)atomic_load_explicit(ft_rma_inside, memory_order_relaxed);
    uint64_t v = atomic_load(&rt->box.committed), stamp, seq;
    int some = 0;
    if (was || ft_enter_access())
        for (int r = 0; r < rt->board->nranks; r++)
            if (kept_for(r) && covered_by(rt, r, me, &stamp, &seq))
                some += (r != me && ft_putlog_cover(r, stamp)) + ft_msg_covered(r, v, seq);
    if (!was)
        ft_leave_access();
    if (some)
        ft_failpoint(DEMAND_TRIMMED);
}

struct pressure {
    uint64_t all, most;
    int longest; /* whose log it is that has most */
};

static struct pressure kept(const struct ft_rt *rt)
{
    uint64_t home = ft_homelog_kept();
    struct pressure k = {.all = home, .most = home, .longest = atomic_load(&rt->pos)};
    for (int r = 0; r < rt->board->nranks; r++) {
        uint64_t n = kept_for(r);
        k.all += n;
        if (n > k.most) {
            k.most = n;
            k.longest = r;
        }
    }
    return k;
}

/* Chunks that are free count, too, where only another log may use them. */
static int is_pressed(const struct ft_rt *rt, const struct pressure *k)
{
    uint64_t limit = ft_log_budget.limit;
    return k->all > rt->ask_above || ft_log_budget.used > limit - limit / 8;
}

FT_STATIC(uint64_t, grown);      /* bytes since somebody was asked last */
FT_STATIC(uint64_t, grown_long); /* bytes since a checkpoint was asked for last */
FT_STATIC(uint64_t, asked_all);  /* 1 + the version that was committed when one was asked for */
#define grown FT_MY(grown)
#define grown_long FT_MY(grown_long)
#define asked_all FT_MY(asked_all)

static void ask_for_all(struct ft_rt *rt, uint32_t how)
{
    grown_long = 0;
    ft_box_ask(&rt->box, how);
    ft_agent_nudge(rt);
    ft_failpoint(CKPT_LONG);
}

/* Logs are long enough for a checkpoint to pay once it is cheap. */
static uint64_t long_above(const struct ft_rt *rt)
{
    uint64_t bytes = atomic_load_explicit(&rt->me->protected_bytes, memory_order_relaxed);
    return ft_min_u64(ft_max_u64(bytes / 100 * rt->log_long, LONG_LEAST), rt->ask_above);
}

/* An image trims one log. If no log has half of all, or no images are taken alone, a checkpoint of
 * all trims more. */
static int all_are_long(const struct ft_rt *rt, const struct pressure *k)
{
    return rt->long_checkpoints && (!rt->demand || k->most < k->all / 2);
}

static void pressed(uint64_t bytes)
{
    struct ft_rt *rt = ft_own_rt;
    grown += bytes;
    grown_long += bytes;
    if (!ft_in_body(rt) || ft_replay != FT_LIVE)
        return;
    struct pressure k = kept(rt);
    uint64_t above = long_above(rt);
    if (rt->long_checkpoints && k.all > above && grown_long > above / 4)
        ask_for_all(rt, FT_ASK_LONG);
    if (!is_pressed(rt, &k))
        return;
    if (rt->demand) {
        drop_covered(rt);
        k = kept(rt);
    }
    uint64_t v = 1 + atomic_load(&rt->box.committed);
    int again = asked_all == v; /* nothing has come of it so far */
    if (grown <= rt->ask_above / (again ? 2 : 4) || !is_pressed(rt, &k))
        return;
    grown = 0;
    if (!again && all_are_long(rt, &k)) {
        asked_all = v;
        ask_for_all(rt, FT_ASK_ALL);
    } else if (rt->demand) {
        ft_box_ask_image(&rt->box, k.longest);
        ft_agent_nudge(rt);
    }
}

void ft_demand_at_safepoint(struct ft_rt *rt, uint64_t n)
{
    ft_latest_cover_own(rt);
    if (rt->ask_above == 0) {
        drop_covered(rt);
        ft_box_ask_image(&rt->box, (int)(n % (uint64_t)rt->board->nranks));
        ft_agent_nudge(rt);
    }
    ft_latest_take(rt);
}

void ft_trim_init(struct ft_rt *rt, uint64_t above)
{
    rt->ask_above = above;
    rt->long_checkpoints =
        rt->checkpoints && rt->logs && rt->policy.kind == FT_CKPT_DALY && above > 0;
    if (rt->demand || rt->long_checkpoints)
        ft_log_pressed = pressed;
}
