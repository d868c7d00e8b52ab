/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_request.c - requests against the host's: the same random calls on lists of requests, one
 * list of the library's over MPI_COMM_WORLD, the other of the host's over MPI_COMM_SELF. In a job
 * of one rank both mean the same. Handles, indices, statuses, codes and data must be equal.
 */
#include "mpi/mock_runtime.h"
#include "mpi/request.h"

static struct ft_prng rng;
static int below(int n) { return (int)ft_prng_below(&rng, (uint64_t)n); }

enum { SLOTS = 24, WORDS = 40, TAGS = 3 };
enum { OURS, HOSTS, SIDES };

struct side {
    MPI_Request r[SLOTS];
    int data[SLOTS][2 * WORDS];
    MPI_Status s[SLOTS];
    int index[SLOTS], n, flag;
};
static struct side side[SIDES];
/* The request made in a place of the list, the same on both sides. */
static struct made {
    int is_send, persistent, active, tag;
} made[SLOTS];
static MPI_Datatype gaps; /* every other int */
static uint64_t steps;
static int last_code;

#define BOTH(X, ...)                            \
    do {                                        \
        struct side *at = &side[OURS];          \
        int code = MPI_##X(__VA_ARGS__), hosts; \
        at = &side[HOSTS];                      \
        hosts = HOST(X)(__VA_ARGS__);           \
        equal(code, hosts, #X ": codes");       \
        last_code = code;                       \
    } while (0)
#define COMM (at == &side[OURS] ? MPI_COMM_WORLD : MPI_COMM_SELF)

static void equal(long a, long b, const char *what)
{
    if (a != b)
        fail_msg("FTRMA_TEST_SEED=%llu, step %llu: %s: %ld, of the host %ld",
                 (unsigned long long)job.seed, (unsigned long long)steps, what, a, b);
}

static void blank(void)
{
    for (int k = 0; k < SIDES; k++) {
        memset(side[k].s, 0x55, sizeof side[k].s);
        memset(side[k].index, 0x55, sizeof side[k].index);
        side[k].n = side[k].flag = 77;
    }
}

/* A status; of a send only what the standard says of it. */
static void compare_status(int i, int slot)
{
    const MPI_Status *a = &side[OURS].s[i], *b = &side[HOSTS].s[i];
    int canceled[2], bytes[2];

    /* without an error it is the program's for the library; the host sets it here and there */
    equal(a->MPI_ERROR, last_code == MPI_ERR_IN_STATUS ? b->MPI_ERROR : 0x55555555, "MPI_ERROR");
    if (b->_ucount == 0x5555555555555555) { /* the host has left it alone */
        equal((long)a->_ucount, (long)b->_ucount, "a status that is not touched");
        return;
    }
    MPI_Test_cancelled(a, &canceled[0]);
    MPI_Test_cancelled(b, &canceled[1]);
    equal(canceled[0], canceled[1], "cancelled");
    if (canceled[0] || (slot >= 0 && made[slot].is_send && made[slot].active))
        return;
    equal(a->MPI_SOURCE, b->MPI_SOURCE, "source");
    equal(a->MPI_TAG, b->MPI_TAG, "tag");
    MPI_Get_count(a, MPI_BYTE, &bytes[0]);
    MPI_Get_count(b, MPI_BYTE, &bytes[1]);
    equal(bytes[0], bytes[1], "bytes");
}

static void compare_data(int i)
{
    if (memcmp(side[OURS].data[i], side[HOSTS].data[i], sizeof side[OURS].data[i]) != 0)
        fail_msg("FTRMA_TEST_SEED=%llu, step %llu: other data in place %d",
                 (unsigned long long)job.seed, (unsigned long long)steps, i);
}

static void compare_lists(void)
{
    for (int i = 0; i < SLOTS; i++) {
        equal(side[OURS].r[i] == MPI_REQUEST_NULL, side[HOSTS].r[i] == MPI_REQUEST_NULL,
              "null handles");
        if (!made[i].active)
            compare_data(i);
    }
}

/* The request in this place was completed. */
static void completed(int i)
{
    made[i].active = 0;
    if (side[HOSTS].r[i] == MPI_REQUEST_NULL)
        made[i] = (struct made){0};
}

static void fill(int i)
{
    for (int k = 0; k < 2 * WORDS; k++)
        side[OURS].data[i][k] = side[HOSTS].data[i][k] = (int)ft_prng_next(&rng);
}

/* What is matched completes on both sides, so that tests give the same answer. */
static void progress(void)
{
    for (int i = 0; i < 3; i++) {
        BOTH(Iprobe, 0, TAGS + 1, COMM, &at->flag, MPI_STATUS_IGNORE);
        equal(side[OURS].flag, 0, "a message that nobody has sent");
    }
}

/* ---- one random call each ---- */

static void post(int i)
{
    int tag = below(TAGS), n = below(8) ? 1 + below(8) : below(WORDS), kind = below(4);
    int peer = below(12) ? 0 : MPI_PROC_NULL;
    MPI_Datatype t = below(3) ? MPI_INT : gaps;

    made[i] = (struct made){below(2), below(3) == 0, 0, tag};
    fill(i);
    if (made[i].is_send) {
        if (made[i].persistent)
            BOTH(Send_init, at->data[i], n, t, peer, tag, COMM, &at->r[i]);
        else if (kind == 0)
            BOTH(Issend, at->data[i], n, t, peer, tag, COMM, &at->r[i]);
        else if (kind == 1)
            BOTH(Ibsend, at->data[i], n, t, peer, tag, COMM, &at->r[i]);
        else
            BOTH(Isend, at->data[i], n, t, peer, tag, COMM, &at->r[i]);
    } else {
        int source = peer == 0 && below(2) ? MPI_ANY_SOURCE : peer;
        made[i].tag = tag = below(6) ? tag : MPI_ANY_TAG;
        n = WORDS; /* of a message that is too long the host tells this or that (test_too_long) */
        if (made[i].persistent)
            BOTH(Recv_init, at->data[i], n, t, source, tag, COMM, &at->r[i]);
        else
            BOTH(Irecv, at->data[i], n, t, source, tag, COMM, &at->r[i]);
    }
    made[i].active = !made[i].persistent;
}

static void start(int i)
{
    if (made[i].persistent && !made[i].active) {
        BOTH(Start, &at->r[i]);
        made[i].active = 1;
    }
}

static void test(int i)
{
    blank();
    BOTH(Test, &at->r[i], &at->flag, &at->s[0]);
    equal(side[OURS].flag, side[HOSTS].flag, "flag");
    if (side[OURS].flag) {
        compare_status(0, i);
        completed(i);
    }
}

static void get_status(int i)
{
    blank();
    BOTH(Request_get_status, at->r[i], &at->flag, &at->s[0]);
    equal(side[OURS].flag, side[HOSTS].flag, "flag of get_status");
    if (side[OURS].flag) {
        compare_status(0, i);
        compare_data(i); /* it is there before the request is completed */
    }
}

/* How many requests the host has completed, or how many take part. */
static int count(int from, int n, int over)
{
    int found = 0, flag;
    for (int i = from; i < from + n; i++) {
        HOST(Request_get_status)(side[HOSTS].r[i], &flag, MPI_STATUS_IGNORE);
        found += made[i].active && (flag || !over);
    }
    return found;
}

/* The host crashes when a receive is cancelled that is over. */
static void cancel(int i)
{
    if (made[i].active && !made[i].is_send && count(i, 1, 1) == 0)
        BOTH(Cancel, &at->r[i]);
}

static void test_any(int from, int n)
{
    blank();
    BOTH(Testany, n, at->r + from, at->index, &at->flag, &at->s[0]);
    equal(side[OURS].flag, side[HOSTS].flag, "flag of Testany");
    equal(side[OURS].index[0], side[HOSTS].index[0], "index of Testany");
    if (side[OURS].flag) {
        int i = side[OURS].index[0];
        compare_status(0, i == MPI_UNDEFINED ? -1 : from + i);
        if (i != MPI_UNDEFINED)
            completed(from + i);
    }
}

static void compare_some(int from, const char *call)
{
    equal(side[OURS].n, side[HOSTS].n, call);
    for (int k = 0; k < side[OURS].n && side[OURS].n != MPI_UNDEFINED; k++) {
        equal(side[OURS].index[k], side[HOSTS].index[k], call);
        compare_status(k, from + side[OURS].index[k]);
    }
    for (int k = 0; k < side[OURS].n && side[OURS].n != MPI_UNDEFINED; k++)
        completed(from + side[OURS].index[k]);
}

static void compare_all(int from, int n)
{
    for (int k = 0; k < n; k++)
        compare_status(k, from + k);
    for (int k = 0; k < n; k++)
        completed(from + k);
}

static void test_some(int from, int n)
{
    blank();
    BOTH(Testsome, n, at->r + from, &at->n, at->index, at->s);
    compare_some(from, "Testsome");
}

static void wait_any(int from, int n)
{
    if (count(from, n, 0) > 0 && count(from, n, 1) == 0)
        return;
    blank();
    BOTH(Waitany, n, at->r + from, at->index, &at->s[0]);
    equal(side[OURS].index[0], side[HOSTS].index[0], "index of Waitany");
    int i = side[OURS].index[0];
    compare_status(0, i == MPI_UNDEFINED ? -1 : from + i);
    if (i != MPI_UNDEFINED)
        completed(from + i);
}

static void wait_some(int from, int n)
{
    if (count(from, n, 0) > 0 && count(from, n, 1) == 0)
        return;
    blank();
    BOTH(Waitsome, n, at->r + from, &at->n, at->index, at->s);
    compare_some(from, "Waitsome");
}

static void wait_all(int from, int n)
{
    if (count(from, n, 0) > count(from, n, 1))
        return;
    blank();
    BOTH(Waitall, n, at->r + from, at->s);
    compare_all(from, n);
}

static void test_all(int from, int n)
{
    blank();
    BOTH(Testall, n, at->r + from, &at->flag, at->s);
    equal(side[OURS].flag, side[HOSTS].flag, "flag of Testall");
    if (side[OURS].flag)
        compare_all(from, n);
}

/* ---- */

static void random_step(void)
{
    int i = below(SLOTS), n = 1 + below(SLOTS), from = below(SLOTS - n + 1);

    steps++;
    progress();
    switch (below(13)) {
    case 0:
    case 1:
    case 2:
        if (side[OURS].r[i] == MPI_REQUEST_NULL)
            post(i);
        break;
    case 3: start(i); break;
    case 4: test(i); break;
    case 5: get_status(i); break;
    case 6:
        if (below(6) == 0)
            cancel(i);
        break;
    case 7: test_any(from, n); break;
    case 8: test_some(from, n); break;
    case 9: test_all(from, n); break;
    case 10: wait_any(from, n); break;
    case 11: wait_some(from, n); break;
    case 12: wait_all(from, n); break;
    }
    compare_lists();
}

/* All that is under way ends: receives are cancelled, messages received. */
static void end_all(void)
{
    progress();
    for (int i = 0; i < SLOTS; i++)
        cancel(i);
    for (int k = 0; k < SIDES; k++) {
        struct side *at = &side[k];
        MPI_Status s;
        for (int left = 1; left;) {
            int flag = 1, buf[WORDS];
            while (flag) {
                k == OURS ? MPI_Iprobe(0, MPI_ANY_TAG, COMM, &flag, &s)
                          : HOST(Iprobe)(0, MPI_ANY_TAG, COMM, &flag, &s);
                if (flag)
                    k == OURS ? MPI_Recv(buf, WORDS, MPI_INT, 0, s.MPI_TAG, COMM, &s)
                              : HOST(Recv)(buf, WORDS, MPI_INT, 0, s.MPI_TAG, COMM, &s);
            }
            k == OURS ? MPI_Testall(SLOTS, at->r, &flag, MPI_STATUSES_IGNORE)
                      : HOST(Testall)(SLOTS, at->r, &flag, MPI_STATUSES_IGNORE);
            left = !flag;
        }
    }
    for (int i = 0; i < SLOTS; i++)
        if (side[OURS].r[i] != MPI_REQUEST_NULL)
            BOTH(Request_free, &at->r[i]);
    compare_lists();
    memset(made, 0, sizeof made);
}

static void test_random(void **state)
{
    static char room[SIDES][1 << 20];
    (void)state;

    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &gaps);
    MPI_Type_free(&gaps);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    MPI_Buffer_attach(room[OURS], sizeof room[OURS]);
    HOST(Buffer_attach)(room[HOSTS], sizeof room[HOSTS]);
    for (int k = 0; k < SIDES; k++)
        for (int i = 0; i < SLOTS; i++)
            side[k].r[i] = MPI_REQUEST_NULL;
    for (int round = 0; round < JOB_TIMES(60); round++) {
        for (int i = 0; i < 100; i++)
            random_step();
        end_all();
    }
    assert_int_equal(ft_msg_active, 0);
    MPI_Type_free(&gaps);
}

/* ---- what the standard says, and the host says otherwise or not at all ---- */

static int raised, raised_code;
static void count_errors(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    raised++;
    raised_code = *code;
}

/* A message that is too long fills the buffer and is an error, once. */
static void test_too_long(void **state)
{
    MPI_Errhandler handler;
    MPI_Request r[3];
    MPI_Status s[3];
    int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[3][8], n;
    (void)state;

    MPI_Comm_create_errhandler(count_errors, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    memset(out, 0, sizeof out);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(out[i], i == 1 ? 2 : 8, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
        MPI_Send(in, 8, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
    memset(s, 0x55, sizeof s);
    assert_int_equal(MPI_Waitall(3, r, s), MPI_ERR_IN_STATUS);
    assert_int_equal(raised, 1);
    assert_int_equal(raised_code, MPI_ERR_IN_STATUS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s[i].MPI_ERROR, i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        MPI_Get_count(&s[i], MPI_INT, &n);
        assert_int_equal(n, i == 1 ? 2 : 8);
        assert_memory_equal(out[i], in, (size_t)n * sizeof(int));
        assert_true(r[i] == MPI_REQUEST_NULL);
    }
    assert_int_equal(out[1][2], 0);

    raised = 0;
    MPI_Send(in, 8, MPI_INT, 0, 7, MPI_COMM_WORLD);
    assert_int_equal(MPI_Recv(out[0], 3, MPI_INT, 0, 7, MPI_COMM_WORLD, s), MPI_ERR_TRUNCATE);
    assert_int_equal(raised, 1);
    MPI_Irecv(out[0], 3, MPI_INT, 0, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Send(in, 8, MPI_INT, 0, 7, MPI_COMM_WORLD);
    assert_int_equal(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    assert_int_equal(raised, 2);
    assert_int_equal(raised_code, MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

/* Wrong arguments: an error of the communicator's, once, and nothing else happens. */
static void test_arguments(void **state)
{
    MPI_Errhandler handler;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm comm;
    int x = 0, tag_ub = ft_tag_ub;
    (void)state;

    MPI_Comm_create_errhandler(count_errors, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
#define RAISES(code, call)                   \
    do {                                     \
        raised = 0;                          \
        assert_int_equal(call, code);        \
        assert_int_equal(raised, 1);         \
        assert_int_equal(raised_code, code); \
        assert_true(r == MPI_REQUEST_NULL);  \
    } while (0)
    RAISES(MPI_ERR_COUNT, MPI_Isend(&x, -1, MPI_INT, 0, 0, comm, &r));
    RAISES(MPI_ERR_TYPE, MPI_Isend(&x, 1, MPI_DATATYPE_NULL, 0, 0, comm, &r));
    RAISES(MPI_ERR_TYPE, MPI_Send(&x, 1, (MPI_Datatype)NULL, 0, 0, comm));
    RAISES(MPI_ERR_RANK, MPI_Isend(&x, 1, MPI_INT, 1, 0, comm, &r));
    RAISES(MPI_ERR_RANK, MPI_Isend(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &r));
    RAISES(MPI_ERR_TAG, MPI_Isend(&x, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &r));
    if (tag_ub < INT32_MAX)
        RAISES(MPI_ERR_TAG, MPI_Issend(&x, 1, MPI_INT, 0, tag_ub + 1, comm, &r));
    RAISES(MPI_ERR_TAG, MPI_Irecv(&x, 1, MPI_INT, 0, -5, comm, &r));
    RAISES(MPI_ERR_RANK, MPI_Irecv(&x, 1, MPI_INT, -7, 0, comm, &r));
    RAISES(MPI_ERR_RANK, MPI_Recv_init(&x, 1, MPI_INT, 5, 0, comm, &r));
    RAISES(MPI_ERR_TAG, MPI_Send_init(&x, 1, MPI_INT, 0, -2, comm, &r));
    RAISES(MPI_ERR_COUNT, MPI_Recv(&x, -2, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t);
    RAISES(MPI_ERR_TYPE, MPI_Isend(&x, 1, t, 0, 0, comm, &r)); /* not committed */
    MPI_Type_free(&t);
    /* of which no communicator is known: MPI_COMM_WORLD's handler */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &r);
    MPI_Request copy = r;
    raised = 0;
    MPI_Start(&r);
    assert_int_equal(raised, 0);
    assert_int_equal(MPI_Start(&r), MPI_ERR_REQUEST); /* it is active */
    assert_int_equal(raised, 1);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    assert_int_equal(MPI_Start(&copy), MPI_ERR_REQUEST); /* it is gone */
    assert_int_equal(raised, 2);
    assert_int_equal(MPI_Waitall(-1, &r, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    assert_int_equal(MPI_Startall(-1, &r), MPI_ERR_COUNT);
    assert_int_equal(raised, 4);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    assert_int_equal(ft_msg_active, 0);
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&handler);
}

/* Some thousand requests at once, in one list, with gaps. */
static void test_long_list(void **state)
{
    enum { LONG = 5000 };
    static MPI_Request r[LONG], s[LONG];
    static int in[LONG], out[LONG], index[LONG];
    int left = 0, n, flag;
    (void)state;

    for (int i = 0; i < LONG; i++) {
        in[i] = i;
        out[i] = -1;
        r[i] = s[i] = MPI_REQUEST_NULL;
        if (i % 7) {
            MPI_Irecv(&out[i], 1, MPI_INT, 0, i % 1000, MPI_COMM_WORLD, &r[i]);
            left++;
        }
    }
    assert_int_equal(MPI_Testall(LONG, r, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    for (int i = LONG - 1; i >= LONG / 2; i--) /* tags meet the other way round */
        if (i % 7)
            MPI_Isend(&in[i], 1, MPI_INT, 0, i % 1000, MPI_COMM_WORLD, &s[i]);
    for (int i = 0; i < LONG / 2; i++)
        if (i % 7)
            MPI_Issend(&in[i], 1, MPI_INT, 0, i % 1000, MPI_COMM_WORLD, &s[i]);
    while (left > LONG / 3) {
        assert_int_equal(MPI_Waitsome(LONG, r, &n, index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        assert_true(n > 0 && n <= left);
        left -= n;
    }
    assert_int_equal(MPI_Waitall(LONG, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    assert_int_equal(MPI_Waitall(LONG, s, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < LONG; i++)
        assert_true(out[i] == -1 ? i % 7 == 0 : out[i] % 1000 == i % 1000);
    assert_int_equal(MPI_Waitsome(LONG, r, &n, index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    assert_int_equal(n, MPI_UNDEFINED);
    assert_int_equal(ft_msg_active, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_long_list),
    };
    mock_begin();
    rng = (struct ft_prng){job_seed(1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
