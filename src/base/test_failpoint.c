/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_failpoint.c - the grammar of FTRMA_INJECT, who is armed, and dying at the chosen hit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/failpoint.h"

static void names_are_unique_and_found(void **state)
{
    (void)state;
    for (int i = 0; i < FT_FP_COUNT; i++) {
        assert_int_equal(ft_fp_find(ft_fp_table[i].name), i);
        assert_true(strlen(ft_fp_table[i].who) > 0);
        assert_int_equal(strspn(ft_fp_table[i].who, "RCSWGKL"), strlen(ft_fp_table[i].who));
        assert_null(strpbrk(ft_fp_table[i].name, ",;= "));
    }
    assert_int_equal(ft_fp_find("no.such.point"), -1);
    assert_int_equal(ft_fp_find("safepoin"), -1);
}

static void good_specs_pass(void **state)
{
    (void)state;
    static const char *const good[] = {
        "",
        " ; ",
        "rank=2,point=safepoint",
        "rank=0,point=safepoint,hit=17,action=stop,again=1",
        "checksum=0,point=ckpt.parity.piece; spare=1,point=rejoin.setup;",
        "point=agree.vote,spare=0,action=kill,again=0",
        "writer=1,point=save.half",
        "node=2,point=safepoint;gateway=0,point=gate.frame,hit=7;keeper=1,point=keeper.ended",
        "node=0,point=gate.frame,action=stop"};
    char err[200];
    for (size_t i = 0; i < FT_COUNTOF(good); i++)
        assert_int_equal(ft_fp_check(good[i], 4, 1, 2, 3, err, sizeof err), FT_OK);
    assert_int_equal(ft_fp_check(NULL, 4, 1, 2, 3, err, sizeof err), FT_OK);
    assert_int_equal(
        ft_fp_check("rank=4095,point=safepoint", -1, -1, -1, -1, err, sizeof err), FT_OK);
}

static void bad_specs_name_the_bad_part(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *said;
    } bad[] = {
        {"rank=2", "point=NAME"},
        {"point=safepoint", "no victim"},
        {"rank=2,point=nowhere",
         "there is no failpoint 'nowhere' ('ftrun --inject list' prints all names)"},
        {"rank=2,point=safepiont", "there is no failpoint 'safepiont'; did you mean safepoint? "
                                   "('ftrun --inject list' prints all names)"},
        {"rank=4,point=safepoint", "ranks in the job: 4, numbered from 0): 'rank=4'"},
        {"checksum=1,point=agree.vote",
         "checksum processes in the job: 1, numbered from 0): 'checksum=1'"},
        {"node=3,point=safepoint", "nodes in the job: 3, numbered from 0): 'node=3'"},
        {"gateway=3,point=gate.frame", "gateways in the job: 3, numbered from 0): 'gateway=3'"},
        {"gateway=0,point=safepoint", "failpoint safepoint is never passed by gateways"},
        {"keeper=0,point=gate.frame", "failpoint gate.frame is never passed by keepers"},
        {"rank=0,point=gate.frame", "failpoint gate.frame is never passed by ranks"},
        {"spare=2,point=agree.vote", "spares in the job: 2, numbered from 0): 'spare=2'"},
        {"rank=x,point=safepoint", "'rank=x'"},
        {"rank=-1,point=safepoint", "'rank=-1'"},
        {"rank=,point=safepoint", "'rank='"},
        {"rank=99999999999,point=safepoint", "'rank=99999999999'"},
        {"rank=1,rank=2,point=safepoint", "second victim"},
        {"rank=1,point=safepoint,hit=0", "'hit=0'"},
        {"rank=1,point=safepoint,action=sleep", "'action=sleep'"},
        {"rank=1,point=safepoint,again=2", "'again=2'"},
        {"rank=1,point=safepoint,when=3", "unknown key"},
        {"rank=1,point=safepoint,", "key=value"},
        {"rank=1,point=safepoint;nonsense", "'nonsense'"},
        {"checksum=0,point=safepoint", "failpoint safepoint is never passed by checksum processes"},
    };
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        char err[300] = "";
        assert_int_equal(ft_fp_check(bad[i].spec, 4, 1, 2, 3, err, sizeof err), FT_ERR_ARG);
        if (!strstr(err, bad[i].said))
            fail_msg("'%s' should be in the message about '%s', which is: %s", bad[i].said,
                     bad[i].spec, err);
    }
    assert_int_equal(ft_fp_check("rank=2", 4, 1, 2, 3, NULL, 0), FT_ERR_ARG);
}

static int armed_points(void)
{
    int n = 0;
    for (int i = 0; i < FT_FP_COUNT; i++)
        n += ft_fp_armed[i] != FT_FP_NONE;
    return n;
}

static void entries_are_counted_as_they_are_written(void **state)
{
    (void)state;
    static const char spec[] = " rank=0,point=park ;; spare=1,point=resume;";
    int len = 0;
    const char *entry = ft_fp_entry(spec, 1, &len);
    assert_non_null(entry);
    assert_int_equal(len, strlen("spare=1,point=resume"));
    assert_memory_equal(entry, "spare=1,point=resume", (size_t)len);
    assert_null(ft_fp_entry(spec, 2, &len));
    assert_null(ft_fp_entry("", 0, &len));
    assert_null(ft_fp_entry(NULL, 0, &len));
}

static void only_the_victim_is_armed(void **state)
{
    (void)state;
    const char *spec =
        "rank=2,point=safepoint;rank=2,point=msg.wait,action=stop;checksum=0,point=agree.vote";
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_RANK, 1, 0), FT_OK);
    assert_int_equal(armed_points(), 0);
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_RANK, 2, 0), FT_OK);
    assert_int_equal(armed_points(), 2);
    assert_int_equal(ft_fp_armed[FT_FP_SAFEPOINT], FT_FP_KILL);
    assert_int_equal(ft_fp_armed[FT_FP_MSG_WAIT], FT_FP_STOP);
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_CHECKSUM, 0, 0), FT_OK);
    assert_int_equal(armed_points(), 1);
    assert_int_equal(ft_fp_armed[FT_FP_AGREE_VOTE], FT_FP_KILL);
    assert_int_equal(ft_fp_arm("garbage", FT_ROLE_RANK, 2, 0), FT_ERR_ARG);
    assert_int_equal(armed_points(), 1); /* left as it was */
    assert_int_equal(ft_fp_arm(NULL, FT_ROLE_RANK, 2, 0), FT_OK);
    assert_int_equal(armed_points(), 0);
}

static void replacements_are_armed_on_request_only(void **state)
{
    (void)state;
    const char *spec =
        "rank=2,point=safepoint;rank=2,point=msg.wait,again=1;spare=1,point=rejoin.setup";
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_SPARE, 0, 0), FT_OK);
    assert_int_equal(armed_points(), 0);
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_RANK, 2, 1), FT_OK); /* spare 0 carries rank 2 */
    assert_int_equal(armed_points(), 1);
    assert_int_equal(ft_fp_armed[FT_FP_MSG_WAIT], FT_FP_KILL);
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_SPARE, 1, 0), FT_OK);
    assert_int_equal(armed_points(), 1);
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_RANK, 3, 1), FT_OK); /* spare 1 keeps its own entry */
    assert_int_equal(armed_points(), 1);
    assert_int_equal(ft_fp_armed[FT_FP_REJOIN_SETUP], FT_FP_KILL);
    assert_int_equal(ft_fp_arm(spec, FT_ROLE_RANK, 3, 0),
                     FT_OK); /* a rank from the start is no spare */
    assert_int_equal(armed_points(), 0);
}

/* What a child leaves that passes SAFEPOINT 10 times under spec. */
struct trail {
    _Atomic uint32_t point;
    _Atomic uint64_t t_ns, entries;
    _Atomic int passed;
};

static void pass_ten(const char *spec, struct trail *trail)
{
    ft_fp_set_last_hit(&trail->point, &trail->t_ns, &trail->entries);
    ft_fp_arm(spec, FT_ROLE_RANK, 0, 0);
    for (int i = 0; i < 10; i++) {
        ft_failpoint(SAFEPOINT);
        atomic_fetch_add(&trail->passed, 1);
    }
    _exit(0);
}

static struct trail *new_trail(void)
{
    struct trail *t =
        mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(t, MAP_FAILED);
    return t;
}

static void kills_at_the_chosen_hit(void **state)
{
    (void)state;
    struct trail *trail = new_trail();
    pid_t pid = fork();
    if (pid == 0)
        pass_ten("rank=0,point=safepoint,hit=7;rank=0,point=safepoint,hit=4", trail);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(trail->passed, 3); /* the earlier entry decides */
    assert_int_equal(trail->point, FT_FP_SAFEPOINT + 1);
    assert_true(trail->t_ns > 0);
    assert_true(trail->entries == FT_FP_ENTRY(1));
    munmap(trail, sizeof *trail);
}

static void a_hit_never_reached_does_nothing(void **state)
{
    (void)state;
    struct trail *trail = new_trail();
    pid_t pid = fork();
    if (pid == 0)
        pass_ten("rank=0,point=safepoint,hit=11", trail);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(trail->passed, 10);
    assert_int_equal(trail->point, 0);
    assert_true(trail->entries == 0);
    munmap(trail, sizeof *trail);
}

static void stop_stops_and_can_be_continued(void **state)
{
    (void)state;
    struct trail *trail = new_trail();
    pid_t pid = fork();
    if (pid == 0)
        pass_ten("rank=0,point=safepoint,hit=2,action=stop", trail);
    int status;
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(trail->passed, 1);
    kill(pid, SIGCONT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(trail->passed, 10);
    munmap(trail, sizeof *trail);
}

static void *passer(void *arg)
{
    struct trail *trail = arg;
    for (int i = 0; i < 1000; i++) {
        ft_failpoint(SAFEPOINT);
        atomic_fetch_add(&trail->passed, 1);
    }
    return NULL;
}

/* No hit is lost between threads: with 4 * 1000 passes, hit 4000 exists. */
static void threads_share_the_count(void **state)
{
    (void)state;
    struct trail *trail = new_trail();
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t[4];
        ft_fp_arm("rank=0,point=safepoint,hit=4000", FT_ROLE_RANK, 0, 0);
        for (int i = 0; i < 4; i++)
            pthread_create(&t[i], NULL, passer, trail);
        for (int i = 0; i < 4; i++)
            pthread_join(t[i], NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    munmap(trail, sizeof *trail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_and_found),
        cmocka_unit_test(good_specs_pass),
        cmocka_unit_test(bad_specs_name_the_bad_part),
        cmocka_unit_test(entries_are_counted_as_they_are_written),
        cmocka_unit_test(only_the_victim_is_armed),
        cmocka_unit_test(replacements_are_armed_on_request_only),
        cmocka_unit_test(kills_at_the_chosen_hit),
        cmocka_unit_test(a_hit_never_reached_does_nothing),
        cmocka_unit_test(stop_stops_and_can_be_continued),
        cmocka_unit_test(threads_share_the_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
