/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_win.c - what a window is besides its memory, in a job of one rank: handles, attributes,
 * error handlers, info, epochs; wrong use is one error and changes nothing; rollbacks.
 */
#include "mpi/mock_runtime.h"
#include "mpi/rma_op.h"
#include "mpi/win.h"

static struct ft_prng rng;
static int below(int n) { return (int)ft_prng_below(&rng, (uint64_t)n); }

static MPI_Win allocate(int n, int **base)
{
    MPI_Win win = MPI_WIN_NULL;
    int *memory;
    assert_int_equal(MPI_Win_allocate((MPI_Aint)n * (MPI_Aint)sizeof(int), sizeof(int),
                                      MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
                     MPI_SUCCESS);
    if (base)
        *base = memory;
    return win;
}

static MPI_Win dynamic(void)
{
    MPI_Win win;
    assert_int_equal(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    return win;
}

/* ---- handles ---- */

static void test_handles(void **state)
{
    static MPI_Win win[FT_WIN_MAX];
    MPI_Win more = MPI_WIN_NULL;
    int refs = ft_comm_world->refs;
    (void)state;

    for (int i = 0; i < FT_WIN_MAX; i++) {
        win[i] = dynamic();
        assert_ptr_equal(ft_win_of(win[i]), &ft_win_pool[i]); /* the lowest place */
        assert_true(MPI_Win_f2c(MPI_Win_c2f(win[i])) == win[i]);
    }
    assert_int_equal(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &more), MPI_ERR_NO_MEM);
    assert_true(more == MPI_WIN_NULL);
    assert_int_equal(ft_comm_world->refs, refs + FT_WIN_MAX);
    for (int k = 0; k < 300; k++) { /* freed and made again: the lowest free place each time */
        int i = below(FT_WIN_MAX), j = below(FT_WIN_MAX);
        if (i == j)
            continue;
        MPI_Win a = win[i], b = win[j];
        MPI_Win_free(&win[i]);
        assert_true(win[i] == MPI_WIN_NULL);
        assert_null(ft_win_of(a));
        assert_int_equal(MPI_Win_free(&a), MPI_ERR_WIN);
        MPI_Win_free(&win[j]);
        assert_null(ft_win_of(b));
        win[i < j ? i : j] = dynamic();
        win[i < j ? j : i] = dynamic();
        assert_ptr_equal(ft_win_of(win[i]), &ft_win_pool[i]);
        assert_ptr_equal(ft_win_of(win[j]), &ft_win_pool[j]);
    }
    for (int i = 0; i < FT_WIN_MAX; i++)
        assert_int_equal(MPI_Win_free(&win[i]), MPI_SUCCESS);
    assert_int_equal(ft_comm_world->refs, refs);
}

/* ---- attributes ---- */

static char told[400];
static int refuse = -1;
static int more_keyvals[40], nmore;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    size_t n = strlen(told);
    (void)win;
    (void)keyval;
    snprintf(told + n, sizeof told - n, "%d=%d ", *(int *)extra, value ? *(int *)value : -1);
    if (nmore < 40) /* their table may move */
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &more_keyvals[nmore++],
                              NULL);
    return refuse == *(int *)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void test_attributes(void **state)
{
    static int number[] = {0, 1, 2, 3};
    int keyval[4], flag, *value;
    MPI_Win win = dynamic();
    (void)state;

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++)
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval[i], &number[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(MPI_Win_set_attr(win, keyval[i], &number[i]), MPI_SUCCESS);
    assert_string_equal(told, "");
    MPI_Win_set_attr(win, keyval[1], &number[3]);
    assert_string_equal(told, "1=1 ");
    int was = keyval[2];
    MPI_Win_free_keyval(&keyval[2]); /* the attribute stays, and can be named no more */
    assert_int_equal(keyval[2], MPI_KEYVAL_INVALID);
    assert_int_not_equal(MPI_Win_get_attr(win, was, &value, &flag), MPI_SUCCESS);
    refuse = 2;
    told[0] = 0;
    assert_int_equal(MPI_Win_free(&win), MPI_ERR_OTHER);
    assert_true(ft_win_of(win) != NULL);
    refuse = -1;
    assert_int_equal(MPI_Win_free(&win), MPI_SUCCESS);
    /* each once, but for the one that refused */
    int count[4] = {0};
    for (const char *p = told; *p; p = strchr(p, ' ') + 1)
        count[*p - '0']++;
    assert_true(count[0] == 1 && count[1] == 1 && count[2] == 2 && count[3] == 1);

    win = dynamic();
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    mock_fail_memory(0, 0);
    int code = MPI_Win_set_attr(win, keyval[0], &number[0]);
    assert_true(mock_memory_back() > 0);
    assert_int_equal(code, MPI_ERR_NO_MEM);
    MPI_Win_get_attr(win, keyval[0], &value, &flag);
    assert_int_equal(flag, 0);
    MPI_Aint *size;
    int *unit;
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    assert_true(flag && *size == 0);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    assert_true(flag && *unit == 1);
    MPI_Win_free(&win);
    for (int i = 0; i < 4; i++)
        if (i != 2)
            MPI_Win_free_keyval(&keyval[i]);
    while (nmore > 0)
        MPI_Win_free_keyval(&more_keyvals[--nmore]);
}

/* ---- error handlers ---- */

static int raised, raised_code;
static void count_errors(MPI_Win *win, int *code, ...)
{
    (void)win;
    raised++;
    raised_code = *code;
}

static void test_errhandlers(void **state)
{
    MPI_Errhandler h, got, other;
    MPI_Win a = allocate(4, NULL), b = allocate(4, NULL);
    int x = 0;
    (void)state;

    MPI_Win_create_errhandler(count_errors, &h);
    MPI_Win_set_errhandler(a, h);
    MPI_Win_set_errhandler(a, h); /* itself again */
    MPI_Win_set_errhandler(b, h);
    MPI_Win_get_errhandler(a, &got);
    assert_true(got == h);
    MPI_Errhandler_free(&got);
    assert_true(got == MPI_ERRHANDLER_NULL);
    MPI_Errhandler_free(&h); /* windows have it still */
    raised = 0;
    assert_int_equal(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, b), MPI_ERR_RMA_SYNC);
    assert_int_equal(raised, 1);
    assert_int_equal(raised_code, MPI_ERR_RMA_SYNC);
    MPI_Win_free(&b);
    assert_int_equal(MPI_Win_call_errhandler(a, MPI_ERR_ARG), MPI_SUCCESS);
    assert_int_equal(raised, 2);
    assert_int_equal(raised_code, MPI_ERR_ARG);
    MPI_Win_set_errhandler(a, MPI_ERRORS_RETURN);
    MPI_Win_get_errhandler(a, &got);
    assert_true(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    assert_int_equal(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, a), MPI_ERR_RMA_SYNC);
    assert_int_equal(raised, 2);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void *)count_errors, &other);
    assert_int_equal(MPI_Win_set_errhandler(a, other), MPI_ERR_ARG); /* of communicators */
    MPI_Errhandler_free(&other);
    MPI_Win_set_errhandler(a, MPI_ERRORS_ARE_FATAL);
    assert_int_equal(MOCK_ENDS_JOB(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, a)), 1);
    assert_non_null(strstr(mock_end.message, "MPI_Put"));
    MPI_Win_free(&a);
}

/* ---- accesses ---- */

static void test_misuse(void **state)
{
    MPI_Errhandler h;
    MPI_Request r;
    MPI_Win win = allocate(4, NULL), gone;
    int x[8] = {0};
    (void)state;

    MPI_Win_create_errhandler(count_errors, &h);
    MPI_Win_set_errhandler(win, h);
#define RAISES(code, call)                   \
    do {                                     \
        raised = 0;                          \
        assert_int_equal(call, code);        \
        assert_int_equal(raised, 1);         \
        assert_int_equal(raised_code, code); \
    } while (0)
    RAISES(MPI_ERR_RMA_SYNC, MPI_Get(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
    RAISES(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    RAISES(MPI_ERR_LOCKTYPE, MPI_Win_lock(77, 0, 0, win));
    RAISES(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, x, 4));
    assert_int_equal(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    RAISES(MPI_ERR_COUNT, MPI_Put(x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
    RAISES(MPI_ERR_TYPE, MPI_Put(x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
    RAISES(MPI_ERR_TYPE, MPI_Put(x, 1, MPI_INT, 0, 0, 1, (MPI_Datatype)NULL, win));
    RAISES(MPI_ERR_RANK, MPI_Put(x, 1, MPI_INT, 9, 0, 1, MPI_INT, win));
    RAISES(MPI_ERR_DISP, MPI_Put(x, 1, MPI_INT, 0, -1, 1, MPI_INT, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Put(x, 5, MPI_INT, 0, 0, 5, MPI_INT, win));
    /* sums that wrap around */
    RAISES(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, MPI_INT, 0, INT64_MAX, 1, MPI_INT, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, MPI_INT, 0, INT64_MAX / 4, 1, MPI_INT, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, MPI_INT, 0, (MPI_Aint)1 << 62, 1, MPI_INT, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Get(x, INT32_MAX, MPI_DOUBLE, 0, 1, INT32_MAX, MPI_DOUBLE, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Accumulate(x, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, win));
    RAISES(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(x, x + 1, MPI_INT, 0, 4, MPI_SUM, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Compare_and_swap(x, x, x, MPI_INT, 0, 4, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Rput(x, 1, MPI_INT, 0, 4, 1, MPI_INT, win, &r));
    assert_int_equal(MPI_Put(x, 1, MPI_INT, MPI_PROC_NULL, -9, 1, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_unlock(0, win);
    gone = win;
    MPI_Win_free(&win);
    assert_int_equal(MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, gone), MPI_ERR_WIN);
    MPI_Errhandler_free(&h);
}

/* Accesses with holes on either side against plain copies. */
static void test_holes(void **state)
{
    enum { N = 200 };
    int *base, local[2 * N], model[2 * N];
    MPI_Win win = allocate(2 * N, &base);
    MPI_Datatype gaps[3];
    (void)state;

    for (int g = 1; g <= 3; g++) { /* every g-th int */
        MPI_Type_create_resized(MPI_INT, 0, g * (MPI_Aint)sizeof(int), &gaps[g - 1]);
        MPI_Type_commit(&gaps[g - 1]);
    }
    MPI_Win_lock_all(0, win);
    for (int k = 0; k < JOB_TIMES(2000); k++) {
        int a = 1 + below(3), b = 1 + below(3), n = below(40), at = below(2 * N - 3 * 40), sum = 0;
        for (int i = 0; i < 2 * N; i++) {
            local[i] = (int)ft_prng_next(&rng);
            base[i] = model[i] = (int)ft_prng_next(&rng);
        }
        switch (below(3)) {
        case 0:
            MPI_Put(local, n, gaps[a - 1], 0, at, n, gaps[b - 1], win);
            for (int i = 0; i < n; i++)
                model[at + b * i] = local[a * i];
            break;
        case 1:
            MPI_Accumulate(local, n, gaps[a - 1], 0, at, n, gaps[b - 1], MPI_SUM, win);
            for (int i = 0; i < n; i++)
                model[at + b * i] = (int)((unsigned)model[at + b * i] + (unsigned)local[a * i]);
            break;
        case 2:
            MPI_Get(local, n, gaps[a - 1], 0, at, n, gaps[b - 1], win);
            MPI_Win_flush(0, win);
            for (int i = 0; i < n; i++)
                sum += local[a * i] != model[at + b * i];
        }
        MPI_Win_flush(0, win);
        assert_int_equal(sum, 0);
        assert_memory_equal(base, model, sizeof model);
    }
    MPI_Win_unlock_all(win);
    for (int g = 0; g < 3; g++)
        MPI_Type_free(&gaps[g]);
    MPI_Win_free(&win);
}

/* ---- info, names ---- */

static void test_info(void **state)
{
    char value[MPI_MAX_INFO_VAL + 1], name[MPI_MAX_OBJECT_NAME], longest[1000];
    MPI_Info info, got;
    MPI_Win win;
    int flag, len;
    (void)state;

    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Info_set(info, "mine", "first");
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    MPI_Info_set(info, "mine", "changed, but not the window's");
    MPI_Win_get_info(win, &got);
    MPI_Info_get(got, "mine", MPI_MAX_INFO_VAL, value, &flag);
    assert_true(flag && strcmp(value, "first") == 0);
    MPI_Info_get(got, "no_locks", MPI_MAX_INFO_VAL, value, &flag);
    assert_true(flag && strcmp(value, "true") == 0);
    MPI_Info_get(got, "accumulate_ops", MPI_MAX_INFO_VAL, value, &flag);
    assert_true(flag && strcmp(value, "same_op_no_op") == 0);
    MPI_Info_free(&got);
    MPI_Info_delete(info, "no_locks");
    MPI_Win_set_info(win, info);
    MPI_Win_get_info(win, &got);
    MPI_Info_get(got, "mine", MPI_MAX_INFO_VAL, value, &flag);
    assert_true(flag && strcmp(value, "changed, but not the window's") == 0);
    MPI_Info_get(got, "no_locks", MPI_MAX_INFO_VAL, value, &flag);
    assert_true(flag && strcmp(value, "true") == 0); /* what is not given stays */
    MPI_Info_free(&got);
    MPI_Info_free(&info);

    MPI_Win_get_name(win, name, &len);
    assert_true(len == 0 && name[0] == 0);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    MPI_Win_set_name(win, longest);
    MPI_Win_get_name(win, name, &len);
    assert_int_equal(len, MPI_MAX_OBJECT_NAME - 1);
    assert_int_equal(strlen(name), len);
    MPI_Win_free(&win);
}

/* ---- pairs ---- */

/* Where the hole of a pair is, of which the first member has this size. */
static void find_hole(MPI_Datatype type, size_t first, size_t stride)
{
    const MPI_Op ops[] = {MPI_MAXLOC, MPI_REPLACE, MPI_MINLOC};
    struct ft_type store;
    const struct ft_type *t = ft_type_of(type, &store);
    size_t second = ft_align_up(first, sizeof(int)), end = second + sizeof(int);

    for (int k = 0; k < 3; k++) {
        struct ft_rma_op op;
        assert_int_equal(ft_rma_op(ops[k], t, &op), MPI_SUCCESS);
        assert_int_equal(op.stride, stride);
        struct ft_hole h = op.reducer ? op.reducer->hole : FT_NO_HOLE;
        if (first == second && end == stride) {
            assert_int_equal(h.stride, 0);
            continue;
        }
        assert_int_equal(h.at, first < second ? first : end);
        assert_int_equal(h.len, first < second ? second - first : stride - end);
        assert_int_equal(h.stride, stride);
    }
}
#define FIND_HOLE(type, of)                               \
    do {                                                  \
        struct pair {                                     \
            type v;                                       \
            int i;                                        \
        };                                                \
        find_hole(of, sizeof(type), sizeof(struct pair)); \
    } while (0)

static void test_pairs(void **state)
{
    (void)state;
    FIND_HOLE(double, MPI_DOUBLE_INT);
    FIND_HOLE(long, MPI_LONG_INT);
    FIND_HOLE(short, MPI_SHORT_INT);
    FIND_HOLE(long double, MPI_LONG_DOUBLE_INT);
    FIND_HOLE(float, MPI_FLOAT_INT);
    FIND_HOLE(int, MPI_2INT);
}

/* ---- rollbacks ---- */

static void test_rollback(void **state)
{
    static int number[] = {0};
    int keyval, *base;
    MPI_Win setup = allocate(4, &base), locked = allocate(4, NULL), body;
    (void)state;

    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, &number[0]);
    MPI_Win_lock_all(0, locked);
    ft_win_before_body();
    mock_rt.in_body = 1;
    body = dynamic();
    MPI_Win_set_attr(body, keyval, &number[0]);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, setup);
    MPI_Win_unlock_all(locked);
    told[0] = 0;
    mock_rt.in_body = 0;
    ft_rma_reset(NULL, 0);
    ft_rma_drop_body_windows();
    ft_win_rolled_back(0);
    assert_null(ft_win_of(body));
    assert_string_equal(told, ""); /* nobody is asked */
    int x = 5;
    MPI_Win_set_errhandler(setup, MPI_ERRORS_RETURN);
    assert_int_equal(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, setup), MPI_ERR_RMA_SYNC);
    assert_int_equal(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, locked), MPI_SUCCESS);
    assert_int_equal(MPI_Win_unlock_all(locked), MPI_SUCCESS);
    MPI_Win_free(&locked);
    MPI_Win_free(&setup);
    MPI_Win_free_keyval(&keyval);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles),     cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_errhandlers), cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_holes),       cmocka_unit_test(test_info),
        cmocka_unit_test(test_pairs),       cmocka_unit_test(test_rollback),
    };
    mock_begin();
    rng = (struct ft_prng){job_seed(1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
