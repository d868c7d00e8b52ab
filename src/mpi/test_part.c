/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_part.c - partitioned communication with oneself: partitions that are marked ready in any
 * order, other partitions on the other side, lanes, and wrong use.
 *
 * The host's header may be older than these calls. They are declared here then, and part.c is
 * compiled as a part of this test: it never calls the host's.
 */
#include "mpi/mock_runtime.h"

#ifndef FT_HOST_HAS_MPI4
#define FT_HOST_HAS_MPI4
#define DECLARE(X, params) \
    int MPI_##X params;    \
    int PMPI_##X params
DECLARE(Psend_init,
        (const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *));
DECLARE(Precv_init,
        (void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *));
DECLARE(Pready, (int, MPI_Request));
DECLARE(Pready_range, (int, int, MPI_Request));
DECLARE(Pready_list, (int, int[], MPI_Request));
DECLARE(Parrived, (MPI_Request, int, int *));
#endif
#include "mpi/part.c"

static struct ft_prng rng;
static int below(int n) { return (int)ft_prng_below(&rng, (uint64_t)n); }

enum { MOST = 3000 }; /* ints of a message */
static int in[2 * MOST], out[2 * MOST];

static void shuffle(int *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = below(i + 1), was = v[i];
        v[i] = v[k];
        v[k] = was;
    }
}

/* Whether these ints of the message have all been marked ready, and so must arrive. */
static int is_ready(const char *ready, int each, int from, int n)
{
    for (int i = from; i < from + n; i++)
        if (!ready[i / each])
            return 0;
    return 1;
}

/* One message of `total` ints in ns partitions to nr partitions. */
static void transfer(MPI_Request *send, MPI_Request *recv, int total, int ns, int nr, int sgap,
                     int rgap)
{
    static char ready[MOST];
    int order[MOST], flag;

    memset(ready, 0, sizeof ready);
    for (int i = 0; i < total; i++)
        in[sgap * i] = (int)ft_prng_next(&rng);
    memset(out, 0x77, sizeof out);
    assert_int_equal(MPI_Start(recv), MPI_SUCCESS);
    assert_int_equal(MPI_Start(send), MPI_SUCCESS);
    shuffle(order, ns);
    for (int i = 0; i < ns;) {
        int p = order[i];
        switch (below(3)) {
        case 0: assert_int_equal(MPI_Pready(p, *send), MPI_SUCCESS); break;
        case 1: assert_int_equal(MPI_Pready_range(p, p, *send), MPI_SUCCESS); break;
        case 2: assert_int_equal(MPI_Pready_list(1, &order[i], *send), MPI_SUCCESS); break;
        }
        ready[p] = 1;
        i++;
        int look = below(nr), each = total / nr;
        assert_int_equal(MPI_Parrived(*recv, look, &flag), MPI_SUCCESS);
        int there = is_ready(ready, total / ns, look * each, each);
        assert_true(!flag || there);
        for (int k = 0; there && flag && k < each; k++)
            assert_int_equal(out[rgap * (look * each + k)], in[sgap * (look * each + k)]);
    }
    MPI_Status s;
    assert_int_equal(MPI_Wait(send, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(MPI_Wait(recv, &s), MPI_SUCCESS);
    MPI_Get_count(&s, MPI_INT, &flag);
    assert_int_equal(flag, total);
    assert_int_equal(s.MPI_SOURCE, 0);
    for (int i = 0; i < total; i++)
        assert_int_equal(out[rgap * i], in[sgap * i]);
    for (int i = 0; rgap == 2 && i < total; i++)
        assert_int_equal(out[2 * i + 1], 0x77777777);
}

static void test_transfers(void **state)
{
    static const int parts[] = {1, 2, 3, 4, 6, 10, 12, 30, 60, 120};
    MPI_Datatype gaps;
    MPI_Request send, recv;
    (void)state;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < JOB_TIMES(150); i++) {
        int ns = parts[below(FT_COUNTOF(parts))], nr = parts[below(FT_COUNTOF(parts))];
        int total = 120 * (1 + below(4) * below(7)), tag = below(3) ? below(5) : 1 << 21;
        int sgap = 1 + below(2), rgap = 1 + below(2);
        assert_int_equal(MPI_Psend_init(in, ns, total / ns, sgap == 2 ? gaps : MPI_INT, 0, tag,
                                        MPI_COMM_WORLD, MPI_INFO_NULL, &send),
                         MPI_SUCCESS);
        assert_int_equal(MPI_Precv_init(out, nr, total / nr, rgap == 2 ? gaps : MPI_INT, 0, tag,
                                        MPI_COMM_WORLD, MPI_INFO_NULL, &recv),
                         MPI_SUCCESS);
        for (int again = 0; again < 3; again++)
            transfer(&send, &recv, total, ns, nr, sgap, rgap);
        MPI_Request_free(&send);
        MPI_Request_free(&recv);
    }
    MPI_Type_free(&gaps);
    assert_int_equal(ft_msg_active, 0);
    assert_null(partitioned);
}

/* Pairs of the same tag meet in the order in which they were made, whatever the order of use. Lanes
 * of a small tag are used again after LANES pairs; one that is still in use is refused. */
static void test_lanes(void **state)
{
    enum { PAIRS = 50 };
    static int x[PAIRS], y[PAIRS];
    MPI_Request s[PAIRS], r[PAIRS], held[2], more;
    int order[PAIRS];
    (void)state;

    for (int i = 0; i < PAIRS; i++) {
        x[i] = 1000 + i;
        MPI_Psend_init(&x[i], 1, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s[i]);
        MPI_Precv_init(&y[i], 1, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
    }
    shuffle(order, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        MPI_Start(&s[order[i]]);
        MPI_Pready(0, s[order[i]]);
        MPI_Wait(&s[order[i]], MPI_STATUS_IGNORE);
    }
    MPI_Startall(PAIRS, r);
    MPI_Waitall(PAIRS, r, MPI_STATUSES_IGNORE);
    assert_memory_equal(x, y, sizeof x);
    for (int i = 0; i < PAIRS; i++) {
        MPI_Request_free(&s[i]);
        MPI_Request_free(&r[i]);
    }

    MPI_Psend_init(in, 1, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &held[0]);
    MPI_Precv_init(out, 1, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &held[1]);
    for (int i = 1; i < LANES; i++)
        for (int k = 0; k < 2; k++) {
            int code =
                k ? MPI_Precv_init(y, 1, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &more)
                  : MPI_Psend_init(x, 1, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &more);
            assert_int_equal(code, MPI_SUCCESS);
            MPI_Request_free(&more);
        }
    int refs = ft_comm_world->refs;
    assert_int_equal(MPI_Psend_init(x, 1, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &more),
                     MPI_ERR_TAG);
    assert_int_equal(ft_comm_world->refs, refs);
    transfer(&held[0], &held[1], 1, 1, 1, 1, 1);
    MPI_Request_free(&held[0]);
    MPI_Request_free(&held[1]);
}

static void test_nobody(void **state)
{
    MPI_Request r[3];
    MPI_Status s[3];
    int flag = 0;
    (void)state;

    MPI_Psend_init(in, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(out, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Psend_init(in, 0, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
    MPI_Startall(3, r);
    assert_int_equal(MPI_Pready(3, r[0]), MPI_SUCCESS);
    assert_int_equal(MPI_Parrived(r[1], 0, &flag), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    assert_int_equal(MPI_Waitall(3, r, s), MPI_SUCCESS);
    assert_int_equal(s[1].MPI_SOURCE, MPI_PROC_NULL);
    assert_int_equal(MPI_Parrived(r[1], 0, &flag), MPI_SUCCESS); /* inactive */
    assert_int_equal(flag, 1);
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
}

/* Partitions of no bytes, and of bytes that do not fit into one head. */
static void test_sizes(void **state)
{
    static const int sizes[] = {0, 1, SHORT / 4 - 1, SHORT / 4, SHORT / 4 + 1, 700};
    MPI_Request s, r;
    (void)state;

    for (size_t i = 0; i < FT_COUNTOF(sizes); i++) {
        MPI_Psend_init(in, 3, sizes[i], MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
        MPI_Precv_init(out, 3, sizes[i], MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        if (sizes[i] > 0) {
            transfer(&s, &r, 3 * sizes[i], 3, 3, 1, 1);
        } else {
            MPI_Start(&s);
            MPI_Start(&r);
            MPI_Pready_range(0, 2, s);
            assert_int_equal(MPI_Wait(&s, MPI_STATUS_IGNORE), MPI_SUCCESS);
            assert_int_equal(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        MPI_Request_free(&s);
        MPI_Request_free(&r);
    }
}

static void test_misuse(void **state)
{
    MPI_Request s, r, none = MPI_REQUEST_NULL;
    int flag, list[] = {1, 1};
    (void)state;

#define INIT(X, n, count, type, peer, tag, q) \
    MPI_P##X##_init(in, n, count, type, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL, q)
    assert_int_equal(INIT(send, -1, 1, MPI_INT, 0, 0, &none), MPI_ERR_COUNT);
    assert_int_equal(INIT(send, 1, -1, MPI_INT, 0, 0, &none), MPI_ERR_COUNT);
    assert_int_equal(INIT(send, 1, 1, MPI_DATATYPE_NULL, 0, 0, &none), MPI_ERR_TYPE);
    assert_int_equal(INIT(recv, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, &none), MPI_ERR_RANK);
    assert_int_equal(INIT(recv, 1, 1, MPI_INT, 0, MPI_ANY_TAG, &none), MPI_ERR_TAG);
    /* more bytes than there are addresses */
    assert_int_equal(INIT(recv, 1 << 30, (MPI_Count)1 << 40, MPI_INT, 0, 0, &none), MPI_ERR_COUNT);
    assert_true(none == MPI_REQUEST_NULL);

    MPI_Psend_init(in, 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(out, 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    assert_int_equal(MPI_Pready(0, s), MPI_ERR_REQUEST); /* not started */
    MPI_Start(&s);
    MPI_Start(&r);
    assert_int_equal(MPI_Start(&s), MPI_ERR_REQUEST);
    assert_int_equal(MPI_Pready(0, r), MPI_ERR_REQUEST);
    assert_int_equal(MPI_Pready(4, s), MPI_ERR_ARG);
    assert_int_equal(MPI_Pready(-1, s), MPI_ERR_ARG);
    assert_int_equal(MPI_Pready_range(2, 4, s), MPI_ERR_ARG);
    assert_int_equal(MPI_Pready_list(2, list, s), MPI_ERR_ARG); /* twice the same */
    assert_int_equal(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST);
    assert_int_equal(MPI_Parrived(r, 4, &flag), MPI_ERR_ARG);
    assert_int_equal(MPI_Parrived(r, -1, &flag), MPI_ERR_ARG);
    assert_int_equal(MPI_Pready(0, s), MPI_SUCCESS);
    assert_int_equal(MPI_Wait(&s, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

/* After the end of a job: what was under way, as a rollback forgets it. */
static void forget(void)
{
    ft_sched_drop();
    ft_request_drop_all();
}

/* Both sides must mean the same number of bytes. */
static void test_mismatch(void **state)
{
    MPI_Request s, r;
    (void)state;

    MPI_Psend_init(in, 2, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(out, 2, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&s);
    MPI_Start(&r);
    int ended = MOCK_ENDS_JOB({
        MPI_Pready_range(0, 1, s);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    });
    assert_int_equal(ended, 1);
    assert_non_null(strstr(mock_end.message, "16 bytes"));
    assert_non_null(strstr(mock_end.message, "sends 24"));
    forget();
}

/* What a head says must lie in the message, and what follows it must be what it says: nothing is
 * written elsewhere. */
static void test_heads(void **state)
{
    static const struct {
        uint64_t at, bytes;
        size_t follow; /* bytes of data after the head */
    } wrong_heads[] = {
        {UINT64_MAX - 7, 16, 16}, /* the end wraps around to 8 */
        {12, 8, 8},
        {0, 24, 24},
        {12, 4, 16}, /* more than it says: past the end of the message */
        {8, 8, 4},
    };
    static char guard[] = "guard";
    (void)state;

    for (size_t i = 0; i < FT_COUNTOF(wrong_heads); i++) {
        struct {
            char data[16], after[16];
        } mem = {{0}, {0}};
        MPI_Request s, r;
        memcpy(mem.after, guard, sizeof guard);
        MPI_Psend_init(in, 1, 16, MPI_CHAR, 0, 100 + (int)i, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
        MPI_Precv_init(mem.data, 1, 16, MPI_CHAR, 0, 100 + (int)i, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &r);
        MPI_Start(&s);
        MPI_Start(&r);
        struct ft_partitioned *p = ft_request_of(s)->part;
        struct message m = {
            .head = {wrong_heads[i].at, wrong_heads[i].bytes, .total = 16, .of = 1}};
        int ended = MOCK_ENDS_JOB({
            ft_door();
            send_bytes(p, &m, sizeof m.head + wrong_heads[i].follow);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        });
        assert_int_equal(ended, 1);
        assert_string_equal(mem.after, guard);
        forget();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transfers), cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_nobody),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_misuse),    cmocka_unit_test(test_mismatch), /* ends the job */
        cmocka_unit_test(test_heads),                                      /* likewise */
    };
    mock_begin();
    rng = (struct ft_prng){job_seed(1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
