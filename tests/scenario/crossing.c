/* SPDX-License-Identifier: BSD-3-Clause
 *
 * crossing.c - all that can cross the cut of a snapshot, in both directions. In each round one
 * rank, the leader, has passed its safepoint before another one, the straggler, comes to its own.
 * The straggler waits for a flag in memory that MPI does not know, or for a moment (if all stop at
 * the safepoint, the flag never comes). Only times depend on the flag, and no result depends on
 * times.
 */
#define _GNU_SOURCE
#include "scenario.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 8
#define LONG 30000 /* words of a long message: in several pieces */
#define PATIENCE_NS 40000000L
enum { TAG_ANY = 1, TAG_LATE };

static struct {
    int round;
    uint64_t sum;
} st;
/* [4]: rounds whose safepoint a rank has passed, and in which it has added 1 as the leader */
static _Atomic int *passed, *added;
static MPI_Win mails, locked, spun;
static uint64_t *mail, *spin;
static uint64_t words[LONG];

static void share_flags(void)
{
    int where[2] = {0};
    char path[64];
    if (me == 0) {
        where[0] = (int)getpid();
        where[1] = memfd_create("flags", 0);
        CHECK(ftruncate(where[1], 4096) == 0);
    }
    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
    int fd = open(path, O_RDWR); /* a replacement may come too late for it */
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                   fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    passed = p == MAP_FAILED ? NULL : p;
    CHECK(passed);
    added = passed + 4;
}

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void await(const _Atomic int *flag, int leader, int round)
{
    long until = now() + PATIENCE_NS;
    while (atomic_load(&flag[leader]) <= round && now() < until)
        ;
}

static uint64_t any(void)
{
    uint64_t v;
    MPI_Recv(&v, 1, MPI_UINT64_T, MPI_ANY_SOURCE, TAG_ANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return v;
}

static void tell(int to, uint64_t v) { MPI_Send(&v, 1, MPI_UINT64_T, to, TAG_ANY, MPI_COMM_WORLD); }

/* Adds one, under a lock of MPI and under one that is made of compare-and-swap: no addition may be
 * lost. */
static void count_locked(void)
{
    uint64_t v;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, locked);
    MPI_Get(&v, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, locked);
    MPI_Win_flush(0, locked);
    v++;
    MPI_Put(&v, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, locked);
    MPI_Win_unlock(0, locked);
}

static void count_spun(void)
{
    uint64_t zero = 0, one = 1, was, v;
    do {
        MPI_Compare_and_swap(&one, &zero, &was, MPI_UINT64_T, 3, 0, spun);
        MPI_Win_flush(3, spun);
    } while (was != 0);
    MPI_Get(&v, 1, MPI_UINT64_T, 3, 1, 1, MPI_UINT64_T, spun);
    MPI_Win_flush(3, spun);
    v++;
    MPI_Put(&v, 1, MPI_UINT64_T, 3, 1, 1, MPI_UINT64_T, spun);
    MPI_Win_flush(3, spun);
    MPI_Fetch_and_op(&zero, &was, MPI_UINT64_T, 3, 0, MPI_REPLACE, spun);
    MPI_Win_flush(3, spun);
}

/* The straggler, before its safepoint; the leader may be after its own. */
static void straggle(int round, int leader)
{
    uint64_t v = mix((uint64_t)round), old, seen;
    await(passed, leader, round);
    MPI_Put(&v, 1, MPI_UINT64_T, leader, me, 1, MPI_UINT64_T, mails);
    MPI_Fetch_and_op(&v, &old, MPI_UINT64_T, leader, 4, MPI_SUM, mails);
    MPI_Get(&seen, 1, MPI_UINT64_T, leader, me, 1, MPI_UINT64_T, mails);
    MPI_Win_flush(leader, mails);
    CHECK(seen == v); /* what it has just put there */
    for (int i = 0; i < LONG; i++)
        words[i] = v + (uint64_t)i;
    MPI_Send(words, 3, MPI_UINT64_T, leader, TAG_LATE, MPI_COMM_WORLD);
    MPI_Send(words, LONG, MPI_UINT64_T, leader, TAG_LATE, MPI_COMM_WORLD);
    st.sum += any(); /* there is one of before; that from after must wait */
    if (round % 2)
        count_spun();
    else
        count_locked();
    await(added, leader,
          round); /* it must not come about before the safepoint, while this rank has no image */
}

/* The leader, after its safepoint; the straggler may be before its own. */
static void lead(int round, int straggler)
{
    uint64_t one = 1, v = mix((uint64_t)round);
    tell(straggler, (uint64_t)(10 * round + 5));
    MPI_Recv(words, 3, MPI_UINT64_T, straggler, TAG_LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    st.sum += words[2] - v;
    MPI_Recv(words, LONG, MPI_UINT64_T, straggler, TAG_LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    st.sum += words[LONG - 1] - v;
    MPI_Win_sync(mails);
    CHECK(mail[straggler] == v);
    MPI_Put(&v, 1, MPI_UINT64_T, straggler, 5, 1, MPI_UINT64_T, mails);
    MPI_Accumulate(&one, 1, MPI_UINT64_T, straggler, 6, 1, MPI_UINT64_T, MPI_SUM, mails);
    MPI_Win_flush(straggler, mails);
    atomic_store(&added[me], round + 1);
}

static int leader_of(int round) { return round % 4; }
static int straggler_of(int round) { return (round + 1) % 4; }

static void before(int round)
{
    if (me == (round + 2) % 4)
        tell(straggler_of(round), (uint64_t)(10 * round + 2));
    if (me == straggler_of(round))
        straggle(round, leader_of(round));
}

static void behind(int round)
{
    if (me == leader_of(round))
        lead(round, straggler_of(round));
    if (me == straggler_of(round))
        st.sum += any();
}

static void body(void *unused)
{
    (void)unused;
    MPI_Win_lock_all(0, mails);
    MPI_Win_lock_all(0, spun);
    for (;;) {
        FTRMA_Safepoint();
        atomic_store(&passed[me], st.round + 1);
        if (st.round > 0)
            behind(st.round);
        if (st.round % 2)
            count_spun();
        count_locked();
        if (st.round % 2 == 0)
            count_spun();
        if (++st.round == ROUNDS)
            break;
        before(st.round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(mails);
    for (int i = 0; i < 7; i++)
        st.sum = st.sum * 31 + mail[i];
    MPI_Win_unlock_all(spun);
    MPI_Win_unlock_all(mails);
}

int main(int argc, char **argv)
{
    uint64_t *count;
    start(&argc, &argv);
    CHECK(np == 4);
    share_flags();
    MPI_Win_allocate(7 * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &mail,
                     &mails);
    MPI_Win_allocate(sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &count,
                     &locked);
    MPI_Win_allocate(2 * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &spin,
                     &spun);
    for (int i = 0; i < 7; i++)
        mail[i] = 0;
    *count = spin[0] = spin[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Protect(&st, sizeof st);
    FTRMA_Unprotect(words, sizeof words);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    CHECK(me != 0 ||
          *count == 4 * ROUNDS + ROUNDS / 2 - 1); /* the straggler once more in rounds 2, 4, 6 */
    CHECK(me != 3 || spin[1] == 4 * ROUNDS + ROUNDS / 2);
    MPI_Win_free(&spun);
    MPI_Win_free(&locked);
    MPI_Win_free(&mails);
    return finish(st.sum);
}
