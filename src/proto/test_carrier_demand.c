/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Images that a rank takes alone, in the carrier (C8): the interleavings that its comments name.
 * What needs other processes is the simulator's (model demand).
 */
#include "proto/test_carrier.h"

#define IMAGE FT_VERSION_MAKE(1, 0, 1)
#define NEXT FT_VERSION_MAKE(1, 0, 2)
#define WHOLE(parity) (1u << 31 | ((1u << (parity)) - 1))

static uint32_t seq;

/* What was sent to `to`; NULL: nothing of this kind. */
static const struct ft_demand_msg *sent(int to, enum ft_demand_kind kind)
{
    for (int i = 0; i < out.n; i++)
        if (out.a[i].kind == FT_DO_DEMAND && out.a[i].to == to && out.a[i].demand.kind == kind)
            return &out.a[i].demand;
    return NULL;
}

static void takes(uint64_t version, uint32_t in)
{
    m.taken = version;
    m.taken_in = in;
    look();
}

static void answers(uint64_t version)
{
    m.answered = c.cmd.number;
    m.answer = (struct ft_answer){.version = version};
    look();
}

static uint32_t round_said, ch_said; /* of what is heard */

static void hear(enum ft_demand_kind kind, uint32_t generation, int rank, uint64_t version)
{
    struct ft_demand_msg msg = {.kind = kind,
                                .generation = generation,
                                .rank = rank,
                                .ch = ch_said,
                                .version = version,
                                .round = round_said};
    out.n = 0;
    ft_carrier_demand(&c, &cfg, NOW, &msg, &out);
    choose();
}

static void tag_said_by(uint32_t ch, uint32_t generation, uint64_t version)
{
    ch_said = ch;
    hear(FT_DEMAND_TAG_IS, generation, 0, version);
    ch_said = 0;
}

static void sees(uint32_t what, uint64_t value)
{
    assert_true(c.looks & what);
    out.n = 0;
    ft_carrier_seen(&c, &cfg, NOW, what, value, &out);
    choose();
}

static void order(enum ft_order_kind kind, uint64_t arg)
{
    struct ft_order_action a = {.seq = ++seq, .order = kind, .arg = arg};
    out.n = 0;
    ft_carrier_order(&c, &cfg, NOW, &a, &out);
    choose();
}

static void ballot(void)
{
    out.n = 0;
    c.open = 1;
    ft_carrier_ending(&c, &cfg, &out);
    choose();
}

/* there: bits, the checksum processes that live and were whole; 0: none. */
static void adopt(uint32_t generation, int pos, int lead, uint32_t there, int rollback)
{
    static struct ft_agree_data d;
    d.committed = 1;
    struct ft_carrier_news n = {.generation = generation,
                                .pos = pos,
                                .rollback = rollback,
                                .rejoin = !rollback,
                                .data = &d,
                                .lead = there ? lead : ~lead,
                                .there = there,
                                .index = pos < cfg.nranks ? -1 : pos - cfg.nranks,
                                .members = cfg.nranks};
    out.n = 0;
    c.open = 0;
    ft_carrier_adopted(&c, &cfg, NOW, &n, &out);
    choose();
}

static void generation(uint32_t g, int lead, uint32_t there)
{
    ballot();
    adopt(g, c.pos, lead, there, 0);
}

/* Ranks 0 and 1, in body; checksum processes 2, 3. Checkpoint 1 is committed. */
static void begin(int pos, int parity, int stream)
{
    cfg = (struct ft_carrier_cfg){
        .nranks = 2, .parity = parity, .checkpoints = 1, .logs = 1, .demand = 1, .stream = stream};
    memset(&m, 0, sizeof m);
    seq = 0;
    ft_carrier_init(&c, &cfg, pos);
    c.committed = c.complete = 1;
    c.own = pos >= 0;
    c.demand.ch.stream = c.demand.owner.stream = stream;
    c.demand.ch.index = pos >= 2 ? pos - 2 : 0;
    at(pos >= 0 && pos < 2 ? FT_AT_BODY : FT_AT_INIT);
}

/* Rank 0 has handed IMAGE in. */
static void hands_in(int stream)
{
    begin(0, 1, stream);
    hear(FT_DEMAND_TAKE, 0, 0, 0);
    assert_int_equal(did(FT_DO_WISH)->value, 1);
    m.over = (uint32_t)stream;
    takes(IMAGE, 0);
    assert_true(find(FT_DO_WISH) >= 0 && find(FT_DO_WISH) < find(FT_DO_TOOK));
    assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_TAKEN)->version, IMAGE);
}

static void it_takes_an_image_and_flips(void **state)
{
    (void)state;
    hands_in(0);
    hear(FT_DEMAND_COMMITTED, 0, 0, IMAGE);
    assert_int_equal(published(FT_WORD_LATEST), IMAGE);
    assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_ACK)->version, IMAGE);
    m.asks = FT_ASK_IMAGE;
    m.longest = 1;
    look();
    assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_ASK)->rank, 1);
}

/* [It was wanted again before the image of the generation before was seen: from TOOK on main may
 * take another one, so it is wished before.] */
static void wanted_again(void **state)
{
    (void)state;
    begin(0, 1, 0);
    hear(FT_DEMAND_TAKE, 0, 0, 0);
    ballot();
    assert_int_equal(did(FT_DO_WISH)->value, 0); /* main has begun: it stays begun */
    adopt(1, 0, 0, 1, 0);
    hear(FT_DEMAND_TAKE, 1, 0, 0);
    assert_int_equal(did(FT_DO_WISH)->value, 1);
    takes(IMAGE, 0);
    assert_true(find(FT_DO_WISH) >= 0 && find(FT_DO_WISH) < find(FT_DO_TOOK));
    assert_int_equal(did(FT_DO_WISH)->value, 1);
    assert_null(sent(FT_TO_LEAD, FT_DEMAND_TAKEN)); /* that one is void */
    takes(NEXT, 1);
    assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_TAKEN)->version, NEXT);
}

/* What lies over the latest image is kept, and said when it is asked for; or, if nobody is left who
 * knows what became of it, it is the latest. */
static void what_lies_over_is_kept(void **state)
{
    (void)state;
    for (int orphan = 0; orphan < 2; orphan++) {
        begin(0, 1, 1);
        hear(FT_DEMAND_TAKE, 0, 0, 0);
        m.over = 1;
        generation(1, 0, !orphan);
        takes(IMAGE, 0);
        assert_null(sent(FT_TO_LEAD, FT_DEMAND_TAKEN));
        assert_int_equal(published(FT_WORD_LATEST), orphan ? IMAGE : UINT64_MAX);
        if (orphan)
            continue;
        hear(FT_DEMAND_TAKE, 1, 0, 1);
        assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_TAKEN)->version, IMAGE);
    }
}

/* [COMMITTED was lost with its generation.] The tag says what became of the image. */
static void frozen_until_the_tag_is_said(void **state)
{
    (void)state;
    for (int tagged = 0; tagged < 2; tagged++)
        for (int early = 0; early < 2; early++) {
            hands_in(0);
            ballot();
            hear(FT_DEMAND_COMMITTED, 0, 0, IMAGE);
            assert_int_equal(published(FT_WORD_LATEST), UINT64_MAX);
            if (early) /* the lead has adopted the generation before this one */
                hear(FT_DEMAND_TAG_IS, 1, 0, tagged ? IMAGE : 1);
            assert_int_equal(published(FT_WORD_LATEST), UINT64_MAX);
            adopt(1, 0, 0, 1, 0);
            if (!early) {
                assert_int_equal(c.demand.owner.state, FT_OWNER_TAKEN);
                hear(FT_DEMAND_TAG_IS, 1, 0, tagged ? IMAGE : 1);
            }
            assert_int_equal(published(FT_WORD_LATEST), tagged ? IMAGE : UINT64_MAX);
            assert_int_equal(c.demand.owner.state, FT_OWNER_NONE);
        }
}

/* [The lead is lost as soon as it has said it, and this process has voted.] */
static void a_tag_said_too_late(void **state)
{
    (void)state;
    hands_in(0);
    generation(1, 0, 3);
    ballot();
    hear(FT_DEMAND_TAG_IS, 1, 0, 1);
    assert_int_equal(c.demand.owner.state, FT_OWNER_TAKEN);
    adopt(2, 0, 1, 2, 0);
    tag_said_by(1, 2, IMAGE); /* the next lead knows better */
    assert_int_equal(published(FT_WORD_LATEST), IMAGE);
}

/* [All who have adopted a decision are lost, and the next one has its number.] What its lead has
 * said is void, whether it comes before or after the word of the lead that counts, and before or
 * after the adoption. */
static void another_decision_of_that_number(void **state)
{
    (void)state;
    for (int adopted_at = 0; adopted_at < 3; adopted_at++)
        for (int stale_first = 0; stale_first < 2; stale_first++) {
            begin(4, 3, 0);
            hear(FT_DEMAND_FOLD_IT, 0, 0, IMAGE);
            answers(NEXT);
            hear(FT_DEMAND_TAG_IT, 0, 0, IMAGE);
            ballot();
            int heard = 0;
            for (int i = 0; i < 3; i++) { /* an adoption, and two words among which it comes */
                out.n = 0;
                if (i == adopted_at)
                    adopt(1, 4, 1, 6, 0);
                heard += sent(FT_TO_HELPER(1), FT_DEMAND_TAG_HEARD) != NULL;
                assert_null(sent(FT_TO_HELPER(0), FT_DEMAND_TAG_HEARD));
                if (i == 2)
                    break;
                if ((i == 0) == stale_first)
                    tag_said_by(0, 1, 0); /* it has tagged nothing: by it this one would go back */
                else
                    tag_said_by(1, 1, IMAGE);
                heard += sent(FT_TO_HELPER(1), FT_DEMAND_TAG_HEARD) != NULL;
                assert_null(sent(FT_TO_HELPER(0), FT_DEMAND_TAG_HEARD));
            }
            assert_int_equal(heard, 1);
            assert_int_equal(c.latest, NEXT);
        }
    begin(0, 3, 0); /* and so for a rank */
    hear(FT_DEMAND_TAKE, 0, 0, 0);
    takes(IMAGE, 0);
    ballot();
    tag_said_by(0, 1, 1);
    adopt(1, 0, 1, 6, 0);
    assert_int_equal(c.demand.owner.state, FT_OWNER_TAKEN);
    tag_said_by(1, 1, IMAGE);
    assert_int_equal(published(FT_WORD_LATEST), IMAGE);
}

static void copy_waits(void **state)
{
    (void)state;
    hands_in(0);
    m.reached = 2;
    order(FT_ORDER_TARGET, 2);
    at(FT_AT_HELD);
    order(FT_ORDER_CUT, 2);
    assert_int_equal(told(), FT_CMD_NONE);
    hear(FT_DEMAND_COMMITTED, 0, 0, IMAGE);
    assert_int_equal(told(), FT_CMD_COPY);
    begin(0, 1, 0);
    hear(FT_DEMAND_TAKE, 0, 0, 0);
    m.reached = 2;
    order(FT_ORDER_TARGET, 2);
    at(FT_AT_HELD);
    order(FT_ORDER_CUT, 2); /* what main has not begun is declined */
    assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_TAKEN)->version, 0);
    assert_true(find(FT_DO_WISH) < find(FT_DO_COMMAND));
    assert_int_equal(told(), FT_CMD_COPY);
}

/* With `stream` the coordinated image lies over the latest one: until it is committed a vote says
 * that this process exposes all. */
static void the_latest_image_is_given_up(void **state)
{
    struct ft_agree_data d = {0};
    (void)state;
    hands_in(1);
    hear(FT_DEMAND_COMMITTED, 0, 0, IMAGE);
    m.over = 0;
    m.reached = 2;
    order(FT_ORDER_TARGET, 2);
    at(FT_AT_HELD);
    order(FT_ORDER_CUT, 2);
    assert_int_equal(published(FT_WORD_LATEST), UINT64_MAX); /* the testament keeps naming it */
    assert_int_equal(published(FT_WORD_GIVEN_UP), IMAGE);
    assert_int_equal(told(), FT_CMD_COPY);
    ft_carrier_vote(&c, &cfg, 0, &d);
    assert_int_equal(d.exposers.most[0].slot, FT_EXPOSER_ALL);
    assert_int_equal(d.exposers.most[0].until, 2);
    answers(2);
    order(FT_ORDER_LEAVE, 2);
    order(FT_ORDER_COMMIT, 2);
    memset(&d, 0, sizeof d);
    ft_carrier_vote(&c, &cfg, 0, &d);
    assert_int_equal(d.exposers.most[0].until, 0);
}

static void called_off_over_the_latest(void **state)
{
    (void)state;
    hands_in(1);
    hear(FT_DEMAND_COMMITTED, 0, 0, 0);
    assert_int_equal(published(FT_WORD_LATEST), UINT64_MAX);
    assert_int_not_equal(published(FT_WORD_GIVEN_UP), UINT64_MAX);
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_DUE); /* only a coordinated one covers that */
}

static void an_exposed_rank_asks_once(void **state)
{
    (void)state;
    begin(0, 1, 0);
    m.lost = FT_LACKS_OWN;
    look();
    assert_null(sent(FT_TO_LEAD, FT_DEMAND_ASK)); /* all must be live */
    sees(FT_LOOK_LIVE, 1);
    assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_ASK)->rank, 0);
    look();
    assert_null(sent(FT_TO_LEAD, FT_DEMAND_ASK));
    hear(FT_DEMAND_TAKE, 0, 0, 0);
    takes(FT_TAKEN_NOT, 0); /* it cannot: all are to take one */
    assert_int_equal(sent(FT_TO_LEAD, FT_DEMAND_TAKEN)->version, 0);
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_DUE);
    m.lost = FT_LACKS_OTHERS; /* that is asked for when somebody was lost, by one who is live */
    look();
    assert_null(did(FT_DO_ROOT));
    m.replaying = 1;
    look();
    generation(1, 0, 1);
    assert_false(c.looks & FT_LOOK_LIVE);
    m.replaying = 0;
    look();
    sees(FT_LOOK_LIVE, 1);
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_DUE);
}

/* The lead has computed the codeword with IMAGE of rank 0. */
static void computes(int parity, int stream)
{
    begin(2, parity, stream);
    hear(FT_DEMAND_ASK, 0, 0, 0);
    assert_null(sent(0, FT_DEMAND_TAKE)); /* not before the group is seen to be whole */
    sees(FT_LOOK_GROUP, WHOLE(parity));
    if (stream) {
        assert_int_equal(told(), FT_CMD_LIFT);
        answers(1);
    }
    assert_non_null(sent(0, FT_DEMAND_TAKE));
    hear(FT_DEMAND_TAKEN, 0, 0, IMAGE);
    assert_int_equal(told(), FT_CMD_FOLD);
    assert_int_equal(did(FT_DO_COMMAND)->arg.version, IMAGE);
}

static void a_codeword_follows(void **state)
{
    (void)state;
    for (int stream = 0; stream < 2; stream++) {
        computes(1, stream);
        answers(NEXT);
        assert_int_equal(published(FT_WORD_LATEST), NEXT);
        assert_int_equal(sent(0, FT_DEMAND_COMMITTED)->version, IMAGE);
        hear(FT_DEMAND_ACK, 0, 0, IMAGE);
        assert_int_equal(c.demand.ch.state, FT_CH_IDLE);
    }
}

/* (2): what main has computed is not looked at between vote and adoption. */
static void nothing_is_tagged_in_a_ballot(void **state)
{
    (void)state;
    computes(1, 0);
    ballot();
    answers(NEXT);
    assert_int_equal(published(FT_WORD_LATEST), UINT64_MAX);
    adopt(1, 2, 0, 1, 0);
    assert_non_null(did(FT_DO_SAY_TAGS)); /* there is no helper to be told first */
    assert_int_equal(published(FT_WORD_LATEST), UINT64_MAX);
    sees(FT_LOOK_GROUP, WHOLE(1));
    assert_int_equal(sent(0, FT_DEMAND_TAKE)->generation, 1); /* once more */
}

/* [A rank is told first, and drops the image; the lead is lost before the helper is told, which has
 * tagged it and leads now.] */
static void helpers_are_told_first(void **state)
{
    (void)state;
    begin(2, 2, 0);
    generation(1, 0, 3);
    assert_non_null(sent(FT_TO_HELPER(1), FT_DEMAND_TAG_IS));
    assert_null(did(FT_DO_SAY_TAGS));
    hear(FT_DEMAND_ASK, 1, 0, 0);
    assert_false(c.looks & FT_LOOK_GROUP); /* nor is anything begun */
    struct ft_demand_msg heard = {.kind = FT_DEMAND_TAG_HEARD, .generation = 1, .ch = 1};
    out.n = 0;
    ft_carrier_demand(&c, &cfg, NOW, &heard, &out);
    choose();
    assert_non_null(did(FT_DO_SAY_TAGS));
    assert_true(c.looks & FT_LOOK_GROUP);
    generation(2, 0, 1); /* the helper was replaced: it is told when the others go by the tag */
    assert_non_null(did(FT_DO_SAY_TAGS));
    assert_non_null(sent(FT_TO_HELPER(1), FT_DEMAND_TAG_IS));
}

/* [The lead is lost when some of the helpers have gone back: the next one has it tagged.] */
static void a_helper_goes_back_and_on_again(void **state)
{
    (void)state;
    begin(3, 2, 0);
    hear(FT_DEMAND_FOLD_IT, 0, 0, IMAGE);
    answers(NEXT);
    assert_non_null(sent(FT_TO_HELPER(0), FT_DEMAND_DONE));
    hear(FT_DEMAND_TAG_IT, 0, 0, IMAGE);
    assert_int_equal(published(FT_WORD_LATEST), NEXT);
    generation(1, 0, 3);
    assert_int_equal(published(FT_WORD_LATEST), UINT64_MAX);
    hear(FT_DEMAND_TAG_IS, 1, 0, 0); /* it has tagged nothing */
    assert_int_equal(published(FT_WORD_LATEST), 0);
    assert_non_null(sent(FT_TO_HELPER(0), FT_DEMAND_TAG_HEARD));
    generation(2, 0, 3);
    hear(FT_DEMAND_TAG_IS, 2, 0, IMAGE);
    assert_int_equal(published(FT_WORD_LATEST), NEXT);
}

static void replacements_wait_for_the_tag(void **state)
{
    (void)state;
    begin(-1, 1, 0);
    adopt(1, 0, 0, 1, 0);
    assert_int_equal(told(), FT_CMD_REBUILD);
    assert_true(did(FT_DO_COMMAND)->arg.head);
    answers(1);
    assert_int_equal(told(), FT_CMD_NONE);
    hear(FT_DEMAND_TAG_IS, 1, 0, IMAGE);
    assert_int_equal(told(), FT_CMD_REBUILD); /* all of the committed one before one taken alone */
    assert_int_equal(did(FT_DO_COMMAND)->arg.version, 1);
    assert_false(did(FT_DO_COMMAND)->arg.head);
    answers(1);
    assert_int_equal(told(), FT_CMD_REBUILD);
    assert_int_equal(did(FT_DO_COMMAND)->arg.version, IMAGE);
    answers(IMAGE);
    assert_int_equal(told(), FT_CMD_ROLE);
    assert_int_equal(published(FT_WORD_LATEST), IMAGE);
    begin(-1, 2, 0);
    adopt(1, 3, 0, 1, 0);
    order(FT_ORDER_REJOIN, 1);
    assert_int_equal(told(), FT_CMD_REBUILD);
    answers(1);
    assert_int_equal(told(), FT_CMD_NONE);
    assert_int_equal(published(FT_WORD_LIVE), UINT64_MAX);
    hear(FT_DEMAND_TAG_IS, 1, 1, IMAGE);
    assert_int_equal(told(), FT_CMD_NONE); /* nor before the ranks have said theirs */
    hear(FT_DEMAND_LATEST_IS, 1, 0, 1);
    assert_int_equal(told(), FT_CMD_NONE);
    hear(FT_DEMAND_LATEST_IS, 1, 1, IMAGE);
    assert_int_equal(told(), FT_CMD_REBUILD);
    answers(NEXT);
    assert_int_equal(published(FT_WORD_LATEST), NEXT);
    assert_int_equal(published(FT_WORD_LIVE), 1);
}

/* Ranks say which images a codeword is to be rebuilt from: when they go by the lead's tag, and
 * again when they flip. */
static void ranks_say_their_latest(void **state)
{
    (void)state;
    hands_in(0);
    generation(1, 0, 0); /* m = 1: nobody leads */
    assert_int_equal(sent(FT_TO_HELPER(0), FT_DEMAND_LATEST_IS)->version, 1);
    begin(0, 2, 0);
    hear(FT_DEMAND_TAKE, 0, 0, 0);
    takes(IMAGE, 0);
    generation(1, 0, 1); /* the second one was lost */
    assert_null(sent(FT_TO_HELPER(1), FT_DEMAND_LATEST_IS));
    hear(FT_DEMAND_TAG_IS, 1, 0, IMAGE);
    assert_int_equal(sent(FT_TO_HELPER(1), FT_DEMAND_LATEST_IS)->version, IMAGE);
    assert_null(sent(FT_TO_HELPER(0), FT_DEMAND_LATEST_IS));
    generation(2, 0, 3); /* it has its codewords */
    assert_null(sent(FT_TO_HELPER(1), FT_DEMAND_LATEST_IS));
}

/* It may hear of the next generation before it carries anything; what was computed of an image that
 * is the latest no more does not count. */
static void rebuilt_of_what_was_said(void **state)
{
    (void)state;
    begin(-1, 1, 0);
    hear(FT_DEMAND_LATEST_IS, 1, 1, 1);
    assert_int_equal(did(FT_DO_MEMBER)->to, 1);
    adopt(1, 2, 0, 0, 0);
    order(FT_ORDER_REJOIN, 1);
    answers(1);
    assert_int_equal(told(), FT_CMD_NONE);
    hear(FT_DEMAND_LATEST_IS, 1, 0, 1);
    assert_int_equal(told(), FT_CMD_REBUILD);
    hear(FT_DEMAND_LATEST_IS, 1, 0, IMAGE);
    assert_int_equal(did(FT_DO_MEMBER)->value, IMAGE);
    answers(NEXT);
    assert_int_equal(published(FT_WORD_LIVE), UINT64_MAX);
    assert_int_equal(told(), FT_CMD_REBUILD); /* once more */
    answers(NEXT);
    assert_int_equal(published(FT_WORD_LIVE), 1);
    begin(-1, 1, 0); /* what is of the generation before comes late */
    hear(FT_DEMAND_LATEST_IS, 2, 0, IMAGE);
    hear(FT_DEMAND_LATEST_IS, 1, 1, IMAGE);
    assert_null(did(FT_DO_MEMBER));
}

/* A helper has answered LEAVE of checkpoint 2; the lead and the rank have heard COMMIT. */
static void nothing_is_staged_before_the_commit(void **state)
{
    (void)state;
    for (int commit = 0; commit < 2; commit++) {
        begin(3, 2, 0);
        order(FT_ORDER_CUT, 2);
        assert_int_equal(told(), FT_CMD_RESERVE);
        answers(0);
        order(FT_ORDER_LEAVE, 2);
        assert_int_equal(told(), FT_CMD_PARITY);
        answers(2);
        assert_true(answered());
        hear(FT_DEMAND_FOLD_IT, 0, 0, IMAGE);
        assert_int_equal(told(), FT_CMD_NONE);
        order(commit ? FT_ORDER_COMMIT : FT_ORDER_CANCEL, 2);
        assert_int_equal(told(), FT_CMD_FOLD);
    }
}

/* The lead has resumed, this helper has not. */
static void nothing_is_staged_while_frozen(void **state)
{
    (void)state;
    begin(3, 2, 0);
    order(FT_ORDER_RECOVER, 1);
    order(FT_ORDER_RESTORE, 1);
    round_said = 1;
    hear(FT_DEMAND_FOLD_IT, 0, 0, IMAGE);
    round_said = 0;
    assert_int_equal(told(), FT_CMD_NONE);
    order(FT_ORDER_RESUME, 1);
    assert_int_equal(told(), FT_CMD_FOLD);
    answers(NEXT);
    assert_non_null(sent(FT_TO_HELPER(0), FT_DEMAND_DONE));
}

/* [Main has taken an image just before it parked.] [What was handed in before a rollback comes when
 * another one was asked for.] */
static void nothing_of_before_a_rollback(void **state)
{
    (void)state;
    begin(0, 1, 0);
    hear(FT_DEMAND_TAKE, 0, 0, 0);
    order(FT_ORDER_RECOVER, 1);
    assert_int_equal(did(FT_DO_WISH)->value, 0);
    takes(IMAGE, 0);
    assert_null(did(FT_DO_TOOK));
    at(FT_AT_PARKED);
    hear(FT_DEMAND_TAKE, 0, 0, 0); /* it was on its way */
    assert_int_equal(c.demand.owner.state, FT_OWNER_NONE);
    order(FT_ORDER_RESTORE, 1);
    assert_int_equal(did(FT_DO_WISH)->value, FT_WISH_FORGET);
    assert_int_equal(published(FT_WORD_LATEST), 0);
    assert_int_equal(c.heard.taken, 0);
    begin(2, 1, 0);
    hear(FT_DEMAND_ASK, 0, 0, 0);
    sees(FT_LOOK_GROUP, WHOLE(1));
    order(FT_ORDER_RECOVER, 1);
    order(FT_ORDER_RESTORE, 1);
    order(FT_ORDER_RESUME, 1);
    hear(FT_DEMAND_ASK, 0, 0, 0);
    assert_int_equal(sent(0, FT_DEMAND_TAKE)->round, 1);
    hear(FT_DEMAND_TAKEN, 0, 0, IMAGE);
    assert_int_equal(told(), FT_CMD_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_an_image_and_flips),
        cmocka_unit_test(wanted_again),
        cmocka_unit_test(what_lies_over_is_kept),
        cmocka_unit_test(frozen_until_the_tag_is_said),
        cmocka_unit_test(a_tag_said_too_late),
        cmocka_unit_test(another_decision_of_that_number),
        cmocka_unit_test(copy_waits),
        cmocka_unit_test(the_latest_image_is_given_up),
        cmocka_unit_test(called_off_over_the_latest),
        cmocka_unit_test(an_exposed_rank_asks_once),
        cmocka_unit_test(a_codeword_follows),
        cmocka_unit_test(nothing_is_tagged_in_a_ballot),
        cmocka_unit_test(helpers_are_told_first),
        cmocka_unit_test(a_helper_goes_back_and_on_again),
        cmocka_unit_test(replacements_wait_for_the_tag),
        cmocka_unit_test(ranks_say_their_latest),
        cmocka_unit_test(rebuilt_of_what_was_said),
        cmocka_unit_test(nothing_is_staged_before_the_commit),
        cmocka_unit_test(nothing_is_staged_while_frozen),
        cmocka_unit_test(nothing_of_before_a_rollback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
