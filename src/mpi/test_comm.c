/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_comm.c - making communicators in a job of one rank: the arguments of their attributes'
 * functions are the host's; errors, each once, leave nothing allocated; there are no ids left.
 */
#include "mpi/comm_table.h"
#include "mpi/mock_runtime.h"

/* ---- what is called back ---- */

static char told[2000];
static int refuse_copy, refuse_delete, failing_code = MPI_ERR_OTHER;

static void tell(const char *what, int which)
{
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s%d ", what, which);
}

/* What the callback of a kind does meanwhile: a rollback takes main away, or there is an error. */
static enum { NOTHING, LEAVES, ERRS } copying, deleting;
static jmp_buf out_of_it;
static void meanwhile(int what, MPI_Comm comm)
{
    if (what == LEAVES)
        longjmp(out_of_it, 1);
    if (what == ERRS)
        MPI_Comm_call_errhandler(comm, MPI_ERR_TAG);
}

static int on_copy(MPI_Comm from, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)keyval;
    tell("copy", *(int *)extra);
    meanwhile((int)copying, from);
    if (refuse_copy == *(int *)extra)
        return failing_code;
    *(void **)out = in;
    *flag = *(int *)extra != 3; /* the third is not copied */
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval;
    (void)value;
    tell("delete", *(int *)extra);
    meanwhile((int)deleting, comm);
    return refuse_delete == *(int *)extra ? failing_code : MPI_SUCCESS;
}

static int raised, raised_code;
static void count_errors(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    raised++;
    raised_code = *code;
}

enum { KEYS = 4 };
static int number[KEYS] = {0, 1, 2, 3}, keyval[KEYS];

static void make_keyvals(void)
{
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(MPI_Comm_create_keyval(on_copy, on_delete, &keyval[i], &number[i]),
                         MPI_SUCCESS);
}

static void free_keyvals(void)
{
    for (int i = 0; i < KEYS; i++) {
        MPI_Comm_free_keyval(&keyval[i]);
        assert_int_equal(keyval[i], MPI_KEYVAL_INVALID);
    }
}

/* What both are told of a communicator's life; compares with the host's copies of copies. */
static void test_attributes(void **state)
{
    char ours[sizeof told];
    (void)state;

    make_keyvals();
    for (int side = 0; side < 2; side++) {
        MPI_Comm a, b, c;
        int flag, *value;
        told[0] = 0;
        if (side == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &a);
        else
            HOST(Comm_dup)(ft_comm_blank, &a);
        for (int i = 1; i < KEYS; i++)
            MPI_Comm_set_attr(a, keyval[i], &number[i]);
        MPI_Comm_set_attr(a, keyval[1], &number[2]); /* deletes the old value */
        side == 0 ? MPI_Comm_dup(a, &b) : HOST(Comm_dup)(a, &b);
        side == 0 ? MPI_Comm_dup(b, &c) : HOST(Comm_dup)(b, &c);
        for (int i = 0; i < KEYS; i++) {
            MPI_Comm_get_attr(c, keyval[i], &value, &flag);
            assert_int_equal(flag, i == 1 || i == 2);
            if (flag)
                assert_ptr_equal(value, &number[2]);
        }
        MPI_Comm_delete_attr(b, keyval[2]);
        side == 0 ? MPI_Comm_free(&a) : HOST(Comm_free)(&a);
        side == 0 ? MPI_Comm_free(&c) : HOST(Comm_free)(&c);
        side == 0 ? MPI_Comm_free(&b) : HOST(Comm_free)(&b);
        if (side == 0)
            snprintf(ours, sizeof ours, "%s", told);
    }
    assert_string_equal(ours, told);
    free_keyvals();
}

/* MPI_COMM_WORLD's are copied by the library. */
static void test_of_world(void **state)
{
    MPI_Comm a;
    int flag, *value;
    (void)state;

    make_keyvals();
    for (int i = 1; i < KEYS; i++)
        MPI_Comm_set_attr(MPI_COMM_WORLD, keyval[i], &number[i]);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval[1], &number[1]);
    told[0] = 0;
    assert_int_equal(MPI_Comm_dup(MPI_COMM_WORLD, &a), MPI_SUCCESS);
    assert_string_equal(told, "copy2 copy3 copy1 ");
    for (int i = 0; i < KEYS; i++) {
        MPI_Comm_get_attr(a, keyval[i], &value, &flag);
        assert_int_equal(flag, i == 1 || i == 2);
    }
    told[0] = 0;
    MPI_Comm_free(&a);
    assert_int_equal(strlen(told), strlen("delete1 delete2 "));
    for (int i = 1; i < KEYS; i++)
        MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval[i]);
    told[0] = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    assert_string_equal(told, "");
    MPI_Comm_free(&a);
    free_keyvals();
}

static int communicators(void)
{
    int n = 0;
    for (uint32_t id = 0; id < ft_next_ctx; id++)
        n += ft_comm_of_context(id) != NULL;
    return n;
}

/* A copy function that refuses: the error is raised once, and what was made is undone. */
static void test_copy_refused(void **state)
{
    MPI_Errhandler handler;
    (void)state;

    make_keyvals();
    MPI_Comm_create_errhandler(count_errors, &handler);
    for (int of_world = 0; of_world < 2; of_world++) {
        MPI_Comm from = MPI_COMM_WORLD, a = MPI_COMM_SELF;
        if (!of_world)
            MPI_Comm_dup(MPI_COMM_WORLD, &from);
        MPI_Comm_set_errhandler(from, handler);
        MPI_Comm_set_attr(from, keyval[1], &number[1]);
        MPI_Comm_set_attr(from, keyval[2], &number[2]);
        int before = communicators();
        refuse_copy = 2;
        told[0] = 0;
        raised = 0;
        assert_int_equal(MPI_Comm_dup(from, &a), failing_code);
        assert_int_equal(raised, 1);
        assert_int_equal(raised_code, failing_code);
        assert_true(a == MPI_COMM_NULL || a == MPI_COMM_SELF);
        assert_string_equal(told, "copy1 copy2 delete1 ");
        assert_int_equal(communicators(), before);
        refuse_copy = 0;
        MPI_Comm_delete_attr(from, keyval[1]);
        MPI_Comm_delete_attr(from, keyval[2]);
        if (!of_world)
            MPI_Comm_free(&from);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    free_keyvals();
}

/* A delete function that refuses: the communicator stays. */
static void test_delete_refused(void **state)
{
    MPI_Errhandler handler;
    MPI_Comm a, was;
    int size = 0;
    (void)state;

    make_keyvals();
    MPI_Comm_create_errhandler(count_errors, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_errhandler(a, handler);
    MPI_Comm_set_attr(a, keyval[1], &number[1]);
    was = a;
    refuse_delete = 1;
    raised = 0;
    assert_int_equal(MPI_Comm_free(&a), failing_code);
    assert_int_equal(raised, 1);
    assert_true(a == was);
    assert_int_equal(MPI_Comm_size(a, &size), MPI_SUCCESS);
    assert_int_equal(size, 1);
    refuse_delete = 0;
    assert_int_equal(MPI_Comm_free(&a), MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    free_keyvals();
}

/* The program's handler is there again after a rollback that came while a callback waited, and for
 * errors inside of the callback. */
static void test_left_in_a_callback(void **state)
{
    MPI_Errhandler handler;
    MPI_Comm a, b;
    (void)state;

    make_keyvals();
    MPI_Comm_create_errhandler(count_errors, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_errhandler(a, handler);
    MPI_Comm_set_attr(a, keyval[1], &number[1]);
    for (volatile int of_free = 0; of_free < 2; of_free++) {
        copying = of_free ? NOTHING : LEAVES;
        deleting = of_free ? LEAVES : NOTHING;
        if (!setjmp(out_of_it)) {
            of_free ? MPI_Comm_free(&a) : MPI_Comm_dup(a, &b);
            fail();
        }
        copying = deleting = NOTHING;
        ft_mpi_reset(0);
        raised = 0;
        MPI_Comm_call_errhandler(a, MPI_ERR_TAG);
        assert_int_equal(raised, 1);
    }
    copying = ERRS;
    raised = 0;
    assert_int_equal(MPI_Comm_dup(a, &b), MPI_SUCCESS);
    assert_int_equal(raised, 1);
    copying = NOTHING;
    refuse_copy = 1;
    raised = 0;
    assert_int_equal(MPI_Comm_dup(a, &b), failing_code);
    assert_int_equal(raised, 1);
    refuse_copy = 0;
    MPI_Errhandler_free(&handler);
}

/* ---- makers ---- */

static int make(int which, MPI_Comm from, MPI_Comm *made)
{
    static int one = 1, zero, nothing[1];
    MPI_Group group;
    MPI_Request r;
    int code;

    switch (which) {
    case 0: return MPI_Comm_dup(from, made);
    case 1: return MPI_Comm_dup_with_info(from, MPI_INFO_NULL, made);
    case 2: return MPI_Comm_split(from, 3, 0, made);
    case 3: return MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
    case 4: return MPI_Cart_create(from, 1, &one, &zero, 0, made);
    case 5: return MPI_Graph_create(from, 1, &one, nothing, 0, made);
    case 6:
        return MPI_Dist_graph_create_adjacent(from, 1, nothing, nothing, 1, nothing, nothing,
                                              MPI_INFO_NULL, 0, made);
    case 7:
        return MPI_Dist_graph_create(from, 1, nothing, &one, nothing, nothing, MPI_INFO_NULL, 0,
                                     made);
    case 8:
    case 9:
        MPI_Comm_group(from, &group);
        code = which == 8 ? MPI_Comm_create(from, group, made)
                          : MPI_Comm_create_group(from, group, 5, made);
        MPI_Group_free(&group);
        return code;
    default:
        code = MPI_Comm_idup(from, made, &r);
        if (code == MPI_SUCCESS)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        return code;
    }
}
enum { MAKERS = 11 };

static int host_fails;
static int failing_dup(MPI_Comm from, MPI_Comm *made)
{
    if (host_fails)
        return MPI_ERR_INTERN;
    return ((__typeof__(&PMPI_Comm_dup))mock_hosts_own("PMPI_Comm_dup"))(from, made);
}

/* Each way to make one: it works, and takes over the error handler; then without memory, and with a
 * host that fails. */
static void test_makers(void **state)
{
    MPI_Errhandler handler, got;
    MPI_Comm from, a;
    (void)state;

    MPI_Comm_create_errhandler(count_errors, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &from);
    MPI_Comm_set_errhandler(from, handler);
    struct ft_comm *c = ft_comm_of(from);
    for (int which = 0; which < MAKERS; which++) {
        int x = which, y = -1, refs = c->refs, before = communicators(), result;
        assert_int_equal(make(which, from, &a), MPI_SUCCESS);
        MPI_Comm_get_errhandler(a, &got);
        assert_true(got == handler);
        MPI_Errhandler_free(&got);
        MPI_Comm_compare(from, a, &result);
        assert_int_equal(result, MPI_CONGRUENT);
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, a, MPI_STATUS_IGNORE);
        assert_int_equal(y, which);
        MPI_Comm_free(&a);

        volatile int done = 0, job_ended = 0;
        for (volatile long left = 0; !done; left++) {
            int ended = MOCK_ENDS_JOB({
                mock_fail_memory(left, 1);
                raised = 0;
                a = MPI_COMM_NULL;
                int code = make(which, from, &a);
                done = mock_memory_back() == 0;
                if (!done && code != MPI_SUCCESS) {
                    assert_int_equal(code, MPI_ERR_NO_MEM);
                    assert_int_equal(raised, 1);
                }
                if (code == MPI_SUCCESS)
                    MPI_Comm_free(&a);
                assert_int_equal(communicators(), before);
            });
            if (ended) /* what all have begun together cannot be left by one */
                assert_non_null(strstr(mock_end.message, "memory"));
            job_ended |= ended;
        }
        host_fails = which != 1;
        raised = 0;
        if (host_fails) {
            assert_int_equal(make(which, from, &a), MPI_ERR_INTERN);
            assert_int_equal(raised, 1);
        }
        host_fails = 0;
        assert_int_equal(communicators(), before);
        assert_true(job_ended || c->refs == refs);
    }
    MPI_Comm_free(&from);
    MPI_Errhandler_free(&handler);
}

static void test_compare(void **state)
{
    MPI_Comm a, b;
    int r;
    (void)state;

    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_compare(a, a, &r);
    assert_int_equal(r, MPI_IDENT);
    MPI_Comm_compare(a, MPI_COMM_WORLD, &r);
    assert_int_equal(r, MPI_CONGRUENT);
    assert_int_equal(MPI_Comm_split(a, MPI_UNDEFINED, 0, &b), MPI_SUCCESS);
    assert_true(b == MPI_COMM_NULL);
    assert_int_equal(MPI_Comm_split(a, -5, 0, &b), MPI_ERR_ARG);
    assert_int_equal(MPI_Comm_create(a, MPI_GROUP_NULL, &b), MPI_ERR_GROUP);
    assert_int_equal(MPI_Comm_create(a, MPI_GROUP_EMPTY, &b), MPI_SUCCESS);
    assert_true(b == MPI_COMM_NULL);
    assert_int_equal(MPI_Comm_rank(MPI_COMM_NULL, &r), MPI_ERR_COMM);
    assert_int_equal(MPI_Comm_compare(a, MPI_COMM_NULL, &r), MPI_ERR_COMM);
    MPI_Comm_free(&a);
}

/* Context ids do not wrap around. */
static void test_no_ids(void **state)
{
    MPI_Comm a, last;
    MPI_Request r;
    uint32_t was = ft_next_ctx;
    (void)state;

    ft_next_ctx = 0x20000000u - 1;
    assert_int_equal(MPI_Comm_dup(MPI_COMM_WORLD, &last), MPI_SUCCESS);
    assert_int_equal(MOCK_ENDS_JOB(MPI_Comm_dup(MPI_COMM_WORLD, &a)), 1);
    assert_non_null(strstr(mock_end.message, "no context ids left"));
    assert_int_equal(MOCK_ENDS_JOB(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &a)), 1);
    assert_int_equal(MOCK_ENDS_JOB(MPI_Comm_idup(MPI_COMM_WORLD, &a, &r)), 1);
    assert_non_null(strstr(mock_end.message, "no context ids left"));
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    assert_int_equal(MOCK_ENDS_JOB(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &a)), 1);
    MPI_Group_free(&group);
    ft_next_ctx = was;
    MPI_Comm_free(&last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),   cmocka_unit_test(test_of_world),
        cmocka_unit_test(test_copy_refused), cmocka_unit_test(test_delete_refused),
        cmocka_unit_test(test_compare),      cmocka_unit_test(test_makers),
        cmocka_unit_test(test_no_ids),       cmocka_unit_test(test_left_in_a_callback),
    };
    mock_host[1].name = "PMPI_Comm_dup";
    mock_host[1].fn = (void *)failing_dup;
    mock_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
