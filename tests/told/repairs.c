/* SPDX-License-Identifier: BSD-3-Clause
 *
 * repairs.c - a program that handles losses itself, for 3 ranks or more. All that it holds is a
 * function of the round that it is in, so at each entry of body a rank can say what its memory must
 * hold: a survivor what it had, protected or not; a new rank what its image holds. In each round it
 * uses messages, requests, collectives, windows with fences, locks and combining operations, on
 * communicators and windows of setup, and it may be lost anywhere.
 *
 *   repairs [shared | freed | dropped | many]
 */
#include <limits.h>
#include <string.h>

#include "../program.h"
#include "ftrma.h"

#define CELLS 2500 /* of the part that only its owner writes */
#define PIECE 512  /* doubles in 4 KiB */
#define SUMS 1200  /* of the part that all add to: more than two pieces */
#define MOST 64

static int rounds = 24, round_no; /* protected */
static int kept_round;            /* not protected, the same */
static int entered;               /* body, by this process */
static uint64_t said;             /* protected: a hash over all rounds */
static MPI_Comm all, half;
static MPI_Win win, locked, shared_win, scratch_win;
static double *cells, *shared_part;
static uint64_t *locked_word;
static double plain[CELLS]; /* not protected */
static MPI_Request again[2];
static double from_left, to_right;
static MPI_Comm scratch_comm = MPI_COMM_NULL;
static int uses_shared, frees, drops;

static double cell(int rank, int r, int i) { return rank * 1000003.0 + r * 1009.0 + i; }

/* One step without a call: a loss finds all of it or nothing. */
static void fill(int r)
{
    for (int i = 0; i < CELLS; i++)
        cells[i] = plain[i] = cell(me, r, i);
    for (int i = 0; uses_shared && i < 100; i++)
        shared_part[i] = cell(me, r, i);
    round_no = kept_round = r;
}

static uint64_t expected_after(int r)
{
    uint64_t h = 1;
    for (int k = 0; k < r; k++)
        h = mix(h + (uint64_t)k * (uint64_t)np);
    return h;
}

static int index_of(int rank, const int *new, int n)
{
    for (int i = 0; i < n; i++)
        if (new[i] == rank)
            return i;
    return -1;
}

/* What a survivor has, and what a new rank has of its image. */
static void look_at_memory(const int *new, const int *version, int n)
{
    int at = index_of(me, new, n), is_new = at >= 0;
    if (!is_new && entered == 1) /* a job that goes on from files has nothing else */
        memcpy(plain, cells, sizeof plain);
    else if (!is_new)
        CHECK(kept_round == round_no);
    if (is_new && version[at] == 0)
        return; /* as setup has left it, or as it was when all began again */
    for (int i = 0; i < CELLS; i++)
        CHECK(cells[i] == cell(me, round_no, i));
    for (int i = 0; !is_new && i < CELLS; i++)
        CHECK(plain[i] == cell(me, round_no, i));
    for (int i = 0; uses_shared && i < 100; i++)
        CHECK(shared_part[i] == cell(me, round_no, i));
    CHECK(said == expected_after(round_no));
    /* what others had added: each piece of 4 KiB was added as a whole */
    for (int p = 0; p < SUMS; p += PIECE)
        for (int i = p; i < p + PIECE && i < SUMS; i++)
            CHECK(cells[CELLS + i] == cells[CELLS + p]);
}

static void all_were_told_the_same(const int *new, const int *version, int n)
{
    uint64_t h = (uint64_t)n, low, high;
    for (int i = 0; i < n; i++)
        h = mix(h + (uint64_t) new[i] * 65536 + (uint64_t)version[i]);
    MPI_Allreduce(&h, &low, 1, MPI_UINT64_T, MPI_MIN, all);
    MPI_Allreduce(&h, &high, 1, MPI_UINT64_T, MPI_MAX, all);
    CHECK(low == h && high == h);
}

static void repair(const int *new, const int *version, int n)
{
    int mine = index_of(me, new, n) >= 0 ? INT_MAX : round_no, from;
    CHECK(n <= MOST);
    look_at_memory(new, version, n);
    all_were_told_the_same(new, version, n);
    MPI_Allreduce(&mine, &from, 1, MPI_INT, MPI_MIN, all);
    if (from == INT_MAX)
        from = 0; /* nobody is left of before */
    fill(from);
    said = expected_after(from);
    for (int i = 0; i < SUMS; i++)
        cells[CELLS + i] = 0;
    *locked_word = 0;
    MPI_Barrier(all); /* before anybody accesses a window again */
}

static void check_sums(double each)
{
    for (int i = 0; i < SUMS; i++)
        CHECK(cells[CELLS + i] == each);
}

static void fences(int right)
{
    static double ones[SUMS];
    for (int i = 0; i < SUMS; i++)
        ones[i] = 1;
    MPI_Win_fence(0, win);
    for (int t = 0; t < np; t++)
        MPI_Accumulate(ones, SUMS, MPI_DOUBLE, t, CELLS, SUMS, MPI_DOUBLE, MPI_SUM, win);
    MPI_Put(&cells[0], 700, MPI_DOUBLE, right, CELLS + SUMS, 700, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    check_sums(np);
    int left = (me + np - 1) % np;
    for (int i = 0; i < 700; i++)
        CHECK(cells[CELLS + SUMS + i] == cell(left, round_no, i));
    MPI_Win_fence(0, win);
    memset(&cells[CELLS], 0, SUMS * sizeof *cells);
    MPI_Win_fence(0, win);
}

/* A counter at one rank, under a lock, and one by atomics. */
static void locks(int at)
{
    uint64_t one = 1, was, now;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at, 0, locked);
    MPI_Get(&was, 1, MPI_UINT64_T, at, 0, 1, MPI_UINT64_T, locked);
    MPI_Win_flush(at, locked);
    now = was + 1;
    MPI_Put(&now, 1, MPI_UINT64_T, at, 0, 1, MPI_UINT64_T, locked);
    MPI_Win_unlock(at, locked);
    MPI_Win_lock_all(0, locked);
    MPI_Fetch_and_op(&one, &was, MPI_UINT64_T, at, 0, MPI_SUM, locked);
    MPI_Win_unlock_all(locked);
    MPI_Barrier(all);
    if (me == at) {
        MPI_Win_lock(MPI_LOCK_SHARED, at, 0, locked);
        CHECK(*locked_word == 2 * (uint64_t)np);
        *locked_word = 0;
        MPI_Win_unlock(at, locked);
    }
}

static void messages(int left, int right)
{
    double sum = 0, here = cell(me, round_no, 0), halves = 0;
    static double long_out[9000], long_in[9000];
    MPI_Request r[3];
    for (int i = 0; i < 9000; i++)
        long_out[i] = cell(me, round_no, i);
    to_right = here;
    MPI_Startall(2, again);
    MPI_Iallreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, all, &r[0]);
    MPI_Irecv(long_in, 9000, MPI_DOUBLE, left, 7, all, &r[1]);
    MPI_Isend(long_out, 9000, MPI_DOUBLE, right, 7, all, &r[2]);
    MPI_Allreduce(&here, &halves, 1, MPI_DOUBLE, MPI_MAX, half);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, again, MPI_STATUSES_IGNORE);
    CHECK(from_left == cell(left, round_no, 0));
    for (int i = 0; i < 9000; i++)
        CHECK(long_in[i] == cell(left, round_no, i));
    CHECK(sum == np * round_no * 1009.0 + 1000003.0 * np * (np - 1) / 2);
    CHECK(halves == cell(np - 1 - (np - 1 - me) % 2, round_no, 0));
}

static void body(void *arg)
{
    int new[MOST], version[MOST], n = FTRMA_Replaced(new, version, MOST);
    int left = (me + np - 1) % np, right = (me + 1) % np;
    (void)arg;
    entered++;
    CHECK(FTRMA_Replaced(NULL, NULL, 0) == n);
    for (int i = 0; i < n; i++)
        CHECK(new[i] >= 0 && new[i] < np && (i == 0 || new[i] > new[i - 1]) && version[i] >= 0);
    if (n)
        repair(new, version, n);
    else
        CHECK(entered == 1);
    if (n == 0)
        fill(round_no);
    while (round_no < rounds) {
        FTRMA_Safepoint();
        if (frees && round_no == frees && scratch_win != MPI_WIN_NULL)
            MPI_Win_free(&scratch_win);
        if (drops && round_no == drops && scratch_comm != MPI_COMM_NULL)
            MPI_Comm_free(&scratch_comm);
        messages(left, right);
        fences(right);
        locks(round_no % np);
        if (uses_shared)
            MPI_Win_sync(shared_win);
        said = mix(said + (uint64_t)round_no * (uint64_t)np);
        fill(round_no + 1);
        MPI_Barrier(all);
    }
}

int main(int argc, char **argv)
{
    double *base;
    int asks = argc > 1 && strcmp(argv[1], "asks") == 0;
    if (asks)
        CHECK(FTRMA_Handle_losses() == MPI_SUCCESS);
    MPI_Init(&argc, &argv);
    CHECK(FTRMA_Handle_losses() == MPI_ERR_OTHER);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    const char *how = argc > 1 ? argv[1] : "";
    uses_shared = !strcmp(how, "shared");
    frees = !strcmp(how, "freed") ? 4 : 0;
    drops = !strcmp(how, "dropped") ? 4 : 0;
    rounds = !strcmp(how, "many") ? 400 : 24;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2 == (np - 1) % 2, me, &half);
    MPI_Win_allocate((CELLS + SUMS + 700) * sizeof(double), sizeof(double), MPI_INFO_NULL, all,
                     &cells, &win);
    MPI_Win_allocate(sizeof *locked_word, 1, MPI_INFO_NULL, all, &locked_word, &locked);
    if (uses_shared)
        MPI_Win_allocate_shared(100 * sizeof(double), sizeof(double), MPI_INFO_NULL, all,
                                &shared_part, &shared_win);
    if (frees)
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, all, &base, &scratch_win);
    if (drops)
        MPI_Comm_dup(all, &scratch_comm);
    MPI_Recv_init(&from_left, 1, MPI_DOUBLE, (me + np - 1) % np, 5, all, &again[0]);
    MPI_Send_init(&to_right, 1, MPI_DOUBLE, (me + 1) % np, 5, all, &again[1]);
    FTRMA_Protect(&round_no, sizeof round_no);
    FTRMA_Protect(&said, sizeof said);
    said = 1;
    fill(0);
    CHECK(FTRMA_Replaced(NULL, NULL, 0) == 0);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    CHECK(said == expected_after(rounds));
    MPI_Request_free(&again[0]);
    MPI_Request_free(&again[1]);
    if (uses_shared)
        MPI_Win_free(&shared_win);
    MPI_Win_free(&win);
    MPI_Win_free(&locked);
    return finish(said);
}
