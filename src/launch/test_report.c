/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_report.c - the report and the timeline made of known events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "launch/json.h"
#include "launch/report.h"

static struct ft_board *b;
static int fd;
static struct ft_report *r;

static int make(void **state)
{
    (void)state;
    if (ft_board_create(2, 1, 1, 0, &b, &fd) != FT_OK || ft_report_create(b, &r) != FT_OK)
        return -1;
    b->t0_ns = 1000000;
    for (int i = 0; i < 2; i++) {
        b->slot[i].pid = (int32_t)getpid();
        b->slot[i].who = FT_WHO(FT_ROLE_RANK, i);
        b->slot[i].safepoints = 10 + (uint64_t)i;
        b->slot[i].mem_bytes = 100 + (uint64_t)i;
        b->slot[i].log_limit = 7;
        b->slot[i].protected_bytes = 50;
        b->slot[i].check_ns = 2500;
        b->slot[i].check_bytes = 70;
        b->slot[i].check_left = 8;
    }
    return 0;
}

static int drop(void **state)
{
    (void)state;
    ft_report_destroy(r);
    munmap(b, ft_board_bytes(b->nslots));
    return close(fd);
}

/* An event at `us` microseconds after the start. */
static void at3(int slot, uint64_t us, uint32_t kind, uint32_t who, uint64_t dur_us, int64_t a,
                int64_t bb, int64_t c)
{
    struct ft_event ev = {.t_ns = b->t0_ns + us * 1000,
                          .kind = kind,
                          .who = who,
                          .dur_ns = dur_us * 1000,
                          .a = a,
                          .b = bb,
                          .c = c};
    ft_board_event(b, slot, 0, &ev);
}
static void at(int slot, uint64_t us, uint32_t kind, uint32_t who, uint64_t dur_us, int64_t a,
               int64_t bb)
{
    at3(slot, us, kind, who, dur_us, a, bb, 0);
}

static char *report(const struct ft_verdict *v)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    ft_report_drain(r);
    ft_report_sort(r);
    ft_report_write(r, v, f);
    fclose(f);
    cJSON *all = cJSON_Parse(text); /* it is valid, and its layout does not matter */
    assert_non_null(all);
    free(text);
    text = cJSON_PrintUnformatted(all);
    cJSON_Delete(all);
    return text;
}

static void holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("%s\nis not in:\n%s", part, text);
}

static const struct ft_verdict ok = {.result = "ok", .status = 0};

static void an_uneventful_run(void **state)
{
    (void)state;
    char *text = report(&ok);
    holds(text, "{\"schema\":1,\"ftrma\":\"" FTRMA_VERSION
                "\",\"result\":\"ok\",\"status\":0,\"message\":\"\",\"reason\":\"\",");
    holds(text, "\"ranks\":2,\"checksums\":1,\"spares\":1,");
    holds(text, "\"failures\":[],");
    holds(text, "\"checkpoints\":[],");
    holds(text, "\"rollbacks\":0,\"told_recoveries\":0,\"local_recoveries\":0,\"rollback_reasons\":"
                "[],\"recoveries\":[],");
    holds(text, "{\"rank\":1,\"beyond_bytes\":101,\"log_limit_bytes\":7,\"protected_bytes\":50,"
                "\"check_us\":2.5,"
                "\"check_bytes\":70,\"check_left_bytes\":8}]");
    holds(text, "\"unprotected\":[],");
    holds(text, "\"safepoints\":[10,11]");
    free(text);
}

static void on_two_nodes(void)
{
    b->nodes.n = 2;
    b->nodes.end[0] = 2;
    b->nodes.end[1] = 4;
    strcpy(b->nodes.name[0], "node0");
    strcpy(b->nodes.name[1], "node1");
}

/* What the gateways have counted on the boards of their nodes. */
static void what_crossed_links(void **state)
{
    (void)state;
    on_two_nodes();
    r->on[0] = b;
    b->link[1].frames = 3;
    b->link[1].of[FT_LINK_IMAGES].items = 4;
    b->link[1].of[FT_LINK_IMAGES].bytes = 500;
    b->link[1].of[FT_LINK_WORDS].bytes = 6;
    b->link[1].timed = 2;
    b->link[1].stage_ns[FT_LINK_WIRE] = 31;
    char *text = report(&ok);
    holds(text,
          "\"links\":[{\"from\":\"node0\",\"to\":\"node1\",\"frames\":3,"
          "\"messages\":{\"items\":0,\"bytes\":0},\"accesses\":{\"items\":0,\"bytes\":0},"
          "\"images\":{\"items\":4,\"bytes\":500},\"votes\":{\"items\":0,\"bytes\":0},"
          "\"orders\":{\"items\":0,\"bytes\":0},\"mails\":{\"items\":0,\"bytes\":0},"
          "\"words\":{\"items\":0,\"bytes\":6},\"timed\":{\"accesses\":2,\"hand_over_ns\":0,"
          "\"wire_ns\":31,\"apply_ns\":0,\"answer_ns\":0}}],"); /* of node1 nothing is known */
    free(text);
}

static void what_was_forgotten(void **state)
{
    (void)state;
    b->slot[1].note[0] = (struct ft_note){.what = "'u' (80 KB, \"heat\".c)", .args = "u, sizeof u"};
    b->slot[1].note[1] = (struct ft_note){.what = "a heap block of 70 KB", .at = 4096};
    b->slot[1].notes = 2;
    char *text = report(&ok);
    holds(text, "\"unprotected\":[{\"rank\":1,\"what\":\"'u' (80 KB, "
                "\\\"heat\\\".c)\",\"args\":\"u, sizeof u\",\"address\":0},"
                "{\"rank\":1,\"what\":\"a heap block of 70 KB\",\"args\":\"\",\"address\":4096}]");
    free(text);
}

static void a_failure_with_a_known_moment(void **state)
{
    (void)state;
    b->slot[1].last_failpoint = FT_FP_SAFEPOINT + 1;
    b->slot[1].failpoint_ns = b->t0_ns + 1000 * 1000;
    at(3, 5000, FT_EV_RESUMED, FT_WHO_NONE, 0, 1, 0);
    at(0, 900, FT_EV_RESUMED, FT_WHO_NONE, 0, 1, 0); /* of an earlier failure */
    at(2, 1200, FT_EV_DETECTED, FT_WHO(FT_ROLE_RANK, 1), 0, 1, 2);
    at(0, 1300, FT_EV_DETECTED, FT_WHO(FT_ROLE_RANK, 1), 0, 1, 0);
    at(2, 1250, FT_EV_FAILED, FT_WHO(FT_ROLE_RANK, 1), 0, 1, 4711);
    at(0, 1350, FT_EV_FAILED, FT_WHO(FT_ROLE_RANK, 1), 0, 1, 4711); /* said twice: one failure */
    at(0, 2000, FT_EV_AGREED, FT_WHO_NONE, 700, 1, 1);
    char *text = report(&ok);
    holds(text, "\"failures\":[{\"who\":\"rank "
                "1\",\"slot\":1,\"node\":\"\",\"pid\":4711,\"failpoint\":\"safepoint\",\"signal\":"
                "\"SIGKILL\","
                "\"when_us\":1000,"
                "\"detected_us\":200,\"agreed_us\":1000,\"resumed_us\":4000}]");
    free(text);
}

/* Slots 2 and 3 are on node1, which is lost after rank 0; slot 3 had ended before that. */
static void a_lost_node_takes_its_processes_along(void **state)
{
    (void)state;
    on_two_nodes();
    b->nodes.out = 2;
    b->nodes.out_ns[1] = b->t0_ns + 2000 * 1000;
    b->slot[2].who = FT_WHO(FT_ROLE_CHECKSUM, 0);
    b->slot[2].pid = 4712;
    b->slot[3].who = FT_WHO(FT_ROLE_SPARE, 0);
    b->slot[3].phase = FT_PHASE_EXITED;
    at(1, 1200, FT_EV_FAILED, FT_WHO(FT_ROLE_RANK, 0), 0, 0, 4711);
    at(1, 6000, FT_EV_RESUMED, FT_WHO_NONE, 0, 1, 0);
    char *text = report(&ok);
    holds(text, "\"failures\":[{\"who\":\"rank 0\",\"slot\":0,\"node\":\"node0\",\"pid\":4711,");
    holds(text, "\"resumed_us\":4800},{\"who\":\"checksum process "
                "0\",\"slot\":2,\"node\":\"node1\",\"pid\":4712,\"failpoint\":\"\",\"signal\":\"\","
                "\"when_us\":2000,\"detected_us\":null,\"agreed_us\":null,\"resumed_us\":4000}]");
    free(text);
}

static void a_failure_out_of_the_blue(void **state)
{
    (void)state;
    at(2, 1200, FT_EV_DETECTED, FT_WHO(FT_ROLE_SPARE, 0), 0, 3, 2);
    at(2, 1200, FT_EV_FAILED, FT_WHO(FT_ROLE_SPARE, 0), 0, 3, 4711);
    at(2, 1400, FT_EV_AGREED, FT_WHO_NONE, 0, 1, 1);
    at(0, 1500, FT_EV_FAILED, FT_WHO(FT_ROLE_SPARE, 0), 0, 99, 0); /* names no slot */
    char *text = report(&ok);
    holds(text, "\"failures\":[{\"who\":\"spare "
                "0\",\"slot\":3,\"node\":\"\",\"pid\":4711,\"failpoint\":\"\",\"signal\":\"\","
                "\"when_us\":1200,\"detected_us\":null,"
                "\"agreed_us\":200,\"resumed_us\":null}]");
    free(text);
}

static void checkpoints_take_the_slowest_of_each_step(void **state)
{
    (void)state;
    for (int version = 2; version >= 1; version--) {
        at(0, 100, FT_EV_CKPT_PAUSE, 0, 15, version, 0);
        at(0, 100, FT_EV_CKPT_COPY, 0, 10, 4096, version);
        at(1, 100, FT_EV_CKPT_COPY, 1, 30, 4096, version);
        at(2, 200, FT_EV_CKPT_PARITY, 2, 70, 4096, version);
    }
    at(0, 300, FT_EV_CKPT_DONE, FT_WHO_NONE, 150, 2, 8192);
    at(0, 400, FT_EV_CKPT_DONE, FT_WHO_NONE, 250, 1, 8193);
    at(0, 500, FT_EV_CKPT_COPY, 0, 99, 4096, 3); /* never committed */
    char *text = report(&ok);
    holds(text, "\"checkpoints\":[{\"version\":1,\"bytes\":8193,\"copy_us\":30,\"parity_us\":70,"
                "\"pause_us\":15,"
                "\"held_us\":0,\"total_us\":250},{\"version\":2,\"bytes\":8192,");
    assert_null(strstr(text, "\"version\":3"));
    free(text);
}

static void local_recoveries(void **state)
{
    (void)state;
    const uint32_t one = FT_WHO(FT_ROLE_RANK, 1), zero = FT_WHO(FT_ROLE_RANK, 0);
    at(3, 900, FT_EV_RESTORED, one, 7, 4096, 1); /* of an earlier rollback */
    at(2, 1000, FT_EV_DETECTED, one, 0, 1, 2);
    at(2, 1000, FT_EV_FAILED, one, 0, 1, 4711);
    at(0, 1100, FT_EV_LOCAL, one, 0, 3, 0);
    at(0, 1300, FT_EV_RESTORED, zero, 5, 4096, 3);
    at(3, 1400, FT_EV_RESTORED, one, 40, 4096, 3);
    at(0, 1500, FT_EV_RESUMED, FT_WHO_NONE, 0, 3,
       0); /* hardly possible, but then it is the first */
    at3(3, 1900, FT_EV_LIVE, one, 500, 12, 11, 8192);
    at(0, 2000, FT_EV_LOCAL, zero, 0, 4, 0); /* never live again: another loss, all go back */
    at(0, 2100, FT_EV_LOCAL, one, 0, 4, 0);
    at3(2, 2600, FT_EV_LIVE, one, 50, 2, 1, 64);
    char *text = report(&ok);
    holds(text, "\"local_recoveries\":2,");
    holds(text, "\"recoveries\":[{\"rank\":1,\"checkpoint\":3,\"restore_us\":40,\"replay_us\":500,"
                "\"live_us\":800,"
                "\"records_fetched\":12,\"records_replayed\":11,\"bytes\":8192},");
    holds(text,
          "{\"rank\":0,\"checkpoint\":4,\"restore_us\":null,\"replay_us\":null,\"live_us\":null,"
          "\"records_fetched\":0,\"records_replayed\":0,\"bytes\":0},");
    holds(text, "{\"rank\":1,\"checkpoint\":4,\"restore_us\":null,\"replay_us\":50,\"live_us\":500,"
                "\"records_fetched\":2,\"records_replayed\":1,\"bytes\":64}],");
    holds(text, "\"resumed_us\":500}]");
    free(text);
}

static void live_again_is_resumed(void **state)
{
    (void)state;
    const uint32_t one = FT_WHO(FT_ROLE_RANK, 1);
    at(2, 1000, FT_EV_DETECTED, one, 0, 1, 2);
    at(2, 1000, FT_EV_FAILED, one, 0, 1, 4711);
    at3(3, 1200, FT_EV_LIVE, FT_WHO(FT_ROLE_RANK, 0), 1, 0, 0, 0); /* another's */
    at3(3, 1900, FT_EV_LIVE, one, 500, 12, 11, 8192);
    at(0, 5000, FT_EV_RESUMED, FT_WHO_NONE, 0, 3, 0); /* of a later failure */
    char *text = report(&ok);
    holds(text, "\"resumed_us\":900}]");
    free(text);
}

static void reasons_of_rollbacks(void **state)
{
    (void)state;
    b->rollbacks = 3;
    at(0, 300, FT_EV_FALLBACK, FT_WHO_NONE, 0, FT_FALLBACK_SEVERAL, 0);
    at(1, 200, FT_EV_FALLBACK, FT_WHO_NONE, 0, FT_FALLBACK_EXPOSED, 0);
    at(1, 400, FT_EV_FALLBACK, FT_WHO_NONE, 0, 99, 0);
    at3(3, 2700, FT_EV_EXPOSED, FT_WHO(FT_ROLE_RANK, 1), 70, 5, 0, 0);
    at3(3, 2800, FT_EV_EXPOSED, FT_WHO(FT_ROLE_RANK, 1), 30, 6, 0, 0);
    char *text = report(&ok), line[200];
    holds(text, "\"rollbacks\":3,\"told_recoveries\":0,\"local_recoveries\":0,\"rollback_reasons\":"
                "[{\"why\":\"exposed\","
                "\"when_us\":200},"
                "{\"why\":\"several ranks lost\",\"when_us\":300},{\"why\":\"unknown "
                "reason\",\"when_us\":400}],");
    holds(text, "\"exposed_us\":[0,100]");
    free(text);
    struct ft_event ev = {.t_ns = b->t0_ns, .kind = FT_EV_FALLBACK, .a = FT_FALLBACK_EXPOSED};
    ft_event_format(b, &ev, line, sizeof line);
    holds(line, "fallback: global rollback: exposed");
}

static void safepoints_of_all_carriers(void **state)
{
    (void)state;
    b->slot[3].pid = (int32_t)getpid();
    b->slot[3].who = FT_WHO(FT_ROLE_RANK, 1);
    b->slot[3].incarnation = 1;
    b->slot[3].safepoints = 5;
    b->slot[2].who = FT_WHO(FT_ROLE_CHECKSUM, 1);
    b->slot[2].safepoints = 100;
    char *text = report(&ok);
    holds(text, "\"safepoints\":[10,16]");
    free(text);
}

static void messages_cannot_break_the_file(void **state)
{
    (void)state;
    struct ft_verdict v = {.result = "lost", .status = 75};
    strcpy(v.message, "a \"b\" \\ \n\xc3\xa4\xc3");
    char *text = report(&v);
    holds(text, "\"message\":\"a \\\"b\\\" \\\\ \\n\xc3\xa4\\\\xc3\"");
    free(text);
}

static void only_utf8_stays(void **state)
{
    (void)state;
    static const char *const text[][2] = {
        {"plain", "plain"},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xe4 \xff", "\\xe4 \\xff"},                            /* Latin-1 */
        {"\xe2\x82", "\\xe2\\x82"},                              /* cut off */
        {"\xc0\xaf \xe0\x80\xaf", "\\xc0\\xaf \\xe0\\x80\\xaf"}, /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                     /* half of a pair */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},            /* too large */
    };
    for (size_t i = 0; i < FT_COUNTOF(text); i++) {
        char *utf8 = ft_utf8(text[i][0]);
        assert_string_equal(utf8, text[i][1]);
        free(utf8);
    }
}

static void drained_once_and_counted_when_lost(void **state)
{
    (void)state;
    for (int i = 0; i < FT_EVENT_RING + 9; i++)
        at(1, (uint64_t)i, FT_EV_PARKED, 0, 0, i, 0);
    ft_report_drain(r);
    ft_report_drain(r);
    assert_int_equal(r->count + r->lost, FT_EVENT_RING + 9);
    assert_true(r->lost > 0 && r->lost <= 10);
}

static char *trace(void)
{
    char *text = NULL;
    size_t size;
    ft_report_drain(r);
    ft_report_sort(r);
    FILE *f = open_memstream(&text, &size);
    ft_report_write_trace(r, f);
    fclose(f);
    return text;
}

static void the_timeline(void **state)
{
    (void)state;
    b->slot[3].pid = (int32_t)getpid();
    b->slot[3].at_first = FT_WHO(FT_ROLE_SPARE, 0);
    b->slot[3].who = FT_WHO(FT_ROLE_RANK, 1);
    at(0, 400, FT_EV_CKPT_COPY, FT_WHO(FT_ROLE_RANK, 0), 100, 4096, 1);
    at(0, 450, FT_EV_FAILED, FT_WHO(FT_ROLE_RANK, 1), 0, 1, 77);
    at(2, 460, FT_EV_FAILED, FT_WHO(FT_ROLE_RANK, 1), 0, 1,
       77); /* another process has noticed it as well */
    at(0, 470, FT_EV_REPLACED, FT_WHO(FT_ROLE_RANK, 1), 0, 3, 1);
    char *text = trace();
    holds(text, "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":"
                "\"slot 0: rank 0\"}}");
    holds(text, "\"name\":\"slot 3: spare 0, then rank 1\"");
    holds(text,
          "{\"ph\":\"X\",\"name\":\"checkpoint.copy\",\"pid\":1,\"tid\":1,\"cat\":\"event\",\"ts\":"
          "300,\"dur\":100,"
          "\"args\":{\"what\":\"rank 0 copied 4096 bytes for checkpoint 1 in 100.00 us\"}},\n");
    holds(text, "{\"ph\":\"X\",\"name\":\"rank "
                "1\",\"pid\":2,\"tid\":1,\"cat\":\"role\",\"ts\":0,\"dur\":450}");
    holds(text, "{\"ph\":\"X\",\"name\":\"spare "
                "0\",\"pid\":4,\"tid\":1,\"cat\":\"role\",\"ts\":0,\"dur\":470}");
    char *failure = strstr(
        text,
        "{\"ph\":\"i\",\"name\":\"failure\",\"pid\":2,\"tid\":1,\"cat\":\"event\",\"ts\":450,");
    assert_non_null(failure);
    assert_null(strstr(strchr(failure, '}'), "\"failure\""));
    holds(
        text,
        "{\"ph\":\"i\",\"name\":\"replacement\",\"pid\":4,\"tid\":1,\"cat\":\"event\",\"ts\":470,");
    free(text);
}

/* As above: slot 2 is lost with its node, and slot 3 had ended. Slot 1 was lost alone. */
static void the_timeline_of_a_lost_node(void **state)
{
    (void)state;
    on_two_nodes();
    b->nodes.out = 2;
    b->nodes.out_ns[1] = b->t0_ns + 2000 * 1000;
    b->slot[2].who = FT_WHO(FT_ROLE_CHECKSUM, 0);
    b->slot[2].pid = 4712;
    b->slot[3].who = FT_WHO(FT_ROLE_SPARE, 0);
    b->slot[3].pid = 4713;
    b->slot[3].phase = FT_PHASE_EXITED;
    at(0, 1200, FT_EV_FAILED, FT_WHO(FT_ROLE_RANK, 1), 0, 1, 4711);
    at(0, 6000, FT_EV_RESUMED, FT_WHO_NONE, 1000, 1, 0);
    char *text = trace();
    holds(text, "{\"ph\":\"i\",\"name\":\"failure\",\"pid\":2,\"tid\":1,\"cat\":\"event\",\"ts\":1200,");
    holds(text, "{\"ph\":\"i\",\"name\":\"failure\",\"pid\":3,\"tid\":1,\"cat\":\"event\",\"ts\":2000,"
                "\"s\":\"p\",\"args\":{\"what\":\"checksum process 0 failed (slot 2, pid 4712)\"}}");
    holds(text, "\"name\":\"checksum process 0\",\"pid\":3,\"tid\":1,\"cat\":\"role\",\"ts\":0,\"dur\":2000}");
    holds(text, "\"name\":\"spare 0\",\"pid\":4,\"tid\":1,\"cat\":\"role\",\"ts\":0,\"dur\":6000}");
    char *third = strstr(text, "\"failure\"");
    third = strstr(strstr(third + 1, "\"failure\"") + 1, "\"failure\"");
    assert_null(third);
    free(text);
}

static void spans_that_cross_are_asynchronous(void **state)
{
    (void)state;
    at(0, 400, FT_EV_CKPT_COPY, FT_WHO(FT_ROLE_RANK, 0), 100, 4096, 1); /* 300 to 400 */
    at(0, 450, FT_EV_RESTORED, FT_WHO(FT_ROLE_RANK, 0), 100, 4096, 1);  /* 350 to 450 */
    at(0, 390, FT_EV_REBUILT, FT_WHO(FT_ROLE_RANK, 0), 80, 4096, 0);    /* 310 to 390 */
    at(1, 420, FT_EV_RESTORED, FT_WHO(FT_ROLE_RANK, 1), 100, 4096, 1);  /* of another process */
    struct ft_event save = {.t_ns = b->t0_ns + 900000,
                            .dur_ns = 800000,
                            .kind = FT_EV_SAVED,
                            .who = FT_WHO_NONE,
                            .a = 1};
    ft_report_add(r, &save); /* of ftrun itself */
    char *text = trace();
    holds(text, "\"pid\":5,\"tid\":1,\"args\":{\"name\":\"ftrun\"}}");
    holds(text, "{\"ph\":\"X\",\"name\":\"save\",\"pid\":5,\"tid\":1,\"cat\":\"event\",\"ts\":100,"
                "\"dur\":800,");
    holds(text, "{\"ph\":\"X\",\"name\":\"checkpoint.copy\",\"pid\":1,");
    holds(text, "{\"ph\":\"X\",\"name\":\"rebuilt\",\"pid\":1,");
    holds(text, "{\"ph\":\"b\",\"name\":\"restore\",\"pid\":1,\"tid\":1,\"cat\":\"event\",\"ts\":"
                "350,\"id\":1,");
    holds(text, "{\"ph\":\"e\",\"name\":\"restore\",\"pid\":1,\"tid\":1,\"cat\":\"event\",\"ts\":"
                "450,\"id\":1}");
    holds(text, "{\"ph\":\"X\",\"name\":\"restore\",\"pid\":2,");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_uneventful_run, make, drop),
        cmocka_unit_test_setup_teardown(what_crossed_links, make, drop),
        cmocka_unit_test_setup_teardown(what_was_forgotten, make, drop),
        cmocka_unit_test_setup_teardown(a_failure_with_a_known_moment, make, drop),
        cmocka_unit_test_setup_teardown(a_lost_node_takes_its_processes_along, make, drop),
        cmocka_unit_test_setup_teardown(the_timeline_of_a_lost_node, make, drop),
        cmocka_unit_test_setup_teardown(a_failure_out_of_the_blue, make, drop),
        cmocka_unit_test_setup_teardown(checkpoints_take_the_slowest_of_each_step, make, drop),
        cmocka_unit_test_setup_teardown(local_recoveries, make, drop),
        cmocka_unit_test_setup_teardown(live_again_is_resumed, make, drop),
        cmocka_unit_test_setup_teardown(reasons_of_rollbacks, make, drop),
        cmocka_unit_test_setup_teardown(safepoints_of_all_carriers, make, drop),
        cmocka_unit_test_setup_teardown(messages_cannot_break_the_file, make, drop),
        cmocka_unit_test(only_utf8_stays),
        cmocka_unit_test_setup_teardown(drained_once_and_counted_when_lost, make, drop),
        cmocka_unit_test_setup_teardown(the_timeline, make, drop),
        cmocka_unit_test_setup_teardown(spans_that_cross_are_asynchronous, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
