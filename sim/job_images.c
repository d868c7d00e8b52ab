/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_images.c - images that ranks of a simulated job take alone (C8), with orders, rollbacks,
 * snapshots and replacements beside them: what mains do, and what the shell sees.
 * check_job_images.c has what must hold.
 */
#include "job_images.h"

#include "job_main.h"
#include "job_mutant.h"
#include "job_places.h"
#include "job_shell.h"

struct job_images *job_images(const struct sim *s, int p)
{
    return s->o.demand ? (struct job_images *)((char *)job_proc(s, p) + job_proc_bytes(&s->o) -
                                               sizeof(struct job_images))
                       : NULL;
}

static struct sim_images *images(const struct sim *s, int p) { return &job_images(s, p)->im; }

static int stream(const struct sim *s) { return job_world(s)->stream; }

void job_images_start(struct sim *s, int p)
{
    struct job_images *me = job_images(s, p);
    if (!me)
        return;
    me->next = 1;
    me->live = job_process(s, p)->carrier.pos >= 0;
}

/* --- groups --- */

/* The group of a position, and its index: members come first, then checksum processes. */
static int index_in_group(const struct sim *s, int pos)
{
    (void)s;
    return ft_group_block_of_position(job_groups(), pos);
}

static int group_of(const struct sim *s, int p)
{
    int pos = job_process(s, p)->carrier.pos;
    return pos < 0 || job_groups()->nchecksums == 0 ? -1 : ft_group_of_position(job_groups(), pos);
}

static int size_of(int group) { return ft_group_size(job_groups(), group); }

/* The slot of the k-th position of a group, as far as p knows. Members come first. */
static int slot_in_group(const struct sim *s, int p, int group, int k)
{
    return job_process(s, p)->map[ft_group_block(job_groups(), group, k)];
}

static int is_live(const struct sim *s, int p)
{
    const struct sim_main *m = &job_proc(s, p)->main;
    return job_images(s, p)->live || (m->rank >= 0 && !m->replaying);
}

int job_images_all_live(const struct sim *s, int p)
{
    for (int r = 0; r < job_world(s)->nranks; r++)
        if (!is_live(s, job_process(s, p)->map[r]))
            return 0;
    return 1;
}

uint64_t job_images_group(const struct sim *s, int p)
{
    int group = group_of(s, p), k = size_of(group);
    uint64_t bits = 1ull << 31;
    for (int i = 0; i < job_groups()->parity; i++) {
        int q = slot_in_group(s, p, group, k + i);
        if (is_live(s, q) &&
            job_process(s, q)->carrier.rejoined >= job_process(s, p)->carrier.generation)
            bits |= 1ull << i;
    }
    for (int i = 0; i < k; i++)
        if (!is_live(s, slot_in_group(s, p, group, i)))
            bits &= ~(1ull << 31);
    return bits;
}

/* --- the shell --- */

static void say_tags(struct sim *s, int p, const struct ft_action *a)
{
    static struct ft_mail m;
    int group = group_of(s, p);
    memset(&m, 0, sizeof m);
    m.kind = FT_MAIL_DEMAND;
    for (int k = 0; k < size_of(group); k++) {
        m.u.demand = a->demand;
        m.u.demand.rank = ft_group_member(job_groups(), group, k);
        m.u.demand.version = images(s, p)->tag[k];
        sim_send(s, p, slot_in_group(s, p, group, k), &m, ft_mail_bytes(&m));
    }
}

void job_images_carry_out(struct sim *s, int p, const struct ft_action *a)
{
    struct job_images *me = job_images(s, p);
    if (!me)
        return;
    switch (a->kind) {
    case FT_DO_WISH:
        sim_images_wish(&me->im, a->value, job_process(s, p)->carrier.generation);
        job_proc(s, p)->main.taking &= me->im.wish < 0;
        break;
    case FT_DO_TOOK: me->im.taken = 0; break;
    case FT_DO_SAY_TAGS: say_tags(s, p, a); break;
    case FT_DO_MEMBER: me->im.member[index_in_group(s, a->to)] = a->value; break;
    case FT_DO_AWAIT:
        if (!(a->value & FT_LOOK_GROUP))
            me->group_seen = UINT64_MAX;
        break;
    default: break;
    }
}

static void flips(struct sim *s, int p, uint64_t version)
{
    struct job_world *w = job_world(s);
    struct sim_images *me = images(s, p);
    struct sim_group g;
    int r = job_process(s, p)->carrier.pos, group = group_of(s, p);
    int whole = !job_process(s, p)->carrier.incomplete;
    if (job_process(s, p)->carrier.facts & FT_FACT_ROLLING)
        me->slot[1] = me->slot[2] = 0;
    job_images(s, p)->left = me->latest = version;
    if (!version)
        return;
    job_rank_images(s, r)->flipped = ft_version_later(job_rank_images(s, r)->flipped, version);
    w->taken_alone += whole && !s->searching;
    if (whole)
        job_happens(s, p, JOB_FLIPPED);
    if (job_images_view(s, group, &g))
        sim_check_flip(s, &g, index_in_group(s, r), version);
}

static void tags(struct sim *s, int p, uint64_t version)
{
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    if (c->facts & FT_FACT_ROLLING)
        sim_images_forget(images(s, p), c->committed);
    else if (!sim_images_tag(images(s, p), version))
        sim_wrong(s, "%d publishes a codeword that is not there", p);
    else if (version)
        job_happens(s, p, JOB_TAGGED);
}

/* Images that were taken alone belong to the checkpoint before. */
static void commits(struct sim *s, int p, uint64_t version)
{
    struct job_images *me = job_images(s, p);
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    int rank = job_rank(s, p) >= 0;
    if (c->pos < 0 || c->incomplete)
        return;
    if (!rank) {
        sim_images_forget(&me->im, version);
        for (int k = 0; k < size_of(group_of(s, p)); k++)
            me->im.tag[k] = version;
        return;
    }
    me->im.slot[0] = version;
    me->im.slot[1] = me->im.slot[2] = 0;
}

void job_images_publish(struct sim *s, int p, const struct ft_action *a)
{
    struct job_images *me = job_images(s, p);
    int pos = job_process(s, p)->carrier.pos;
    if (!me)
        return;
    if (a->word == FT_WORD_LIVE) {
        me->live = 1;
        memset(me->im.member, 0,
               sizeof me->im.member); /* so that it leaves no trace in the state */
    }
    if (a->word == FT_WORD_GIVEN_UP)
        me->im.latest = 0;
    if (a->word == FT_WORD_COMMITTED)
        commits(s, p, a->value);
    if (a->word == FT_WORD_LATEST && pos >= job_world(s)->nranks)
        tags(s, p, a->value);
    else if (a->word == FT_WORD_LATEST && pos >= 0)
        flips(s, p, a->value);
}

void job_images_testify(const struct sim *s, int p, int dead, struct ft_testimony *t)
{
    struct ft_process *me = job_process(s, p);
    int rank = ft_process_map(me, job_cfg()).pos_of[dead], group = group_of(s, p);
    if (!s->o.demand)
        return;
    t->latest = job_images(s, dead)->left;
    if (group < 0 || me->carrier.pos < job_world(s)->nranks || me->carrier.incomplete ||
        group != ft_group_of_rank(job_groups(), rank))
        return;
    int lead = ft_process_lead(me, job_cfg(), group);
    int index = index_in_group(s, me->carrier.pos) - size_of(group);
    t->tag = images(s, p)->tag[index_in_group(s, rank)];
    t->tag_by = index == (lead >= 0 ? lead : ~lead) ? FT_TAG_BY_LEAD : FT_TAG_BY(index);
}

void job_images_of_main(const struct sim *s, int p, struct ft_main *out)
{
    const struct job_images *me = job_images(s, p);
    if (!me)
        return;
    out->longest = me->longest;
    out->taken = me->im.taken;
    out->taken_in = me->im.taken_in;
    out->over = (uint32_t)sim_images_lies_over(&me->im, stream(s));
}

/* --- main: images --- */

/* It comes to a safepoint where it is not held, and all ranks are live. */
int job_images_can_take(const struct sim *s, int p)
{
    const struct sim_main *m = &job_proc(s, p)->main;
    const struct job_images *me = job_images(s, p);
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    return me && me->im.wish > 0 && !me->im.taken && m->place == FT_AT_BODY &&
           sim_main_can_move(m) && m->reached == m->passed && m->reached < job_world(s)->length &&
           m->hold == FT_HOLD_NONE && !m->replaying && c->complete <= c->committed &&
           (s->o.mutant == M_TAKES_EARLY || job_images_all_live(s, p));
}

void job_images_begin(struct sim *s, int p)
{
    struct sim_main *m = &job_proc(s, p)->main;
    sim_images_begin(images(s, p), stream(s));
    m->reached++;
    m->taking = 1;
}

void job_images_copy(struct sim *s, int p)
{
    struct job_images *me = job_images(s, p);
    struct sim_main *m = &job_proc(s, p)->main;
    job_rank_images(s, m->rank)->at[me->next % JOB_ALONE] = m->reached;
    sim_images_copy(&me->im, FT_VERSION_MAKE(m->committed, me->im.taken_in, me->next));
    me->next++;
    m->taking = 0;
    job_happens(s, p, JOB_TAKEN);
}

void job_images_decline(struct sim *s, int p)
{
    sim_images_decline(images(s, p));
    job_proc(s, p)->main.news = 1;
}

void job_images_ask(struct sim *s, int p, int rank)
{
    struct sim_main *m = &job_proc(s, p)->main;
    job_world(s)->asks--;
    job_images(s, p)->longest = rank;
    m->asks |= FT_ASK_IMAGE;
    m->news = 1;
}

uint64_t job_images_safepoint(const struct sim *s, int p, uint64_t version)
{
    int r = job_rank(s, p);
    return FT_VERSION_ALONE(version)
               ? job_rank_images(s, r)->at[FT_VERSION_NUMBER(version) % JOB_ALONE]
               : *job_image(s, r, version);
}

/* --- main: codewords, and what replaces --- */

/* The images of the k-th member that p's main can read. */
static const struct sim_images *readable(const struct sim *s, int p, int group, int k)
{
    int q = slot_in_group(s, p, group, k);
    return sim_alive(s, q) ? images(s, q) : NULL;
}

/* The image of the k-th member from which p rebuilds; 0: nobody can say. */
static uint64_t source(const struct sim *s, int p, int group, int k)
{
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    uint64_t said = images(s, p)->member[k];
    int lead = ft_process_lead(job_process(s, p), job_cfg(), group);
    if (c->pos >= job_world(s)->nranks)
        return said ? said : c->committed;
    int q = slot_in_group(s, p, group, size_of(group) + (lead >= 0 ? lead : ~lead));
    return sim_alive(s, q) && lead >= 0 ? images(s, q)->tag[k] : 0;
}

/* Returns 1 if all that it is rebuilt from is there. */
static int has_sources(const struct sim *s, int p, int group, uint64_t version)
{
    int me = index_in_group(s, job_process(s, p)->carrier.pos);
    for (int k = 0; k < size_of(group); k++) {
        uint64_t v = source(s, p, group, k);
        const struct sim_images *of = readable(s, p, group, k);
        if (k == me ? v != version : !v || !of || !sim_images_has(of, v))
            return 0; /* it is being overwritten, and the codeword will have the new one */
    }
    return 1;
}

static uint64_t rebuilds(struct sim *s, int p, uint64_t version)
{
    struct job_images *me = job_images(s, p);
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    int group = group_of(s, p), some = 0;
    if (!has_sources(s, p, group, version))
        return 0;
    if (c->pos < job_world(s)->nranks) {
        me->im.slot[1] = version;
        me->next = ft_max_u64(me->next, FT_VERSION_NUMBER(version) + 1);
        return version;
    }
    for (int k = 0; k < size_of(group); k++) {
        me->im.tag[k] = source(s, p, group, k);
        some |= FT_VERSION_ALONE(me->im.tag[k]) != 0;
    }
    me->im.rebuilt = some ? sim_images_new_codeword(&me->im, c->committed, c->generation) : 0;
    return me->im.rebuilt;
}

void job_images_obey(struct sim *s, int p, int how)
{
    struct sim_main *m = &job_proc(s, p)->main;
    struct sim_images *me = images(s, p);
    const struct ft_carrier *c = &job_process(s, p)->carrier;
    if (m->command == FT_CMD_REBUILD) {
        int group = group_of(s, p);
        m->answer.version = rebuilds(s, p, m->arg.version);
        m->answer.reason =
            m->answer.version || has_sources(s, p, group, m->arg.version) ? 0 : FT_SKIP_FAILURE;
        return;
    }
    int group = ft_group_of_rank(job_groups(), m->arg.rank), k = index_in_group(s, m->arg.rank);
    if (c->complete > c->committed)
        sim_wrong(s, "%d writes over the codeword %" PRIu64 ", which may be committed", p,
                  c->complete);
    const struct sim_images *of = how == WELL ? readable(s, p, group, k) : NULL;
    if (m->command == FT_CMD_LIFT)
        m->answer.version = sim_images_lift(me, k, of);
    else
        m->answer.version = sim_images_fold(
            me, k, of, m->arg.version, sim_images_new_codeword(me, c->committed, c->generation));
}

void job_images_made(struct sim *s, int p)
{
    struct job_images *me = job_images(s, p);
    const struct sim_main *m = &job_proc(s, p)->main;
    int pos = job_process(s, p)->carrier.pos;
    if (!me || pos < 0)
        return;
    if (m->command ==
        FT_CMD_COPY) { /* in a slot without the latest image, if there is room for both */
        int over = stream(s) || !(me->im.slot[1] && me->im.slot[1] == me->im.latest) ? 1 : 2;
        me->im.slot[over] = 0;
    } else if (m->command == FT_CMD_PARITY) { /* it replaces what is staged */
        memset(&me->im.staged, 0, sizeof me->im.staged);
        memset(&me->im.before, 0, sizeof me->im.before);
        me->im.lifted = 0;
    } else if (pos < job_world(s)->nranks) {
        me->im.slot[0] = m->arg.version;
    } else {
        sim_images_forget(&me->im, m->arg.version);
        for (int k = 0; k < size_of(group_of(s, p)); k++)
            me->im.tag[k] = m->arg.version;
    }
}

/* --- what may happen, and happens --- */

void job_images_can(const struct sim *s, int p, struct sim_choices *out)
{
    const struct job_world *w = job_world(s);
    const struct sim_main *m = &job_proc(s, p)->main;
    const struct job_images *me = job_images(s, p);
    uint32_t looks = job_process(s, p)->carrier.looks;
    if (!me)
        return;
    if (m->taking)
        sim_can(out, p, JOB_COPIES, 0, SIM_MUST);
    if (job_images_can_take(s, p))
        sim_can(out, p, JOB_BEGINS, 0, SIM_MAY);
    if (me->im.wish > 0 && !me->im.taken && m->place == FT_AT_BODY && !m->replaying)
        job_may_come(s, p, JOB_DECLINES, 0, JOB_DECLINED, out);
    for (int r = 0; r < w->nranks && w->asks > 0 && m->place == FT_AT_BODY && !m->taking; r++)
        if (!m->replaying && m->committed > 0 && !(m->asks & FT_ASK_IMAGE))
            sim_can(out, p, JOB_ASKS, r, SIM_MAY);
    if (looks & FT_LOOK_LIVE && job_images_all_live(s, p))
        sim_can(out, p, JOB_SEES_LIVE, 0, SIM_MUST);
    if (looks & FT_LOOK_GROUP && job_images_group(s, p) != me->group_seen)
        sim_can(out, p, JOB_SEES_GROUP, 0, SIM_MUST);
}

void job_images_happen(struct sim *s, int p, int what, int q)
{
    switch (what) {
    case JOB_ASKS: job_images_ask(s, p, q); break;
    case JOB_BEGINS: job_images_begin(s, p); break;
    case JOB_COPIES:
        job_images_copy(s, p);
        job_main_arrives(s, p, WELL);
        break;
    case JOB_DECLINES:
        job_happens(s, p, JOB_DECLINED);
        job_images_decline(s, p);
        break;
    case JOB_SEES_LIVE: job_event(s, p, job_seen(FT_LOOK_LIVE, 1)); break;
    case JOB_SEES_GROUP:
        job_images(s, p)->group_seen = job_images_group(s, p);
        job_event(s, p, job_seen(FT_LOOK_GROUP, job_images(s, p)->group_seen));
        break;
    }
}
