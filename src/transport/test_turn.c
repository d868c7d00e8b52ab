/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_turn.c - main and agent never work at the same time, whoever comes first, and each sees what
 * the other has done.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "transport/test_job.h"
#include "transport/turn.h"

#define CALLS JOB_TIMES(2000000)

static uint64_t state, calls, turns; /* state: plain memory that both change */
static _Atomic int over;

static void *agent(void *arg)
{
    struct ft_prng r = {job.seed + 1};
    (void)arg;
    while (!atomic_load(&over)) {
        if (ft_prng_below(&r, 4) == 0)
            atomic_fetch_or(&ft_attention, FT_ATT_REBIND);
        uint32_t what = ft_turn_take(FT_ATT_REBIND);
        if (!what)
            continue;
        CHECK(what == FT_ATT_REBIND);
        state++;
        turns++;
        ft_turn_give();
        for (uint64_t n = ft_prng_below(&r, 2000); n > 0; n--)
            ft_cpu_relax();
    }
    return NULL;
}

static void attend(void)
{
    ft_turn_await();
    atomic_fetch_and(&ft_attention, ~(uint32_t)FT_ATT_REBIND);
}

static void call(struct ft_prng *r, int depth)
{
    const int was __attribute__((cleanup(ft_unmark_call), unused)) = ft_mark_call();
    if (atomic_load_explicit(&ft_attention, memory_order_relaxed))
        attend();
    state++;
    calls++;
    if (depth < 2 && ft_prng_below(r, 4) == 0)
        call(r, depth + 1);
    state++;
    calls++;
}

static void takes_turns(void)
{
    pthread_t t;
    struct ft_prng r = {job.seed};
    CHECK(ft_wait_init(job.arena.ctl, job_no_attention, 0) == FT_OK);
    atomic_store(&ft_attention, FT_ATT_REBIND);
    CHECK(ft_turn_take(FT_ATT_REBIND) == 0); /* inside at first */
    CHECK(pthread_create(&t, NULL, agent, NULL) == 0);
    ft_leave();
    for (int i = 0; i < CALLS; i++) {
        call(&r, 0);
        for (uint64_t n = ft_prng_below(&r, 8); n > 0; n--)
            ft_cpu_relax();
        if (i % (CALLS / 100) == 0)
            usleep(100); /* longer outside, as the other may not run at the same time */
    }
    atomic_store(&over, 1);
    pthread_join(t, NULL);
    CHECK(state == calls + turns);
    CHECK(turns > 100);
    ft_enter();
    atomic_store(&ft_attention, FT_ATT_REPLAY);
    CHECK(ft_turn_take(FT_ATT_REPLAY) == 0);
    ft_leave();
    CHECK(ft_turn_take(FT_ATT_REBIND) == 0); /* nothing to be done */
    CHECK(ft_turn_take(FT_ATT_REBIND | FT_ATT_REPLAY) == FT_ATT_REPLAY);
    ft_turn_give();
}

static void never_both(void **state_of_test)
{
    (void)state_of_test;
    job_seed(1);
    job_begin(1, 1);
    job_spawn(0, takes_turns);
    job_join();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(never_both)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
