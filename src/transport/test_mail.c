/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_mail.c - mails whose receivers do not take them, and more receivers than mailboxes.
 */
#define _GNU_SOURCE
#define JOB_MAX 24
#include "base/failpoint.h"
#include "transport/test_job.h"

struct numbered {
    int from, to, n;
    char more[200];
};

static const struct ft_tp_ops *ops(void) { return job.tp.ops; }

static struct numbered numbered(int from, int to, int n)
{
    struct numbered m = {.from = from, .to = to, .n = n};
    memset(m.more, from * 31 + to * 7 + n, sizeof m.more);
    return m;
}

static enum ft_status mail(int to, int n)
{
    struct numbered m = numbered(job.self, to, n);
    return ops()->mail(&job.tp, to, &m, sizeof m);
}

/* Waits for the next mail from this slot, and checks that it is this one. */
static void expect(int from, int n)
{
    union {
        struct numbered m;
        char room[FT_MAIL_BYTES];
    } in;
    struct numbered want = numbered(from, job.self, n);
    for (;;) {
        uint32_t heard = ft_bell_heard(job.board, job.self), len = ops()->take(&job.tp, from, &in);
        if (len) {
            CHECK(len == sizeof want && memcmp(&in.m, &want, sizeof want) == 0);
            return;
        }
        ft_bell_wait(job.board, job.self, heard, 1000000);
    }
}

static void post_all(void)
{
    for (;;) {
        uint32_t heard = ft_bell_heard(job.board, job.self);
        if (ops()->post(&job.tp) == 0)
            return;
        ft_bell_wait(job.board, job.self, heard, 1000000);
    }
}

/* Slot 1 takes nothing for a while. Slot 0 neither waits nor takes more shared memory, and can
 * still mail to 2; all mails come in order. */
static void stopped(void)
{
    job_meet();
    if (job.self == 0) {
        uint64_t used = job.arena.in_use;
        CHECK(mail(2, 0) == FT_OK);
        int n = 0;
        while (mail(1, n) == FT_OK)
            n++;
        CHECK(n >= 32 && mail(1, n) == FT_ERR_AGAIN && ops()->post(&job.tp) > 0);
        CHECK(job.arena.in_use == used);
        atomic_store(&job.sh->word[1], (uint64_t)n);
        atomic_store(&job.sh->word[0], 1);
        post_all();
    } else {
        job_await(0, 1);
        for (int n = 0; n < (job.self == 1 ? (int)atomic_load(&job.sh->word[1]) : 1); n++)
            expect(0, n);
    }
    job_meet();
}

static int is_even(const void *mail_, const void *newer)
{
    const struct numbered *m = mail_, *than = newer;
    return m->n % 2 == 0 && m->n < than->n;
}

/* Waiting mails can be made void: those in the mailbox come, and of the waiting ones only the odd
 * ones, and all that follow. */
static void recalled(void)
{
    struct numbered newest = numbered(0, 1, 20);
    job_meet();
    if (job.self == 0) {
        for (int n = 0; n < 20; n++)
            CHECK(mail(1, n) == FT_OK);
        int waiting = ops()->post(&job.tp);
        CHECK(waiting > 0 && waiting < 20);
        ops()->recall(&job.tp, 1, is_even, &newest);
        CHECK(mail(1, 20) == FT_OK);
        atomic_store(&job.sh->word[1], (uint64_t)(20 - waiting));
        atomic_store(&job.sh->word[0], 1);
        post_all();
    } else {
        job_await(0, 1);
        int sent = (int)atomic_load(&job.sh->word[1]);
        for (int n = 0; n <= 20; n++)
            if (n < sent || n % 2 || n == 20)
                expect(0, n);
    }
    job_meet();
}

/* There are more receivers than mailboxes. Most of them answer late, one never does. All others get
 * everything, in order. */
static void many(void)
{
    enum { MANY = 20, EACH = 30, NEVER = 3 };
    job_meet();
    if (job.self == 0) {
        uint64_t used = job.arena.in_use;
        for (int n = 0; n < EACH; n++)
            for (int to = 1; to < MANY; to++)
                if (to != NEVER || n < 9) {
                    enum ft_status st;
                    while ((st = mail(to, n)) == FT_ERR_AGAIN)
                        sched_yield(), (void)ops()->post(&job.tp);
                    CHECK(st == FT_OK);
                }
        for (uint64_t all = 0; !all;) {
            uint32_t heard = ft_bell_heard(job.board, job.self);
            int wait = ops()->post(&job.tp);
            all = wait == 1; /* what the one never takes */
            CHECK(wait >= 1);
            if (!all)
                ft_bell_wait(job.board, job.self, heard, 1000000);
        }
        CHECK(job.arena.in_use == used);
        ops()->drop_mails(&job.tp, NEVER);
        CHECK(ops()->post(&job.tp) == 0);
    } else if (job.self != NEVER) {
        for (int n = 0; n < EACH; n++)
            expect(0, n);
    }
    job_meet();
}

/* The sender is lost while mails wait: those in the mailbox come, complete and in order, and then
 * none. */
static void lost(void)
{
    job_meet();
    CHECK(ops()->attach(&job.tp, 0) ==
          FT_OK); /* what the dead had can be read by who had it mapped */
    job_meet();
    if (job.self == 0) {
        ft_fp_arm("rank=0,point=mail.waits", FT_ROLE_RANK, 0, 0);
        for (int n = 0;; n++) {
            atomic_store(&job.sh->word[1], (uint64_t)n); /* at least this many are there */
            CHECK(mail(1, n) == FT_OK && n < 1000);
        }
    }
    job_await(0, 1);
    int n = 0, sent = (int)atomic_load(&job.sh->word[1]);
    CHECK(sent > 0);
    while (n < sent)
        expect(0, n++);
    CHECK(ops()->take(&job.tp, 0, (char[FT_MAIL_BYTES]){0}) == 0);
}

static void a_sender_that_is_lost(void **state)
{
    (void)state;
    job_seed(1);
    job_begin(2, 2);
    job_spawn(0, lost);
    job_spawn(1, lost);
    assert_true(WIFSIGNALED(job_status(0)));
    atomic_store(&job.sh->word[0], 1);
    job_join();
}

static void run(int nslots, void (*body)(void))
{
    job_seed(1);
    job_begin(nslots, nslots);
    for (int i = 0; i < nslots; i++)
        job_spawn(i, body);
    job_join();
}

static void a_receiver_that_takes_nothing(void **state)
{
    (void)state;
    run(3, stopped);
}
static void what_is_void_is_not_sent(void **state)
{
    (void)state;
    run(2, recalled);
}
static void more_receivers_than_mailboxes(void **state)
{
    (void)state;
    run(20, many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receiver_that_takes_nothing),
        cmocka_unit_test(what_is_void_is_not_sent),
        cmocka_unit_test(a_sender_that_is_lost),
        cmocka_unit_test(more_receivers_than_mailboxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
