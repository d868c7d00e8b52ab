/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.c - demand checkpoints: a main whose logs grow drops what others' latest images cover, and asks; the agents carry the
 * two machines of proto/demand.h.
 */
#include "alog/home.h"
#include "msg/channels.h"
#include "rma/lp.h"
#include "rma/windows.h"
#include "runtime/agent.h"

/* --- main --- */

/* What rank r has said that its latest image covers; 0: nothing, or its carrier is not (yet) live. */
static int covered_by(struct ft_rt *rt, int r, int me, uint64_t *stamp, uint64_t *seq)
{
    const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, rt->bound[r]);
    uint64_t v = atomic_load(&rt->committed), l = ctl ? ft_latest_of(rt, ctl) : v;
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

static uint64_t kept_for(int r) { return ft_lp_kept_for(r) + ft_msg_kept_for(r); }

/* Inside an access, so that nobody reads these logs in place of their target: it would wait for us (protocol 7, L5). */
static void drop_covered(struct ft_rt *rt)
{
    int me = atomic_load(&rt->pos), was = atomic_load_explicit(&ft_rma_inside, memory_order_relaxed);
    uint64_t v = atomic_load(&rt->committed), stamp, seq;
    int some = 0;
    if (was || ft_enter_access())
        for (int r = 0; r < rt->board->nranks; r++)
            if (kept_for(r) && covered_by(rt, r, me, &stamp, &seq))
                some += (r != me && ft_lp_cover(r, stamp)) + ft_msg_covered(r, v, seq);
    if (!was)
        ft_leave_access();
    if (some)
        ft_failpoint(DEMAND_TRIMMED);
}

/* All that is kept, and whose log is the longest. */
static uint64_t kept(const struct ft_rt *rt, int *longest)
{
    uint64_t most = ft_home_kept(), sum = most;
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

static void pressed(uint64_t bytes)
{
    static uint64_t grown; /* since somebody was asked last */
    struct ft_rt *rt = ft_rt;
    int longest;
    grown += bytes;
    if (!rt->in_body || ft_replay != FT_LIVE || !is_pressed(rt, &longest))
        return;
    drop_covered(rt);
    if (grown <= rt->ask_above / 4 || !is_pressed(rt, &longest))
        return;
    grown = 0;
    atomic_store(&rt->ask, 1 + longest);
    ft_agent_nudge(rt);
}

void ft_demand_at_safepoint(struct ft_rt *rt, uint64_t n)
{
    ft_latest_cover_own(rt);
    if (rt->ask_above == 0) {
        drop_covered(rt);
        atomic_store(&rt->ask, 1 + (int)(n % (uint64_t)rt->board->nranks));
        ft_agent_nudge(rt);
    }
    ft_latest_take(rt);
}

void ft_demand_init(struct ft_rt *rt, uint64_t above)
{
    rt->ask_above = above;
    ft_log_pressed = pressed;
}

/* --- agent --- */

static int checksum_of(const struct ft_agent *a, int rank)
{
    const struct ft_groups *g = &a->rt->groups;
    return a->rt->board->nranks + ft_group_checksum(g, ft_group_of_rank(g, rank), 0);
}

static void send(struct ft_agent *a, int pos, const struct ft_demand_msg *msg)
{
    struct ft_mail m = {.kind = FT_MAIL_DEMAND};
    if (!msg->kind)
        return;
    m.u.demand = *msg;
    ft_agent_mail(a, a->map.slot_of[pos], &m, (uint32_t)(offsetof(struct ft_mail, u) + sizeof m.u.demand));
}

static void flip(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t l = a->owner.latest;
    atomic_store_explicit(&rt->arena.ctl->latest, l, memory_order_release);
    ft_failpoint(DEMAND_FLIPPED);
    ft_rt_event(rt, FT_EV_DEMAND, ft_who(rt), (int64_t)FT_VERSION_ALONE(l), (int64_t)FT_VERSION_BASE(l), 0, 0);
}

static void act(struct ft_agent *a, struct ft_demand_action x)
{
    struct ft_rt *rt = a->rt;
    switch (x.act) {
    case FT_DEMAND_NOTHING:
        return;
    case FT_DEMAND_FOLD:
        atomic_store(&rt->fold_rank, x.msg.rank);
        a->fold_due = x.msg.version;
        return;
    case FT_DEMAND_TAG:
        atomic_store_explicit(&rt->arena.ctl->latest, atomic_load(&rt->folded), memory_order_release);
        ft_failpoint(DEMAND_TAGGED);
        break;
    case FT_DEMAND_SEND:
        break;
    }
    send(a, x.msg.rank, &x.msg);
}

void ft_demand_mail(struct ft_agent *a, int from, const struct ft_demand_msg *msg)
{
    struct ft_rt *rt = a->rt;
    struct ft_demand_msg answer;
    (void)from;
    if (!rt->demand || ((ft_agree_pending(&a->agree) || a->rolling) && msg->kind != FT_DEMAND_ASK && msg->kind != FT_DEMAND_TAKE))
        return; /* void */
    if (ft_is_checksum(rt)) {
        act(a, ft_demand_ch_msg(&a->ch, msg));
    } else if (ft_is_rank(rt) && msg->rank == atomic_load(&rt->pos)) {
        if (ft_demand_owner_msg(&a->owner, msg, &answer))
            flip(a);
        send(a, checksum_of(a, msg->rank), &answer);
    }
}

static void say_taken(struct ft_agent *a, uint64_t version)
{
    int pos = atomic_load(&a->rt->pos);
    struct ft_demand_msg m = ft_demand_owner_taken(&a->owner, pos, version == FT_TAKEN_NOT ? 0 : version);
    send(a, checksum_of(a, pos), &m);
}

static void poll_owner(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t taken = atomic_load_explicit(&rt->taken, memory_order_acquire);
    if (taken) {
        int now = atomic_load(&rt->taken_in) == atomic_load(&rt->generation); /* else it is void, and its slot free */
        atomic_store_explicit(&rt->taken, 0, memory_order_release);           /* from here on main may answer again */
        if (now) {
            a->taking = 0;
            say_taken(a, taken);
        }
    }
    if (!ft_demand_owner_wants(&a->owner))
        return;
    if (atomic_load(&rt->milestone) != FT_MILE_RUN || atomic_load(&rt->run_over)) {
        a->taking = 0;
        atomic_store(&rt->take, 0);
        say_taken(a, 0);
    } else if (!a->taking) { /* once: [told again while main answers, it would build another one where this one lies] */
        a->taking = 1;
        atomic_store(&rt->take, 1 + atomic_load(&rt->generation));
    }
}

/* A staging may begin: the group is whole and no order is under way here. */
static int group_is_well(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int g = ft_group_of_checksum(&rt->groups, atomic_load(&rt->pos) - rt->board->nranks);
    if (a->kind != FT_ORDER_NONE || atomic_load(&rt->incomplete) || atomic_load(&rt->committed) == 0 ||
        atomic_load(&rt->run_over) || ft_agent_standing(a) != FT_ST_INIT)
        return 0;
    for (int i = 0; i < ft_group_size(&rt->groups, g); i++) {
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, a->map.slot_of[ft_group_member(&rt->groups, g, i)]);
        if (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire))
            return 0; /* frozen while one of it is rebuilt, or repeats */
    }
    return 1;
}

static void poll_checksum(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (a->fold_due && !a->folding && ft_agent_standing(a) == FT_ST_INIT) {
        a->folding = ft_agent_issue(a, FT_CMD_FOLD, a->fold_due);
        a->fold_due = 0;
    } else if (a->folding && atomic_load_explicit(&rt->cmd_done, memory_order_acquire) >= a->folding) {
        a->folding = 0;
        act(a, ft_demand_ch_folded(&a->ch, atomic_load(&rt->folded) != 0));
    }
    if (!a->fold_due && !a->folding && group_is_well(a))
        act(a, ft_demand_ch_ready(&a->ch, rt->board->nranks));
}

void ft_demand_poll(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!rt->demand)
        return;
    int ask = atomic_exchange(&rt->ask, 0);
    if (ask && ft_is_rank(rt)) {
        struct ft_demand_msg m = {.kind = FT_DEMAND_ASK, .generation = atomic_load(&rt->generation), .rank = ask - 1};
        ft_failpoint(DEMAND_ASKED);
        send(a, checksum_of(a, ask - 1), &m);
    }
    if (ft_agree_pending(&a->agree) || a->rolling)
        return; /* proto/demand.h: nothing between vote and adoption */
    if (ft_is_rank(rt))
        poll_owner(a);
    else if (ft_is_checksum(rt))
        poll_checksum(a);
}

int ft_demand_settled(struct ft_agent *a)
{
    ft_demand_poll(a);
    if (a->owner.state == FT_OWNER_WANTED) {
        atomic_store(&a->rt->take, 0);
        a->taking = 0;
        say_taken(a, 0);
    }
    return a->owner.state == FT_OWNER_NONE;
}

/* Version of rank's latest image: what its checksum process says, or, where that is itself rebuilt, what the rank did. It does
 * not fall before the next coordinated commit. */
static uint64_t latest_of_rank(struct ft_agent *a, int rank)
{
    struct ft_rt *rt = a->rt;
    uint64_t own = ft_latest_of(rt, ft_tp_ctl(&rt->tp, a->map.slot_of[rank]));
    return ft_max_u64(own, ft_latest_tag(rt, a->map.slot_of[checksum_of(a, rank)], rank));
}

void ft_demand_exposed(struct ft_agent *a, struct ft_bitset *exposed)
{
    for (int r = 0; a->rt->demand && r < a->rt->board->nranks; r++)
        if (a->stale[r] && a->stale[r] - 1 == latest_of_rank(a, r))
            ft_bit_set(exposed, r);
}

void ft_demand_restored(struct ft_agent *a)
{
    for (int r = 0; r < a->rt->board->nranks; r++)
        if (r != atomic_load(&a->rt->pos))
            a->stale[r] = 1 + latest_of_rank(a, r);
}

/* p is lost and goes back alone; it may be live again before it has read all that it had read. [q has taken an image since, and
 * does not say again what p had read before that. q is lost.] So q is exposed until it takes another image, which it does not
 * while anybody replays. */
static void stale_images(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    for (int r = 0; r < rt->board->nranks; r++) {
        uint64_t l = latest_of_rank(a, r);
        if (l != atomic_load(&rt->committed) && a->map.slot_of[r] == rt->slot_of[r])
            a->stale[r] = 1 + l;
    }
}

void ft_demand_void(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    atomic_store(&rt->take, 0);
    a->fold_due = a->folding = a->taking = 0;
    ft_demand_owner_drop(&a->owner);
    ft_demand_ch_reset(&a->ch, atomic_load(&rt->generation));
}

/* [Main has taken an image just before it parked, which is looked at after the rollback: it would pass for one of after it.] */
void ft_demand_forget(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    atomic_store(&rt->arena.ctl->latest, 0);
    atomic_store(&rt->take, 0);
    atomic_store(&rt->taken, 0);
    a->taking = 0;
}

void ft_demand_generation(struct ft_agent *a, const struct ft_decision *d, int rank, int rollback)
{
    struct ft_rt *rt = a->rt;
    uint64_t tag = 0;
    atomic_store(&rt->take, 0);
    a->fold_due = a->folding = a->taking = 0;
    ft_demand_ch_reset(&a->ch, d->generation);
    if (!rt->demand)
        return;
    if (rank >= 0 && !rollback && FT_VERSION_BASE(a->owner.version) == atomic_load(&rt->committed)) {
        int slot = a->map.slot_of[checksum_of(a, rank)];
        if (slot == rt->slot_of[checksum_of(a, rank)]) /* else it was lost, and had told nobody */
            tag = ft_latest_tag(rt, slot, rank);
    }
    if (ft_demand_owner_generation(&a->owner, d->generation, tag))
        flip(a);
    int lost = 0;
    for (int r = 0; r < rt->board->nranks; r++)
        lost |= a->map.slot_of[r] != rt->slot_of[r];
    if (lost && !rollback)
        stale_images(a);
}
