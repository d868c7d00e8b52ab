/* SPDX-License-Identifier: BSD-3-Clause
 *
 * files.c - MPI-IO: a file of each process, and one of all; views, collective, individual and
 * shared pointers, nonblocking; messages that go on while a collective waits.
 */
#include "check.h"

#include <unistd.h>

enum { N = 64, BLOCK = 8 };

static char own_name[256], common_name[256];

/* The same directory in all. */
static void make_names(void)
{
    char dir[200];
    const char *tmp = getenv("FILES_DIR");
    if (me == 0) {
        snprintf(dir, sizeof dir, "%s/ftrma-files-XXXXXX", tmp && strlen(tmp) < 150 ? tmp : "/tmp");
        CHECK(mkdtemp(dir));
    }
    MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(own_name, sizeof own_name, "%s/own.%d", dir, me);
    snprintf(common_name, sizeof common_name, "%s/common", dir);
}

static void remove_names(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_delete(own_name, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        CHECK(MPI_File_delete(common_name, MPI_INFO_NULL) == MPI_SUCCESS);
        *strrchr(common_name, '/') = 0;
        CHECK(rmdir(common_name) == 0);
    }
}

/* The group of a file is that of the communicator with which it was opened. */
static void check_group(MPI_File f, MPI_Comm comm)
{
    MPI_Group of_file, of_comm;
    int same, rank, mine;
    CHECK(MPI_File_get_group(f, &of_file) == MPI_SUCCESS);
    MPI_Comm_group(comm, &of_comm);
    MPI_Group_compare(of_file, of_comm, &same);
    CHECK(same == MPI_IDENT);
    MPI_Group_rank(of_file, &rank);
    MPI_Comm_rank(comm, &mine);
    CHECK(rank == mine);
    MPI_Group_free(&of_file);
    MPI_Group_free(&of_comm);
}

static void by_oneself(void)
{
    MPI_File f;
    MPI_Offset size;
    MPI_Status s;
    int out[N], in[N];
    for (int i = 0; i < N; i++)
        out[i] = me * 1000 + i;
    CHECK(MPI_File_open(MPI_COMM_SELF, own_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &f) == MPI_SUCCESS);
    check_group(f, MPI_COMM_SELF);
    CHECK(MPI_File_write(f, out, N / 2, MPI_INT, &s) == MPI_SUCCESS &&
          count_in(&s, MPI_INT) == N / 2);
    CHECK(MPI_File_write_at_all(f, N / 2 * 4, out + N / 2, N / 2, MPI_INT, &s) == MPI_SUCCESS);
    CHECK(MPI_File_get_size(f, &size) == MPI_SUCCESS && size == N * 4);
    CHECK(MPI_File_read_at(f, 0, in, N, MPI_INT, &s) == MPI_SUCCESS && count_in(&s, MPI_INT) == N);
    CHECK(memcmp(in, out, sizeof in) == 0);
    CHECK(MPI_File_close(&f) == MPI_SUCCESS && f == MPI_FILE_NULL);
    CHECK(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &f) !=
          MPI_SUCCESS);
}

/* Blocks in turns, by a view; then plain. */
static void together(MPI_Comm comm)
{
    MPI_File f;
    MPI_Datatype turns;
    MPI_Status s;
    MPI_Request r[2];
    MPI_Offset size, end;
    int rank, n, amode, out[N], in[N], token = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < N; i++)
        out[i] = rank * 1000 + i;
    MPI_Type_vector(N / BLOCK, BLOCK, BLOCK * n, MPI_INT, &turns);
    MPI_Type_commit(&turns);
    CHECK(MPI_File_open(comm, common_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) ==
          MPI_SUCCESS);
    check_group(f, comm);
    MPI_File_get_amode(f, &amode);
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    CHECK(MPI_File_set_size(f, 0) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(f, rank * BLOCK * 4, MPI_INT, turns, "native", MPI_INFO_NULL) ==
          MPI_SUCCESS);
    CHECK(MPI_File_write_all(f, out, N, MPI_INT, &s) == MPI_SUCCESS && count_in(&s, MPI_INT) == N);
    MPI_File_sync(f);
    MPI_Barrier(comm);
    CHECK(MPI_File_get_size(f, &size) == MPI_SUCCESS && size == (MPI_Offset)n * N * 4);
    CHECK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    int other = (rank + 1) % n;
    for (int b = 0; b < N / BLOCK; b++) {
        CHECK(MPI_File_read_at(f, (b * n + other) * BLOCK, in, BLOCK, MPI_INT, &s) == MPI_SUCCESS);
        for (int i = 0; i < BLOCK; i++)
            CHECK(in[i] == other * 1000 + b * BLOCK + i);
    }
    MPI_Barrier(comm);
    CHECK(MPI_File_write_at_all(f, rank * N, out, N, MPI_INT, &s) == MPI_SUCCESS);
    MPI_File_sync(f);
    MPI_Barrier(comm);
    CHECK(MPI_File_read_at_all(f, other * N, in, N, MPI_INT, &s) == MPI_SUCCESS &&
          count_in(&s, MPI_INT) == N);
    for (int i = 0; i < N; i++)
        CHECK(in[i] == other * 1000 + i);
    /* a request of the file's and one of ours */
    CHECK(MPI_File_iread_at(f, other * N, in, N, MPI_INT, &r[0]) == MPI_SUCCESS);
    MPI_Irecv(&token, 1, MPI_INT, (rank + n - 1) % n, 1, comm, &r[1]);
    MPI_Send(&rank, 1, MPI_INT, other, 1, comm);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK(token == (rank + n - 1) % n && in[N - 1] == other * 1000 + N - 1);
    CHECK(MPI_File_seek(f, 0, MPI_SEEK_END) == MPI_SUCCESS &&
          MPI_File_get_position(f, &end) == MPI_SUCCESS && end == (MPI_Offset)n * N);
    CHECK(MPI_File_close(&f) == MPI_SUCCESS && f == MPI_FILE_NULL);
    MPI_Type_free(&turns);
}

/* Rank 1 comes to the call only when rank 0, which waits there, has received its message. The first
 * message says that the receive is posted. */
#define MEANWHILE(call)                                                           \
    do {                                                                          \
        MPI_Request q_ = MPI_REQUEST_NULL;                                        \
        int got_ = -1;                                                            \
        if (me == 0) {                                                            \
            MPI_Irecv(&got_, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &q_);              \
            MPI_Send(&me, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);                      \
        } else if (me == 1) {                                                     \
            MPI_Recv(&got_, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
            MPI_Ssend(&me, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);                     \
        }                                                                         \
        CHECK((call) == MPI_SUCCESS);                                             \
        MPI_Wait(&q_, MPI_STATUS_IGNORE);                                         \
        CHECK(me > 1 || got_ == 1 - me);                                          \
    } while (0)

static void meanwhile(void)
{
    MPI_File f;
    MPI_Status s;
    MPI_Request r;
    int mine = me, other = (me + 1) % np, in = -1;

    if (np == 1)
        return;
    MEANWHILE(MPI_File_open(MPI_COMM_WORLD, common_name, MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &f));
    MEANWHILE(MPI_File_set_size(f, 0));
    MEANWHILE(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MEANWHILE(MPI_File_write_at_all(f, me, &mine, 1, MPI_INT, &s));
    MEANWHILE(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    MEANWHILE(MPI_File_read_at_all_begin(f, other, &in, 1, MPI_INT));
    MEANWHILE(MPI_File_read_at_all_end(f, &in, &s));
    CHECK(in == other);
    /* A nonblocking collective goes on, too: all but rank 0 complete it before they come. */
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    if (me != 0)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(MPI_File_seek(f, me, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_write_all(f, &mine, 1, MPI_INT, &s) == MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MEANWHILE(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    make_names();
    by_oneself();
    /* One that is lost at its start is replaced before files are shared. */
    MPI_Barrier(MPI_COMM_WORLD);
    together(MPI_COMM_WORLD);
    meanwhile();
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    if (me % 2 == 0)
        together(half);
    MPI_Comm_free(&half);
    remove_names();
    return finish();
}
