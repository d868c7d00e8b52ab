/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_held.c - messages that hold up a log without room: one of which only a part has come, and
 * synchronous ones.
 */
#define _GNU_SOURCE
#include "alog/chan.h"
#include "base/event.h"
#include "base/failpoint.h"
#include "msg/channels.h"
#include "transport/test_job.h"

#define LONG (300ul << 10) /* more than the log holds */
#define PIECE (50ul << 10)
#define CHUNK (64ul << 10)
#define LIMIT (2 * CHUNK)

enum { MARK };
enum { FIRST = 1, LATER };

static char text[LONG], got[LONG];

static char byte_of(uint64_t key, size_t i) { return (char)(key * 151 + i * 7 + (i >> 8)); }

static void write_text(char *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        p[i] = byte_of(key, i);
}

static void receive_text(int s, int tag, size_t n, uint64_t key)
{
    struct ft_msg_status st;
    memset(got, 0, n);
    ft_msg_recv(1, s, tag, got, n, &st);
    CHECK(st.bytes == n && st.error == FT_OK);
    for (size_t i = 0; i < n; i++)
        CHECK(got[i] == byte_of(key, i));
}

static void enter(enum ft_keep keep)
{
    job_meet();
    ft_msg_init(&job.tp, 2, job.self, (int[]){0, 1}, 0);
    if (keep != FT_KEEP_ALL)
        ft_msg_begin_era(FT_ERA_FIRST, keep, 1, NULL, 0);
    atomic_store(&ft_msg_committed, 1);
    ft_log_budget.limit = LIMIT;
    job_meet();
}

/* What comes after a long message is received before it. */
static void after_a_long_one(enum ft_keep keep, int synchronous)
{
    struct ft_req first, later;
    int word = 5;
    enter(keep);
    if (job.self == 0) {
        write_text(text, LONG, 1);
        (synchronous ? ft_msg_issend : ft_msg_isend)(&first, 1, 1, FIRST, text, LONG);
        CHECK(!ft_msg_done(&first));
        ft_msg_isend(&later, 1, 1, LATER, &word, sizeof word);
        ft_msg_wait(&later);
        CHECK(ft_msg_done(&first) == !synchronous);
        job_meet();
        ft_msg_wait(&first);
        CHECK(synchronous || ft_log_budget.used <= LIMIT + 2 * CHUNK);
    } else {
        ft_msg_recv(1, 0, LATER, &word, sizeof word, NULL);
        CHECK(word == 5);
        job_meet();
        receive_text(0, FIRST, LONG, 1);
    }
    job_meet();
}

static void long_in_setup(void) { after_a_long_one(FT_KEEP_ALL, 0); }
static void long_in_run(void) { after_a_long_one(FT_KEEP_CUT, 0); }
static void long_without_logs(void) { after_a_long_one(FT_KEEP_NONE, 0); }
static void long_synchronous(void) { after_a_long_one(FT_KEEP_CUT, 1); }

/* The log goes over its limit for what its reader has read, and for nothing else. */
static void after_a_synchronous_one(void)
{
    enum { N = 20 };
    static struct ft_req later[N];
    struct ft_req first;
    int word = 5;
    enter(FT_KEEP_NONE);
    if (job.self == 0) {
        ft_msg_issend(&first, 1, 1, FIRST, &word, sizeof word);
        write_text(text, PIECE, 1);
        for (int i = 0; i < N; i++)
            ft_msg_isend(&later[i], 1, 1, LATER, text, PIECE);
        for (int i = 0; i < 1000; i++)
            ft_msg_progress();
        CHECK(ft_log_budget.used <= LIMIT + 2 * CHUNK);
        job_meet();
        for (int i = 0; i < N; i++)
            ft_msg_wait(&later[i]);
        CHECK(!ft_msg_done(&first));
        job_meet();
        ft_msg_wait(&first);
        for (int i = 0; i < N; i++) /* now all of it can be released */
            ft_msg_send(1, 1, LATER, text, PIECE);
        CHECK(ft_log_budget.used <= LIMIT + 2 * CHUNK);
    } else {
        job_meet();
        for (int i = 0; i < N; i++)
            receive_text(0, LATER, PIECE, 1);
        job_meet();
        ft_msg_recv(1, 0, FIRST, &word, sizeof word, NULL);
        for (int i = 0; i < N; i++)
            receive_text(0, LATER, PIECE, 1);
    }
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

/* --- [A synchronous message comes after an image was found possible, and before its size is
 * known.] --- */

static void between_two_looks(void)
{
    struct ft_req first;
    int word = 3;
    enter(FT_KEEP_CUT);
    if (job.self == 0) {
        job_meet();
        ft_msg_issend(&first, 1, 1, FIRST, &word, sizeof word);
        job_meet();
        ft_msg_wait(&first);
    } else {
        CHECK(ft_msg_settled());
        job_meet();
        job_meet();
        CHECK(ft_msg_pending_bytes(1) > ft_msg_head_bytes() + sizeof word); /* it would be in it */
        CHECK(!ft_msg_was_settled());
        ft_msg_recv(1, 0, FIRST, &word, sizeof word, NULL);
        CHECK(word == 3 && ft_msg_settled());
    }
    job_meet();
}

/* --- [Rank 0 has copied what had come of a message, and released it. The rest comes, rank 1 takes
 * an image alone, and is lost: the log of its replacement begins inside the message.] --- */

static struct image {
    size_t bytes;
    char messages[2 * LONG];
} * image; /* shared */

static void inside_other(void)
{
    struct ft_req later;
    int word = 0;
    enter(FT_KEEP_CUT);
    ft_msg_irecv(&later, 1, 1, LATER, &word, sizeof word);
    job_await(MARK, 1);
    ft_msg_progress();
    CHECK(!ft_msg_settled());
    atomic_store(&job.sh->word[MARK], 2);
    job_await(MARK, 3);
    ft_msg_rebind(1, 2);
    atomic_store(&job.sh->word[MARK], 4);
    ft_msg_wait(&later);
    CHECK(word == 5);
    receive_text(1, FIRST, LONG, 1);
    CHECK(ft_msg_pending_bytes(0) == ft_msg_head_bytes());
    atomic_store(&job.sh->word[MARK], 5);
}

static void inside_lost(void)
{
    struct ft_req first, later;
    int word = 5;
    enter(FT_KEEP_CUT);
    write_text(text, LONG, 1);
    ft_msg_isend(&first, 1, 0, FIRST, text, LONG);
    ft_msg_isend(&later, 1, 0, LATER, &word, sizeof word);
    CHECK(!ft_msg_done(&first));
    atomic_store(&job.sh->word[MARK], 1);
    job_await(MARK, 2);
    ft_log_budget.limit = 64 << 20;
    ft_msg_wait(&later);
    CHECK(ft_msg_done(&first) && ft_msg_settled());
    image->bytes = ft_msg_pending_bytes(1);
    CHECK(image->bytes > LONG / 2 && image->bytes < LONG);
    ft_msg_pending_save(image->messages, 1);
    raise(SIGKILL);
}

static void inside_new(void)
{
    ft_msg_init(&job.tp, 2, 1, (int[]){0, 2}, 1);
    ft_msg_resume(FT_ERA_FIRST, FT_KEEP_CUT, 1, image->messages, image->bytes);
    atomic_store(&job.sh->word[MARK], 3);
    job_await(MARK, 5);
    CHECK(ft_msg_evidence_passed());
}

static void a_log_begins_inside(void **state)
{
    (void)state;
    job_seed(1);
    image = mmap(NULL, sizeof *image, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(image != MAP_FAILED);
    job_begin(3, 2);
    job_spawn(0, inside_other);
    job_spawn(1, inside_lost);
    assert_int_equal(job_status(1), SIGKILL);
    job_spawn(2, inside_new);
    job_join();
    munmap(image, sizeof *image);
}

/* The same, where the sender was stopped between the link at a chunk's end and what follows it: the
 * log of its replacement begins right after the link. */
static int is_stopped(int pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    CHECK(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1);
    fclose(f);
    return state == 'T';
}

static void link_other(void)
{
    struct ft_req first;
    int word = 0;
    memset(got, 0, sizeof got);
    enter(FT_KEEP_CUT);
    int pid = (int)atomic_load(&job.board->slot[1].pid);
    ft_msg_irecv(&first, 1, 1, FIRST, got, LONG);
    job_await(MARK, 1);
    while (!is_stopped(pid))
        sched_yield();
    ft_msg_progress();
    CHECK(kill(pid, SIGCONT) == 0);
    job_await(MARK, 3);
    ft_msg_rebind(1, 2);
    atomic_store(&job.sh->word[MARK], 4);
    ft_msg_wait(&first);
    for (size_t i = 0; i < LONG; i++)
        CHECK(got[i] == byte_of(1, i));
    ft_msg_recv(1, 1, LATER, &word, sizeof word, NULL);
    CHECK(word == 5);
    atomic_store(&job.sh->word[MARK], 5);
}

static void link_lost(void)
{
    struct ft_req first, later;
    int word = 5;
    enter(FT_KEEP_CUT);
    ft_log_budget.limit = 64 << 20;
    write_text(text, LONG, 1);
    CHECK(ft_fp_arm("rank=1,point=msg.send.half,hit=2,action=stop", FT_ROLE_RANK, 1, 0) == FT_OK);
    atomic_store(&job.sh->word[MARK], 1);
    ft_msg_isend(&first, 1, 0, FIRST, text, LONG); /* stops in it */
    ft_msg_isend(&later, 1, 0, LATER, &word, sizeof word);
    CHECK(ft_msg_done(&first) && ft_msg_done(&later) && ft_msg_settled());
    image->bytes = ft_msg_pending_bytes(1);
    CHECK(image->bytes < sizeof image->messages);
    ft_msg_pending_save(image->messages, 1);
    raise(SIGKILL);
}

static void a_log_begins_after_a_link(void **state)
{
    (void)state;
    job_seed(1);
    image = mmap(NULL, sizeof *image, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(image != MAP_FAILED);
    job_begin(3, 2);
    job_spawn(0, link_other);
    job_spawn(1, link_lost);
    assert_int_equal(job_status(1), SIGKILL);
    job_spawn(2, inside_new);
    job_join();
    munmap(image, sizeof *image);
}

#define TWO(body)                                             \
    {                                                         \
#body, two, NULL, NULL, &(void (*[1])(void)) { body } \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {TWO(long_in_setup),
                                       TWO(long_in_run),
                                       TWO(long_without_logs),
                                       TWO(long_synchronous),
                                       TWO(after_a_synchronous_one),
                                       TWO(between_two_looks),
                                       cmocka_unit_test(a_log_begins_inside),
                                       cmocka_unit_test(a_log_begins_after_a_link)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
