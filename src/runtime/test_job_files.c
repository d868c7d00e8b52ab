/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_job_files.c - what jobs read and write: sets in files and going on from them, records of
 * agents, what a rehearsal keeps, a file of failure domains.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kept.h"
#include "image/image.h"
#include "runtime/ckpt.h"
#include "runtime/mock_job.h"
#include "save/saved.h"

#define RANKS 3
#define JOB 4711

static char dir[64]; /* emptied by the end */

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/ftrma-test-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

static const struct mock_job plain = {.nranks = RANKS, .nchecksums = 1, .nspares = 2, .rounds = 6};

/* --- sets --- */

static void saves(struct ft_board *b)
{
    b->save.every = 2;
    b->save.job = JOB;
    atomic_store(&b->save.held, 1);
}

/* As ftrun's writer does: serves the requested version. Nothing overwrites its images before the
 * request is over. */
static void write_set(const struct ft_board *b)
{
    uint64_t version = atomic_load(&b->save.version);
    FT_ASSERT(atomic_load(&b->save.asked) == 1 && atomic_load(&b->save.ready) == 1);
    FT_ASSERT(version == 2 && atomic_load(&b->save.committed) > version);
    for (int i = 0; i < b->nslots; i++) {
        uint32_t who = atomic_load(&b->slot[i].who);
        struct ft_rt *rt = mock_rt(i);
        char path[120], name[32];
        struct ft_saved_tail tail;
        if (who >> 24 != FT_ROLE_RANK || !rt || atomic_load(&rt->box.generation) > 0)
            continue;
        const struct ft_image *im = ft_ckpt_own(rt, version);
        FT_ASSERT(im);
        ft_saved_name((int)(who & 0xffffff), name, sizeof name);
        snprintf(path, sizeof path, "%s/%s", dir, name);
        int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
        struct ft_saved_head head = {.magic = FT_SAVED_MAGIC,
                                     .format = FT_SAVED_FORMAT,
                                     .nranks = RANKS,
                                     .rank = who & 0xffffff,
                                     .layout = sizeof *im,
                                     .job = JOB,
                                     .version = version,
                                     .bytes = im->bytes};
        FT_ASSERT(fd >= 0 && ft_saved_write(fd, &head, im, &tail, NULL, NULL) == FT_OK);
        close(fd);
    }
}

static void goes_on(struct ft_board *b)
{
    snprintf(b->save.from, sizeof b->save.from, "%s", dir);
    b->save.from_job = JOB;
    b->save.job = JOB + 1;
}

static void from_another_job(struct ft_board *b)
{
    goes_on(b);
    b->save.from_job = JOB + 2;
}

/* Setup sends what it did not send in the saved job. */
static void sends_more(struct mock_rank *me)
{
    if (me->rank == 0)
        mock_send(me, 1, 3, me->s, 8);
    if (me->rank == 1)
        mock_recv(me, 0, 3, &me->s->word[5], 8);
}

static void a_job_goes_on_from_a_set(void **state)
{
    (void)state;
    struct mock_outcome whole, o;
    struct mock_job j = plain;
    j.at_start = saves;
    j.at_end = write_set;
    mock_run(&j, &whole);
    assert_int_equal(whole.state, FT_JOB_DONE);
    assert_true(whole.events[FT_EV_SAVE_PASSED] >
                0); /* the second request: nobody has served one */
    j.at_start = goes_on;
    j.at_end = NULL;
    static const struct mock_death deaths[] = {
        {0},
        {1, 1, FT_FP_RESTART_LOAD, 0},
        {0, 1, FT_FP_RESTART_HALF, 0},
        {2, 1, FT_FP_RESTART_LOADED, 0},
        {1, 1, FT_FP_PARK, 1},
        {1, 2, FT_FP_SAFEPOINT, 0},
        {3, 1, FT_FP_CKPT_PARITY_DONE, 0},
        {0, 1, FT_FP_CKPT_COMMITTED, 0},
    };
    for (size_t i = 0; i < FT_COUNTOF(deaths); i++) {
        j.death[0] = deaths[i];
        mock_run(&j, &o);
        if (o.state != FT_JOB_DONE)
            fail_msg("%s: %s", ft_fp_table[deaths[i].at].name, o.message);
        assert_true(o.deaths == (deaths[i].hit > 0) || deaths[i].may);
        assert_true(o.events[FT_EV_LOADED] >= RANKS);
        assert_int_equal(o.events[FT_EV_RESTARTED], 1);
        for (int r = 0; r < RANKS; r++)
            assert_true(o.rank[r].digest == whole.rank[r].digest);
    }
    memset(j.death, 0, sizeof j.death);
    j.at_start = from_another_job;
    mock_is_lost(&j, FT_REASON_SET_UNUSABLE, &o);
    j.at_start = goes_on;
    j.setup = sends_more;
    mock_is_lost(&j, FT_REASON_SET_UNUSABLE, &o);
    assert_non_null(strstr(o.message, "setup did not repeat itself"));
}

/* --- records --- */

static void agents_leave_records(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    char setting[120], path[100], line[2000];
    snprintf(setting, sizeof setting, "FTRMA_AGENT_LOG=%s/agent.%%s", dir);
    j.setting[0] = setting;
    j.death[0] = (struct mock_death){1, 3, FT_FP_SAFEPOINT, 0};
    mock_survives(&j, &o);
    for (int i = 0; i < RANKS + 3; i++) {
        int events = 0, actions = 0, adopted = 0;
        snprintf(path, sizeof path, "%s/agent.%d", dir, i);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f)) {
            events += line[0] == 'E';
            actions += line[0] == 'A';
            adopted += strstr(line, " BIND 1") != NULL;
        }
        fclose(f);
        assert_true(events > 0 && actions > 0);
        assert_int_equal(adopted, i != 1);
    }
}

/* --- rehearsals --- */

static uint64_t kept_words(const char *kind, int rank, uint64_t *sum)
{
    char path[100];
    uint64_t w, n = 0;
    snprintf(path, sizeof path, "%s/%s.%d%s", dir, kind, rank, *kind == 'm' ? ".0" : "");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (*sum = 0; fread(&w, sizeof w, 1, f) == 1; n++)
        *sum = *sum * 31 + w;
    fclose(f);
    return n;
}

static void a_rehearsal_keeps_memory(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    char setting[120];
    uint64_t sum, again;
    snprintf(setting, sizeof setting, "FTRMA_REHEARSAL=%s", dir);
    j.setting[0] = setting;
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    assert_true(kept_words("memory", 1, &sum) > sizeof(struct mock_state) / 8);
    assert_int_equal(kept_words("hits", 1, &again), sizeof(struct ft_kept_hits) / 8);
    j.setting[1] = "FTRMA_INJECT=rank=1,point=safepoint,hit=3"; /* it says that there is a death */
    j.death[0] = (struct mock_death){1, 3, FT_FP_SAFEPOINT, 0};
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    kept_words("memory", 1, &again);
    assert_true(sum == again);
}

/* --- failure domains --- */

static void write_domains(const char *text, char *setting, size_t size)
{
    char path[100];
    snprintf(path, sizeof path, "%s/domains", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    snprintf(setting, size, "FTRMA_DOMAINS=%s", path);
}

static void groups_are_kept_apart(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = {.nranks = 4, .nchecksums = 2, .nspares = 2, .rounds = 6};
    char setting[120];
    write_domains("level node in rack count 4\nlevel rack count 2\nprocess per 2\n", setting,
                  sizeof setting);
    j.setting[0] = setting;
    j.death[0] = (struct mock_death){MOCK_ANY, 4, FT_FP_SAFEPOINT, 0};
    mock_survives(&j, &o);
    assert_int_equal(o.events[FT_EV_PLACED], 1);
    write_domains("level node count 0\n", setting, sizeof setting);
    memset(j.death, 0, sizeof j.death);
    mock_run(&j, &o);
    for (int i = 0; i < 8; i++)
        assert_true(o.slot[i].fate == MOCK_ENDED && o.slot[i].status == 2);
    snprintf(setting, sizeof setting, "FTRMA_DOMAINS=%s/nothing", dir);
    mock_run(&j, &o);
    assert_true(o.slot[0].fate == MOCK_ENDED && o.slot[0].status == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_goes_on_from_a_set), cmocka_unit_test(agents_leave_records),
        cmocka_unit_test(a_rehearsal_keeps_memory), cmocka_unit_test(groups_are_kept_apart)};
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
