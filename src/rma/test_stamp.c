/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_stamp.c - compares the stamps of logged puts with a model: epochs of two windows to one
 * rank, with no, one or many puts, among values left by combining operations. The same puts,
 * repeated, get the same stamps from the notes.
 */
#define _GNU_SOURCE
#include "alog/log_read.h"
#include "rma/putlog.h"
#include "transport/test_job.h"

enum { STEPS = 4000, RANK = 1 };

struct step {
    int kind; /* 0: put; 1: value left by a combining operation; 2: end of an epoch */
    uint32_t win, bytes, note_bytes;
    uint64_t lo, stamp; /* 0: open to the end */
    char *note;
};
static struct step step[STEPS];

static void draw_steps(void)
{
    struct ft_prng r = {job.seed};
    uint64_t lo = 1, often = 0;
    for (int i = 0; i < STEPS; i++) {
        if (i % 200 == 0) /* how many puts an epoch has */
            often = 1 + ft_prng_below(&r, 6);
        int kind = ft_prng_below(&r, often + 1) == 0 ? 2 : ft_prng_below(&r, 8) == 0;
        lo += ft_prng_below(&r, 3) == 0;
        step[i] = (struct step){.kind = kind,
                                .win = 1 + (uint32_t)ft_prng_below(&r, 2),
                                .bytes = (uint32_t)ft_prng_below(&r, 300),
                                .lo = lo};
    }
}

static void log_step(const struct step *s, uint64_t lo, uint64_t stamp)
{
    struct ft_act *a = ft_putlog_begin(RANK, s->win, s->bytes, lo, s->bytes);
    CHECK(a && a->bytes == s->bytes && atomic_load(&a->stamp) == 0 && a->count == 0 &&
          a->flags == 0);
    memset(a->data, (int)s->win, s->bytes);
    atomic_store(&a->stamp, stamp);
    ft_putlog_publish(RANK, a);
}

/* Gives one stamp to all puts of the window that have none. */
static void close_epoch(int at)
{
    uint64_t before = atomic_load(&job.arena.ctl->stamp), n = 0;
    ft_putlog_note_begin();
    ft_putlog_stamp(RANK, step[at].win, &job.arena.ctl->stamp);
    for (int i = 0; i < at; i++)
        if (step[i].kind == 0 && step[i].win == step[at].win && step[i].stamp == 0) {
            step[i].stamp = before + 1;
            n++;
        }
    CHECK(atomic_load(&job.arena.ctl->stamp) == before + (n > 0));
    const char *note = ft_putlog_note(&step[at].note_bytes);
    CHECK((step[at].note_bytes > 0) == (n > 0));
    step[at].note = malloc(step[at].note_bytes + 1);
    if (step[at].note_bytes)
        memcpy(step[at].note, note, step[at].note_bytes);
}

static void look(enum ft_segment seg)
{
    uint64_t off = atomic_load(&job.arena.ctl->peer[RANK].putlog);
    struct ft_log_reader r;
    struct ft_log_place start = {0, 0, 0};
    CHECK(off && ft_log_read_from(&r, job.arena.base,
                                  (struct ft_log_hdr *)ft_arena_ptr(&job.arena, off) + seg, start));
    for (int i = 0; i < STEPS; i++) {
        if (step[i].kind == 2)
            continue;
        struct ft_act *a = ft_log_read(&r);
        CHECK(a && a->win == step[i].win && a->bytes == step[i].bytes &&
              atomic_load(&a->stamp) == step[i].stamp);
        CHECK(a->call == step[i].lo || step[i].stamp == 0);
    }
    CHECK(!ft_log_read(&r));
}

static void stamps(void)
{
    job_meet();
    ft_log_budget.limit = 1ull << 30;
    ft_putlog_init(&job.tp, 2, 0);
    draw_steps();
    ft_putlog_segment(FT_SEG_RUN, 1);
    for (int i = 0; i < STEPS; i++) {
        if (step[i].kind == 2) {
            close_epoch(i);
            continue;
        }
        if (step[i].kind == 1)
            step[i].stamp = 1 + atomic_fetch_add(&job.arena.ctl->stamp, 1);
        log_step(&step[i], step[i].lo, step[i].stamp);
    }
    look(FT_SEG_RUN);
    ft_putlog_segment(FT_SEG_POST, 1); /* an empty log, for the repetition */
    for (int i = 0; i < STEPS; i++) {
        if (step[i].kind == 2)
            ft_putlog_stamp_again(step[i].win, step[i].note, step[i].note_bytes,
                                  &(struct ft_putlog_differs){0});
        else
            log_step(&step[i], step[i].kind == 1 ? step[i].lo : 0,
                     step[i].kind == 1 ? step[i].stamp : 0);
    }
    look(FT_SEG_POST);
}

static void test_stamps(void **state)
{
    (void)state;
    uint64_t first = job_seed(1), last = getenv("FTRMA_TEST_SEED") ? first : first + 20;
    for (job.seed = first; job.seed <= last; job.seed++) {
        job_begin(1, 1);
        job_spawn(0, stamps);
        job_join();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stamps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
