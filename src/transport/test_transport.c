/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_transport.c - the conformance suite: what transport.h promises, over every provider.
 */
#define _GNU_SOURCE
#include "transport/test_job.h"

#include <poll.h>

#include "base/failpoint.h"
#include "transport/share.h"

#define PAGE 4096ul
#define REGION (256ul << 10)
#define REAPED 60 /* word of job.sh: the parent has reaped the dead child */

static const char *const providers[] = {"shm", "fault"};

static char mirrored[4 * PAGE] __attribute__((aligned(4096)));

static const struct ft_tp_ops *ops(void) { return job.tp.ops; }

static void fill(char *p, size_t n, uint64_t seed)
{
    struct ft_prng r = {seed};
    for (size_t i = 0; i < n; i++)
        p[i] = (char)ft_prng_next(&r);
}

/* Waits until the process of a slot has gone; it may still be a zombie. */
static void await_death(int slot)
{
    struct ft_board_slot *b = &job.board->slot[slot];
    while (ft_proc_start_time(atomic_load(&b->pid)) == atomic_load(&b->start_time))
        sched_yield();
}

/* --- attach, map, put, get --- */

static uint64_t publish_region(void)
{
    uint64_t off = ft_arena_alloc(&job.arena, REGION, ft_page_bytes());
    CHECK(off);
    atomic_store(&job.sh->word[job.self], off);
    return off;
}

static void copies(uint64_t mine, uint64_t its)
{
    static const size_t lens[] = {0, 1, 2, 7, 8, 63, 64, 65, PAGE, PAGE + 1, 100000};
    static char src[REGION], back[REGION];
    int peer = 1 - job.self;
    struct ft_prng r = {job.seed + (uint64_t)job.self};
    for (int i = 0; i < 200; i++) {
        size_t len = lens[(size_t)i % FT_COUNTOF(lens)], at = ft_prng_below(&r, REGION - len + 1);
        fill(src, len, (uint64_t)i);
        CHECK(ops()->put(&job.tp, peer, its + at, src, len) == FT_OK);
        CHECK(ops()->get(&job.tp, peer, its + at, back, len) == FT_OK &&
              memcmp(src, back, len) == 0);
    }
    fill(src, REGION, 100 + (uint64_t)job.self);
    CHECK(ops()->put(&job.tp, peer, its, src, REGION) == FT_OK);
    job_meet();
    fill(src, REGION, 100 + (uint64_t)peer);
    CHECK(memcmp(ft_arena_ptr(&job.arena, mine), src, REGION) == 0);
    CHECK(ops()->get(&job.tp, job.self, mine, back, REGION) == FT_OK &&
          memcmp(src, back, REGION) == 0);
    CHECK(ops()->put(&job.tp, job.self, mine, "self", 5) == FT_OK &&
          strcmp(ft_arena_ptr(&job.arena, mine), "self") == 0);
}

static void two_talk(void)
{
    uint64_t mine = publish_region();
    int peer = 1 - job.self;
    job_meet();
    uint64_t its = atomic_load(&job.sh->word[peer]);
    CHECK(ops()->attach(&job.tp, job.self) == FT_OK);
    CHECK(ops()->attach(&job.tp, peer) == FT_OK && ops()->attach(&job.tp, peer) == FT_OK);
    struct ft_ctl *ctl = ft_tp_ctl(&job.tp, peer);
    CHECK(ctl && ctl != job.arena.ctl && ctl->magic == FT_CTL_MAGIC && ctl->slot == (uint32_t)peer);
    CHECK(ft_tp_ctl(&job.tp, job.self) == job.arena.ctl);
    copies(mine, its);
    job_meet();
    char *direct = ops()->map(&job.tp, peer, its, REGION, FT_TP_WINDOW); /* NULL is allowed */
    if (direct) {
        strcpy(direct + 100, "direct");
        ops()->unmap(&job.tp, peer, its, direct, REGION);
    } else {
        CHECK(ops()->put(&job.tp, peer, its + 100, "direct", 7) == FT_OK);
    }
    job_meet();
    CHECK(strcmp(ft_arena_ptr(&job.arena, mine + 100), "direct") == 0);
}

/* --- memory beyond FT_MIRROR --- */

static int mappings(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, "ftrma-arena") != NULL;
    fclose(f);
    return n;
}

static void mirror_talk(void)
{
    uint64_t off;
    int peer = 1 - job.self;
    char one[8] = "abcdefg", back[8];
    memset(mirrored, 'm', sizeof mirrored);
    CHECK(ft_arena_share(&job.arena, mirrored, sizeof mirrored, &off) == FT_OK);
    atomic_store(&job.sh->word[job.self], off);
    job_meet();
    off = atomic_load(&job.sh->word[peer]);
    CHECK(ops()->attach(&job.tp, peer) == FT_OK);
    int before = mappings();
    for (size_t len = 0; len < sizeof one;
         len++) /* at a page's begin, across its end, at the last bytes */
        for (size_t i = 0; i < 3; i++) {
            uint64_t at = off + (i == 0 ? 0 : i == 1 ? PAGE - 3 : sizeof mirrored - len);
            CHECK(ops()->put(&job.tp, peer, at, one, len) == FT_OK);
            CHECK(ops()->get(&job.tp, peer, at, back, len) == FT_OK && memcmp(one, back, len) == 0);
        }
    CHECK(mappings() == before);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t at = off + i * 37, len = 1 + i * 3;
        char *p = ops()->map(&job.tp, peer, at, len, FT_TP_CONTROL);
        CHECK(p && mappings() == before + 1);
        p[0] = (char)i;
        ops()->unmap(&job.tp, peer, at, p, len);
        CHECK(mappings() == before);
    }
    job_meet();
    CHECK(mirrored[99 * 37] == 99 && mirrored[98 * 37] == 98 &&
          mirrored[sizeof mirrored - 1] == 'g');
    CHECK(ops()->map(&job.tp, job.self, FT_MIRROR + (uintptr_t)mirrored, 10, FT_TP_CONTROL) ==
          mirrored);
    ops()->unmap(&job.tp, job.self, FT_MIRROR + (uintptr_t)mirrored, mirrored, 10);
    CHECK(mirrored[1] == 'b' || mirrored[1] == 'm');
    job_meet();
}

/* --- ringing --- */

static void rung(void)
{
    int peer = 1 - job.self;
    job_meet();
    CHECK(ops()->attach(&job.tp, peer) == FT_OK);
    for (uint64_t i = 1; i <= 2000; i++) {
        if (job.self == (int)(i & 1)) {
            atomic_store_explicit(&job.sh->word[0], i, memory_order_release);
            ops()->ring(&job.tp, peer);
            continue;
        }
        struct ft_waiter w = FT_WAITER_INIT;
        while (atomic_load_explicit(&job.sh->word[0], memory_order_acquire) < i) {
            w.polls = 1000000; /* straight to sleep */
            ft_wait(&w);
        }
        ft_wait_end(&w);
    }
    job_meet();
}

/* --- mail --- */

static uint32_t mail_text(char *text, uint64_t i)
{
    struct ft_prng r = {i};
    uint32_t len =
        i % 50 == 0 ? FT_MAIL_BYTES : 1 + (uint32_t)ft_prng_below(&r, i % 3 ? 40 : FT_MAIL_BYTES);
    fill(text, len, i);
    return len;
}

static void take_all(int from, uint64_t count)
{
    char want[FT_MAIL_BYTES], got[FT_MAIL_BYTES];
    for (uint64_t i = 0; i < count; i++) {
        uint32_t len = mail_text(want, i), n;
        for (;;) {
            uint32_t heard = ft_bell_heard(job.board, job.self);
            if ((n = ops()->take(&job.tp, from, got)) != 0)
                break;
            /* its sender rings: nothing is lost between a look and the sleep */
            ft_bell_wait(job.board, job.self, heard, 1000000);
        }
        CHECK(n == len && memcmp(want, got, n) == 0);
    }
    CHECK(ops()->take(&job.tp, from, got) == 0);
}

/* Sends until no mail waits any more: whoever takes one rings. */
static void post_all(void)
{
    for (;;) {
        uint32_t heard = ft_bell_heard(job.board, job.self);
        if (ops()->post(&job.tp) == 0)
            return;
        ft_bell_wait(job.board, job.self, heard, 1000000);
    }
}

static void send_all(int to, uint64_t count)
{
    char text[FT_MAIL_BYTES];
    for (uint64_t i = 0; i < count; i++) {
        uint32_t len = mail_text(text, i);
        enum ft_status st;
        while ((st = ops()->mail(&job.tp, to, text, len)) == FT_ERR_AGAIN)
            post_all();
        CHECK(st == FT_OK);
        memset(text, 0, sizeof text); /* copied */
    }
}

/* Slots 1 and 2 each mail far more to 0 than there is room for; then 0 answers. */
static void mails(void)
{
    job_meet();
    if (job.self == 0) {
        take_all(1, 1000);
        take_all(2, 500);
        send_all(1, 20);
        send_all(2, 33);
        post_all();
    } else {
        send_all(0, job.self == 1 ? 1000 : 500);
        post_all();
        take_all(0, job.self == 1 ? 20 : 33);
    }
    CHECK(ops()->take(&job.tp, job.self, (char[FT_MAIL_BYTES]){0}) == 0);
    job_meet();
}

static void mail_to_the_dead(void)
{
    job_meet();
    if (job.self == 1)
        raise(SIGKILL);
    enum ft_status st = FT_OK;
    CHECK(ops()->attach(&job.tp, 1) == FT_OK || job.self == 0);
    CHECK(ops()->mail(&job.tp, 1, "hello", 6) == FT_OK || job.self == 0);
    await_death(1);
    int n = 0;
    for (; n < 200 && st == FT_OK;
         n++) /* attached, it may look alive: what is sent waits, and nobody waits with it */
        st = ops()->mail(&job.tp, 1, "hello", 6);
    CHECK(st == FT_ERR_DEAD || st == FT_ERR_AGAIN);
    ops()->drop_mails(&job.tp, 1);
    CHECK(ops()->mail(&job.tp, 1, "hello", 6) == FT_ERR_DEAD && ops()->post(&job.tp) == 0);
    ops()->ring(&job.tp, 1); /* no harm */
    CHECK(ops()->take(&job.tp, 1, (char[FT_MAIL_BYTES]){0}) == 0);
}

/* --- the dead --- */

static void attach_the_dead(void)
{
    job_meet();
    if (job.self == 1)
        raise(SIGKILL);
    char c = 0;
    await_death(1);
    for (int i = 0; i < 2; i++) { /* while it is a zombie, and when the parent has waited for it */
        CHECK(ops()->attach(&job.tp, 1) == FT_ERR_DEAD);
        CHECK(ops()->put(&job.tp, 1, 4096, &c, 1) == FT_ERR_DEAD &&
              ops()->get(&job.tp, 1, 4096, &c, 1) == FT_ERR_DEAD);
        CHECK(ft_tp_ctl(&job.tp, 1) == NULL);
        CHECK(ops()->mail(&job.tp, 1, &c, 1) == FT_ERR_DEAD);
        ops()->ring(&job.tp, 1);
        if (i == 0) {
            atomic_store(&job.sh->word[0], 1);
            job_await(REAPED, 1);
        }
    }
    CHECK(ops()->attach(&job.tp, 2) == FT_ERR_DEAD); /* was never there */
}

/* The same for an ordinary user, whom the kernel does not allow to look at what a zombie has open.
 * */
static void attach_the_dead_as_user(void)
{
    if (getuid() == 0) {
        CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
        CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
    }
    attach_the_dead();
}

/* The pid of the dead slot was given to another process, which has another file open under that
 * number. */
static void attach_another_pid(void)
{
    job_meet();
    if (job.self == 1) {
        job_await(0, 1);
        return;
    }
    struct ft_board_slot *b = &job.board->slot[2];
    int empty = memfd_create("empty", 0);
    CHECK(empty >= 0);
    atomic_store(&b->arena_fd, empty); /* a look into it would be a SIGBUS */
    atomic_store(&b->start_time, 1);
    atomic_store(&b->pid, (int32_t)getpid());
    CHECK(ops()->attach(&job.tp, 2) == FT_ERR_DEAD);
    atomic_store(&b->arena_fd, job.board->slot[1].arena_fd); /* an arena, but whose? */
    atomic_store(&b->pid, job.board->slot[1].pid);
    CHECK(ops()->attach(&job.tp, 2) == FT_ERR_DEAD);
    atomic_store(&job.sh->word[0], 1);
}

static void memory_of_the_dead_stays(void)
{
    uint64_t mine = publish_region();
    fill(ft_arena_ptr(&job.arena, mine), REGION, 3);
    job_meet();
    static char got[REGION], want[REGION];
    if (job.self == 1) {
        job_await(10, 1);
        raise(SIGKILL);
    }
    CHECK(ops()->attach(&job.tp, 1) == FT_OK);
    atomic_store(&job.sh->word[10], 1);
    await_death(1);
    fill(want, REGION, 3);
    CHECK(ops()->get(&job.tp, 1, atomic_load(&job.sh->word[1]), got, REGION) == FT_OK);
    CHECK(memcmp(got, want, REGION) == 0);
    CHECK(ops()->put(&job.tp, 1, atomic_load(&job.sh->word[1]), got, 100) == FT_OK);
}

/* A forgotten arena cannot be reached, but addresses in it stay valid until it is given back. After
 * that nothing of it is left. */
static void memory_of_the_dead_is_given_back(void)
{
    job_meet();
    if (job.self == 1) {
        job_await(10, 1);
        raise(SIGKILL);
    }
    int before = mappings();
    struct ft_ctl *ctl = ft_tp_ctl(&job.tp, 1);
    CHECK(ctl && mappings() == before + 1);
    CHECK(ops()->mail(&job.tp, 1, "hail", 5) == FT_OK);
    atomic_store(&job.sh->word[10], 1);
    await_death(1);
    for (int i = 0; i < 2; i++) { /* nothing was forgotten yet; then again what was given back */
        ops()->release(&job.tp);
        CHECK(ctl->magic == FT_CTL_MAGIC);
    }
    ops()->forget(&job.tp, 1);
    char buf[FT_MAIL_BYTES];
    CHECK(ops()->map(&job.tp, 1, 0, sizeof *ctl, FT_TP_CONTROL) == NULL &&
          ops()->attach(&job.tp, 1) == FT_ERR_DEAD);
    CHECK(ops()->mail(&job.tp, 1, "hail", 5) == FT_ERR_DEAD && ops()->take(&job.tp, 1, buf) == 0);
    CHECK(ctl->magic == FT_CTL_MAGIC && mappings() == before + 1);
    ops()->release(&job.tp);
    CHECK(mappings() == before);
    ops()->release(&job.tp);
    ft_arena_check(&job.arena);
}

/* --- a writer that dies --- */

/* Slot 0 is the target; a writer writes round k over round k - 1 for ever. */
static void target(void)
{
    publish_region();
    job_meet();
    job_await(1, 1);
}

static void writer(void)
{
    static uint64_t src[REGION / 8];
    CHECK(ops()->attach(&job.tp, 0) == FT_OK);
    for (uint64_t k = atomic_load(&job.sh->word[3]) + 1;; k++) {
        for (size_t i = 0; i < FT_COUNTOF(src); i++)
            src[i] = k;
        atomic_store(&job.sh->word[3], k);
        CHECK(ops()->put(&job.tp, 0, atomic_load(&job.sh->word[0]) + 64, src, REGION - 128) ==
              FT_OK);
    }
}

/* At any moment each word is of the round being written or of the one before, and nothing beside
 * them was touched. */
static void torn_only_inside(const uint64_t *p, uint64_t k)
{
    for (size_t i = 0; i < 8; i++)
        assert_true(p[i] == 0 && p[REGION / 8 - 8 + i] == 0);
    for (size_t i = 8; i < REGION / 8 - 8; i++)
        assert_true(p[i] == k || p[i] == k - 1 || k <= 1);
}

static void a_killed_writer(void **state)
{
    struct ft_prng r = {job_seed(1)};
    job.provider = *state;
    job_begin(3, 2);
    job_spawn(0, target);
    job_meet();
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)job.pid[0],
             atomic_load(&job.board->slot[0].arena_fd));
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    char *p =
        mmap(NULL, REGION, PROT_READ, MAP_SHARED, fileno(f), (off_t)atomic_load(&job.sh->word[0]));
    assert_true(p != MAP_FAILED);
    for (int i = 0; i < 60; i++) {
        uint64_t rounds = atomic_load(&job.sh->word[3]) + 2 + ft_prng_below(&r, 5);
        job_spawn(1, writer);
        job_await(3, rounds);
        for (uint64_t n = ft_prng_below(&r, 3000); n > 0; n--)
            ft_cpu_relax();
        kill(job.pid[1], SIGKILL);
        assert_int_equal(job_status(1), SIGKILL);
        torn_only_inside((uint64_t *)(void *)p, atomic_load(&job.sh->word[3]));
    }
    munmap(p, REGION);
    fclose(f);
    atomic_store(&job.sh->word[1], 1);
    job_join();
}

/* Only for the fault provider: exactly half of a put is there. */
static void half(void)
{
    static char one[1000];
    uint64_t mine = publish_region();
    memset(ft_arena_ptr(&job.arena, mine), 0, REGION);
    memset(one, 1, sizeof one);
    job_meet();
    if (job.self == 1) {
        CHECK(ft_fp_arm("rank=1,point=transport.put", FT_ROLE_RANK, 1, 0) == FT_OK);
        ops()->put(&job.tp, 0, atomic_load(&job.sh->word[0]), one, sizeof one);
        CHECK(!"it is still alive");
    }
    await_death(1);
    char *p = ft_arena_ptr(&job.arena, mine);
    for (int i = 0; i < 1000; i++)
        CHECK(p[i] == (i < 500));
}

/* --- a process that acts as two slots, as a gateway does --- */

static void put_on_board(int slot, const struct ft_arena *a)
{
    struct ft_board_slot *s = &job.board->slot[slot];
    s->arena_file = a->file;
    atomic_store(&s->arena_fd, a->fd);
    atomic_store(&s->start_time, ft_proc_start_time(getpid()));
    atomic_store(&s->pid, (int32_t)getpid());
}

/* Slots come to the board in any order; the pid is the last that is recorded there. */
static void await_on_board(int slot)
{
    while (!atomic_load(&job.board->slot[slot].pid))
        sched_yield();
}

static void takes_from_both(void)
{
    char text[FT_MAIL_BYTES];
    for (int slot = 1; slot <= 2; slot++) {
        CHECK(ops()->attach(&job.tp, slot) == FT_OK);
        while (ops()->take(&job.tp, slot, text) != 2)
            sched_yield();
        CHECK(text[0] == slot && text[1] == 7);
    }
}

static void acts_as_both(void)
{
    struct ft_arena second;
    struct ft_tp beside, first;
    CHECK(ft_arena_create(&second, 2, job.nslots, job.arena_bytes, "memfd") == FT_OK);
    put_on_board(2, &second);
    await_on_board(0);
    CHECK(ft_tp_open_beside(&beside, &job.tp, &second, 2) == FT_OK);
    char *its = beside.ops->map(&beside, 0, 0, PAGE, FT_TP_LOG);
    CHECK(its && its == (char *)ops()->map(&job.tp, 0, 0, PAGE, FT_TP_LOG)); /* mapped once */
    CHECK(beside.ops->map(&beside, 1, 0, PAGE, FT_TP_LOG) == job.arena.base);
    CHECK(ops()->map(&job.tp, 2, 0, PAGE, FT_TP_LOG) == second.base);
    CHECK(ops()->mail(&job.tp, 0, (char[]){1, 7}, 2) == FT_OK);
    CHECK(beside.ops->mail(&beside, 0, (char[]){2, 7}, 2) == FT_OK);
    job_meet();
    first = job.tp;
    job.tp = beside; /* which stays open, with what both have mapped */
    ft_tp_close(&first);
    CHECK(((const struct ft_ctl *)(void *)its)->magic == FT_CTL_MAGIC);
    CHECK(beside.ops->map(&beside, 0, 0, PAGE, FT_TP_LOG) == its);
}

static void two_in_one(void)
{
    if (job.self == 1) {
        acts_as_both();
        return;
    }
    await_on_board(2);
    takes_from_both();
    job_meet();
}

/* --- the table --- */

struct part {
    void (*body)(void);
    int nslots, n; /* n of them exist */
    int killed;    /* slot that dies, -1: none */
};

static void run(const struct part *t, const char *provider)
{
    job_seed(1);
    job.provider = provider;
    job_begin(t->nslots, t->n);
    for (int i = 0; i < t->n; i++)
        job_spawn(i, t->body);
    if (t->killed >= 0) {
        if (t->body == attach_the_dead || t->body == attach_the_dead_as_user)
            job_await(0, 1);
        assert_int_equal(job_status(t->killed), SIGKILL);
        atomic_store(&job.sh->word[REAPED], 1);
    }
    job_join();
}

#define CONFORMANCE(name, ...) \
    static void conforms_##name(void **state) { run(&(struct part){name, __VA_ARGS__}, *state); }
CONFORMANCE(two_talk, 2, 2, -1)
CONFORMANCE(mirror_talk, 2, 2, -1)
CONFORMANCE(rung, 2, 2, -1)
CONFORMANCE(mails, 3, 3, -1)
CONFORMANCE(mail_to_the_dead, 2, 2, 1)
CONFORMANCE(attach_the_dead, 3, 2, 1)
CONFORMANCE(attach_the_dead_as_user, 3, 2, 1)
CONFORMANCE(attach_another_pid, 3, 2, -1)
CONFORMANCE(memory_of_the_dead_stays, 2, 2, 1)
CONFORMANCE(memory_of_the_dead_is_given_back, 2, 2, 1)

static void fault_stops_in_the_middle(void **state)
{
    (void)state;
    run(&(struct part){half, 2, 2, 1}, "fault");
}

static void one_process_acts_as_two_slots(void **state)
{
    (void)state;
    run(&(struct part){two_in_one, 3, 2, -1}, "shm");
}

static void unknown_providers_are_refused(void **state)
{
    struct ft_tp tp;
    struct ft_arena a;
    struct ft_board *b;
    int fd;
    (void)state;
    assert_int_equal(ft_board_create(1, 0, 0, 0, &b, &fd), FT_OK);
    assert_int_equal(ft_arena_create(&a, 0, 1, 1 << 20, "memfd"), FT_OK);
    assert_int_equal(ft_tp_open(&tp, "carrier pigeon", &a, b, 0), FT_ERR_ARG);
    ft_arena_destroy(&a);
    munmap(b, ft_board_bytes(1));
    close(fd);
}

#define EVERY(i, test)                                           \
    {                                                            \
#test, test, NULL, NULL, (void *)(uintptr_t)providers[i] \
    }
#define OVER(i)                                                                             \
    EVERY(i, conforms_two_talk), EVERY(i, conforms_mirror_talk), EVERY(i, conforms_rung),   \
        EVERY(i, conforms_mails), EVERY(i, conforms_mail_to_the_dead),                      \
        EVERY(i, conforms_attach_the_dead), EVERY(i, conforms_attach_the_dead_as_user),     \
        EVERY(i, conforms_attach_another_pid), EVERY(i, conforms_memory_of_the_dead_stays), \
        EVERY(i, conforms_memory_of_the_dead_is_given_back), EVERY(i, a_killed_writer)

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"unknown_providers_are_refused", unknown_providers_are_refused, NULL, NULL, NULL},
        OVER(0),
        OVER(1),
        {"one_process_acts_as_two_slots", one_process_acts_as_two_slots, NULL, NULL, NULL},
        {"fault_stops_in_the_middle", fault_stops_in_the_middle, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
