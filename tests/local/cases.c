/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cases.c - the interleavings for which the protocol's rules for local recovery exist, one for each
 * argument; the sentence in brackets is the rule's. The ranks take turns in the roles, so a victim
 * dies in each of them.
 */
#include <unistd.h>

#include "protect.h"

enum {
    CELLS = 64,
    X = 1,
    A = 2,
    FLAG = 3,
    ACK = 4,
    REC = 16,
    RECORD = 8,
    PAIRS = 32, /* each takes two cells */
    NPAIRS = 16,
    LONG = 6000,
    ANSWER = 1000
};

static struct {
    uint64_t round, sum;
} state;
static MPI_Datatype upper_half; /* of a cell */
static uint64_t *mem, *mem2, *pair_mem[2];
static MPI_Win win, win2, pair_win[2];
static MPI_Comm pair[2];
static int p, q, r, f; /* the roles, in this round */

static void add(uint64_t x) { state.sum = mix(state.sum ^ mix(x + 1)); }
static uint64_t fresh(uint64_t n, uint64_t salt) { return mix(n * 64 + salt + 1); }

static void put(uint64_t x, int to, MPI_Aint at, MPI_Win w)
{
    static uint64_t kept[8]; /* stays as it is until the flush: no more than 8 are open */
    static int next;
    unprotect(kept, sizeof kept);
    unprotect(&next, sizeof next);
    uint64_t *slot = &kept[next++ % 8];
    *slot = x;
    MPI_Put(slot, 1, MPI_UINT64_T, to, at, 1, MPI_UINT64_T, w);
}

static void put_flush(uint64_t x, int to, MPI_Aint at, MPI_Win w)
{
    put(x, to, at, w);
    MPI_Win_flush(to, w);
}

static uint64_t load(MPI_Aint at)
{
    MPI_Win_sync(win);
    return *(volatile uint64_t *)&mem[at];
}

/* [lock_all: p puts, flushes, tells r; r puts; SC replays r first] The window of q must end with
 * r's word. */
static void sameword(uint64_t n)
{
    if (me == p) {
        put_flush(fresh(n, 1), q, X, win);
        tell(r, n, state.sum);
    }
    if (me == r) {
        add(hear(p, n));
        put_flush(fresh(n, 2), q, X, win);
        tell(q, n, state.sum);
    }
    if (me == q) {
        add(hear(r, n));
        CHECK(load(X) == fresh(n, 2));
        mem[A] = mix(mem[A] ^ load(X));
    }
}

/* [p puts a; f loads x and tells p; p puts x, no flush between] x is loaded before p's put of it,
 * although both puts are one epoch's. */
static void putload(uint64_t n)
{
    if (me == p) {
        put(fresh(n, 3), f, A, win);
        add(hear(f, n));
        put(fresh(n, 4), f, X, win);
        MPI_Win_flush(f, win);
        tell(f, n, state.sum);
    }
    if (me == f) {
        uint64_t old = load(X);
        tell(p, n, old);
        add(old);
        hear(p, n);
        CHECK(load(X) == fresh(n, 4) && load(A) == fresh(n, 3));
        CHECK(old == mem[FLAG]); /* the last that was put here, whenever that was */
        mem[FLAG] = load(X);
    }
}

/* The same, and f tells p by a put, which p finds by getting from its own window. */
static void selfget(uint64_t n)
{
    if (me == p) {
        uint64_t flag;
        put(fresh(n, 3), f, A, win);
        tell(f, n, state.sum);
        do {
            MPI_Get(&flag, 1, MPI_UINT64_T, me, FLAG, 1, MPI_UINT64_T, win);
            MPI_Win_flush(me, win);
        } while (flag != n + 1);
        put(fresh(n, 4), f, X, win);
        MPI_Win_flush(f, win);
        tell(f, n + ANSWER, state.sum);
    }
    if (me == f) {
        add(hear(p, n));
        uint64_t old = load(X);
        put_flush(n + 1, p, FLAG, win);
        add(old);
        hear(p, n + ANSWER);
        CHECK(load(X) == fresh(n, 4) && load(A) == fresh(n, 3));
        CHECK(old == mem[ACK]); /* as in putload */
        mem[ACK] = load(X);
    }
}

/* [f takes a wildcard message and stores it in its window, r gets it, f dies before its next send]
 * Only f and r know which message came first, and they must agree on it, also when f runs again. */
static void wild(uint64_t n)
{
    if (me == f) {
        uint64_t first[2], second[2];
        MPI_Recv(first, 2, MPI_UINT64_T, MPI_ANY_SOURCE, (int)n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, f, 0, win);
        mem[A] = first[0];
        mem[FLAG] = n + 1;
        MPI_Win_unlock(f, win);
        MPI_Recv(second, 2, MPI_UINT64_T, MPI_ANY_SOURCE, (int)n, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK(first[0] + second[0] == (uint64_t)(p + q) && first[0] != second[0]);
        add(mix(first[1]) + mix(second[1]));
        CHECK(hear(r, n + ANSWER) == first[0]);
    }
    if (me == p || me == q) {
        uint64_t mine[2] = {(uint64_t)me, state.sum};
        MPI_Send(mine, 2, MPI_UINT64_T, f, (int)n, MPI_COMM_WORLD);
    }
    if (me == r) {
        uint64_t got[2];
        do {
            MPI_Win_lock(MPI_LOCK_SHARED, f, 0, win);
            MPI_Get(got, 2, MPI_UINT64_T, f, A, 2, MPI_UINT64_T, win);
            MPI_Win_unlock(f, win);
        } while (got[1] != n + 1);
        tell(f, n + ANSWER, got[0]);
    }
}

/* [Isend beside Ibarrier], as far as there are nonblocking collectives: long sends that are open
 * across a barrier and a reduction. */
static void isend_barrier(uint64_t n)
{
    static uint64_t out[2][LONG], in[2][LONG];
    unprotect(out, sizeof out);
    unprotect(in, sizeof in);
    MPI_Request req[4];
    uint64_t total;
    for (int i = 0; i < 2; i++) {
        int len = i == (int)(n % 2) ? LONG : 2;
        for (int j = 0; j < len; j++)
            out[i][j] = mix(state.sum + (uint64_t)(i * LONG + j));
        MPI_Isend(out[i], len, MPI_UINT64_T, (me + 1 + i) % np, i, MPI_COMM_WORLD, &req[i]);
        if (i == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allreduce(&state.sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in[i], LONG, MPI_UINT64_T, (me + np - 1 - i) % np, i, MPI_COMM_WORLD,
                  &req[2 + i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        state.sum = mix_all(state.sum + total, in[i], i == (int)(n % 2) ? LONG : 2);
}

/* [Read after write: q puts x, tells r, r tells f, f loads x] */
static void raw(uint64_t n)
{
    if (me == q) {
        put_flush(fresh(n, 5), f, X, win);
        tell(r, n, state.sum);
        add(hear(f, n));
    }
    if (me == r)
        tell(f, n, hear(q, n));
    if (me == f) {
        add(hear(r, n));
        CHECK(load(X) == fresh(n, 5));
        mem[A] = mix(mem[A] + load(X));
        tell(q, n, mem[A]);
    }
}

/* [Write after read: f loads x, tells q, q puts x] f works with x for some calls before it tells;
 * its result depends on every load. */
static void war(uint64_t n)
{
    if (me == f) {
        uint64_t was = load(X);
        for (int i = 0; i < 3; i++) {
            mem[A + i] = mix(load(X) + (uint64_t)i);
            tell(r, n, mem[A + i]);
        }
        tell(q, n, was);
        hear(q, n);
        CHECK(load(X) == fresh(n, 6) + was);
    }
    if (me == q) {
        uint64_t was = hear(f, n);
        add(was);
        put_flush(fresh(n, 6) + was, f, X, win);
        tell(f, n, 0);
    }
    if (me == r)
        for (int i = 0; i < 3; i++)
            add(hear(f, n));
}

/* [The same, but q learns from the end of its synchronous send that f has come as far: f loads x,
 * then receives; q puts x] */
static void syncput(uint64_t n)
{
    uint64_t v = fresh(n, 7);
    if (me == f) {
        tell(q, n, 1);
        for (int i = 0; i < 6; i++) {
            mem[REC + i] = mix(load(X) + (uint64_t)i);
            tell(r, n, mem[REC + i]);
            hear(r, n); /* that takes its time */
        }
        CHECK(hear(q, n) == v);
        hear(q, n);
        CHECK(load(X) == v);
    }
    if (me == q) {
        hear(f, n);
        put_flush(v, f, A, win); /* so that it knows how far f was before */
        MPI_Ssend(&v, 1, MPI_UINT64_T, f, (int)n, MPI_COMM_WORLD);
        put_flush(v, f, X, win);
        tell(f, n, 0);
    }
    if (me == r)
        for (int i = 0; i < 6; i++)
            tell(f, n, mix(hear(f, n)));
}

/* [An open get, then a load, then a send that was consumed] When f runs again, r's put of x is
 * there already, but the load is before it. */
static void openget(uint64_t n)
{
    uint64_t got = 0;
    if (me == f) {
        MPI_Get(&got, 1, MPI_UINT64_T, q, A, 1, MPI_UINT64_T, win);
        uint64_t was = load(X);
        tell(r, n, was);
        CHECK(hear(r, n) == was);
        CHECK(load(X) == fresh(n, 7));
        MPI_Win_flush(q, win);
        CHECK(got == mix(n + 1)); /* q stored it before the barrier of the round before */
        add(got ^ was);
        tell(q, n, 0);
    }
    if (me == r) {
        uint64_t was = hear(f, n);
        put_flush(fresh(n, 7), f, X, win);
        tell(f, n, was);
        add(was);
    }
    if (me == q)
        hear(f, n);
    mem[A] = mix(n + 2); /* q: after the flush */
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* [per window: a flush of W1 says nothing about W2] The open put in the second window is not
 * complete, the one in the first is.
 */
static void windows(uint64_t n)
{
    if (me == p) {
        put(fresh(n, 8), q, X, win2);
        put(fresh(n, 9), q, X, win);
        MPI_Win_flush(q, win);
        tell(q, n, state.sum);
        add(hear(q, n));
        put(fresh(n, 10), q, A, win2);
        MPI_Win_flush(q, win2);
        tell(q, n, state.sum);
        add(hear(q, n));
    }
    if (me == q) {
        add(hear(p, n));
        CHECK(load(X) == fresh(n, 9));
        mem[A] = mix(mem[A] ^ load(X));
        tell(p, n, mem[A]);
        add(hear(p, n));
        MPI_Win_sync(win2);
        CHECK(mem2[X] == fresh(n, 8) && mem2[A] == fresh(n, 10));
        mem2[FLAG] = mix(mem2[FLAG] ^ mem2[X]);
        tell(p, n, mem2[FLAG]);
    }
}

/* [one counter for all groups deadlocks: fences on {p,q} and {p,r}] Each rank is in two pairs, and
 * fences them in different numbers. */
static void fencepairs(uint64_t n)
{
    for (int k = 0; k < 2; k++) {
        int w = (k + (int)(n % 2)) % 2, rank;
        if (pair[w] == MPI_COMM_NULL)
            continue;
        MPI_Comm_rank(pair[w], &rank);
        for (uint64_t i = 0; i <= n % (w ? 2 : 3); i++) {
            uint64_t x = mix(state.sum + i), got = 0;
            MPI_Win_fence(0, pair_win[w]);
            MPI_Put(&x, 1, MPI_UINT64_T, !rank, X, 1, MPI_UINT64_T, pair_win[w]);
            MPI_Get(&got, 1, MPI_UINT64_T, !rank, A, 1, MPI_UINT64_T, pair_win[w]);
            MPI_Win_fence(0, pair_win[w]);
            add(pair_mem[w][X] ^ got);
            pair_mem[w][A] = state.sum;
        }
    }
}

/* f polls its own window for a flag that q puts; the agent that stands in (R4, R10). how: 0
 * Win_sync, 1 fetch_and_op on itself, 2 no call at all */
static void poll_flag(uint64_t n, int how)
{
    if (me == q) {
        put_flush(fresh(n, 11) ^ state.sum, f, X, win);
        put_flush(state.sum, f, A, win);
        if (how == 1) {
            uint64_t flag = n + 1, was;
            MPI_Fetch_and_op(&flag, &was, MPI_UINT64_T, f, FLAG, MPI_REPLACE, win);
            MPI_Win_flush(f, win);
            CHECK(
                was ==
                (n < (uint64_t)np ? 0 : n + 1 - (uint64_t)np)); /* what q put when f polled last */
        } else {
            put_flush(n + 1, f, FLAG, win);
        }
        while (load(ACK) != n + 1)
            ;
    }
    if (me == f) {
        uint64_t flag = 0, zero = 0;
        do {
            if (how == 1) {
                MPI_Fetch_and_op(&zero, &flag, MPI_UINT64_T, me, FLAG, MPI_NO_OP, win);
                MPI_Win_flush(me, win);
            } else if (how == 0) {
                flag = load(FLAG);
            } else {
                flag = *(volatile uint64_t *)&mem[FLAG];
            }
        } while (flag != n + 1);
        MPI_Win_sync(win);
        CHECK(mem[X] == (fresh(n, 11) ^ mem[A]));
        add(mem[X]);
        put_flush(n + 1, q, ACK, win);
    }
}

static void poll(uint64_t n) { poll_flag(n, 0); }
static void pollop(uint64_t n) { poll_flag(n, 1); }
static void spin(uint64_t n) { poll_flag(n, 2); }

/* [f sends to q, leaves the call and polls its window without any; q, which has heard it, puts: as
 * a send counts by itself, f' comes to what the put was to come after only within its call] */
static void spinsend(uint64_t n)
{
    if (me == q) {
        add(hear(f, n));
        usleep(10000); /* if f is lost meanwhile nobody has said what it knew of it */
        put_flush(fresh(n, 12) ^ state.sum, f, X, win);
        put_flush(n + 1, f, FLAG, win);
    }
    if (me == f) {
        tell(q, n, state.sum);
        while (*(volatile uint64_t *)&mem[FLAG] != n + 1)
            ;
        MPI_Win_sync(win);
        add(mem[X]);
        tell(r, n, mem[X]);
    }
    if (me == r)
        add(hear(f, n));
}

/* [q has put to f, and waits for p; f polls its window without any call; q dies: q' hears nothing
 * of p before all have said what they saw of q, and f is in no call until q' has put] */
static void spinheard(uint64_t n)
{
    if (me == p) {
        usleep(15000); /* q is lost meanwhile */
        tell(q, n, state.sum);
    }
    if (me == q) {
        uint64_t got[2];
        put_flush(fresh(n, 13) ^ state.sum, f, X, win);
        MPI_Recv(got, 2, MPI_UINT64_T, MPI_ANY_SOURCE, (int)n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        add(got[0]);
        put_flush(state.sum, f, A, win);
        put_flush(n + 1, f, FLAG, win);
    }
    if (me == f) {
        while (*(volatile uint64_t *)&mem[FLAG] != n + 1)
            ;
        MPI_Win_sync(win);
        add(mem[X] ^ mem[A]);
    }
}

/* [f's put to q has landed, and f dies before its flush; q hears of it, sees the put as it polls
 * its window, and puts what f is to see next, which waits for f' to be live: not before f' has come
 * to that put, too, or it sees the second flag in place of the first.] */
static void ahead(uint64_t n)
{
    for (uint64_t i = 1; i <= 2; i++) {
        if (me == q) {
            put_flush(fresh(n, 20 + i) ^ state.sum, f, X, win);
            put_flush(2 * n + i, f, FLAG, win);
            usleep(45000); /* meanwhile f has put, and died */
            while (load(ACK) != 2 * n + i)
                ;
        }
        if (me == f) {
            for (int k = 0; k < 8; k++) { /* f', too, is long in coming to look */
                MPI_Win_sync(win);
                usleep(4000);
            }
            while (load(FLAG) != 2 * n + i)
                ;
            add(mem[X]);
            put_flush(2 * n + i, q, ACK, win);
        }
    }
}

/* [q's put to f has landed, q has not flushed it; f polls its window, sees it and tells r, and f
 * dies: q's flush waits for f' to be live, and f' is not before it has told r again.] */
static void early(uint64_t n)
{
    if (me == q) {
        put(n + 1, f, FLAG, win);
        usleep(20000); /* meanwhile f has seen it and is lost */
        MPI_Win_flush(f, win);
        add(hear(f, n));
    }
    if (me == f) {
        while (load(FLAG) != n + 1)
            ;
        tell(r, n, state.sum);
        usleep(5000); /* r has heard it */
        tell(q, n, state.sum);
    }
    if (me == r)
        add(hear(f, n));
}

/* A record that is consistent only between locks: word 0 counts, word 7 is the hash of the
 * others. */
static void turn(int at, uint64_t x, int halves)
{
    uint64_t rec[RECORD];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at, 0, win);
    MPI_Get(rec, RECORD, MPI_UINT64_T, at, REC, RECORD, MPI_UINT64_T, win);
    MPI_Win_flush(at, win);
    CHECK(rec[RECORD - 1] == (rec[0] ? mix_all(0, rec, RECORD - 1) : 0));
    rec[0]++;
    rec[1 + x % 3] += x;
    rec[4 + x % 3] ^= mix(x);
    rec[RECORD - 1] = mix_all(0, rec, RECORD - 1);
    for (int i = 0; i < RECORD; i += halves) { /* torn for a while */
        MPI_Put(&rec[i], halves, MPI_UINT64_T, at, REC + i, halves, MPI_UINT64_T, win);
        MPI_Win_flush(at, win);
    }
    MPI_Win_unlock(at, win);
}

/* A process dies holding an exclusive lock: nobody sees the torn record, and the lock stays the
 * rank's (R5). */
static void holder(uint64_t n)
{
    uint64_t seed = state.sum;
    for (int i = 0; i < np; i++)
        turn((int)(n + (uint64_t)i) % np, mix(seed + (uint64_t)i), 1 + (i & 1));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < RECORD; i++)
        add(load(REC + i));
    CHECK(mem[REC] == (n + 1) * (uint64_t)np);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A process dies just after unlock, when another already has the lock: all want the same lock, and
 * tell their neighbour at once. */
static void handover(uint64_t n)
{
    uint64_t seed = state.sum;
    for (uint64_t i = 0; i < 4; i++) {
        turn(q, mix(seed + i), RECORD);
        tell((me + 1) % np, n, seed + i);
        add(hear((me + np - 1) % np, n));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < RECORD && me == q; i++)
        add(load(REC + i));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* [f locks, puts, unlocks and frees the window, and dies: f' releases at a window that is gone.] A
 * window of one round, whose lock all take at the others. */
static void freed(uint64_t n)
{
    MPI_Win w;
    uint64_t *m = window(CELLS, MPI_COMM_WORLD, &w);
    for (int i = 1; i < np; i++) {
        int to = (me + i) % np;
        MPI_Win_lock(i % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, to, 0, w);
        put(mix(state.sum ^ (uint64_t)to), to, me, w);
        MPI_Win_unlock(to, w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w);
    for (int i = 0; i < np; i++)
        add(i == me ? 0 : m[i]);
    MPI_Win_unlock(me, w);
    window_free(m, &w);
    tell((me + 1) % np, n, state.sum);
    add(hear((me + np - 1) % np, n));
}

/* A pair with a hole, in which there is another value of the program. */
struct loc {
    double v;
    int i, other;
};

/* [r puts a; f tells p; p and f combine with a pair at f; r puts into its hole, without having
 * heard of either since, and tells f] Here r's lo is less than that of both, and its stamp is
 * larger: the combining operations must not take back in a replay what r has put into the hole. p
 * may also die in its own, while r goes on. */
static void hole(uint64_t n)
{
    static struct loc mine[NPAIRS], old[NPAIRS];
    static int others[NPAIRS];
    unprotect(mine, sizeof mine);
    unprotect(old, sizeof old);
    unprotect(others, sizeof others);
    for (int j = 0; j < NPAIRS; j++) {
        mine[j] = (struct loc){(double)(fresh(n, 8 + (uint64_t)j) % 1000), me, -1};
        others[j] = old[j].other = (int)(n * NPAIRS + (uint64_t)j + 1);
    }
    if (me == r) {
        put(fresh(n, 3), f, X, win);
        tell(f, n, state.sum);
        for (int j = 0; j < NPAIRS; j++) {
            usleep(j == 0 ? 2000 : 500); /* p is likely to be in its operation, or to die there */
            MPI_Put(&others[j], 1, MPI_INT, f, PAIRS + 2 * j + 1, 1, upper_half, win);
        }
        MPI_Win_flush(f, win);
        tell(f, n, state.sum);
    }
    if (me == p) {
        add(hear(f, n));
        MPI_Accumulate(mine, NPAIRS, MPI_DOUBLE_INT, f, PAIRS, NPAIRS, MPI_DOUBLE_INT, MPI_MAXLOC,
                       win);
        MPI_Win_flush(f, win);
        tell(f, n, state.sum);
    }
    if (me == f) {
        const struct loc *all = (const struct loc *)(const void *)&mem[PAIRS];
        add(hear(r, n));
        tell(p, n, state.sum);
        MPI_Get_accumulate(mine, NPAIRS, MPI_DOUBLE_INT, old, NPAIRS, MPI_DOUBLE_INT, f, PAIRS,
                           NPAIRS, MPI_DOUBLE_INT, MPI_MAXLOC, win);
        add(hear(p, n));
        add(hear(r, n));
        CHECK(load(X) == fresh(n, 3));
        for (int j = 0; j < NPAIRS; j++)
            CHECK(all[j].other == others[j] && old[j].other == others[j] && all[j].v >= mine[j].v);
    }
}

static const struct play {
    const char *name;
    void (*round)(uint64_t);
    int own_epochs; /* locks or fences itself; otherwise lock_all for the entire body */
    int barrier;    /* a round must be over for all before the next begins */
} plays[] = {
    {"sameword", sameword, 0, 1},
    {"putload", putload, 0, 1},
    {"selfget", selfget, 0, 1},
    {"wild", wild, 1, 1},
    {"isend_barrier", isend_barrier, 1, 0},
    {"raw", raw, 0, 1},
    {"war", war, 0, 1},
    {"syncput", syncput, 0, 1},
    {"openget", openget, 0, 0},
    {"windows", windows, 0, 0},
    {"fencepairs", fencepairs, 1, 0},
    {"poll", poll, 0, 0},
    {"pollop", pollop, 0, 1},
    {"spin", spin, 0, 0},
    {"spinsend", spinsend, 0, 0},
    {"spinheard", spinheard, 0, 1},
    {"ahead", ahead, 0, 1},
    {"early", early, 0, 0},
    {"holder", holder, 1, 0},
    {"handover", handover, 1, 0},
    {"freed", freed, 1, 0},
    {"hole", hole, 0, 1},
};
static const struct play *play;

static void body(void *arg)
{
    (void)arg;
    if (!play->own_epochs) {
        MPI_Win_lock_all(0, win);
        MPI_Win_lock_all(0, win2);
    }
    for (; state.round < opt.rounds; state.round++) {
        uint64_t n = state.round;
        safepoint();
        f = (int)(n % (uint64_t)np);
        q = (f + 1) % np;
        r = (f + 2) % np;
        p = (f + 3) % np;
        play->round(n);
        if (play->barrier)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!play->own_epochs) {
        MPI_Win_unlock_all(win2);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two ranks each: {0,1} {2,3} ..., and {1,2} {3,4} ...; ranks without a partner do nothing. */
static void make_pairs(void)
{
    for (int k = 0; k < 2; k++) {
        int colour = (me + k) / 2, low = 2 * colour - k;
        MPI_Comm_split(MPI_COMM_WORLD, low < 0 || low + 1 >= np ? MPI_UNDEFINED : colour, me,
                       &pair[k]);
        if (pair[k] != MPI_COMM_NULL)
            pair_mem[k] = window(CELLS, pair[k], &pair_win[k]);
    }
}

static void free_pairs(void)
{
    for (int k = 0; k < 2; k++)
        if (pair[k] != MPI_COMM_NULL) {
            state.sum = mix_all(state.sum, pair_mem[k], CELLS);
            window_free(pair_mem[k], &pair_win[k]);
            MPI_Comm_free(&pair[k]);
        }
}

int main(int argc, char **argv)
{
    start(argc, argv, 14);
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++)
        if (strcmp(plays[i].name, opt.what) == 0)
            play = &plays[i];
    if (!play)
        usage(opt.what);
    CHECK(np >= 4);
    mem = window(CELLS, MPI_COMM_WORLD, &win);
    mem2 = window(CELLS, MPI_COMM_WORLD, &win2);
    if (play->round == openget)
        mem[A] = mix(1);
    make_pairs();
    MPI_Type_create_hindexed_block(1, 1, &(MPI_Aint){4}, MPI_INT, &upper_half);
    MPI_Type_commit(&upper_half);
    MPI_Barrier(MPI_COMM_WORLD);
    state.sum = mix((uint64_t)me + 1);
    protect(&state, sizeof state);
    int *roles[] = {&p, &q, &r, &f};
    for (int i = 0; i < 4; i++)
        unprotect(roles[i], sizeof *roles[i]);
    run(body, NULL);
    if (play->round == wild)
        mem[A] = 0; /* who came first */
    state.sum = mix_all(mix_all(state.sum, mem, CELLS), mem2, CELLS);
    free_pairs();
    MPI_Type_free(&upper_half);
    window_free(mem2, &win2);
    window_free(mem, &win);
    return finish(state.sum);
}
