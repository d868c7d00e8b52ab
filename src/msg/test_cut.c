/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_cut.c - a rank that is replaced in the run restores its image alone and is fed from the
 * others' logs: random scripts of messages with cuts, commits, cuts that are called off, rollbacks
 * and deaths. All decisions are the test's own process's, as the agents' would be. The one that may
 * be lost also takes images alone (demand checkpoints), for which the others drop what they cover.
 */
#define _GNU_SOURCE
#include "alog/log.h"
#include "alog/whole.h"
#include "base/failpoint.h"
#include "msg/channels.h"
#include "transport/test_job.h"

enum { RANKS = 3, EVENTS = 500, MOST = 3 * EVENTS, TAGS = 3, SETUP_EACH = 4 };
#define LONGEST (150ul << 10)
#define IMAGE (24ul << 20)
#define CHUNK (64ul << 10)

/* Words of job.sh. A name ending in 0 stands for one word for each rank. */
enum { SLOT0 = 0, STEP0 = 4, ARRIVED0 = 8, COPIED0 = 12, DONE0 = 16, KNOWN0 = 32, KIND0 = 40 };
enum { STAND = 20, OUTCOME, VERSION, COMMITTED, BASE, ERA, ALL_DONE, MARK, LATEST, LIVE };
enum { ALONE = 48, FROM_ALONE, COVERED }; /* counts */
enum {
    ABORTED = 1,
    COPIED,
    ROLLBACK
}; /* OUTCOME: how many stands are over; KIND0 + stand % 8: how that one ended */
#define W(i) job.sh->word[i]

static char byte_of(uint64_t key, size_t i) { return (char)(key * 151 + i * 7 + (i >> 8)); }

/* --- the script: one order of all events; each rank does its own --- */

enum event_kind { SEND, RECV, MEET };
struct event {
    enum event_kind kind;
    int s, d, i, tag, any_tag; /* i: number of the message among those from s to d */
    size_t len;
};
static struct event script[MOST];
static int nevents, victim;

struct sent {
    int i, tag;
    size_t len;
};
static struct sent waiting[RANKS][RANKS][MOST];
static int nwaiting[RANKS][RANKS];

static void add_receive(struct ft_prng *r, int s, int d)
{
    struct sent *q = waiting[s][d];
    int any = ft_prng_below(r, 3) == 0, k = 0,
        tag = q[ft_prng_below(r, (uint64_t)nwaiting[s][d])].tag;
    while (!any && q[k].tag != tag)
        k++;
    script[nevents++] = (struct event){RECV, s, d, q[k].i, q[k].tag, any, q[k].len};
    memmove(&q[k], &q[k + 1], (size_t)(--nwaiting[s][d] - k) * sizeof *q);
}

static void write_script(struct ft_prng *r)
{
    static const size_t below[] = {2, 40, 600, 20000, LONGEST};
    int sent[RANKS][RANKS] = {0}, since = 0;
    nevents = 0;
    memset(nwaiting, 0, sizeof nwaiting);
    while (nevents < EVENTS) {
        int s = (int)ft_prng_below(r, RANKS), d = (int)ft_prng_below(r, RANKS);
        uint64_t what = ft_prng_below(r, 100);
        if (what < 4 && ++since > 1) {
            script[nevents++] = (struct event){.kind = MEET};
            since = 0;
        } else if (what < 54) {
            struct sent m = {sent[s][d]++, (int)ft_prng_below(r, TAGS),
                             ft_prng_below(r, below[ft_prng_below(r, 5)])};
            waiting[s][d][nwaiting[s][d]++] = m;
            script[nevents++] = (struct event){SEND, s, d, m.i, m.tag, 0, m.len};
        } else if (nwaiting[s][d]) {
            add_receive(r, s, d);
        }
    }
    for (int s = 0; s < RANKS; s++)
        for (int d = 0; d < RANKS; d++)
            while (nwaiting[s][d])
                add_receive(r, s, d);
    FT_ASSERT(nevents <= MOST);
}

static uint64_t key_of(int s, int d, int i) { return (uint64_t)(s * 8 + d) * 100000 + (uint64_t)i; }

/* --- a rank --- */

struct image {
    uint64_t version, event, bytes;
    char messages[IMAGE];
};
/* [RANKS][2], shared; then two that the victim has taken alone: LATEST is 1 + the one that
 * counts */
static struct image *images;
static struct lone {
    uint64_t base, era, stand_no, position[RANKS];
} * lone; /* [2] */
static struct image *image_of(int rank, uint64_t version)
{
    return &images[2 * rank + (int)(version & 1)];
}

static int me, slots[RANKS];
static uint64_t stand_no, event_no, newest;
static struct ft_prng own_rnd;

/* The latest image if it is later than the committed one, else NULL. */
static const struct lone *latest(void)
{
    uint64_t i = atomic_load(&W(LATEST));
    const struct lone *l = &lone[i ? i - 1 : 0];
    return i && l->base == atomic_load(&W(COMMITTED)) && l->era == atomic_load(&W(ERA)) ? l : NULL;
}

static struct image *image_alone(const struct lone *l)
{
    return &images[2 * RANKS + (int)(l - lone)];
}

/* Only while the victim lives, and nobody reads this log in its place. */
static void drop_covered(void)
{
    const struct lone *l = latest();
    if (me != victim && l && atomic_load(&W(LIVE)) == (uint64_t)slots[victim] + 1 &&
        atomic_load(&ft_msg_committed) == l->base && ft_msg_era() == l->era)
        atomic_fetch_add(&W(COVERED), (uint64_t)ft_msg_covered(victim, l->base, l->position[me]));
}

static void look(void)
{
    for (int i = 0; i < RANKS; i++) {
        int now = (int)atomic_load(&W(SLOT0 + i));
        if (i != me && now != slots[i])
            ft_msg_rebind(i, slots[i] = now);
    }
    if (ft_prng_below(&own_rnd, 4) == 0)
        drop_covered();
    if (me != victim)
        atomic_store(&W(KNOWN0 + me), (uint64_t)slots[victim]);
}

static void send_text(int d, uint32_t ctx, int tag, size_t len, uint64_t key)
{
    static char buf[LONGEST];
    static struct ft_req req;
    for (size_t i = 0; i < len; i++)
        buf[i] = byte_of(key, i);
    if (ft_prng_below(&own_rnd, 2)) {
        ft_msg_send(ctx, d, tag, buf, len);
        return;
    }
    ft_msg_isend(&req, ctx, d, tag, buf, len);
    CHECK(ft_msg_done(&req)); /* there is room */
}

static void receive_text(int s, uint32_t ctx, int tag, int any, size_t len, uint64_t key)
{
    static char buf[LONGEST];
    struct ft_msg_status st;
    int want = any ? FT_ANY_TAG : tag;
    if (me == victim && ft_prng_below(&own_rnd, 2)) {
        ft_msg_recv(ctx, s, want, buf, sizeof buf, &st);
    } else {
        struct ft_req req;
        ft_msg_irecv(&req, ctx, s, want, buf, sizeof buf);
        while (!ft_msg_done(&req)) {
            look();
            ft_msg_progress();
            sched_yield();
        }
        st = req.status;
    }
    CHECK(st.source == s && st.tag == tag && st.bytes == len && st.error == FT_OK);
    for (size_t i = 0; i < len; i++)
        CHECK(buf[i] == byte_of(key, i));
}

/* Each rank has one partner to which its channel is opened in the run only. */
static int talks_in_setup(int s, int d) { return (s + 2 * d) % 3 != 1; }

/* The last message from each rank to each is left for the run. */
static void setup(void)
{
    for (int k = 0; k < SETUP_EACH; k++)
        for (int d = 0; d < RANKS; d++)
            if (talks_in_setup(me, d))
                send_text(d, 9, k, k == 1 ? 70000 : 10, key_of(me, d, 90000 + k));
    for (int k = 0; k < SETUP_EACH - 1; k++)
        for (int s = 0; s < RANKS; s++)
            if (talks_in_setup(s, me))
                receive_text(s, 9, k, 0, k == 1 ? 70000 : 10, key_of(s, me, 90000 + k));
}

static void take_image(uint64_t version)
{
    struct image *im = image_of(me, version);
    im->version = 0;
    im->event = event_no;
    im->bytes = ft_msg_pending_bytes(0);
    CHECK(im->bytes <= IMAGE);
    ft_msg_pending_save(im->messages, 0);
    ft_msg_cut(version, 0);
    im->version = newest = version;
}

/* The others go on meanwhile. This checkpoint is often called off. */
static void take_image_alone(void)
{
    uint64_t was = atomic_load(&W(LATEST));
    struct lone *l = &lone[was == 1];
    struct image *im = image_alone(l);
    if (newest != atomic_load(&W(COMMITTED)) || !ft_msg_settled())
        return;
    im->event = event_no;
    im->bytes = ft_msg_pending_bytes(1);
    CHECK(im->bytes <= IMAGE);
    ft_msg_pending_save(im->messages, 1);
    im->version = newest;
    *l = (struct lone){.base = newest, .era = ft_msg_era(), .stand_no = stand_no};
    for (int i = 0; i < RANKS; i++)
        l->position[i] = ft_msg_position(i);
    if (ft_prng_below(&own_rnd, 3))
        atomic_store(&W(LATEST), (uint64_t)(l - lone) + 1);
    atomic_fetch_add(&W(ALONE), 1);
}

static void await_outcome(uint64_t stand, int or_go)
{
    while (atomic_load(&W(OUTCOME)) <= stand && !(or_go && atomic_load(&W(STAND)) > stand)) {
        look();
        sched_yield();
    }
}

static const struct image *committed_image(void)
{
    uint64_t v = atomic_load(&W(COMMITTED));
    const struct image *im = image_of(me, v);
    CHECK(im->version == v);
    atomic_store(&ft_msg_committed, v);
    event_no = im->event;
    newest = im->version;
    return im;
}

static void meet(void)
{
    uint64_t stand = stand_no++;
    if (atomic_load(&W(OUTCOME)) > stand)
        return; /* long over: this process is a replacement, or it was called off before we came */
    atomic_store(&W(ARRIVED0 + me), stand + 1);
    await_outcome(stand, 1);
    if (atomic_load(&W(OUTCOME)) > stand)
        return;
    atomic_store(&ft_msg_committed, atomic_load(&W(COMMITTED)));
    take_image(atomic_load(&W(VERSION)));
    atomic_store(&W(COPIED0 + me), stand + 1);
    await_outcome(stand, 0);
    if (atomic_load(&W(KIND0 + stand % 8)) == ROLLBACK) {
        const struct image *im = committed_image();
        ft_msg_begin_era((uint32_t)atomic_load(&W(ERA)), FT_KEEP_CUT, im->version, im->messages,
                         im->bytes);
    }
}

static void run(void)
{
    while (event_no < (uint64_t)nevents) {
        if (me == victim && job.self != me && atomic_load(&W(LIVE)) != (uint64_t)job.self + 1 &&
            ft_msg_evidence_passed())
            atomic_store(&W(LIVE), (uint64_t)job.self + 1);
        if (me == victim && atomic_load(&W(LIVE)) == (uint64_t)job.self + 1 &&
            ft_prng_below(&own_rnd, 25) == 0)
            take_image_alone();
        const struct event *e = &script[event_no++];
        atomic_store(&W(STEP0 + me), event_no);
        look();
        if (ft_prng_below(&own_rnd, 4) == 0)
            atomic_store(&ft_msg_committed, atomic_load(&W(COMMITTED)));
        if (e->kind == MEET)
            meet();
        else if (e->kind == SEND && e->s == me)
            send_text(e->d, 7, e->tag, e->len, key_of(me, e->d, e->i));
        else if (e->kind == RECV && e->d == me)
            receive_text(e->s, 7, e->tag, e->any_tag, e->len, key_of(e->s, me, e->i));
    }
    for (int s = 0; s < RANKS; s++)
        if (talks_in_setup(s, me))
            receive_text(s, 9, SETUP_EACH - 1, 0, 10, key_of(s, me, 90000 + SETUP_EACH - 1));
    if (job.self != me)
        while (!ft_msg_evidence_passed())
            sched_yield();
    atomic_store(&W(DONE0 + me), 1);
    while (!atomic_load(&W(ALL_DONE))) {
        look();
        sched_yield();
    }
    look();
    CHECK(ft_msg_pending_bytes(0) == ft_msg_head_bytes()); /* nothing came twice */
    CHECK(!ft_whole_unkept() && ft_whole_others_from() != UINT64_MAX);
}

static char point_spec[80];

static void enter(void)
{
    me = job.self < RANKS ? job.self : victim;
    own_rnd = (struct ft_prng){job.seed * 31 + (uint64_t)job.self};
    for (int i = 0; i < RANKS; i++)
        slots[i] = (int)atomic_load(&W(SLOT0 + i));
    slots[me] = job.self;
    ft_msg_init(&job.tp, RANKS, me, slots, job.self != me);
}

static void arm(void)
{
    if (me == victim)
        CHECK(ft_fp_arm(point_spec, FT_ROLE_RANK, victim, 0) == FT_OK);
}

static void original(void)
{
    job_meet();
    enter();
    setup();
    job_meet();
    take_image(1);
    const struct image *im = committed_image();
    ft_msg_begin_era(FT_ERA_FIRST, FT_KEEP_CUT, 1, im->messages, im->bytes);
    job_meet();
    arm();
    run();
}

static void replacement(void)
{
    atomic_store(&W(SLOT0 + victim), (uint64_t)job.self);
    enter();
    setup();
    CHECK(!ft_msg_evidence_passed()); /* nothing was repeated yet, and much was seen */
    const struct image *im = committed_image();
    stand_no = atomic_load(&W(BASE));
    for (int i = 0; i < RANKS; i++) /* they drop nothing more */
        while (i != me && !atomic_load(&W(DONE0 + i)) &&
               atomic_load(&W(KNOWN0 + i)) != (uint64_t)job.self)
            sched_yield();
    const struct lone *l = latest();
    if (l) {
        im = image_alone(l);
        event_no = im->event;
        stand_no = l->stand_no;
        atomic_fetch_add(&W(FROM_ALONE), 1);
    }
    ft_msg_resume((uint32_t)atomic_load(&W(ERA)), FT_KEEP_CUT, im->version, im->messages,
                  im->bytes);
    CHECK(ft_whole_others_from() == im->version);
    arm();
    run();
}

/* --- the agents --- */

struct agents {
    struct ft_prng r;
    uint64_t stand, pending, pending_base, kill_at;
    uint32_t image_era; /* in which the committed version was taken */
    int slot, rollbacks, deaths;
};
static int all_deaths, after_rollback, in_a_row, taken_alone, from_alone,
    dropped; /* over all jobs: shows that the cases did happen */

static void decide_pending(struct agents *a)
{
    if (a->pending && ft_prng_below(&a->r, 3) > 0) {
        atomic_store(&W(BASE), a->pending_base);
        atomic_store(&W(COMMITTED), a->pending);
        a->image_era = (uint32_t)atomic_load(&W(ERA));
    }
    a->pending = 0;
}

static void set_outcome(struct agents *a, uint64_t kind)
{
    atomic_store(&W(KIND0 + a->stand % 8), kind);
    atomic_store(&W(OUTCOME), ++a->stand);
}

static int all_at(int word, uint64_t v, int without)
{
    for (int i = 0; i < RANKS; i++)
        if (i != without && atomic_load(&W(word + i)) < v)
            return 0;
    return 1;
}

/* All stand, and all know the present carriers. Otherwise a replacement's image could lack messages
 * to its former carrier, or the others' images messages that it has repeated. */
static int all_stand(const struct agents *a)
{
    uint64_t carrier = atomic_load(&W(SLOT0 + victim));
    if (!all_at(ARRIVED0, a->stand + 1, -1))
        return 0;
    for (int i = 0; i < RANKS; i++)
        if (i != victim && atomic_load(&W(KNOWN0 + i)) != carrier)
            return 0;
    return 1;
}

static void decide(struct agents *a)
{
    if (ft_prng_below(&a->r, 300) == 0)
        decide_pending(a);
    if (atomic_load(&W(STAND)) <= a->stand && all_stand(a)) {
        decide_pending(a);
        atomic_store(&W(VERSION), atomic_load(&W(COMMITTED)) + 1);
        atomic_store(&W(STAND), a->stand + 1);
    } else if (atomic_load(&W(STAND)) > a->stand && all_at(COPIED0, a->stand + 1, -1)) {
        if (a->rollbacks < 2 && ft_prng_below(&a->r, 5) == 0) {
            a->rollbacks++;
            atomic_store(&W(BASE), a->stand + 1);
            atomic_fetch_add(&W(ERA), 1);
            set_outcome(a, ROLLBACK);
            return;
        }
        a->pending = atomic_load(&W(VERSION));
        a->pending_base = a->stand + 1;
        set_outcome(a, COPIED);
    }
}

/* How the victim's next carrier dies: at a failpoint, or when it has come so far; perhaps not at
 * all. */
static void next_death(struct agents *a)
{
    static const char *const points[] = {"msg.send.half",  "msg.send.fragment", "msg.send.after",
                                         "msg.recv.match", "msg.recv.copied",   "msg.recv.done"};
    uint64_t p = ft_prng_below(&a->r, 12), hit = 1 + ft_prng_below(&a->r, a->deaths ? 60 : 130);
    point_spec[0] = 0;
    a->kill_at = UINT64_MAX;
    if (a->deaths == 4)
        return;
    if (p < FT_COUNTOF(points))
        snprintf(point_spec, sizeof point_spec, "rank=%d,point=%s,hit=%d", victim, points[p],
                 (int)(p == 1 ? 1 + hit / 2 : hit));
    else
        a->kill_at = ft_prng_below(&a->r, EVENTS);
}

static void died(struct agents *a)
{
    uint64_t v = atomic_load(&W(COMMITTED));
    if (atomic_load(&W(STAND)) > a->stand) { /* the others are copying: let them */
        while (!all_at(COPIED0, a->stand + 1, victim))
            sched_yield();
        set_outcome(a, ABORTED);
    } else if (ft_prng_below(&a->r, 2)) {
        set_outcome(a, ABORTED);
    }
    decide_pending(a);
    all_deaths++;
    after_rollback += a->image_era != atomic_load(&W(ERA)) && atomic_load(&W(ERA)) > FT_ERA_FIRST;
    in_a_row += a->deaths++ > 0 && v == atomic_load(&W(COMMITTED));
    atomic_store(&W(ARRIVED0 + victim), 0);
    atomic_store(&W(COPIED0 + victim), 0);
    atomic_store(&W(STEP0 + victim), 0);
    atomic_store(&W(DONE0 + victim), 0);
    next_death(a);
    a->slot++;
    job_spawn(a->slot, replacement);
}

#define IMAGES ((2 * RANKS + 2) * sizeof *images + 2 * sizeof *lone)

static void one_job(uint64_t seed)
{
    struct agents a = {.r = {seed * 6364136223846793005ull + 5}, .slot = RANKS - 1};
    int carrier = victim = (int)ft_prng_below(&a.r, RANKS), status;
    job.seed = seed;
    write_script(&a.r);
    images = mmap(NULL, IMAGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    assert_true(images != MAP_FAILED);
    lone = (struct lone *)(void *)&images[2 * RANKS + 2];
    job_begin(RANKS + 5, RANKS);
    for (int i = 0; i < RANKS; i++)
        atomic_store(&W(SLOT0 + i), (uint64_t)i);
    atomic_store(&W(COMMITTED), 1);
    atomic_store(&W(ERA), FT_ERA_FIRST);
    atomic_store(&W(LIVE), (uint64_t)victim + 1);
    next_death(&a);
    for (int i = 0; i < RANKS; i++)
        job_spawn(i, original);
    while (!all_at(DONE0, 1, -1)) {
        int now = atomic_load(&W(STEP0 + victim)) > a.kill_at;
        if (now)
            kill(job.pid[carrier], SIGKILL);
        pid_t pid = waitpid(now ? job.pid[carrier] : -1, &status, now ? 0 : WNOHANG);
        if (pid > 0) {
            if (pid != job.pid[carrier] || status != SIGKILL) {
                for (int i = 0; i < job.nslots; i++)
                    job.pid[i] = job.pid[i] == pid ? 0 : job.pid[i];
                break; /* it has said why */
            }
            job.pid[carrier] = 0;
            died(&a);
            carrier = a.slot;
        }
        decide(&a);
        sched_yield();
    }
    int well = all_at(DONE0, 1, -1);
    atomic_store(&W(ALL_DONE), 1);
    for (int i = 0; i < job.nslots && !well; i++)
        if (job.pid[i])
            kill(job.pid[i], SIGKILL);
    if (!well)
        fprintf(stderr, "FTRMA_TEST_SEED=%llu\n", (unsigned long long)seed);
    taken_alone += (int)atomic_load(&W(ALONE));
    from_alone += (int)atomic_load(&W(FROM_ALONE));
    dropped += (int)atomic_load(&W(COVERED));
    job_join();
    munmap(images, IMAGES);
    assert_true(well);
}

static int enough(void)
{
    return all_deaths > 40 && after_rollback > 2 && in_a_row > 5 && from_alone > 10 && dropped > 20;
}

static void replaced_in_the_run(void **state)
{
    uint64_t first = job_seed(1), last = getenv("FTRMA_TEST_SEED") ? first : first + 39;
    (void)state;
    for (uint64_t seed = first; seed <= last; seed++)
        one_job(seed);
    for (uint64_t seed = last + 1; last > first && seed <= last + 120 && !enough();
         seed++) /* the interleaving is chance */
        one_job(seed);
    print_message("deaths %d, after a rollback %d, in a row %d; images taken alone %d, used %d, "
                  "chunks dropped for them %d\n",
                  all_deaths, after_rollback, in_a_row, taken_alone, from_alone, dropped);
    if (last > first)
        assert_true(enough());
}

/* --- single cases --- */

static void send_one(int d, uint64_t i)
{
    static char buf[10000];
    memcpy(buf, &i, sizeof i);
    ft_msg_send(1, d, 0, buf, sizeof buf);
}

static void receive_one(int s, uint64_t i)
{
    static char buf[10000];
    uint64_t got;
    ft_msg_recv(1, s, 0, buf, sizeof buf, NULL);
    memcpy(&got, buf, sizeof got);
    CHECK(got == i);
}

static void enter_two(void)
{
    job_meet();
    ft_msg_init(&job.tp, 2, job.self, (int[]){0, 1}, 0);
    ft_msg_begin_era(FT_ERA_FIRST, FT_KEEP_CUT, 1, NULL, 0);
    atomic_store(&ft_msg_committed, 1);
    job_meet();
}

/* Over the budget nothing is kept, and the program goes on; from the next cut on all is kept
 * again. */
static void over_the_budget(void)
{
    enum { N = 600 };
    enter_two();
    ft_log_budget.limit = 1 << 20;
    for (uint64_t i = 0; i < N; i++)
        job.self == 0 ? send_one(1, i) : receive_one(0, i);
    CHECK(!ft_whole_unkept());
    CHECK(ft_whole_others_from() == (job.self == 0 ? UINT64_MAX : 1));
    CHECK(ft_log_budget.used <= ft_log_budget.limit + 2 * CHUNK);
    job_meet();
    CHECK(ft_msg_pending_bytes(0) == ft_msg_head_bytes());
    job_meet();
    ft_msg_cut(2, 0);
    CHECK(ft_whole_others_from() == (job.self == 0 ? 2 : 1));
    ft_log_budget.limit = 64 << 20;
    for (uint64_t i = 0; i < N; i++)
        job.self == 0 ? send_one(1, i) : receive_one(0, i);
    CHECK(job.self == 1 || ft_log_budget.used > N * 10000ul); /* read, and kept */
    job_meet();
}

/* With a commit from time to time, what is kept stays bounded. */
static void commits_bound_the_log(void)
{
    enter_two();
    for (uint64_t i = 0, version = 2; i < 5000; i++) {
        job.self == 0 ? send_one(1, i) : receive_one(0, i);
        if (i % 100 == 99) {
            job_meet();
            CHECK(ft_msg_pending_bytes(0) == ft_msg_head_bytes());
            job_meet();
            ft_msg_cut(version, 0);
            if (i % 300 != 299) /* else it is called off, and the number is used again */
                atomic_store(&ft_msg_committed, version++);
        }
        CHECK(ft_log_budget.used <= 4 * 1000000 + 4 * CHUNK);
    }
    CHECK(ft_whole_others_from() == 1);
    job_meet();
}

static void two(void **state)
{
    job_seed(1);
    job_begin(2, 2);
    job_spawn(0, *(void (**)(void)) * state);
    job_spawn(1, *(void (**)(void)) * state);
    job_join();
}

/* Rank 1 sends five messages, and rank 0 sees them. Its replacement has passed the evidence with
 * the fifth, not before. */
static void evidence_other(void)
{
    enter_two();
    for (uint64_t i = 0; i < 5; i++)
        receive_one(1, i);
    atomic_store(&W(MARK), 1);
    job_await(MARK, 2);
    ft_msg_rebind(1, 2);
    atomic_store(&W(MARK), 3);
    for (uint64_t i = 5; i < 7; i++)
        receive_one(1, i);
    atomic_store(&W(MARK), 4);
}

static void evidence_lost(void)
{
    enter_two();
    for (uint64_t i = 0; i < 5; i++)
        send_one(0, i);
    job_await(MARK, 1);
    raise(SIGKILL);
}

static void evidence_new(void)
{
    ft_msg_init(&job.tp, 2, 1, (int[]){0, 2}, 1);
    ft_msg_resume(FT_ERA_FIRST, FT_KEEP_CUT, 1, NULL, 0);
    for (uint64_t i = 0; i < 4; i++)
        send_one(0, i);
    CHECK(!ft_msg_evidence_passed()); /* nothing is known yet */
    atomic_store(&W(MARK), 2);
    job_await(MARK, 3);
    CHECK(!ft_msg_evidence_passed());
    send_one(0, 4);
    CHECK(ft_msg_evidence_passed());
    send_one(0, 5);
    send_one(0, 6);
    CHECK(ft_msg_evidence_passed());
    job_await(MARK, 4);
}

static void evidence(void **state)
{
    (void)state;
    job_seed(1);
    job_begin(3, 2);
    job_spawn(0, evidence_other);
    job_spawn(1, evidence_lost);
    assert_int_equal(job_status(1), SIGKILL);
    job_spawn(2, evidence_new);
    job_join();
}

/* Rank 1 sends three words. Its replacement sends something longer in place of the second, which
 * fills the first chunk of its log: the third of its records is the link to the next chunk. */
static int found;
static void find(int rank, const struct ft_mismatch *mismatch)
{
    (void)mismatch;
    found += rank == 1;
}

static void longer_other(void)
{
    uint64_t got;
    enter_two();
    for (int i = 0; i < 3; i++)
        ft_msg_recv(1, 1, 0, &got, sizeof got, NULL);
    ft_msg_diverged = find;
    atomic_store(&W(MARK), 1);
    job_await(MARK, 2);
    ft_msg_rebind(1, 2);
    CHECK(!found);
    ft_msg_progress();
    CHECK(found == 1);
    atomic_store(&W(MARK), 3);
}

static void longer_lost(void)
{
    enter_two();
    for (uint64_t i = 0; i < 3; i++)
        ft_msg_send(1, 0, 0, &i, sizeof i);
    job_await(MARK, 1);
    raise(SIGKILL);
}

static void longer_new(void)
{
    static char page[5000];
    ft_msg_init(&job.tp, 2, 1, (int[]){0, 2}, 1);
    ft_msg_resume(FT_ERA_FIRST, FT_KEEP_CUT, 1, NULL, 0);
    ft_msg_send(1, 0, 0, page, sizeof(uint64_t));
    ft_msg_send(1, 0, 0, page, sizeof page);
    ft_msg_send(1, 0, 0, page, sizeof(uint64_t));
    atomic_store(&W(MARK), 2);
    job_await(MARK, 3);
}

static void a_longer_message_is_another(void **state)
{
    (void)state;
    job_seed(1);
    job_begin(3, 2);
    job_spawn(0, longer_other);
    job_spawn(1, longer_lost);
    assert_int_equal(job_status(1), SIGKILL);
    job_spawn(2, longer_new);
    job_join();
}

#define TWO(body)                                             \
    {                                                         \
#body, two, NULL, NULL, &(void (*[1])(void)) { body } \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO(over_the_budget), TWO(commits_bound_the_log), cmocka_unit_test(evidence),
        cmocka_unit_test(a_longer_message_is_another), cmocka_unit_test(replaced_in_the_run)};
    job.arena_bytes = 1ull << 30;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
