/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_demand.c - images that ranks take alone (C8): what this process does about them as a
 * rank, and what a vote, a rollback and a new generation change. carrier_codeword.c has what a
 * checksum process does. It also decides which image an exposed rank asks for (E1).
 */
#include <string.h>

#include "base/board.h"
#include "base/version.h"
#include "proto/carrier_codeword.h"

static struct ft_carry_demand *part(const struct ft_carry *x) { return &x->c->demand; }

/* See carrier_demand.h: nothing is tagged, flipped or wished. */
int ft_carry_demand_frozen(const struct ft_carry *x)
{
    int open = x->c->open && x->cfg->broken != FT_BROKEN_THAWS;
    return open || ft_carry_rolling(x) || part(x)->awaits;
}

void ft_carry_demand_say(const struct ft_carry *x, int to, struct ft_demand_msg msg)
{
    if (!msg.kind)
        return;
    struct ft_action *a = ft_action_add(x->out, FT_DO_DEMAND, 0);
    a->to = to;
    a->demand = msg;
}

/* Tells the checksum processes that are to be rebuilt which image is the latest one of this rank. A
 * replacement names the image that it was given. */
static void say_latest(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    uint64_t v = c->latest ? c->latest : c->tag;
    if (part(x)->awaits)
        return; /* this rank does not know it yet */
    for (int i = 0; i < x->cfg->parity; i++)
        if (part(x)->asked_by >> i & 1)
            ft_carry_demand_say(x, FT_TO_HELPER(i),
                                (struct ft_demand_msg){.kind = FT_DEMAND_LATEST_IS,
                                                       .generation = c->generation,
                                                       .rank = c->pos,
                                                       .version = FT_VERSION_BASE(v) == c->committed
                                                                      ? v
                                                                      : c->committed});
}

void ft_carry_demand_publish(const struct ft_carry *x, uint64_t version)
{
    x->c->latest = version;
    ft_carry_publish(x, FT_WORD_LATEST, version);
    say_latest(x);
}

/* --- a rank --- */

/* The latest image is being overwritten for a coordinated one, so all are exposed until the next
 * commit. Others still keep only what follows the latest image. So the testament still names it.
 * [The testament names none. The checksum process is lost, and its replacement computes the
 * codeword with the committed image. Then this rank is lost. Nobody else can say that it had given
 * up an image, and its replacement goes back alone, to the committed one.] */
static void gives_up(const struct ft_carry *x)
{
    uint64_t was = x->c->latest;
    if (x->cfg->broken == FT_BROKEN_FORGETS_GIVEN) {
        ft_carry_demand_publish(x, 0);
    } else {
        x->c->latest = 0;
        ft_carry_publish(x, FT_WORD_GIVEN_UP, was);
        say_latest(x);
    }
    part(x)->given = 1 + x->c->generation;
}

static void unwish(const struct ft_carry *x)
{
    if (!part(x)->wished)
        return;
    part(x)->wished = 0;
    ft_action_add(x->out, FT_DO_WISH, 0);
}

static void flip(const struct ft_carry *x)
{
    uint64_t l = part(x)->owner.latest;
    ft_carry_demand_publish(x, l);
    x->c->heard.over = 0;
    ft_carry_event(x, FT_EV_DEMAND, ft_carry_who(x), (int64_t)FT_VERSION_NUMBER(l),
                   (int64_t)FT_VERSION_BASE(l), 0);
}

static void ask(const struct ft_carry *x, int rank)
{
    struct ft_demand_msg m = {.kind = FT_DEMAND_ASK, .generation = x->c->generation, .rank = rank};
    ft_carry_demand_say(x, FT_TO_LEAD, m);
}

/* What would end the exposure that this rank suffers or causes, as far as it knows itself. */
static enum ft_cover needs(const struct ft_carry *x, int given_up, int others, int ever)
{
    static const struct ft_exposure none;
    const struct ft_carrier *c = x->c;
    uint32_t lacks = c->heard.lost;
    struct ft_exposure_own own = {.rank = c->pos,
                                  .latest = c->latest,
                                  .others_from = others && lacks & FT_LACKS_OTHERS ? UINT64_MAX : 0,
                                  .log_lost = lacks & FT_LACKS_OWN || c->by_loss,
                                  .not_logged = ever && lacks & FT_LACKS_EVER,
                                  .given_up = given_up};
    return ft_exposure_cover(&none, c->committed, &own);
}

/* An exposed rank asks for an image of its own, which covers it. It does so once in each generation
 * and after each commit. If another process has dropped records for want of room, all would need an
 * image; and if a rank does something that is not logged, its image would not help for long. In
 * these cases it asks for a coordinated checkpoint, after a loss only. It asks for nothing while
 * some rank is not live, because no image would be taken. Once all are live, all have adopted the
 * generation, and so has the root. */
void ft_carry_demand_cover(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    struct ft_carry_demand *d = part(x);
    d->cover_due = 0;
    if (!x->cfg->demand || !ft_carry_is_rank(x) || ft_carry_demand_frozen(x) || c->committed == 0 ||
        c->order.kind != FT_ORDER_NONE || c->heard.replaying || c->facts & FT_FACT_RUN_OVER ||
        !ft_carry_in_run(x))
        return;
    int for_all = d->all_in < c->generation;
    int given_up = for_all && d->given && d->given - 1 < c->generation;
    enum ft_cover by = needs(x, given_up, for_all, for_all);
    int asked = d->cover_in == 1 + c->generation && d->cover_at == c->committed;
    /* An image that is under way will cover it. If that is called off, this is looked at again. */
    int alone = by == FT_COVER_ALONE && !asked && d->owner.state == FT_OWNER_NONE;
    d->cover_due = by == FT_COVER_ALL || alone;
    if (!d->cover_due || d->live_in != 1 + c->generation)
        return;
    d->cover_due = 0;
    if (!alone) {
        d->all_in = c->generation;
        ft_carry_ask_root(x, FT_ROOT_DUE, 0);
        return;
    }
    d->cover_in = 1 + c->generation;
    d->cover_at = c->committed;
    ask(x, c->pos);
}

/* The image that was to cover this rank was declined or called off. This is only about what others
 * would need of its own log. What this rank keeps for others is up to ft_carry_demand_cover. */
static void cover_in_vain(const struct ft_carry *x)
{
    if (needs(x, part(x)->given != 0, 0, 1))
        ft_carry_ask_root(x, FT_ROOT_DUE, 0);
}

static void say_taken(const struct ft_carry *x, uint64_t version)
{
    int is = version != FT_TAKEN_NOT;
    ft_carry_demand_say(x, FT_TO_LEAD,
                        ft_demand_owner_taken(&part(x)->owner, x->c->pos, is ? version : 0,
                                              is && x->c->heard.over));
}

static void declines(const struct ft_carry *x)
{
    unwish(x);
    say_taken(x, FT_TAKEN_NOT);
}

static void called_off(const struct ft_carry *x)
{
    if (x->c->heard.over) {
        gives_up(x);
        x->c->heard.over = 0;
    }
    cover_in_vain(x);
}

/* Main has taken an image, or declines. An image of another generation is void, and its slot is
 * free, unless it was written over the latest image: then it must be kept. WISH is said before
 * TOOK, because main may take the next image as soon as TOOK is said. [Main reads its old wish
 * after TOOK, and builds another image over this one.] */
static void hears_taken(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    struct ft_carry_demand *d = part(x);
    uint64_t version = c->heard.taken;
    uint32_t in = c->heard.taken_in;
    int over = in != c->generation && version != FT_TAKEN_NOT && c->heard.over;
    c->heard.taken = 0;
    if (over || in == c->generation)
        unwish(x);
    else if (d->wished) /* [Main was still taking that image when this one was wished.] */
        ft_action_add(x->out, FT_DO_WISH, 1);
    ft_action_add(x->out, FT_DO_TOOK, 0);
    if (in != c->generation && !over)
        return;
    if (over && d->orphaned > in) { /* nobody is left who could say whether it was tagged */
        ft_demand_owner_orphan(&d->owner, version);
        flip(x);
        return;
    }
    say_taken(x, version);
    if (version == FT_TAKEN_NOT)
        cover_in_vain(x);
}

static void owner_goes_on(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    struct ft_carry_demand *d = part(x);
    if (c->heard.taken)
        hears_taken(x);
    if (ft_demand_owner_ends(&d->owner) && !c->heard.over) /* otherwise main is writing it */
        say_taken(x, FT_TAKEN_NOT);
    if (!ft_demand_owner_wants(&d->owner))
        return;
    if (!ft_carry_in_run(x) || c->facts & FT_FACT_RUN_OVER) {
        declines(x);
    } else if (!d->wished && c->heard.place == FT_AT_BODY && c->complete <= c->committed &&
               c->order.kind != FT_ORDER_CUT) {
        d->wished = 1;
        ft_action_add(x->out, FT_DO_WISH, 1);
    }
}

int ft_carry_demand_settled(const struct ft_carry *x)
{
    struct ft_carry_demand *d = part(x);
    if (!x->cfg->demand || x->cfg->broken == FT_BROKEN_COPIES)
        return 1;
    if (ft_carry_demand_frozen(x))
        return 0;
    if (x->c->heard.taken)
        hears_taken(x);
    if (d->owner.state == FT_OWNER_WANTED) {
        declines(x);
        d->cover_in = 0; /* it asks once more if the checkpoint is called off */
    }
    return d->owner.state == FT_OWNER_NONE;
}

void ft_carry_demand_gives_up(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!x->cfg->demand || !x->cfg->stream || !FT_VERSION_ALONE(c->latest) ||
        FT_VERSION_BASE(c->latest) != c->committed)
        return;
    gives_up(x);
}

static void rank_hears(const struct ft_carry *x, const struct ft_demand_msg *msg)
{
    struct ft_demand_owner *q = &part(x)->owner;
    struct ft_demand_msg answer;
    int taken = q->state == FT_OWNER_TAKEN;
    if (msg->rank != x->c->pos)
        return;
    if (ft_demand_owner_msg(q, msg, &answer))
        flip(x);
    else if (taken && q->state == FT_OWNER_NONE)
        called_off(x);
    ft_carry_demand_say(x, FT_TO_LEAD, answer);
}

/* --- the tag, in a new generation --- */

/* tag 0: nobody can say the tag. That matters only if this rank has taken an image. */
static void rank_settles(const struct ft_carry *x, uint64_t tag)
{
    struct ft_carrier *c = x->c;
    struct ft_demand_msg answer;
    if (ft_demand_owner_generation(&part(x)->owner, c->generation, c->pos, tag, (int)c->heard.over,
                                   &answer))
        flip(x);
    ft_carry_demand_say(x, FT_TO_LEAD, answer);
    if (c->state == FT_CS_ASSIGNED && tag) {
        c->tag = tag;
        if (c->latest != tag) /* it was rebuilt by the word of a lead that is lost */
            c->latest = 0;
    }
    say_latest(x);
}

/* What the lead has said of this generation comes, or had come before it was adopted. Another
 * process's word is void. [Two decisions may have the same number: those who adopted the first one
 * are all lost, and the lead that it gave had said its tag. The next lead would wait for TAG_HEARD
 * for ever.] */
static void settles(const struct ft_carry *x, const struct ft_demand_msg *m)
{
    struct ft_carry_demand *d = part(x);
    if (!d->awaits || !m->kind || m->generation != x->c->generation || (int)m->ch != d->news.lead)
        return;
    d->awaits = 0;
    if (ft_carry_is_checksum(x))
        ft_carry_codeword_settles(x, m);
    else
        rank_settles(x, m->version);
    memset(&d->news, 0, sizeof d->news);
}

/* TAG_IS may be of the next generation, which its lead has adopted already. It cannot be of a later
 * one, since that is decided only after this process has adopted the next one. It is not
 * known yet which one will lead, so what each has said is kept. While a ballot is open, TAG_IS of the present
 * generation comes too late, and the lead of the next one says it again. */
static void hears_tag_is(const struct ft_carry *x, const struct ft_demand_msg *m)
{
    const struct ft_carrier *c = x->c;
    FT_ASSERT(m->ch < FT_DEMAND_CODEWORDS);
    if (m->generation > c->generation)
        part(x)->tag_is[m->ch] = *m;
    else if (!c->open || x->cfg->broken == FT_BROKEN_HEARS_LATE)
        settles(x, m);
}

/* --- events --- */

void ft_carrier_demand(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       const struct ft_demand_msg *msg, struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, now, out};
    struct ft_demand_msg copy = *msg;
    /* In a rollback this process may hear a lead that has resumed already, so its message is new.
     * Or it hears a rank that has resumed and hands in an image that it was told to take before all
     * went back. That rank must hear that the image is called off. [It would wait for an answer,
     * and no checkpoint would come about any more.] */
    int early = msg->kind == FT_DEMAND_ASK || msg->kind == FT_DEMAND_TAKE;
    int helps = msg->kind == FT_DEMAND_LIFT_IT || msg->kind == FT_DEMAND_FOLD_IT ||
                msg->kind == FT_DEMAND_TAKEN;
    int hears = early || !ft_carry_demand_frozen(&x) ||
                (helps && ft_carry_rolling(&x) && !c->open && !c->demand.awaits);
    if (!cfg->demand || c->state == FT_CS_GONE)
        return;
    if (cfg->broken == FT_BROKEN_OLD_ROUND) {
        copy.round = c->demand.round;
        msg = &copy;
    }
    if (msg->kind == FT_DEMAND_TAG_IS)
        hears_tag_is(&x, msg);
    else if (msg->kind == FT_DEMAND_LATEST_IS)
        ft_carry_codeword_latest_is(&x, msg);
    else if (!hears)
        return; /* the message is void */
    else if (msg->kind == FT_DEMAND_TAG_HEARD)
        ft_carry_codeword_tag_heard(&x, msg);
    else if (ft_carry_is_checksum(&x))
        ft_carry_codeword_hears(&x, msg);
    else if (ft_carry_is_rank(&x))
        rank_hears(&x, msg);
}

void ft_carry_demand_main(const struct ft_carry *x)
{
    const struct ft_main *m = &x->c->heard;
    if (x->cfg->demand && m->asks & FT_ASK_IMAGE && ft_carry_is_rank(x))
        ask(x, m->longest);
}

void ft_carry_demand_go_on(const struct ft_carry *x)
{
    if (!x->cfg->demand || ft_carry_demand_frozen(x))
        return;
    if (ft_carry_is_rank(x))
        owner_goes_on(x);
    else if (ft_carry_is_checksum(x))
        ft_carry_codeword_goes_on(x);
}

void ft_carry_demand_freeze(const struct ft_carry *x)
{
    if (x->cfg->broken == FT_BROKEN_THAWS)
        return;
    unwish(x); /* it is told again if the image is still wanted */
    part(x)->at_vote = x->c->latest;
}

void ft_carry_demand_void(const struct ft_carry *x)
{
    struct ft_carry_demand *d = part(x);
    d->fold = FT_CMD_NONE;
    d->folding = 0;
    d->awaits = 0;
    d->unsettled = d->asked_by = 0;
    d->cover_in = 0;
    if (x->cfg->broken != FT_BROKEN_WISHES)
        d->wished = 0; /* WISH 0 was said; if main has begun, its answer will be void */
    d->at_vote = x->c->latest;
    ft_demand_owner_drop(&d->owner);
    d->owner.generation = x->c->generation;
    ft_demand_ch_reset(&d->ch, x->c->generation);
    d->ch.round = d->owner.round = ++d->round;
}

/* Forgets also what main has answered. [Main takes an image just before it parks, and this is
 * looked at after the rollback. The image would count as one taken after it.] */
void ft_carry_demand_forget(const struct ft_carry *x)
{
    struct ft_carry_demand *d = part(x);
    ft_carry_demand_publish(x, 0);
    d->at_vote = 0;
    d->wished = 0;
    d->given = 0;
    d->untagged = d->folded = 0;
    x->c->heard.taken = 0;
    x->c->heard.over = 0;
    ft_action_add(x->out, FT_DO_WISH, FT_WISH_FORGET);
}

/* What was published stays. It names an image of an older checkpoint than the committed one, and so
 * means nothing. */
void ft_carry_demand_covered(const struct ft_carry *x)
{
    struct ft_carry_demand *d = part(x);
    d->given = 0;
    d->at_vote = 0;
    x->c->latest = 0;
    x->c->heard.over = 0;
    x->c->heard.lost = 0; /* until main's words are copied again */
}

/* The process has finished what the old generation had agreed. Now ranks and helpers wait until the
 * lead says its tag. The lead itself goes on at once. */
void ft_carry_demand_adopted(const struct ft_carry *x, const struct ft_carrier_news *n)
{
    struct ft_carrier *c = x->c;
    struct ft_carry_demand *d = part(x);
    int lost_before = d->awaits && d->news.lost, tells = n->there && n->lead >= 0;
    int lead = n->lead >= 0 ? n->lead : ~n->lead;
    const struct ft_demand_msg said = d->tag_is[lead];
    if (c->committed == 0 || c->facts & FT_FACT_RUN_OVER)
        d->given = 0; /* there logs are kept for ever, and nothing depends on that image */
    d->fold = FT_CMD_NONE;
    d->folding = 0;
    d->here = d->unsettled = d->asked_by = 0;
    d->members = n->members;
    d->said_again = 0;
    d->round = d->ch.round = d->owner.round = 0;
    d->awaits = d->cover_due = 0;
    d->at_vote = 0;
    c->tag = 0;
    memset(&d->news, 0, sizeof d->news);
    memset(d->tag_is, 0, sizeof d->tag_is);
    if (n->index >= 0) {
        d->ch.index = n->index;
        d->ch.lead = lead;
    }
    if (!x->cfg->demand || n->rollback || c->pos < 0 || c->committed == 0) {
        d->owner.generation = d->ch.generation = c->generation;
        return; /* for a rollback ft_carry_demand_void does the rest */
    }
    d->news = (struct ft_demand_ch_news){.generation = c->generation,
                                         .lost = n->lost_owner || lost_before,
                                         .lead = lead,
                                         .there = n->there};
    d->asked_by = n->index < 0 ? ft_carry_codeword_group(x) & ~n->there : 0;
    int me = n->index >= 0 && n->there >> n->index & 1;
    if (me && n->index == n->lead) {
        ft_carry_codeword_leads(x);
        return;
    }
    /* The lead can tell a rank something new only if that rank has taken an image, or is a
     * replacement: a rank flips before the lead asks for another image. */
    int concerned = n->index >= 0 || c->state == FT_CS_ASSIGNED || d->owner.state == FT_OWNER_TAKEN;
    d->awaits = tells && concerned;
    if (n->index < 0 && tells && !concerned)
        rank_settles(x, c->committed);
    if (n->index >= 0 && !me)
        (void)ft_demand_ch_generation(&d->ch,
                                      &d->news); /* a replaced process has nothing under way */
    if (n->index < 0 && !tells) {
        d->orphaned = c->generation;
        rank_settles(x, 0);
    }
    settles(x, &said);
}

uint32_t ft_carry_demand_looks(const struct ft_carry *x)
{
    const struct ft_carry_demand *d = part(x);
    uint32_t l = 0;
    if (!x->cfg->demand || ft_carry_demand_frozen(x))
        return 0;
    if (d->cover_due && d->live_in != 1 + x->c->generation)
        l |= FT_LOOK_LIVE;
    if (ft_carry_is_checksum(x) && ft_carry_codeword_looks(x))
        l |= FT_LOOK_GROUP;
    return l;
}

void ft_carry_demand_seen(const struct ft_carry *x, uint32_t look, uint64_t value)
{
    if (look == FT_LOOK_GROUP)
        part(x)->here = (uint32_t)value;
    else if (look == FT_LOOK_LIVE && value)
        part(x)->live_in = 1 + x->c->generation;
}

void ft_carry_demand_check(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    const struct ft_carry_demand *d = part(x);
    enum ft_carrier_state s = c->state;
    int back = s == FT_CS_PARKING || s == FT_CS_PARKED || s == FT_CS_RESTORED;
    FT_ASSERT((!c->open && !back) || c->latest == d->at_vote); /* (2), (7) */
    FT_ASSERT(!d->wished || (!c->open && !back));
    FT_ASSERT(!back || (d->fold == FT_CMD_NONE && !d->folding));
    FT_ASSERT(c->cmd.kind != FT_CMD_COPY || !x->cfg->demand || /* (5) */
              (d->owner.state != FT_OWNER_TAKEN && !d->wished));
    FT_ASSERT(!d->awaits || c->pos >= 0);
}
