/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_loss.c - what happens after a loss. The process finishes what the old generation had
 * agreed. A spare takes a position over. A replacement goes back alone, or all go back.
 */
#include <string.h>

#include "base/board.h"
#include "base/version.h"
#include "proto/carrier_parts.h"

#define AWAITED_NS                                                                                \
    5000000000ull /* after this time without a call of main, for which all wait, the user is told \
                   */

/* --- images that were lost --- */

/* This process's image or codeword of the committed version cannot be made by anybody any more. */
static int lacks(const struct ft_carrier *c) { return c->lacks && c->lacks == c->committed; }

void ft_carry_rebuilt(const struct ft_carry *x, uint64_t version, const struct ft_answer *a)
{
    struct ft_carrier *c = x->c;
    if (a->reason || (a->version != version && !FT_VERSION_ALONE(version))) {
        c->due.retry_ns = x->now + FT_RETRY_NS; /* A source is lost, which will be known soon. */
    } else if (FT_VERSION_ALONE(version)) {
        if (ft_carry_rolling(x) || (ft_carry_is_rank(x) && version != c->tag))
            return; /* this version is not wanted any more */
        if (ft_carry_is_checksum(x) && !ft_carry_demand_rebuilt(x))
            return; /* it is rebuilt once more, from the images that are the latest now */
        c->latest = a->version;
        if (c->open)
            c->demand.at_vote =
                c->latest; /* this counts neither as a tag nor as a flip: the image was restored */
        c->tag = version;  /* a checksum process: it has the codeword of latest images, or there are
                              none */
    } else if (c->cmd.head && x->cfg->broken != FT_BROKEN_HEAD_IS_WHOLE) {
        c->head = version;
    } else {
        c->own = version;
    }
}

static int rebuild(const struct ft_carry *x, uint64_t version, uint32_t head)
{
    struct ft_carrier *c = x->c;
    if (ft_carry_has(x, version) || x->cfg->broken == FT_BROKEN_UNBUILT)
        return 1;
    if (head && c->head == version)
        return 1;
    if (ft_carry_stands(x) && !c->due.retry_ns && ft_place_takes(c->heard.place, FT_CMD_REBUILD))
        ft_carry_command(x, FT_CMD_REBUILD,
                         (struct ft_command_arg){.version = version, .head = head});
    return 0;
}

int ft_carry_rebuild(const struct ft_carry *x, uint64_t version) { return rebuild(x, version, 0); }

/* What a replacement had to rebuild is whole. */
static void is_whole(const struct ft_carry *x)
{
    if (x->c->incomplete)
        ft_carry_publish(x, FT_WORD_LIVE, 1);
    x->c->incomplete = 0;
    ft_carry_settle(x);
}

/* --- the way of one that goes back alone --- */

/* A rank was assigned to this process. First it needs the head of its image, which has what setup
 * has to be told when it runs again. Then it runs setup, while the rest of the image is made: the
 * group is frozen until setup is over (C5a). An image taken alone is rebuilt before, with all of
 * the committed one, since there its slot is chosen by what is complete. It counts as incomplete
 * until setup is over. [f' runs setup, and q is lost. q' runs setup as well, and misses f's puts.]
 */
static int become_rank(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    int tagged = x->cfg->demand && c->committed > 0 && !ft_carry_rolling(x);
    int alone = tagged && FT_VERSION_ALONE(c->tag);
    if (x->cfg->checkpoints && c->committed > 0 && !lacks(c) && !rebuild(x, c->committed, !alone))
        return 1;
    if (tagged && !c->tag)
        return 1; /* the lead will say its tag */
    if (alone && !ft_carry_rebuild(x, c->tag))
        return 1;
    if (c->left_unknown && x->cfg->broken != FT_BROKEN_LEFT_UNKNOWN)
        return 1;
    if (ft_carry_stands(x)) {
        if (c->latest)
            ft_carry_publish(x, FT_WORD_LATEST, c->latest);
        ft_carry_command(x, FT_CMD_ROLE,
                         (struct ft_command_arg){.rank = c->pos,
                                                 .why = c->facts & FT_FACT_REFUSED ? c->why : 0});
    }
    return 1;
}

/* At FTRMA_Run's entry a replacement restores its image and enters body again. If all have left
 * FTRMA_Run, it leaves it, too. */
static int go_back_alone(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    uint64_t v = c->latest ? c->latest : c->committed;
    int over = (c->facts & FT_FACT_RUN_OVER) != 0;
    struct ft_command_arg arg = {.version = v};
    arg.era = over ? FT_ERA_POST : c->run_era;
    if (c->heard.place == FT_AT_ENTRY) {
        if (!ft_carry_rebuild(x, v))
            return 1;
        c->incomplete = 0;
        arg.alone = 1;
        if (ft_carry_stands(x))
            ft_carry_command(x, FT_CMD_RESTORE, arg);
    } else if (c->heard.place == FT_AT_RESTORED && ft_carry_stands(x)) {
        c->alone = 0;
        ft_carry_command(x, over ? FT_CMD_OUT : FT_CMD_RESUME, (struct ft_command_arg){0});
    }
    return 1;
}

int ft_carry_way_back(const struct ft_carry *x)
{
    if (x->c->facts & FT_FACT_DONE)
        return 0;
    if (x->c->state == FT_CS_ASSIGNED && ft_carry_is_rank(x))
        return become_rank(x);
    if (x->c->state == FT_CS_RETURN)
        return go_back_alone(x);
    return 0;
}

/* --- all go back --- */

/* Everything that is under way becomes void. */
static void begin_rollback(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    c->facts |= FT_FACT_ROLLING;
    c->alone = 0;
    ft_carry_void_copy(x);
    if (x->cfg->broken != FT_BROKEN_KEEPS_HOLD)
        ft_carry_hold(x, FT_HOLD_NONE);
    ft_action_add(x->out, FT_DO_WISH, 0);
    ft_carry_demand_void(x);
    if (c->state == FT_CS_PARKED || c->state == FT_CS_RESTORED)
        c->state = FT_CS_PARKING;
    c->due.retry_ns = 0;
    ft_carry_settle(x);
}

static int must_park(const struct ft_carry *x)
{
    enum ft_place at = x->c->heard.place;
    return x->c->state == FT_CS_PARKING && (at == FT_AT_BODY || at == FT_AT_HELD);
}

/* Main cannot leave a loop that polls memory without a call. The user is told what all wait for. */
static void say_awaited(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    uint64_t ns = x->now - c->due.noticed_ns;
    if (!c->due.noticed_ns || ns < AWAITED_NS || c->told_await == 1 + c->generation ||
        c->order.kind != FT_ORDER_RECOVER)
        return;
    c->told_await = 1 + c->generation;
    ft_action_add(x->out, FT_DO_SAY, c->order.arg);
}

/* Asks main to park, again and again until main stands, because main clears what it was asked
 * before when it enters body. [Main is just entering body, and would wait for the others in its
 * first receive.] */
void ft_carry_park(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!must_park(x)) {
        c->parking = 0;
        return;
    }
    if (c->parking == 1 + c->heard.moves && c->due.retry_ns)
        return;
    c->parking = 1 + c->heard.moves;
    c->due.retry_ns = x->now + FT_RETRY_NS;
    ft_action_add(x->out, FT_DO_ATTENTION, FT_ATTENTION_PARK);
    say_awaited(x);
}

static void back_begins(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    begin_rollback(x);
    if (c->facts & FT_FACT_RESTARTING)
        return;
    if (!c->due.noticed_ns)
        c->due.noticed_ns = x->now;
    if (c->root)
        ft_carry_event(x, FT_EV_FALLBACK, FT_WHO_NONE, FT_FALLBACK_DIVERGED, 0, 0);
}

void ft_carry_recover(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!ft_carry_rolling(x))
        back_begins(x); /* a replay has diverged, and there is no new generation */
    if (!ft_carry_is_rank(x)) {
        if (ft_carry_is_checksum(x) && c->incomplete) {
            if (!ft_carry_rebuild(x, c->order.arg))
                return;
            is_whole(x);
        }
        ft_carry_ready(x, (struct ft_ready){0});
        return;
    }
    if (c->state != FT_CS_PARKING || !ft_carry_stands(x) || c->heard.place == FT_AT_HELD)
        return; /* it is in setup, or on its way to where it can park */
    /* It may have rebuilt an older version before it heard that a newer one is committed. */
    if (!lacks(c) && !ft_carry_has(x, c->order.arg) && x->cfg->broken != FT_BROKEN_UNBUILT) {
        c->incomplete = 1;
        (void)ft_carry_rebuild(x, c->order.arg);
        return;
    }
    is_whole(x);
    ft_action_add(x->out, FT_DO_STILL_THERE, c->bare ? 0 : c->order.arg);
    c->state = FT_CS_PARKED;
    ft_carry_ready(x, (struct ft_ready){0});
}

void ft_carry_restore(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (c->order.step == 0) {
        c->order.step = 1;
        c->run_era = FT_ERA_FIRST + c->generation;
        ft_carry_demand_forget(x);
        ft_action_add(x->out, FT_DO_FORGET, 0);
    }
    if (!ft_carry_is_rank(x)) {
        ft_carry_ready(x, (struct ft_ready){0});
        return;
    }
    if (!ft_carry_stands(x))
        return;
    struct ft_command_arg arg = {.version = c->order.arg, .era = c->run_era};
    if (c->facts & FT_FACT_TOLD) {
        int is_new = c->is_new && x->cfg->broken != FT_BROKEN_TOLD_KEEPS;
        arg.told = is_new ? FT_TOLD_NEW : FT_TOLD_KEEPS;
        arg.version = lacks(c) ? 0 : arg.version;
    }
    FT_ASSERT(!arg.version || ft_carry_has(x, arg.version)); /* (5) */
    ft_carry_command(x, FT_CMD_RESTORE, arg);
}

void ft_carry_resume(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    int told = (c->facts & FT_FACT_TOLD) != 0;
    int gone_on = x->cfg->broken == FT_BROKEN_EARLY_RESUME && !ft_carry_rolling(x);
    if (ft_carry_is_rank(x) && !gone_on) {
        if (!ft_carry_stands(x))
            return;
        /* The root has forgotten the request. [All have asked at safepoint n. All go back in this
         * generation, and come to n again.] */
        if (x->cfg->broken != FT_BROKEN_DUE_ONCE)
            c->told_due = 0;
        c->facts &= ~(uint32_t)FT_FACT_ROLLING;
        c->facts |= told ? FT_FACT_REPAIRING : 0;
        ft_carry_command(x, FT_CMD_RESUME,
                         (struct ft_command_arg){.told = told ? FT_TOLD_KEEPS : FT_TOLD_NOT});
    }
    c->facts &= ~(uint32_t)(FT_FACT_ROLLING | FT_FACT_TOLD);
    if (c->facts & FT_FACT_RESTARTING) {
        c->facts &= ~(uint32_t)FT_FACT_RESTARTING;
        ft_action_add(x->out, FT_DO_GONE_ON, 0);
    }
    if (c->root && c->due.noticed_ns)
        ft_carry_event(x, told ? FT_EV_ENTERED : FT_EV_RESUMED, FT_WHO_NONE, (int64_t)c->order.arg,
                       0, x->now - c->due.noticed_ns);
    c->due.noticed_ns = 0;
    ft_carry_schedule(x);
    ft_carry_ready(x, (struct ft_ready){0});
}

/* If ranks of the group had taken images since the checkpoint, the lost checksum process had two
 * codewords. */
static int codewords_rebuilt(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    uint64_t latest = FT_VERSION_MAKE(c->order.arg, c->generation, 1);
    if (!ft_carry_rebuild(x, c->order.arg))
        return 0;
    if (!x->cfg->demand || c->tag == latest)
        return 1;
    if (c->demand.awaits || !ft_carry_demand_all_said(x))
        return 0; /* not all of the group go by one tag yet */
    if (!ft_carry_rebuild(x, latest))
        return 0;
    return 1;
}

void ft_carry_rejoin(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (ft_carry_is_checksum(x) && c->incomplete) {
        if (!codewords_rebuilt(x))
            return;
        if (c->latest)
            ft_carry_publish(x, FT_WORD_LATEST, c->latest);
        is_whole(x);
    }
    c->due.noticed_ns = 0;
    ft_carry_schedule(x);
    ft_carry_ready(x, (struct ft_ready){0});
}

/* --- a new generation --- */

/* Finishes what the old generation had agreed and what not all had heard: to flip, to enter body,
 * to leave FTRMA_Run or MPI_Finalize. Main is told at the end of the step. */
static void finish_old(const struct ft_carry *x, const struct ft_agree_data *d)
{
    struct ft_carrier *c = x->c;
    if (d->committed > c->committed) {
        FT_ASSERT(c->complete >= d->committed || c->pos < 0 || c->incomplete);
        if (c->complete >= d->committed)
            c->own = d->committed;
        c->committed = d->committed;
        ft_carry_demand_covered(x);
        ft_carry_publish(x, FT_WORD_COMMITTED, c->committed);
    }
    if (d->flags & FT_AGREE_UNPROTECTED)
        c->facts |= FT_FACT_UNPROTECTED;
    if (d->flags & FT_AGREE_REFUSED) {
        c->facts |= FT_FACT_REFUSED;
        c->why = d->flags & FT_AGREE_NO_ROOM ? FT_SKIP_NOMEM : FT_SKIP_REQUESTS;
    }
    if (d->flags & FT_AGREE_RUN_OVER)
        c->facts |= FT_FACT_RUN_OVER;
    if (d->flags & FT_AGREE_DONE)
        c->facts |= FT_FACT_DONE;
}

/* This process was a spare, and has a position now. */
static void take_over(const struct ft_carry *x, const struct ft_carrier_news *n)
{
    struct ft_carrier *c = x->c;
    c->pos = n->pos;
    c->own = c->head = c->complete = c->latest = c->tag = 0;
    c->incomplete = x->cfg->checkpoints && c->committed > 0 && !lacks(c);
    if (ft_carry_is_checksum(x) && !c->incomplete)
        ft_carry_publish(x, FT_WORD_LIVE, 1);
    if (!ft_carry_is_rank(x))
        return;
    c->alone = n->rejoin && c->committed > 0 && x->cfg->checkpoints;
    c->heard.replaying = 1;
    ft_carry_publish(x, FT_WORD_REPLAYING, 1);
}

void ft_carrier_adopted(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                        const struct ft_carrier_news *news, struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, now, out};
    c->facts |= FT_FACT_HARMED;
    if (!c->due.noticed_ns)
        c->due.noticed_ns = now;
    c->order.kind = FT_ORDER_NONE;
    c->cmd.seq = 0;
    c->answered_seq = 0;
    c->due.target_ns = c->due.retry_ns = c->due.next_ns = c->due.long_ns = 0;
    if (cfg->broken != FT_BROKEN_KEEPS_SNAPSHOT)
        ft_carry_snapshot_over(&x);
    finish_old(&x, news->data);
    c->facts &= ~(uint32_t)(FT_FACT_UNDER_WAY | FT_FACT_ROLLING | FT_FACT_TOLD);
    c->facts |= news->told ? FT_FACT_TOLD : 0;
    c->lacks = cfg->broken == FT_BROKEN_TOLD_REBUILDS ? 0 : news->lacks;
    c->is_new = news->is_new;
    c->bare = news->told && news->bare;
    ft_carry_void_copy(&x);
    ft_carry_hold(&x, FT_HOLD_NONE);
    ft_carry_let_go(&x);
    c->told_due = c->due.again_ns = 0;
    c->generation = news->generation;
    c->quiet_owed = news->generation;
    ft_carry_publish(&x, FT_WORD_GENERATION, c->generation);
    ft_carry_flags(&x);
    if (c->pos < 0 && news->pos >= 0)
        take_over(&x, news);
    else if (c->incomplete && lacks(c))
        is_whole(&x); /* it has all that can be made */
    ft_carry_settle(&x);
    ft_carry_demand_adopted(&x, news);
    if (news->rollback)
        begin_rollback(&x);
    ft_carry_settle(&x);
    ft_action_add(out, FT_DO_ATTENTION, FT_ATTENTION_REBIND);
    if (cfg->broken == FT_BROKEN_REJOINS) {
        c->rejoined = c->quiet_owed;
        c->quiet_owed = 0;
        ft_carry_publish(&x, FT_WORD_REJOINED, c->rejoined);
    }
    ft_carry_publish(&x, FT_WORD_COMPLETE, c->complete);
}
