/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_wait.c - sleeping and ringing: no wake-up is lost, whichever side comes first.
 */
#define _GNU_SOURCE
#include "transport/test_job.h"

#define ROUNDS 100000
#define SLEEPY 1000000u /* a waiter with this many polls neither spins nor yields any more */

static struct ft_ctl *other;
static uint64_t slept;

static void wait_for(int word, uint64_t v)
{
    struct ft_waiter w = {.polls = SLEEPY};
    while (atomic_load_explicit(&job.sh->word[word], memory_order_acquire) < v) {
        slept += w.armed;
        ft_wait(&w);
        w.polls = SLEEPY;
    }
    ft_wait_end(&w);
    CHECK(!w.armed);
}

static void publish(int word, uint64_t v)
{
    atomic_store_explicit(&job.sh->word[word], v, memory_order_release);
    ft_tp_shm_ring_ctl(other);
}

/* Each round needs the other process, which waits its turn on a busy machine. Slot 0 decides, and
 * says so before it speaks. */
static int is_last(uint64_t i, uint64_t most, uint64_t begun_ns)
{
    int last = job.self == 0 &&
               (i == most || (i >= 1000 && ft_now_ns() - begun_ns > 30000000000ull));
    if (last)
        atomic_store(&job.sh->word[2], i);
    return last;
}

/* Each sleeps until the other has spoken; a lost wake-up stops both for ever. */
static void ping_pong(void)
{
    CHECK(ft_wait_init(job.arena.ctl, job_no_attention, 0) == FT_OK);
    job_meet();
    other = ft_tp_ctl(&job.tp, 1 - job.self);
    CHECK(other);
    atomic_store(&job.sh->word[2], 0);
    job_meet();
    uint64_t begun_ns = ft_now_ns();
    for (uint64_t i = 1, last = 0; !last; i++)
        if (job.self == 0) {
            last = (uint64_t)is_last(i, ROUNDS, begun_ns);
            publish(0, i);
            wait_for(1, i);
        } else {
            wait_for(0, i);
            last = atomic_load(&job.sh->word[2]) == i;
            publish(1, i);
        }
    job_meet();
    CHECK(atomic_load(&job.arena.ctl->sleeping) == 0);
    CHECK(slept > 0); /* else nothing was tested */
}

/* The same with pauses of random length before speaking, so that the ring comes at any moment of
 * falling asleep. */
static void random_moments(void)
{
    struct ft_prng r = {job.seed + (uint64_t)job.self};
    CHECK(ft_wait_init(job.arena.ctl, job_no_attention, 0) == FT_OK);
    job_meet();
    other = ft_tp_ctl(&job.tp, 1 - job.self);
    CHECK(other);
    atomic_store(&job.sh->word[2], 0);
    job_meet();
    uint64_t begun_ns = ft_now_ns();
    for (uint64_t i = 1, last = 0; !last; i++) {
        last = (uint64_t)is_last(i, ROUNDS / 2, begun_ns);
        for (uint64_t n = ft_prng_below(&r, 400); n > 0; n--)
            ft_cpu_relax();
        publish(job.self, i);
        wait_for(1 - job.self, i);
        if (job.self != 0)
            last = atomic_load(&job.sh->word[2]) == i;
    }
    job_meet();
}

static int attended;
static void attend(void)
{
    attended++;
    atomic_store(&ft_attention, 0);
}

/* What the agent does to a main that sleeps: attention, then the bell. */
static void *agent(void *arg)
{
    (void)arg;
    while (!atomic_load(&ft_wait_asleep))
        sched_yield();
    atomic_store(&ft_attention, 1);
    ft_tp_shm_ring_ctl(job.arena.ctl);
    return NULL;
}

static void attention_wakes_a_sleeper(void)
{
    pthread_t t;
    CHECK(ft_wait_init(job.arena.ctl, attend, 0) == FT_OK);
    CHECK(pthread_create(&t, NULL, agent, NULL) == 0);
    struct ft_waiter w = {.polls = SLEEPY};
    while (!attended)
        ft_wait(&w);
    ft_wait_end(&w);
    pthread_join(t, NULL);
    CHECK(attended == 1 && !atomic_load(&job.arena.ctl->sleeping) && !atomic_load(&ft_wait_asleep));
}

/* Without spinning or yielding: the first call arms the bell, the second sleeps. */
static void patience(void)
{
    pthread_t t;
    int calls = 0;
    struct ft_waiter w = {.patient = 1};
    CHECK(ft_wait_init(job.arena.ctl, attend, 1000) == FT_OK);
    CHECK(pthread_create(&t, NULL, agent, NULL) == 0);
    for (attended = 0; !attended; calls++)
        ft_wait(&w);
    ft_wait_end(&w);
    pthread_join(t, NULL);
    CHECK(calls == 3); /* armed, slept, attended */
}

/* Nobody rings this waiter: it comes back by itself and checks. */
static void *silent(void *arg)
{
    (void)arg;
    while (!atomic_load(&ft_wait_asleep))
        sched_yield();
    atomic_store(&job.sh->word[0], 1);
    return NULL;
}

static void unrung(void)
{
    pthread_t t;
    struct ft_waiter w = FT_WAITER_UNRUNG;
    CHECK(ft_wait_init(job.arena.ctl, job_no_attention, 10) == FT_OK);
    CHECK(pthread_create(&t, NULL, silent, NULL) == 0);
    while (!atomic_load(&job.sh->word[0]))
        ft_wait(&w);
    ft_wait_end(&w);
    pthread_join(t, NULL);
    CHECK(!atomic_load(&job.arena.ctl->sleeping));
}

static void run(void (*body)(void), int n)
{
    job_seed(1);
    job_begin(n, n);
    for (int i = 0; i < n; i++)
        job_spawn(i, body);
    job_join();
}

static void no_wake_up_is_lost(void **state)
{
    (void)state;
    run(ping_pong, 2);
}

static void a_patient_waiter_sleeps_at_once(void **state)
{
    (void)state;
    run(patience, 1);
}

static void no_wake_up_is_lost_at_random_moments(void **state)
{
    (void)state;
    run(random_moments, 2);
}

static void attention(void **state)
{
    (void)state;
    run(attention_wakes_a_sleeper, 1);
}

static void a_waiter_that_nobody_rings(void **state)
{
    (void)state;
    run(unrung, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_wake_up_is_lost),
        cmocka_unit_test(no_wake_up_is_lost_at_random_moments),
        cmocka_unit_test(attention),
        cmocka_unit_test(a_patient_waiter_sleeps_at_once),
        cmocka_unit_test(a_waiter_that_nobody_rings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
