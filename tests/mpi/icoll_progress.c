/* SPDX-License-Identifier: BSD-3-Clause
 *
 * icoll_progress.c - a rank's nonblocking collectives go on whatever it waits for. Many of them are
 * open at a time, over communicators in orders that differ between ranks. Every call that completes
 * requests completes theirs, mixed with others.
 */
#include "check.h"

enum { GO = 5, READY = 6, DONE = 7, MANY = 40, WORDS = 3000 };

static int buf[WORDS], data[WORDS];

/* ---- in each call that waits ----
 * Each rank in turn waits for something that all others do only when they have come through a
 * barrier, and have what a root has sent, perhaps by way of it. */
enum waits { RECV, PROBE, WAIT, BARRIER, ALLREDUCE, LOCK, FENCE, DUP, SENDRECV, WAITS };

static MPI_Win win;
static MPI_Comm other;

static void wait_for(enum waits how, int mover)
{
    int x = 0, one = 1;
    MPI_Request req;
    MPI_Status st;
    MPI_Comm dup;

    switch (how) {
    case RECV:
        for (int i = 1; i < np; i++)
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, DONE, other, MPI_STATUS_IGNORE);
        break;
    case PROBE:
        for (int i = 0; i < np; i++) {
            if (i == mover)
                continue;
            MPI_Probe(i, DONE, other, &st);
            MPI_Recv(&x, 1, MPI_INT, i, DONE, other, MPI_STATUS_IGNORE);
        }
        break;
    case WAIT:
        for (int i = 0; i < np; i++) {
            if (i == mover)
                continue;
            MPI_Irecv(&x, 1, MPI_INT, i, DONE, other, &req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        }
        break;
    case SENDRECV:
        for (int i = 0; i < np; i++)
            if (i != mover)
                MPI_Sendrecv(&one, 1, MPI_INT, i, GO, &x, 1, MPI_INT, i, DONE, other,
                             MPI_STATUS_IGNORE);
        break;
    case BARRIER: MPI_Barrier(other); break;
    case ALLREDUCE:
        MPI_Allreduce(&one, &x, 1, MPI_INT, MPI_SUM, other);
        CHECK(x == np);
        break;
    case LOCK:
        for (int i = 0; i < np; i++)
            if (i != mover) {
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, win);
                MPI_Win_unlock(i, win);
            }
        break;
    case FENCE: MPI_Win_fence(0, win); break;
    case DUP:
        MPI_Comm_dup(other, &dup);
        MPI_Comm_free(&dup);
        break;
    case WAITS: break;
    }
}

static void let_go(enum waits how, int mover)
{
    int x = 0;
    switch (how) {
    case RECV:
    case PROBE:
    case WAIT: MPI_Send(&x, 1, MPI_INT, mover, DONE, other); break;
    case SENDRECV:
        MPI_Recv(&x, 1, MPI_INT, mover, GO, other, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, mover, DONE, other);
        break;
    case LOCK: MPI_Win_unlock(me, win); break;
    case FENCE: MPI_Win_fence(0, win); break;
    default: wait_for(how, mover);
    }
}

static void progress_in(enum waits how, int root, int mover)
{
    MPI_Request req, barrier;
    int x = 0;

    if (root == mover)
        return;
    MPI_Barrier(MPI_COMM_WORLD);
    if (how == FENCE)
        MPI_Win_fence(0, win);
    if (how == LOCK && me != mover)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WORDS; i++)
        buf[i] = me == root ? i + root : -1;
    if (me == mover) {
        MPI_Ibcast(buf, WORDS, MPI_INT, root, MPI_COMM_WORLD, &req);
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        MPI_Send(&x, 1, MPI_INT, root, READY, MPI_COMM_WORLD);
        wait_for(how, mover);
    } else {
        if (me == root) /* the mover has started and has nothing to forward yet */
            MPI_Recv(&x, 1, MPI_INT, mover, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibcast(buf, WORDS, MPI_INT, root, MPI_COMM_WORLD, &req);
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        let_go(how, mover);
    }
    if (me == mover) {
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < WORDS; i++)
        CHECK(buf[i] == i + root);
    if (how == FENCE)
        MPI_Win_fence(0, win);
}

/* ---- many ---- */
static void many(void)
{
    static int in[MANY][8], got[MANY][8 * 8];
    MPI_Request req[MANY + 2];
    MPI_Comm comm[2];
    int left, x = me, from_left = -1;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, np - me, &comm[1]);
    for (int form = 0; form < 6; form++) {
        for (int k = 0; k < MANY;
             k++) { /* each half in order on its communicator, the two in different orders */
            int c = (k < MANY / 2) ^ (me + form) % 2, i = (k % (MANY / 2)) + c * (MANY / 2), rank;
            MPI_Comm_rank(comm[c], &rank);
            for (int j = 0; j < 8; j++)
                in[i][j] = 1000 * i + 10 * rank + j;
            memset(got[i], -1, sizeof got[i]);
            switch (i % 4) {
            case 0: MPI_Iallreduce(in[i], got[i], 4, MPI_INT, MPI_SUM, comm[c], &req[i]); break;
            case 1: MPI_Iallgather(in[i], 4, MPI_INT, got[i], 4, MPI_INT, comm[c], &req[i]); break;
            case 2:
                MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, memcpy(got[i], in[i], sizeof in[i]), 1,
                              MPI_INT, comm[c], &req[i]);
                break;
            default: MPI_Iscan(in[i], got[i], 4, MPI_INT, MPI_SUM, comm[c], &req[i]);
            }
        }
        MPI_Irecv(&from_left, 1, MPI_INT, (me + np - 1) % np, 1, MPI_COMM_WORLD, &req[MANY]);
        MPI_Isend(&x, 1, MPI_INT, (me + 1) % np, 1, MPI_COMM_WORLD, &req[MANY + 1]);
        left = MANY + 2;
        int flag = 0, which, indices[MANY + 2], some;
        for (int i = MANY + 1; i >= 0 && form == 0; i--) /* from the last on */
            MPI_Wait(&req[i], MPI_STATUS_IGNORE);
        for (; left > 0 && form == 1; left--) {
            MPI_Waitany(MANY + 2, req, &which, MPI_STATUS_IGNORE);
            CHECK(which >= 0 && which < MANY + 2);
        }
        for (; left > 0 && form == 2; left -= some)
            MPI_Waitsome(MANY + 2, req, &some, indices, MPI_STATUSES_IGNORE);
        while (form == 3 && !flag)
            MPI_Testall(MANY + 2, req, &flag, MPI_STATUSES_IGNORE);
        for (; left > 0 && form == 4; left -= flag ? 1 : 0) {
            MPI_Testany(MANY + 2, req, &which, &flag, MPI_STATUS_IGNORE);
            flag = flag && which != MPI_UNDEFINED;
        }
        for (int i = 0; i < MANY + 2 && form == 5; i += flag) {
            MPI_Request_get_status(req[i], &flag, MPI_STATUS_IGNORE);
            if (flag)
                MPI_Test(&req[i], &flag, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < MANY + 2; i++)
            CHECK(req[i] == MPI_REQUEST_NULL);
        CHECK(from_left == (me + np - 1) % np);
        for (int i = 0; i < MANY; i++) {
            int c = i / (MANY / 2), rank;
            MPI_Comm_rank(comm[c], &rank);
            for (int j = 0; j < 4; j++)
                switch (i % 4) {
                case 0: CHECK(got[i][j] == np * (1000 * i + j) + 10 * np * (np - 1) / 2); break;
                case 1: CHECK(got[i][4 * (np - 1) + j] == 1000 * i + 10 * (np - 1) + j); break;
                case 2: CHECK(j >= np || got[i][j] == 1000 * i + 10 * j + rank); break;
                default:
                    CHECK(got[i][j] == (rank + 1) * (1000 * i + j) + 10 * rank * (rank + 1) / 2);
                }
        }
    }
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
}

/* Nonblocking ones, blocking ones and messages of the same communicator do not mix. */
static void mixed(void)
{
    MPI_Request req[3];
    int x = me, sum = -1, root_has = me == 0 ? 77 : -1, max = -1;
    MPI_Ibcast(&root_has, 1, MPI_INT, 0, MPI_COMM_WORLD, &req[0]);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(&x, &max, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &req[1]);
    for (int i = 0; i < WORDS; i++)
        data[i] = me == np - 1 ? i : 0;
    MPI_Bcast(data, WORDS, MPI_INT, np - 1, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &req[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(3, req, MPI_STATUSES_IGNORE);
    CHECK(root_has == 77 && sum == np * (np - 1) / 2 && max == np - 1 &&
          data[WORDS - 1] == WORDS - 1);
}

int main(int argc, char **argv)
{
    int *mem;
    start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    for (int how = 0; how < WAITS; how++)
        for (int mover = 0; mover < np; mover++)
            progress_in((enum waits)how, (mover + (how % 2 ? 1 : 2)) % np, mover);
    many();
    mixed();
    MPI_Win_free(&win);
    MPI_Comm_free(&other);
    return finish();
}
