/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trim.c - demand checkpoints, on main: whose logs grow drops what others' latest images cover, and
 * asks for an image.
 */
#include "alog/homelog.h"
#include "msg/channels.h"
#include "rma/putlog.h"
#include "rma/windows.h"
#include "runtime/latest.h"
#include "runtime/rt.h"

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
            return ft_latest_of(rt, ctl) == l; /* else it may be that of another image */
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

/* All that is kept, and whose log is the longest. */
static uint64_t kept(const struct ft_rt *rt, int *longest)
{
    uint64_t most = ft_homelog_kept(), sum = most;
    *longest = atomic_load(&rt->pos);
    for (int r = 0; r < rt->board->nranks; r++) {
        uint64_t n = kept_for(r);
        sum += n;
        if (n > most) {
            most = n;
            *longest = r;
        }
    }
    return sum;
}

/* Chunks that are free count, too, where only another log may use them. */
static int is_pressed(const struct ft_rt *rt, int *longest)
{
    uint64_t limit = ft_log_budget.limit;
    return kept(rt, longest) > rt->ask_above || ft_log_budget.used > limit - limit / 8;
}

static FT_STATE(uint64_t, grown); /* bytes since somebody was asked last */
#define grown FT_MY(grown)

static void pressed(uint64_t bytes)
{
    struct ft_rt *rt = ft_own_rt;
    int longest;
    grown += bytes;
    if (!ft_in_body(rt) || ft_replay != FT_LIVE || !is_pressed(rt, &longest))
        return;
    drop_covered(rt);
    if (grown <= rt->ask_above / 4 || !is_pressed(rt, &longest))
        return;
    grown = 0;
    ft_box_ask_image(&rt->box, longest);
    ft_agent_nudge(rt);
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

void ft_demand_init(struct ft_rt *rt, uint64_t above)
{
    rt->ask_above = above;
    ft_log_pressed = pressed;
}
