/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.c - demand checkpoints: a main whose logs grow drops what others' latest images cover, and
 * asks; the agents carry the two machines of proto/demand.h.
 */
#include "alog/homelog.h"
#include "msg/channels.h"
#include "rma/putlog.h"
#include "rma/windows.h"
#include "runtime/carry.h"
#include "runtime/record.h"

/* --- main --- */

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

/* --- agent --- */

static void unwish(struct ft_agent *a)
{
    ft_record(a, 'A', "WISH 0");
    (void)ft_box_unwish(&a->rt->box);
}

static void publish_latest(struct ft_agent *a, uint64_t version)
{
    ft_record(a, 'A', "PUBLISH LATEST %llx", (unsigned long long)version);
    ft_latest_set(a->rt, version);
}

/* The one that leads. */
static int checksum_of(const struct ft_agent *a, int rank)
{
    int there;
    return ft_latest_lead(a->rt, ft_group_of_rank(&a->rt->groups, rank), &there);
}

/* The i-th checksum process of a group: its slot. */
static int helper_slot(const struct ft_agent *a, int group, int i)
{
    const struct ft_groups *g = &a->rt->groups;
    return a->map.slot_of[ft_group_block(g, group, ft_group_size(g, group) + i)];
}

void ft_demand_look(struct ft_agent *a)
{
    for (int p = a->rt->board->nranks;
         a->rt->demand && p < a->rt->board->nranks + a->rt->board->nchecksums; p++)
        (void)ft_tp_ctl(&a->rt->tp, a->map.slot_of[p]);
}

static void send_to(struct ft_agent *a, int slot, const struct ft_demand_msg *msg)
{
    struct ft_mail m = {.kind = FT_MAIL_DEMAND};
    if (!msg->kind)
        return;
    m.u.demand = *msg;
    ft_agent_mail(a, slot, &m, (uint32_t)(offsetof(struct ft_mail, u) + sizeof m.u.demand));
}

static void send(struct ft_agent *a, int pos, const struct ft_demand_msg *msg)
{
    send_to(a, a->map.slot_of[pos], msg);
}

static void flip(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t l = a->owner.latest;
    publish_latest(a, l);
    ft_failpoint(DEMAND_FLIPPED);
    ft_rt_event(rt, FT_EV_DEMAND, ft_who(rt), (int64_t)FT_VERSION_NUMBER(l),
                (int64_t)FT_VERSION_BASE(l), 0, 0);
}

static void act(struct ft_agent *a, struct ft_demand_action x)
{
    struct ft_rt *rt = a->rt;
    switch (x.act) {
    case FT_DEMAND_LIFT:
    case FT_DEMAND_FOLD:
        a->fold_by = x.act == FT_DEMAND_LIFT ? FT_CMD_LIFT : FT_CMD_FOLD;
        a->fold_rank = x.msg.rank;
        a->fold_due = x.act == FT_DEMAND_LIFT ? 1 : x.msg.version;
        break;
    case FT_DEMAND_TAG:
        a->untagged = atomic_load(&rt->arena.ctl->latest);
        publish_latest(a, a->fold_result.version);
        ft_failpoint(DEMAND_TAGGED);
        break;
    case FT_DEMAND_UNTAG: publish_latest(a, a->untagged); break;
    case FT_DEMAND_NOTHING:
    case FT_DEMAND_SEND: break;
    }
    if (x.msg.kind && !x.to && x.act != FT_DEMAND_LIFT && x.act != FT_DEMAND_FOLD)
        send(a, x.msg.rank, &x.msg);
    for (int i = 0; i < rt->groups.parity; i++)
        if (x.to >> i & 1)
            send_to(a, helper_slot(a, ft_group_of_rank(&rt->groups, x.msg.rank), i), &x.msg);
}

/* Version of rank's latest image: what the lead says, or, where that is itself rebuilt, what the
 * rank did. It does not fall before the next coordinated commit: what the lead has tagged the
 * others had tagged before. */
static uint64_t latest_of_rank(struct ft_agent *a, int rank)
{
    struct ft_rt *rt = a->rt;
    uint64_t own = ft_latest_of(rt, ft_tp_ctl(&rt->tp, a->map.slot_of[rank]));
    return ft_max_u64(own, ft_latest_tag(rt, a->map.slot_of[checksum_of(a, rank)], rank));
}

uint64_t ft_demand_tag(struct ft_agent *a, int rank)
{
    struct ft_rt *rt = a->rt;
    return rt->demand ? ft_latest_tag(rt, a->map.slot_of[checksum_of(a, rank)], rank) : 0;
}

/* What this rank knows of itself. */
static struct ft_exposure_own own_exposure(struct ft_agent *a)
{
    int me = atomic_load(&a->rt->pos);
    return (struct ft_exposure_own){.rank = me,
                                    .latest = latest_of_rank(a, me),
                                    .others_from = ft_whole_others_from(),
                                    .log_lost = ft_whole_misses(FT_WHOLE_OWN),
                                    .not_logged = ft_whole_misses(FT_WHOLE_NEVER),
                                    .given_up = a->given &&
                                                a->given - 1 < atomic_load(&a->rt->box.generation)};
}

static void ask(struct ft_agent *a, int rank)
{
    struct ft_demand_msg m = {
        .kind = FT_DEMAND_ASK, .generation = atomic_load(&a->rt->box.generation), .rank = rank};
    ft_failpoint(DEMAND_ASKED);
    send(a, checksum_of(a, rank), &m);
}

/* Else no image would be taken; and now all have adopted the generation, the root, too. */
static int all_live(struct ft_agent *a)
{
    for (int r = 0; r < a->rt->board->nranks; r++) {
        const struct ft_ctl *ctl = ft_tp_ctl(&a->rt->tp, a->map.slot_of[r]);
        if (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire))
            return 0;
    }
    return 1;
}

/* This rank is exposed: it asks for an image of its own, which covers it, once in a generation and
 * after each commit. What another has dropped for want of room (all would need an image), and what
 * a rank does and does not log, is left to the coordinated checkpoint, asked for when somebody was
 * lost. */
static void cover(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int me = atomic_load(&rt->pos);
    uint64_t v = atomic_load(&rt->box.committed), generation = atomic_load(&rt->box.generation);
    a->cover_due = 0;
    if (v == 0 || a->kind != FT_ORDER_NONE || a->main.replaying || a->run_over ||
        ft_agent_milestone(a) != FT_MILE_RUN)
        return;
    struct ft_exposure_own own = own_exposure(a);
    if (a->all_asked >= generation) /* what only a coordinated one covers */
        own.not_logged = own.given_up = 0, own.others_from = 0;
    enum ft_cover by = ft_exposure_cover(&a->exposure, v, &own);
    int all = by == FT_COVER_ALL;
    int alone =
        by == FT_COVER_ALONE && (a->cover_asked[0] != 1 + generation || a->cover_asked[1] != v);
    a->cover_due = all || alone;
    if (!a->cover_due || !all_live(a))
        return;
    a->cover_due = 0;
    if (all) {
        a->all_asked = generation;
        ft_orders_ask_root(a, FT_MAIL_DUE, FT_OE_DUE, 0);
    } else {
        a->cover_asked[0] = 1 + generation;
        a->cover_asked[1] = v;
        ask(a, me);
    }
}

/* The image that was to cover this rank is not taken, or came to nothing. */
static void cover_in_vain(struct ft_agent *a)
{
    struct ft_exposure_own own = own_exposure(a);
    own.others_from = 0; /* the same process asks for that itself */
    own.given_up = a->given != 0;
    if (ft_exposure_cover(&a->exposure, atomic_load(&a->rt->box.committed), &own))
        ft_orders_ask_root(a, FT_MAIL_DUE, FT_OE_DUE, 0);
}

/* The image that was taken last lies over the latest one. */
static int lies_over(const struct ft_rt *rt)
{
    return rt->stream && ft_ckpt_slot_of(rt->arena.ctl, ft_latest_of(rt, rt->arena.ctl)) < 0;
}

static void say_taken(struct ft_agent *a, uint64_t version)
{
    int pos = atomic_load(&a->rt->pos);
    struct ft_demand_msg m =
        ft_demand_owner_taken(&a->owner, pos, version == FT_TAKEN_NOT ? 0 : version,
                              version != FT_TAKEN_NOT && lies_over(a->rt));
    send(a, checksum_of(a, pos), &m);
}

static void called_off(struct ft_agent *a)
{
    if (lies_over(a->rt)) {
        publish_latest(a, 0);
        a->given = 1 + atomic_load(&a->rt->box.generation);
    }
    cover_in_vain(a);
}

void ft_demand_give_up_latest(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!rt->stream || !FT_VERSION_ALONE(ft_latest_of(rt, rt->arena.ctl)))
        return;
    a->given = 1 + atomic_load(&rt->box.generation);
    publish_latest(a, 0);
}

void ft_demand_freeze(struct ft_agent *a)
{
    unwish(a);
    a->taking = 0; /* it is told again, should it be wanted still */
}

void ft_demand_mail(struct ft_agent *a, int from, const struct ft_demand_msg *msg)
{
    struct ft_rt *rt = a->rt;
    struct ft_demand_msg answer;
    (void)from;
    int early = msg->kind == FT_DEMAND_ASK ||
                msg->kind == FT_DEMAND_TAKE; /* of a generation that is still to be adopted */
    /* The lead has resumed: what it says is new. Or a rank has, which had been told before all went
     * back to take an image: it hears that this is called off. [It would wait for word of it, and
     * no checkpoint would come about any more.] */
    int helps = msg->kind == FT_DEMAND_LIFT_IT || msg->kind == FT_DEMAND_FOLD_IT ||
                msg->kind == FT_DEMAND_TAKEN;
    if (!rt->demand || (ft_agree_pending(&a->agree) && !early) || (a->rolling && !early && !helps))
        return; /* void */
    if (ft_is_checksum(rt)) {
        act(a, ft_demand_ch_msg(&a->ch, msg));
    } else if (ft_is_rank(rt) && msg->rank == atomic_load(&rt->pos)) {
        int taken = a->owner.state == FT_OWNER_TAKEN;
        if (ft_demand_owner_msg(&a->owner, msg, &answer))
            flip(a);
        else if (taken && a->owner.state == FT_OWNER_NONE)
            called_off(a);
        send(a, checksum_of(a, msg->rank), &answer);
    }
}

static void taken(struct ft_agent *a, uint64_t version)
{
    struct ft_rt *rt = a->rt;
    uint32_t in = a->main.taken_in, now = atomic_load(&rt->box.generation);
    int over = in != now && version != FT_TAKEN_NOT && lies_over(rt); /* it must be kept */
    if (over || in == now) { /* [it was wanted again before this was seen] */
        unwish(a);
        a->taking = 0;
    }
    ft_record(a, 'A', "TOOK");
    ft_box_heard_taken(&rt->box, &a->main); /* from here on main may answer again */
    if (in != now && !over)
        return; /* void, and its slot free */
    if (over && a->orphaned > in) {
        ft_demand_owner_orphan(&a->owner, version);
        flip(a);
        return;
    }
    say_taken(a, version);
    if (version == FT_TAKEN_NOT)
        cover_in_vain(a);
}

static void poll_owner(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t version = a->main.taken;
    if (version)
        taken(a, version);
    if (ft_demand_owner_ends(&a->owner) && !lies_over(rt)) /* else main is at it */
        say_taken(a, 0);
    if (!ft_demand_owner_wants(&a->owner))
        return;
    if (ft_agent_milestone(a) != FT_MILE_RUN || a->run_over) {
        a->taking = 0;
        unwish(a);
        say_taken(a, 0);
    } else if (!a->taking) { /* once: [told again while main answers, it would build another one
                                where this one lies] */
        a->taking = ft_box_wish(&rt->box, atomic_load(&rt->box.generation));
        ft_record(a, 'A', "WISH %d", a->taking);
    }
}

/* All of these checksum processes of the group have adopted the generation that this one is in, and
 * have whole codewords. */
static int are_here(struct ft_agent *a, int group, uint32_t these)
{
    uint32_t generation = atomic_load(&a->rt->box.generation);
    for (int i = 0; i < a->rt->groups.parity; i++) {
        const struct ft_ctl *ctl =
            these >> i & 1 ? ft_tp_ctl(&a->rt->tp, helper_slot(a, group, i)) : a->rt->arena.ctl;
        if (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire) ||
            atomic_load_explicit(&ctl->rejoined, memory_order_acquire) < generation)
            return 0;
    }
    return 1;
}

static uint32_t all_of_group(const struct ft_rt *rt) { return (1u << rt->groups.parity) - 1; }

/* A staging may begin: the group is whole and no order is under way here. */
static int group_is_well(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int g = ft_group_of_checksum(&rt->groups, atomic_load(&rt->pos) - rt->board->nranks);
    if (a->kind != FT_ORDER_NONE || a->incomplete || atomic_load(&rt->box.committed) == 0 ||
        a->run_over || ft_agent_standing(a) != FT_AT_INIT || !are_here(a, g, all_of_group(rt)))
        return 0;
    for (int i = 0; i < ft_group_size(&rt->groups, g); i++) {
        const struct ft_ctl *ctl =
            ft_tp_ctl(&rt->tp, a->map.slot_of[ft_group_member(&rt->groups, g, i)]);
        if (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire))
            return 0; /* frozen while one of it is rebuilt, or repeats */
    }
    return 1;
}

static void poll_checksum(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (a->fold_due && !a->folding && ft_agent_standing(a) == FT_AT_INIT) {
        a->folding = ft_agent_issue(
            a, a->fold_by, (struct ft_command_arg){.rank = a->fold_rank, .version = a->fold_due});
        a->fold_due = 0;
    } else if (a->folding && a->main.answered >= a->folding) {
        a->folding = 0;
        int ok = a->fold_result.version != 0;
        act(a, a->fold_by == FT_CMD_LIFT ? ft_demand_ch_lifted(&a->ch, ok)
                                         : ft_demand_ch_folded(&a->ch, ok));
    }
    int group = ft_group_of_position(&rt->groups, atomic_load(&rt->pos));
    if (a->ch.state == FT_CH_RESUMING && are_here(a, group, a->ch.chain))
        act(a, ft_demand_ch_resume(&a->ch));
    if (a->ch.index == a->ch.lead && !a->fold_due && !a->folding && group_is_well(a))
        act(a, ft_demand_ch_ready(&a->ch, rt->board->nranks, all_of_group(rt)));
}

void ft_demand_poll(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!rt->demand)
        return;
    int asked = (a->asks & FT_ASK_IMAGE) != 0;
    a->asks &= ~FT_ASK_IMAGE;
    if (asked && ft_is_rank(rt))
        ask(a, a->main.longest);
    if (ft_agree_pending(&a->agree) || a->rolling)
        return; /* proto/demand.h: nothing between vote and adoption */
    if (ft_is_rank(rt)) {
        poll_owner(a);
        cover(a);
    } else if (ft_is_checksum(rt)) {
        poll_checksum(a);
    }
}

int ft_demand_settled(struct ft_agent *a)
{
    ft_demand_poll(a);
    if (a->owner.state == FT_OWNER_WANTED) {
        unwish(a);
        a->taking = 0;
        say_taken(a, 0);
        a->cover_asked[0] = 0; /* once more, should the checkpoint be called off */
    }
    return a->owner.state == FT_OWNER_NONE;
}

/* Until what it gave it up for is committed. */
void ft_demand_exposes(struct ft_agent *a, struct ft_exposers *by)
{
    if (a->given)
        ft_exposer_add(by, FT_EXPOSER_ALL, atomic_load(&a->rt->box.committed) + 1);
}

void ft_demand_covered(struct ft_agent *a) { a->given = 0; }

void ft_demand_void(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    unwish(a); /* what is begun is answered, and void then */
    a->fold_due = a->folding = a->taking = 0;
    ft_demand_owner_drop(&a->owner);
    ft_demand_ch_reset(&a->ch, atomic_load(&rt->box.generation));
}

/* [Main has taken an image just before it parked, which is looked at after the rollback: it would
 * pass for one of after it.] */
void ft_demand_forget(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    publish_latest(a, 0);
    ft_box_forget_images(&rt->box, &a->main);
    a->taking = 0;
}

/* Which of a group's checksum processes have whole codewords, and had before: bits. rt->slot_of is
 * the old mapping. */
static uint32_t who_is_there(struct ft_agent *a, const struct ft_decision *d, int group)
{
    const struct ft_groups *g = &a->rt->groups;
    uint32_t there = 0;
    for (int i = 0; i < g->parity; i++) {
        int slot = helper_slot(a, group, i);
        if (slot == a->rt->slot_of[ft_group_block(g, group, ft_group_size(g, group) + i)] &&
            !ft_bit_get(&d->data.incomplete, slot))
            there |= 1u << i;
    }
    return there;
}

/* A function of the decisions, so all say the same. */
static void choose_leads(struct ft_agent *a, const struct ft_decision *d)
{
    for (int g = 0; a->rt->board->nchecksums > 0 && g < a->rt->groups.ngroups; g++) {
        int lead = atomic_load(&a->rt->lead[g]);
        uint32_t there = who_is_there(a, d, g);
        lead = lead >= 0 ? lead : ~lead;
        if (there && !(there >> lead & 1))
            lead = __builtin_ctz(there);
        atomic_store(&a->rt->lead[g], there ? lead : ~lead);
    }
    ft_demand_look(a);
}

/* Before the new mapping is handed over: rt->slot_of is the old one. */
static void owner_generation(struct ft_agent *a, const struct ft_decision *d, int rank)
{
    struct ft_rt *rt = a->rt;
    struct ft_demand_msg answer;
    int there, ch = ft_latest_lead(rt, ft_group_of_rank(&rt->groups, rank), &there);
    uint64_t tag = 0;
    if (there)
        tag = ft_latest_tag(rt, a->map.slot_of[ch], rank);
    else /* all of them were lost, and had told nobody */
        a->orphaned = d->generation;
    if (ft_demand_owner_generation(&a->owner, d->generation, rank, tag, lies_over(rt), &answer))
        flip(a);
    send(a, ch, &answer);
}

/* The same for who is a checksum process, or is about to become one. */
static void checksum_generation(struct ft_agent *a, const struct ft_decision *d, int pos,
                                int rollback)
{
    struct ft_rt *rt = a->rt;
    const struct ft_groups *g = &rt->groups;
    int there, group = ft_group_of_position(g, pos), lead = ft_latest_lead(rt, group, &there),
               of = a->ch.rank;
    int k = ft_group_size(g, group);
    struct ft_demand_ch_news news = {.generation = d->generation,
                                     .lost = a->map.slot_of[of] != rt->slot_of[of],
                                     .lead = ft_group_block_of_position(g, lead) - k,
                                     .there = who_is_there(a, d, group),
                                     .tag =
                                         there ? ft_latest_tag(rt, a->map.slot_of[lead], of) : 0};
    a->ch.index = ft_group_block_of_position(g, pos) - k;
    struct ft_demand_action x = ft_demand_ch_generation(&a->ch, &news);
    if (rollback)
        ft_demand_ch_reset(&a->ch, d->generation);
    else
        act(a, x);
}

void ft_demand_generation(struct ft_agent *a, const struct ft_decision *d, int rank, int rollback,
                          int in_run)
{
    struct ft_rt *rt = a->rt;
    int pos = a->map.pos_of[rt->self];
    choose_leads(a, d);
    if (!in_run)
        ft_demand_covered(a); /* what is kept for ever is written anew from a copy */
    a->fold_due = a->folding = 0;
    if (!rt->demand)
        return;
    if (rollback)
        ft_demand_owner_drop(&a->owner);
    if (rank >= 0 && !rollback)
        owner_generation(a, d, rank);
    else
        a->owner.generation = d->generation;
    if (pos >= rt->board->nranks)
        checksum_generation(a, d, pos, rollback);
}
