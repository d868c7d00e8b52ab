/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_comm_table.c - from handles to communicators: many that come and go in random order, who
 * keeps them, both groups of an intercommunicator, rollbacks, and no memory.
 */
#include "mpi/comm_table.h"
#include "mpi/mock_runtime.h"
#include "mpi/topo.h"

static struct ft_prng rng;
static int below(int n) { return (int)ft_prng_below(&rng, (uint64_t)n); }

/* Handles that the host never sees. */
enum { MANY = 700, WORLD = 9 };
static char place[MANY];
static MPI_Comm handle_of(int i) { return (MPI_Comm)(void *)&place[i]; }

static const int everybody[WORLD] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

static struct ft_comm *make(int i)
{
    return ft_comm_register(handle_of(i), FT_CTX_FIRST + (uint32_t)i,
                            &(struct ft_members){WORLD, everybody, 0, NULL});
}

static void setup_world(int rank)
{
    mock_rt.nranks = WORLD;
    mock_rt.rank = rank;
}

static int back_to_one(void **state)
{
    (void)state;
    mock_rt.nranks = 1;
    mock_rt.rank = 0;
    mock_rt.in_body = 0;
    return 0;
}

/* Against a plain array: look-ups of all, after each of many random steps. */
static void test_random(void **state)
{
    static struct ft_comm *c[MANY];
    int live = 0, most = 0;
    (void)state;

    setup_world(3);
    for (int step = 0; step < JOB_TIMES(6000); step++) {
        int i = below(MANY), grow = step < JOB_TIMES(3000) ? 3 : 1;
        if (!c[i] && below(4) < grow) {
            c[i] = make(i);
            assert_non_null(c[i]);
            assert_int_equal(c[i]->ctx.rank, 3);
            live++;
        } else if (c[i]) {
            ft_comm_forget_handle(c[i]);
            c[i] = NULL;
            live--;
        }
        most = live > most ? live : most;
        for (int k = 0; k < 20; k++) {
            int j = k == 0 ? i : below(MANY);
            assert_ptr_equal(ft_comm_of(handle_of(j)), c[j]);
            assert_ptr_equal(ft_comm_of_context(FT_CTX_FIRST + (uint32_t)j), c[j]);
        }
        assert_ptr_equal(ft_comm_of(MPI_COMM_WORLD), ft_comm_world);
        assert_ptr_equal(ft_comm_of(MPI_COMM_SELF), ft_comm_self);
        assert_null(ft_comm_of(MPI_COMM_NULL));
        assert_null(ft_comm_of(NULL));
    }
    assert_true(most > MANY / 3);
    for (int i = 0; i < MANY; i++)
        if (c[i])
            ft_comm_forget_handle(c[i]);
}

/* Open references keep a communicator whose handle was freed; another communicator may have that
 * handle by then. */
static void test_references(void **state)
{
    struct ft_comm *first, *second;
    (void)state;

    setup_world(0);
    first = make(0);
    first->refs += 2;
    ft_comm_forget_handle(first);
    assert_null(ft_comm_of(handle_of(0)));
    assert_null(ft_comm_of_context(FT_CTX_FIRST));
    second = make(0);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(ft_comm_of(handle_of(0)), second);
    ft_comm_release(first);
    assert_int_equal(first->ctx.size, WORLD);
    ft_comm_release(first);
    assert_ptr_equal(ft_comm_of(handle_of(0)), second);
    ft_comm_forget_handle(second);
}

static void test_views(void **state)
{
    static const int mine[] = {5, 2, 7}, theirs[] = {1, 8};
    (void)state;

    for (int swap = 0; swap < 2; swap++) {
        const int *local = swap ? theirs : mine, *remote = swap ? mine : theirs;
        int nlocal = swap ? 2 : 3, nremote = 5 - nlocal;
        setup_world(swap ? 8 : 7);
        struct ft_comm *c = ft_comm_register(handle_of(0), 77,
                                             &(struct ft_members){nlocal, local, nremote, remote});
        assert_int_equal(c->inter, 1);
        assert_int_equal(c->local.size, nlocal);
        assert_int_equal(c->ctx.size, nremote);
        assert_int_equal(c->all.size, 5);
        assert_memory_equal(c->local.world, local, (size_t)nlocal * sizeof(int));
        assert_memory_equal(c->ctx.world, remote, (size_t)nremote * sizeof(int));
        /* the group whose first member is smaller comes first, for all members */
        assert_memory_equal(c->all.world, theirs, sizeof theirs);
        assert_memory_equal(c->all.world + 2, mine, sizeof mine);
        assert_int_equal(c->local.world[c->local.rank], ft_my_rank());
        assert_int_equal(c->all.world[c->all.rank], ft_my_rank());
        assert_int_equal(c->ctx.rank, c->local.rank);
        for (int r = 0; r < WORLD; r++) { /* ranks of whom messages come from */
            int want = -1;
            for (int i = 0; i < nremote; i++)
                want = remote[i] == r ? i : want;
            assert_int_equal(ft_comm_rank_of(c, r), want);
        }
        ft_comm_forget_handle(c);
    }
}

/* After a rollback those made inside body are gone, the others stay. */
static void test_rollback(void **state)
{
    struct ft_comm *c[40];
    (void)state;

    setup_world(1);
    for (int i = 0; i < 40; i++) {
        mock_rt.in_body = i % 3 == 0;
        c[i] = make(i);
    }
    c[3]->refs++;
    ft_comm_forget_body();
    for (int i = 0; i < 40; i++)
        assert_ptr_equal(ft_comm_of(handle_of(i)), i % 3 == 0 ? NULL : c[i]);
    ft_comm_release(c[3]);
    for (int i = 0; i < 40; i++)
        if (i % 3)
            ft_comm_forget_handle(c[i]);
}

/* No memory for a new one is an error that changes nothing. To forget one needs no memory. */
static void test_no_memory(void **state)
{
    struct ft_comm *c[MANY];
    int refused = 0;
    (void)state;

    setup_world(0);
    for (int i = 0; i < MANY; i++) {
        for (long left = 0;; left++) {
            mock_fail_memory(left, 1);
            c[i] = make(i);
            long failed = mock_memory_back();
            assert_int_equal(!c[i], failed > 0);
            if (c[i])
                break;
            assert_null(ft_comm_of(handle_of(i)));
            assert_true(i == 0 || ft_comm_of(handle_of(i - 1)) == c[i - 1]);
            refused++;
        }
    }
    assert_true(refused >= 2 * MANY);
    for (int i = 0; i < MANY; i += 2) {
        mock_fail_memory(0, 0);
        int ended = MOCK_ENDS_JOB(ft_comm_forget_handle(c[i]));
        mock_memory_back();
        assert_int_equal(ended, 0);
    }
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(ft_comm_of(handle_of(i)), i % 2 ? c[i] : NULL);
    int ended = MOCK_ENDS_JOB({
        mock_fail_memory(0, 0);
        ft_comm_rank_of(c[1], 4); /* its place is its rank: no table */
        c[1]->ctx.size = 0;
        ft_comm_rank_of(c[1], 4);
    });
    assert_int_equal(ended, 1); /* a receive from anybody cannot say whom from */
    c[1]->ctx.size = WORLD;
    for (int i = 1; i < MANY; i += 2)
        ft_comm_forget_handle(c[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random, back_to_one),
        cmocka_unit_test_teardown(test_references, back_to_one),
        cmocka_unit_test_teardown(test_views, back_to_one),
        cmocka_unit_test_teardown(test_rollback, back_to_one),
        cmocka_unit_test_teardown(test_no_memory, back_to_one),
    };
    mock_begin();
    rng = (struct ft_prng){job_seed(1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
