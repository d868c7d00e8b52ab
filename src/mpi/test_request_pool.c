/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_request_pool.c - handles of requests: got and put back, given to Fortran, freed while they
 * are under way, dropped by a rollback; and no memory.
 */
#include "mpi/mock_runtime.h"
#include "mpi/request.h"

static void test_handles(void **state)
{
    enum { MANY = 5000 };
    static struct ft_request *q[MANY];
    (void)state;

    for (int i = 0; i < MANY; i++) {
        q[i] = ft_request_get();
        assert_non_null(q[i]);
        MPI_Request h = (MPI_Request)(void *)q[i];
        assert_ptr_equal(ft_request_of(h), q[i]);
        MPI_Fint f = MPI_Request_c2f(h);
        assert_true(MPI_Request_f2c(f) == h);
        assert_true(MPI_Message_f2c(MPI_Message_c2f((MPI_Message)(void *)q[i])) ==
                    (MPI_Message)(void *)q[i]);
        /* the host's layer for Fortran reads it out of the object */
        assert_int_equal(HOST(Request_c2f)(h), f);
    }
    for (int i = 0; i < MANY; i += 2)
        ft_request_put(q[i]);
    for (int i = 0; i < MANY; i += 2) { /* the last put is the first got */
        struct ft_request *again = ft_request_get();
        assert_ptr_equal(again, q[(MANY - 2) - i]);
        assert_true(!again->persistent && !again->active && !again->comm && !again->sched);
    }
    for (int i = 0; i < MANY; i++)
        ft_request_put(q[i]);
    /* what is not of the pool is the host's */
    assert_null(ft_request_of(MPI_REQUEST_NULL));
    assert_null(ft_request_of(NULL));
    assert_null(ft_request_of((MPI_Request)(void *)ft_request_end));
    assert_true(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    assert_true(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    assert_null(ft_request_of(MPI_Request_f2c(0x40000000 + (1 << 20))));
    assert_null(ft_request_of(MPI_Request_f2c(0x3fffffff)));
}

/* Freed while under way: goes on, and is put back when it is over. */
static void test_orphans(void **state)
{
    int in[3] = {1, 2, 3}, out[3] = {0};
    MPI_Request r[3], was;
    MPI_Comm comm;
    (void)state;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct ft_comm *c = ft_comm_of(comm);
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&out[i], 1, MPI_INT, 0, i, comm, &r[i]);
    was = r[1];
    assert_int_equal(c->refs, 4);
    assert_int_equal(MPI_Request_free(&r[1]), MPI_SUCCESS);
    assert_true(r[1] == MPI_REQUEST_NULL);
    for (int i = 2; i >= 0; i--)
        MPI_Send(&in[i], 1, MPI_INT, 0, i, comm);
    c->refs++; /* to look at it when the handle is gone */
    assert_int_equal(MPI_Comm_free(&comm), MPI_SUCCESS);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    ft_request_reap();
    assert_memory_equal(in, out, sizeof in);
    assert_int_equal(ft_request_of(was)->in_use, 0);
    assert_int_equal(c->refs, 1);
    ft_comm_release(c);
    assert_int_equal(ft_msg_active, 0);
}

/* Freed when it is over: it is put back at once, and its data is in place. */
static void test_freed_when_over(void **state)
{
    int in[2] = {1, 2}, flag = 0;
    MPI_Datatype gaps;
    (void)state;

    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 4; i++) { /* persistent or not, the program has been told or not */
        int out[4] = {0};
        MPI_Request r, was;
        if (i & 1) {
            MPI_Recv_init(out, 1, gaps, 0, 1, MPI_COMM_WORLD, &r);
            MPI_Start(&r);
        } else {
            MPI_Irecv(out, 1, gaps, 0, 1, MPI_COMM_WORLD, &r);
        }
        was = r;
        MPI_Send(in, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
        ft_msg_progress();
        assert_true(ft_msg_done(&ft_request_of(r)->r));
        if (i & 2) {
            assert_int_equal(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
            assert_true(flag && out[0] == 1 && out[2] == 2);
        }
        assert_int_equal(MPI_Request_free(&r), MPI_SUCCESS);
        assert_true(r == MPI_REQUEST_NULL);
        assert_int_equal(ft_request_of(was)->in_use, 0);
        assert_int_equal(ft_msg_active, 0);
        assert_true(out[0] == 1 && out[1] == 0 && out[2] == 2 && out[3] == 0);
    }
    assert_false(ft_any_pinned());
    MPI_Type_free(&gaps);
}

static int in_use(void)
{
    int n = 0;
    for (int i = 0; i < 1024; i++)
        n += ft_request_base[i].in_use;
    return n;
}

/* A rollback: what was under way is gone, persistent ones of setup can be started again. */
static void test_drop(void **state)
{
    int x = 0, y = 7, before = in_use();
    MPI_Request setup[2], body, open, freed, coll;
    MPI_Datatype gaps;
    MPI_Message message;
    int wide[4] = {0};
    (void)state;

    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Recv_init(wide, 1, gaps, 0, 3, MPI_COMM_WORLD, &setup[0]);
    MPI_Send_init(&y, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &setup[1]);
    mock_rt.in_body = 1;
    MPI_Recv_init(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &body);
    MPI_Irecv(wide, 1, gaps, 0, 6, MPI_COMM_WORLD, &open);
    MPI_Irecv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &freed);
    MPI_Request_free(&freed);
    MPI_Send(&y, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    MPI_Mprobe(0, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Startall(2, setup);
    MPI_Start(&body);
    MPI_Iallreduce(&y, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &coll);
    assert_int_equal(in_use() - before, 6 + (coll != FT_REQUEST_DONE));
    mock_rt.in_body = 0;

    ft_request_drop_all();
    ft_msg_begin_era(FT_ERA_FIRST, FT_KEEP_NONE, 0, NULL, 0);
    assert_int_equal(in_use() - before, 2);
    assert_int_equal(ft_msg_active, 0);
    for (int i = 0; i < 2; i++) {
        struct ft_request *q = ft_request_of(setup[i]);
        assert_true(q->in_use && q->persistent && !q->active && !q->packed);
    }
    y = 9;
    MPI_Startall(2, setup);
    MPI_Recv(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    assert_int_equal(x, 9);
    MPI_Send(&y, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Waitall(2, setup, MPI_STATUSES_IGNORE);
    assert_int_equal(wide[0], 9);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&setup[i]);
    assert_int_equal(in_use(), before);
    assert_false(ft_any_pinned());
    MPI_Type_free(&gaps);
}

/* A buffer that must be packed, and no memory: an error, and the request is given back. */
static void test_no_memory(void **state)
{
    int x[4] = {0}, before = in_use(), code;
    MPI_Datatype gaps;
    MPI_Request r = MPI_REQUEST_NULL;
    struct ft_comm *world = ft_comm_world;
    int refs = world->refs;
    (void)state;

    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    struct ft_type store;
    ft_type_of(gaps, &store);
#define WITHOUT_MEMORY(call)                    \
    do {                                        \
        mock_fail_memory(0, 0);                 \
        code = call;                            \
        assert_true(mock_memory_back() > 0);    \
        assert_int_equal(code, MPI_ERR_NO_MEM); \
        assert_int_equal(in_use(), before);     \
        assert_int_equal(world->refs, refs);    \
        assert_int_equal(ft_msg_active, 0);     \
    } while (0)
    WITHOUT_MEMORY(MPI_Isend(x, 1, gaps, 0, 1, MPI_COMM_WORLD, &r));
    WITHOUT_MEMORY(MPI_Issend(x, 1, gaps, 0, 1, MPI_COMM_WORLD, &r));
    WITHOUT_MEMORY(MPI_Irecv(x, 1, gaps, 0, 1, MPI_COMM_WORLD, &r));
    MPI_Send_init(x, 1, gaps, 0, 1, MPI_COMM_WORLD, &r);
    before++;
    refs++;
    WITHOUT_MEMORY(MPI_Start(&r)); /* it stays as it was */
    MPI_Request_free(&r);
    before--;
    refs--;
    MPI_Message message;
    MPI_Send(x, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    mock_fail_memory(0, 0);
    code = MPI_Mrecv(x, 1, gaps, &message, MPI_STATUS_IGNORE);
    assert_true(mock_memory_back() > 0);
    assert_int_equal(code, MPI_ERR_NO_MEM);
    assert_int_equal(MPI_Mrecv(x, 1, gaps, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(in_use(), before);
    assert_false(ft_any_pinned());
    MPI_Type_free(&gaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orphans), cmocka_unit_test(test_freed_when_over),
        cmocka_unit_test(test_drop),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_handles), /* last: from here on more than one chunk is open */
    };
    mock_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
