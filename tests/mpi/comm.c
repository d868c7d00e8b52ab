/* SPDX-License-Identifier: BSD-3-Clause
 *
 * comm.c - making, comparing and freeing communicators and groups; messages on one are not seen on
 * another.
 */
#include "check.h"

static void members(MPI_Comm c, int rank, int size)
{
    int r, s, sum = 0, inter = 1;
    MPI_Group g;

    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &s);
    CHECK(r == rank && s == size);
    MPI_Comm_group(c, &g);
    MPI_Group_rank(g, &r);
    MPI_Group_size(g, &s);
    CHECK(r == rank && s == size);
    MPI_Group_free(&g);
    MPI_Comm_test_inter(c, &inter);
    CHECK(!inter);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK(sum == size * (size - 1) / 2);
}

static void dup(void)
{
    MPI_Comm a, b;
    int result, x = -1, y = -1, right = (me + 1) % np, left = (me + np - 1) % np, one = 1, two = 2;
    MPI_Request q[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup_with_info(a, MPI_INFO_NULL, &b);
    members(a, me, np);
    members(b, me, np);
    MPI_Comm_compare(a, b, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(a, a, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, a, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    CHECK(result == (np == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    /* one tag, two communicators */
    MPI_Irecv(&x, 1, MPI_INT, left, 0, a, &q[0]);
    MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, &q[1]);
    MPI_Send(&two, 1, MPI_INT, right, 0, b);
    MPI_Send(&one, 1, MPI_INT, right, 0, a);
    MPI_Comm_free(&b); /* with a receive still open */
    CHECK(b == MPI_COMM_NULL);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK(x == 1 && y == 2);
    MPI_Comm_free(&a);
}

static void split(void)
{
    MPI_Comm a, b, c;
    int result, mine;

    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &a);
    members(a, me / 2, (np + 1 - me % 2) / 2);
    MPI_Comm_split(MPI_COMM_WORLD, 3, np - me, &b);
    members(b, np - 1 - me, np);
    MPI_Comm_compare(MPI_COMM_WORLD, b, &result);
    CHECK(result == (np == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    MPI_Comm_split(b, me == 0 ? MPI_UNDEFINED : 0, me, &c);
    CHECK((c == MPI_COMM_NULL) == (me == 0));
    if (me != 0) {
        members(c, me - 1, np - 1);
        MPI_Comm_free(&c);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    MPI_Comm_size(c, &mine); /* of the nodes, whose ranks are neighbours */
    CHECK(mine >= 1 && mine <= np);
    members(c, me % mine, mine);
    MPI_Comm_free(&c);
    MPI_Comm_free(&b);
    MPI_Comm_free(&a);
}

static void create(void)
{
    MPI_Group world, some, none;
    MPI_Comm c;
    int range[1][3] = {{np - 1, 0, -2}}, n, mine, in;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &some);
    MPI_Group_size(some, &n);
    MPI_Group_rank(some, &mine);
    in = mine != MPI_UNDEFINED;
    CHECK(in == ((np - 1 - me) % 2 == 0) && (!in || mine == (np - 1 - me) / 2));
    MPI_Comm_create(MPI_COMM_WORLD, some, &c);
    CHECK((c != MPI_COMM_NULL) == in);
    if (in) {
        members(c, mine, n);
        MPI_Comm_free(&c);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 17, &c);
        members(c, mine, n);
        MPI_Comm d;
        MPI_Comm_dup(c, &d);
        members(d, mine, n);
        MPI_Comm_free(&d);
        MPI_Comm_free(&c);
    }
    MPI_Group_difference(some, some, &none);
    MPI_Comm_create(MPI_COMM_WORLD, none, &c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
}

/* Some go further in creating than others; then all must agree on a new one again. */
static void uneven(void)
{
    MPI_Comm own[5], all, part;

    for (int i = 0; i <= me % 3; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    members(all, me, np);
    MPI_Comm_split(all, me / 2, 0, &part);
    members(part, me % 2, me / 2 == np / 2 ? np % 2 : 2);
    for (int i = 0; i <= me % 3; i++)
        MPI_Comm_free(&own[i]);
    MPI_Comm_free(&part);
    MPI_Comm_free(&all);
}

static void churn(void)
{
    for (int i = 0; i < 200; i++) {
        MPI_Comm c, d;
        int sum = 0;
        MPI_Comm_split(MPI_COMM_WORLD, me % (i % 3 + 1), i % 2 ? -me : me, &c);
        MPI_Comm_dup(c, &d);
        MPI_Comm_free(&c);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_MAX, d);
        CHECK(sum == i);
        MPI_Comm_free(&d);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    members(MPI_COMM_WORLD, me, np);
    members(MPI_COMM_SELF, 0, 1);
    dup();
    split();
    create();
    uneven();
    churn();
    return finish();
}
