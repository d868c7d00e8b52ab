/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scratch.c - what was unprotected is in no coordinated checkpoint, and everything else is. After
 * each use it gets contents that differ from process to process. [p passes its safepoint and puts
 * into q's scratch window, and then q comes to its own: an image that q takes alone there must hold
 * the put.] [body says that it has done with something; all go back; a checkpoint is taken where
 * there was none the first time (SCRATCH_LATE): it must hold that again.] With SCRATCH_KEPT set
 * nothing is unprotected.
 */
#include <unistd.h>

#include "scenario.h"

enum { ROUNDS = 12, HALF = 6, WORDS = 16384, KEPT = 64 };

static uint64_t *scratch, *kept, used[WORDS], out[WORDS];
static MPI_Win scratch_win, kept_win;
static struct {
    uint64_t round, sum;
} st;

static void spoil(uint64_t *p)
{
    uint64_t mine = (uint64_t)getpid() * 0x0101010101u;

    for (size_t i = 0; i < WORDS; i++)
        p[i] = mine;
}

static void to(int rank, int tag) { MPI_Send(&tag, 1, MPI_INT, rank, tag, MPI_COMM_WORLD); }
static void from(int rank, int tag)
{
    MPI_Recv(&tag, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ring(uint64_t r)
{
    int right = (me + 1) % np, left = (me + np - 1) % np, tag = (int)r;
    uint64_t one = mix(st.sum + r);
    for (size_t i = 0; i < WORDS; i++)
        out[i] = mix(one + i);
    MPI_Put(out, WORDS, MPI_UINT64_T, right, 0, WORDS, MPI_UINT64_T, scratch_win);
    MPI_Accumulate(&one, 1, MPI_UINT64_T, right, (MPI_Aint)(r % KEPT), 1, MPI_UINT64_T, MPI_SUM,
                   kept_win);
    MPI_Win_flush(right, scratch_win);
    MPI_Win_flush(right, kept_win);
    to(right, tag);
    from(left, tag);
    MPI_Win_sync(scratch_win);
    for (size_t i = 0; i < WORDS; i++)
        st.sum = mix(st.sum ^ scratch[i]);
    spoil(scratch);
    to(left,
       tag); /* who may go on, and put into the window before this one is at its next safepoint */
    from(right, tag);
}

/* Calls off the checkpoint of its first time, and only then: what is not protected stays as it is
 * when all go back. */
static void safepoint(void)
{
    static int not_first;
    int x = 0, late = me == 0 && st.round == HALF - 1 && getenv("SCRATCH_LATE") && !not_first++;
    MPI_Request req;
    if (late)
        MPI_Irecv(&x, 1, MPI_INT, me, 99, MPI_COMM_WORLD, &req);
    FTRMA_Safepoint();
    if (late) {
        to(me, 99);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
}

static void body(void *arg)
{
    int kept_all = arg != NULL;
    for (; st.round < ROUNDS; st.round++) {
        if ((st.round + (uint64_t)me) % 2)
            usleep(1000); /* after its neighbours, who put into its window meanwhile */
        if (st.round == HALF && !kept_all) {
            CHECK(FTRMA_Unprotect(used, sizeof used) == MPI_SUCCESS);
            spoil(used);
        }
        if (st.round == 1 && !kept_all) { /* and taken back: it is in the next image */
            CHECK(FTRMA_Unprotect(used, sizeof used) == MPI_SUCCESS &&
                  FTRMA_Protect(used, sizeof used) == MPI_SUCCESS);
            CHECK(FTRMA_Protect(out, sizeof out) == MPI_ERR_ARG);
        }
        safepoint();
        for (size_t i = 0; i < WORDS && st.round < HALF; i++) {
            used[i] = mix(used[i] + st.round + i);
            st.sum = mix(st.sum ^ used[i]);
        }
        ring(st.round);
    }
}

int main(int argc, char **argv)
{
    const char *kept_all = getenv("SCRATCH_KEPT");
    start(&argc, &argv);
    MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &scratch, &scratch_win);
    if (!kept_all)
        CHECK(FTRMA_Unprotect(scratch, WORDS * 8) == MPI_SUCCESS);
    MPI_Win_free(
        &scratch_win); /* another one in its place is protected, whatever was said of the first */
    MPI_Win_allocate(KEPT * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &kept, &kept_win);
    MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &scratch, &scratch_win);
    memset(kept, 0, KEPT * 8);
    FTRMA_Protect(used, sizeof used);
    FTRMA_Protect(&st, sizeof st);
    if (!kept_all)
        CHECK(FTRMA_Unprotect(scratch, WORDS * 8) == MPI_SUCCESS);
    CHECK(FTRMA_Unprotect(out, 0) == MPI_SUCCESS);
    CHECK(FTRMA_Unprotect(out, sizeof out) == MPI_SUCCESS); /* a promise: it was never protected */
    CHECK(FTRMA_Unprotect(used, sizeof used - 1) == MPI_ERR_ARG &&
          FTRMA_Unprotect(NULL, 1) == MPI_ERR_ARG);
    MPI_Win_lock_all(0, scratch_win);
    MPI_Win_lock_all(0, kept_win);
    CHECK(FTRMA_Run(body, (void *)(uintptr_t)kept_all) == MPI_SUCCESS);
    MPI_Win_unlock_all(kept_win);
    MPI_Win_unlock_all(scratch_win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < KEPT; i++)
        st.sum = mix(st.sum + kept[i]);
    MPI_Win_free(&scratch_win);
    MPI_Win_free(&kept_win);
    return finish(st.sum);
}
