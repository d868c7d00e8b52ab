/* SPDX-License-Identifier: BSD-3-Clause
 *
 * icoll.c - nonblocking and persistent collectives, many at a time, over two communicators in
 * orders that differ between ranks, with sends, receives that are cancelled, puts, locks and
 * blocking collectives while they are open. A rank goes by what Test and Waitany say and tells its
 * neighbour of it; in the end the neighbour is asked what it heard, so that a process that is
 * replaced and says anything else the second time, or in another order, is found out. What a rank
 * loads from its window after an Ibarrier was put by others before theirs. The result holds nothing
 * that depends on timing.
 */
#include "protect.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum { SHORT = 5, LONG = 1500, MANY = 12, MAX_RANKS = 16, SLOTS = 4 };

static struct {
    uint64_t round, sum, seen, said, heard, vain;
} st;

static MPI_Comm a, b;
static MPI_Win win;
static uint64_t *mem;
static MPI_Request req[MANY];
static int nreq;
static uint64_t word[2][LONG], all[2][LONG], gathered[MAX_RANKS * SHORT], ring[LONG],
    mine_to_ring[LONG], out[SHORT];
static double part[LONG], total[LONG], scanned[SHORT], upto[SHORT], reduced[LONG];

static int left(void) { return (me + np - 1) % np; }
static int right(void) { return (me + 1) % np; }
static void saw(uint64_t v) { st.seen = mix(st.seen + v); }

static void on_a(uint64_t r)
{
    int n = r % 3 ? SHORT : LONG, root = (int)(r % (uint64_t)np);
    for (int i = 0; i < n; i++) {
        word[0][i] = me == root ? mix(st.sum + (uint64_t)i) : 0;
        part[i] = 1.0 / (double)(1 + me + i + (int)r);
    }
    MPI_Ibcast(word[0], n, MPI_UINT64_T, root, a, &req[nreq++]);
    MPI_Iallreduce(part, total, n, MPI_DOUBLE, MPI_SUM, a, &req[nreq++]);
    for (int i = 0; i < SHORT; i++)
        word[1][i] = st.sum ^ (uint64_t)i;
    MPI_Iallreduce(word[1], all[1], SHORT, MPI_UINT64_T, MPI_BXOR, a, &req[nreq++]);
}

static void on_b(uint64_t r)
{
    int root = (int)((r / 2) % (uint64_t)np);
    for (int i = 0; i < SHORT; i++) {
        scanned[i] = 1.0 / (double)(3 + me * i + (int)r);
        out[i] = mix(st.sum - (uint64_t)i);
    }
    memset(reduced, 0, sizeof reduced);
    MPI_Ireduce(scanned, reduced, SHORT, MPI_DOUBLE, MPI_SUM, root, b, &req[nreq++]);
    MPI_Iscan(scanned, upto, SHORT, MPI_DOUBLE, MPI_SUM, b, &req[nreq++]);
    MPI_Iallgather(out, SHORT, MPI_UINT64_T, gathered, SHORT, MPI_UINT64_T, b, &req[nreq++]);
}

/* Made in setup, or (the last one) where body begins; started in each round, in an order that
 * differs between ranks. */
static uint64_t kept[SHORT], kept_all[SHORT], kept_most[SHORT], kept_word[LONG];
static MPI_Request persistent[3];
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(X) MPIX_##X##_init
#elif OMPI_MAJOR_VERSION >= 5
#define INIT(X) MPI_##X##_init
#endif
#ifdef INIT
enum { PERSISTENT = 3 };
static void make_persistent(void)
{
    INIT(Allreduce)(kept, kept_all, SHORT, MPI_UINT64_T, MPI_SUM, a, MPI_INFO_NULL, &persistent[0]);
    INIT(Bcast)(kept_word, LONG, MPI_UINT64_T, 1, a, MPI_INFO_NULL, &persistent[1]);
}
static void make_in_body(void)
{
    INIT(Allreduce)
    (kept, kept_most, SHORT, MPI_UINT64_T, MPI_MAX, a, MPI_INFO_NULL, &persistent[2]);
}
/* A rank that is lost after FTRMA_Run is replaced by a process that has never been in body. */
static void free_in_body(void) { MPI_Request_free(&persistent[2]); }
#else
enum { PERSISTENT = 0 };
static void make_persistent(void) {}
static void make_in_body(void) {}
static void free_in_body(void) {}
#endif

static void start_persistent(uint64_t r)
{
    for (int i = 0; i < SHORT; i++)
        kept[i] = st.sum + (uint64_t)i;
    for (int i = 0; i < LONG; i++)
        kept_word[i] = me == 1 ? mix(st.sum + (uint64_t)i) : 0;
    for (int i = 0; i < PERSISTENT; i++)
        MPI_Start(&persistent[(i + me + (int)r) % 3]);
}

/* Flushes of nothing are in no count of calls: collectives that go on there seem to have gone on in
 * the call before, which posted the receive that is cancelled. What the neighbour sends when it has
 * heard of that must not go to it in a replay. Whether the other Cancel is in time depends on
 * timing, and is told. */
static void cancelled(uint64_t r)
{
    MPI_Request late, never;
    MPI_Status status;
    uint64_t x = 0, y = 0, mine = r;
    int flag;
    MPI_Win_lock_all(0, win);
    MPI_Irecv(&y, 1, MPI_UINT64_T, left(), 9, MPI_COMM_WORLD, &never);
    for (int i = 0; i < 100; i++)
        MPI_Win_flush_all(win);
    MPI_Irecv(&x, 1, MPI_UINT64_T, left(), 8, MPI_COMM_WORLD, &late);
    MPI_Send(&mine, 1, MPI_UINT64_T, right(), 8, MPI_COMM_WORLD);
    MPI_Cancel(&never);
    MPI_Cancel(&late);
    MPI_Wait(&never, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Wait(&late, &status);
    MPI_Test_cancelled(&status, &flag);
    saw((uint64_t)flag);
    if (flag)
        MPI_Recv(&x, 1, MPI_UINT64_T, left(), 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    CHECK(x == r);
    MPI_Send(&mine, 1, MPI_UINT64_T, left(), 10, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_UINT64_T, right(), 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&mine, 1, MPI_UINT64_T, right(), 9, MPI_COMM_WORLD);
    MPI_Recv(&y, 1, MPI_UINT64_T, left(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(x == r && y == r);
}

/* Completes all that is open, by what came when. */
static void complete(uint64_t r)
{
    int flag, which;
    switch (r % 4) {
    case 0:
        for (int i = 0; i < nreq; i++) {
            MPI_Waitany(nreq, req, &which, MPI_STATUS_IGNORE);
            saw((uint64_t)which);
        }
        break;
    case 1:
        for (int open = nreq; open > 0;)
            for (int i = 0; i < nreq; i++) {
                if (req[i] == MPI_REQUEST_NULL)
                    continue;
                MPI_Test(&req[i], &flag, MPI_STATUS_IGNORE);
                open -= flag;
                st.vain += !flag;
                saw((uint64_t)(i * 2 + flag));
            }
        break;
    case 2:
        for (flag = 0; !flag; st.vain += !flag)
            MPI_Testall(nreq, req, &flag, MPI_STATUSES_IGNORE);
        break;
    default: MPI_Waitall(nreq, req, MPI_STATUSES_IGNORE);
    }
    nreq = 0;
}

/* Neighbours' slots of this rank's window, after a barrier that they entered after their puts. */
static void look_at_window(uint64_t r)
{
    MPI_Request barrier;
    uint64_t v = mix(st.sum + r), at = (uint64_t)me % SLOTS;
    MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
    MPI_Put(&v, 1, MPI_UINT64_T, right(), (MPI_Aint)at, 1, MPI_UINT64_T, win);
    if (r % 2) {
        MPI_Win_flush(right(), win);
        MPI_Ibarrier(a, &barrier);
        MPI_Win_unlock(right(), win);
    } else {
        MPI_Win_unlock(right(), win);
        MPI_Ibarrier(a, &barrier);
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    st.sum = mix(st.sum ^ mem[(uint64_t)left() % SLOTS]);
    MPI_Win_unlock(me, win);
    MPI_Ibarrier(a, &barrier); /* nobody puts again before everybody has looked */
    int flag;
    do {
        MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
        st.vain += !flag;
    } while (!flag);
}

static void one_round(uint64_t r)
{
    int n = r % 2 ? SHORT : LONG, last = r % 3 ? SHORT : LONG;
    MPI_Request from_left;
    uint64_t x = st.sum;

    nreq = 0; /* a rollback left some */
    memset(all, 0, sizeof all);
    MPI_Irecv(ring, n, MPI_UINT64_T, left(), 1, MPI_COMM_WORLD, &from_left);
    if ((me + (int)r) % 2) {
        on_a(r);
        MPI_Send(&x, 1, MPI_UINT64_T, right(), 3, MPI_COMM_WORLD);
        on_b(r);
    } else {
        on_b(r);
        MPI_Send(&x, 1, MPI_UINT64_T, right(), 3, MPI_COMM_WORLD);
        on_a(r);
    }
    for (int i = 0; i < n; i++)
        mine_to_ring[i] = mix(x + (uint64_t)i);
    MPI_Request to_right;
    MPI_Isend(mine_to_ring, n, MPI_UINT64_T, right(), 1, MPI_COMM_WORLD, &to_right);
    start_persistent(r);
    cancelled(r);
    x = 0;
    MPI_Recv(&x, 1, MPI_UINT64_T, left(), 3, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE); /* others go on through this one */
    st.sum = mix(st.sum + x);
    if (r % 5 == 2)
        MPI_Barrier(MPI_COMM_WORLD);
    complete(r);
    MPI_Waitall(PERSISTENT, persistent, MPI_STATUSES_IGNORE);
    MPI_Wait(&from_left, MPI_STATUS_IGNORE);
    MPI_Wait(&to_right, MPI_STATUS_IGNORE);
    st.sum = mix_all(st.sum, word[0], (size_t)last);
    st.sum = mix_all(st.sum, total, (size_t)last);
    st.sum = mix_all(st.sum, all[1], SHORT);
    st.sum = mix_all(st.sum, reduced, SHORT);
    st.sum = mix_all(st.sum, upto, SHORT);
    st.sum = mix_all(st.sum, gathered, (size_t)(np * SHORT));
    st.sum = mix_all(st.sum, ring, (size_t)n);
    st.sum = mix_all(st.sum, kept_all, SHORT);
    st.sum = mix_all(st.sum, kept_most, SHORT);
    st.sum = mix_all(st.sum, kept_word, PERSISTENT ? LONG : 0);

    uint64_t mine = mix(st.seen + st.vain), theirs;
    st.said = mix(st.said ^ mine);
    MPI_Sendrecv(&mine, 1, MPI_UINT64_T, right(), 2, &theirs, 1, MPI_UINT64_T, left(), 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    st.heard = mix(st.heard ^ theirs);
    look_at_window(r);
}

static void body(void *arg)
{
    (void)arg;
    make_in_body();
    for (; st.round < opt.rounds; st.round++) {
        safepoint();
        one_round(st.round);
    }
    free_in_body();
}

/* Each round fills all of it before it reads it. */
static void unprotect_all(void)
{
#define UNPROTECT(x) unprotect(&(x), sizeof(x))
    UNPROTECT(req), UNPROTECT(nreq), UNPROTECT(word), UNPROTECT(all), UNPROTECT(gathered),
        UNPROTECT(ring), UNPROTECT(mine_to_ring);
    UNPROTECT(out), UNPROTECT(part), UNPROTECT(total), UNPROTECT(scanned), UNPROTECT(upto),
        UNPROTECT(reduced);
    UNPROTECT(kept), UNPROTECT(kept_all), UNPROTECT(kept_most), UNPROTECT(kept_word);
}

int main(int argc, char **argv)
{
    start(argc, argv, 20);
    CHECK(np <= MAX_RANKS);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_split(MPI_COMM_WORLD, 0, np - me, &b);
    mem = window(SLOTS, MPI_COMM_WORLD, &win);
    make_persistent();
    st.sum = mix((uint64_t)me + 7);
    protect(&st, sizeof st);
    unprotect_all();
    run(body, NULL);
    uint64_t theirs;
    MPI_Sendrecv(&st.said, 1, MPI_UINT64_T, right(), 4, &theirs, 1, MPI_UINT64_T, left(), 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(theirs == st.heard);
    for (int i = 0; i < PERSISTENT - 1; i++)
        MPI_Request_free(&persistent[i]);
    window_free(mem, &win);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    return finish(st.sum);
}
