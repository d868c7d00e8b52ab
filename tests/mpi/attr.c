/* SPDX-License-Identifier: BSD-3-Clause
 *
 * attr.c - what belongs to a communicator's handle: attributes with their callbacks, predefined
 * ones, names, info; attributes of MPI_COMM_SELF are deleted in MPI_Finalize, the last one set
 * first.
 */
#include "check.h"

static int copies, deletes, deleted_at_end, order_at_end[2];
static MPI_Comm copied_from;
static char extra[] = "extra";

static int copy(MPI_Comm old, int keyval, void *x, void *in, void *out, int *flag)
{
    (void)keyval;
    copies++;
    copied_from = old;
    CHECK(x == extra);
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm c, int keyval, void *value, void *x)
{
    (void)c, (void)keyval, (void)value, (void)x;
    deletes++;
    return MPI_SUCCESS;
}

static int at_end(MPI_Comm c, int keyval, void *value, void *x)
{
    int rank = -1;
    (void)keyval, (void)x;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* MPI still works here */
    CHECK(c == MPI_COMM_SELF && rank == me);
    order_at_end[deleted_at_end++] = *(int *)value;
    return MPI_SUCCESS;
}

static void attributes(MPI_Comm base)
{
    static char value[10];
    char *got = NULL;
    int copying, plain, lone, flag;
    MPI_Comm d, e;

    copies = deletes = 0;
    MPI_Comm_create_keyval(copy, delete, &copying, extra);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &lone, NULL);
    MPI_Comm_get_attr(base, copying, &got, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(base, copying, value);
    MPI_Comm_set_attr(base, plain, value + 5);
    MPI_Comm_set_attr(base, lone, value);
    MPI_Comm_get_attr(base, copying, &got, &flag);
    CHECK(flag && got == value);
    MPI_Comm_dup(base, &d);
    CHECK(copies == 1 && copied_from == base);
    MPI_Comm_get_attr(d, copying, &got, &flag);
    CHECK(flag && got == value + 1);
    MPI_Comm_get_attr(d, plain, &got, &flag);
    CHECK(flag && got == value + 5);
    MPI_Comm_get_attr(d, lone, &got, &flag);
    CHECK(!flag);
    MPI_Comm_dup(d, &e);
    MPI_Comm_get_attr(e, copying, &got, &flag);
    CHECK(flag && got == value + 2 && copies == 2);
    MPI_Comm_free(&e);
    CHECK(deletes == 1);
    MPI_Comm_split(base, 0, me, &e);
    MPI_Comm_get_attr(e, copying, &got, &flag);
    CHECK(!flag);
    MPI_Comm_free(&e);
    MPI_Comm_delete_attr(base, copying);
    MPI_Comm_delete_attr(base, lone);
    MPI_Comm_delete_attr(base, plain);
    CHECK(deletes == 3);
    MPI_Comm_get_attr(base, copying, &got, &flag);
    CHECK(!flag);
    MPI_Comm_free(&d);
    CHECK(deletes == 4 && copies == 2);
    MPI_Comm_free_keyval(&copying);
    MPI_Comm_free_keyval(&plain);
    MPI_Comm_free_keyval(&lone);
    CHECK(copying == MPI_KEYVAL_INVALID);
}

static void predefined(void)
{
    int *tag_ub, *universe, flag;
    MPI_Comm d;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    CHECK(flag && *tag_ub >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(!flag || *universe >= 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &d);
    MPI_Comm_get_attr(d, MPI_TAG_UB, &tag_ub, &flag);
    CHECK(flag && *tag_ub >= 32767);
    int v = me, got = -1;
    MPI_Sendrecv(&v, 1, MPI_INT, me, *tag_ub, &got, 1, MPI_INT, me, *tag_ub, d, MPI_STATUS_IGNORE);
    CHECK(got == me);
    MPI_Comm_free(&d);
}

static void names_and_info(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int len;
    MPI_Comm d;
    MPI_Info info;

    MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &d);
    MPI_Comm_set_name(d, "another");
    MPI_Comm_get_name(d, name, &len);
    CHECK(strcmp(name, "another") == 0 && len == 7);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Info_create(&info);
    MPI_Comm_set_info(d, info);
    MPI_Info_free(&info);
    MPI_Comm_get_info(d, &info);
    MPI_Info_free(&info);
    MPI_Comm_free(&d);
}

int main(int argc, char **argv)
{
    static int first = 1, second = 2;
    int k1, k2, over = 1;
    MPI_Comm d;

    start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &d);
    attributes(MPI_COMM_WORLD);
    attributes(d);
    attributes(MPI_COMM_SELF);
    MPI_Comm_free(&d);
    predefined();
    names_and_info();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &k1, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &k2, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, k1, &first);
    MPI_Comm_set_attr(MPI_COMM_SELF, k2, &second);
    MPI_Finalized(&over);
    CHECK(!over);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&over);
    if (!over || deleted_at_end != 2 || order_at_end[0] != 2) {
        fprintf(stderr,
                "attr.c: rank %d: MPI_Finalize deleted %d attributes of MPI_COMM_SELF, first %d\n",
                me, deleted_at_end, order_at_end[0]);
        return 1;
    }
    if (me == 0)
        puts("ok");
    return 0;
}
