/* SPDX-License-Identifier: BSD-3-Clause
 *
 * modes.c - synchronous and buffered sends and matched probes. What a sender learns from the end of
 * a synchronous send, and a receiver from a matched probe, is told to others, who say it back: a
 * replacement that decides otherwise is found out. With
 * --protect it calls FTRMA_Run, without it it is an unmodified program. The result holds nothing
 * that depends on timing.
 */
#include "protect.h"

enum {
    MAX_RANKS = 64,
    WORDS = 900,
    KINDS = 6,
    OTHER = 10000,
    SEEN = 20000,
    BACK = 30000,
    CHOSEN = 40000,
    BUFFER = 1 << 16
};

static struct {
    uint64_t round, sum, said, heard;
} state;
static uint64_t seen;
static uint64_t out[MAX_RANKS][WORDS], in[MAX_RANKS][WORDS];

static int left(void) { return (me + np - 1) % np; }
static int right(void) { return (me + 1) % np; }
static void saw(uint64_t v) { seen = mix(seen + v); }
static int words(uint64_t r, int from, int to)
{
    return (int)(mix(r * 4099 + (uint64_t)(from * 64 + to)) % WORDS);
}

static int fill(uint64_t r, int to)
{
    int n = words(r, me, to);
    for (int i = 0; i < n; i++)
        out[to][i] = mix(r * 1000003 + (uint64_t)((me * 64 + to) * WORDS + i));
    return n;
}

static void verify(uint64_t r, int from, const uint64_t *a, const MPI_Status *st)
{
    int n;
    MPI_Get_count(st, MPI_UINT64_T, &n);
    CHECK(n == words(r, from, me) && st->MPI_SOURCE == from);
    for (int i = 0; i < n; i++)
        CHECK(a[i] == mix(r * 1000003 + (uint64_t)((from * 64 + me) * WORDS + i)));
    state.sum = mix_all(state.sum, a, (size_t)n);
}

/* Around the ring, one after the other; then some receive first. */
static void ring(uint64_t r)
{
    MPI_Status st;
    int n = fill(r, right());
    if (me == 0)
        MPI_Ssend(out[right()], n, MPI_UINT64_T, right(), (int)r, MPI_COMM_WORLD);
    MPI_Recv(in[0], WORDS, MPI_UINT64_T, left(), (int)r, MPI_COMM_WORLD, &st);
    verify(r, left(), in[0], &st);
    if (me != 0)
        MPI_Ssend(out[right()], n, MPI_UINT64_T, right(), (int)r, MPI_COMM_WORLD);
    MPI_Request q;
    n = fill(r, left());
    MPI_Irecv(in[1], WORDS, MPI_UINT64_T, right(), OTHER + (int)r, MPI_COMM_WORLD, &q);
    MPI_Ssend(out[left()], n, MPI_UINT64_T, left(), OTHER + (int)r, MPI_COMM_WORLD);
    MPI_Wait(&q, &st);
    verify(r, right(), in[1], &st);
}

/* The worker that is served first reports it: each rank receives in the order of its wildcards, and
 * the senders also see an order. */
static void all_to_all(uint64_t r)
{
    MPI_Request q[MAX_RANKS];
    for (int i = 0; i < np; i++) {
        q[i] = MPI_REQUEST_NULL;
        if (i != me)
            MPI_Issend(out[i], fill(r, i), MPI_UINT64_T, i, (int)r, MPI_COMM_WORLD, &q[i]);
    }
    for (int k = 1; k < np; k++) {
        MPI_Status st;
        MPI_Recv(in[0], WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, (int)r, MPI_COMM_WORLD, &st);
        saw((uint64_t)st.MPI_SOURCE);
        uint64_t was = state.sum;
        verify(r, st.MPI_SOURCE, in[0], &st);
        state.sum = was + 1;
        int index = MPI_UNDEFINED, flag = 0;
        if (r % 4 < 2) {
            MPI_Testany(np, q, &index, &flag, MPI_STATUS_IGNORE);
            saw(flag ? (uint64_t)index + 100 : 99);
        }
    }
    for (int index = 0; index != MPI_UNDEFINED;) {
        MPI_Waitany(np, q, &index, MPI_STATUS_IGNORE);
        saw((uint64_t)index);
    }
}

/* [q asks in vain and therefore receives b; p's synchronous send of b is over, p says so; q, run
 * again, asks and finds it.] Each is p to its right and q to its left. */
static void choice(uint64_t r)
{
    uint64_t early = 0, a = mix(r), b = mix(r + 1), got = 0;
    MPI_Request q[3];
    int chosen, other = -1, flag = 0, tag = (int)r;
    MPI_Irecv(&early, 1, MPI_UINT64_T, right(), SEEN + tag, MPI_COMM_WORLD, &q[2]);
    MPI_Issend(&a, 1, MPI_UINT64_T, right(), tag, MPI_COMM_WORLD, &q[0]);
    MPI_Issend(&b, 1, MPI_UINT64_T, right(), OTHER + tag, MPI_COMM_WORLD, &q[1]);
    for (uint64_t i = 0; i < mix(r + (uint64_t)me) % 3; i++)
        tell(left(), BACK + r, i); /* that takes some time */
    tell(left(), SEEN + r, 1);
    for (int i = 0; i < 3 && !flag; i++)
        MPI_Test(&q[2], &flag, MPI_STATUS_IGNORE);
    chosen = flag ? 0 : 1;
    MPI_Recv(&got, 1, MPI_UINT64_T, left(), chosen ? OTHER + tag : tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(got == (chosen ? b : a));
    int mine;
    MPI_Waitany(2, q, &mine, MPI_STATUS_IGNORE);
    CHECK(mine == 0 || mine == 1);
    MPI_Sendrecv(&mine, 1, MPI_INT, right(), CHOSEN + tag, &other, 1, MPI_INT, left(), CHOSEN + tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(other == chosen);
    MPI_Recv(&got, 1, MPI_UINT64_T, left(), chosen ? tag : OTHER + tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(got == (chosen ? a : b));
    for (uint64_t i = 0; i < mix(r + (uint64_t)right()) % 3; i++)
        CHECK(hear(right(), BACK + r) == i);
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    saw((uint64_t)chosen);
}

/* Several messages are taken before one is received. They come in any order, and are received in
 * the opposite one. */
static void taken(uint64_t r, int blocking)
{
    MPI_Message m[MAX_RANKS];
    MPI_Request q[2 * MAX_RANKS];
    MPI_Status st[2 * MAX_RANKS];
    int from[MAX_RANKS], n = 0, half = np / 2;
    for (int i = 0; i < np; i++)
        if (i != me && (i + (int)r) % 2)
            MPI_Issend(out[i], fill(r, i), MPI_UINT64_T, i, (int)r, MPI_COMM_WORLD, &q[i]);
        else if (i != me)
            MPI_Isend(out[i], fill(r, i), MPI_UINT64_T, i, (int)r, MPI_COMM_WORLD, &q[i]);
        else
            q[i] = MPI_REQUEST_NULL;
    while (n < np - 1) {
        int first = n;
        for (int flag = 1; n < np - 1 && n < first + half; saw((uint64_t)flag)) {
            if (blocking)
                MPI_Mprobe(MPI_ANY_SOURCE, (int)r, MPI_COMM_WORLD, &m[n], &st[0]);
            else
                MPI_Improbe(MPI_ANY_SOURCE, (int)r, MPI_COMM_WORLD, &flag, &m[n], &st[0]);
            if (flag)
                from[n++] = st[0].MPI_SOURCE;
        }
        for (int k = n - 1; k >= first; k--)
            if (k % 2)
                MPI_Mrecv(in[k], WORDS, MPI_UINT64_T, &m[k], &st[np + k]);
            else
                MPI_Imrecv(in[k], WORDS, MPI_UINT64_T, &m[k], &q[np + k]);
        for (int k = first; k < n; k++) {
            if (k % 2 == 0)
                MPI_Wait(&q[np + k], &st[np + k]);
            uint64_t was = state.sum;
            verify(r, from[k], in[k], &st[np + k]);
            state.sum = was + 1;
            saw((uint64_t)from[k]);
        }
    }
    MPI_Waitall(np, q, st);
}

static void buffered(uint64_t r)
{
    MPI_Status st;
    for (int i = 0; i < np; i++)
        if (i != me) {
            MPI_Bsend(out[i], fill(r, i), MPI_UINT64_T, i, (int)r, MPI_COMM_WORLD);
            memset(out[i], 0, sizeof out[i]);
        }
    for (int i = 0; i < np; i++)
        if (i != me) {
            MPI_Recv(in[i], WORDS, MPI_UINT64_T, i, (int)r, MPI_COMM_WORLD, &st);
            verify(r, i, in[i], &st);
        }
}

/* Tells the neighbour what this rank has seen; the neighbour repeats it later. */
static void tell_what_was_seen(uint64_t r)
{
    uint64_t theirs;
    MPI_Sendrecv(&seen, 1, MPI_UINT64_T, right(), SEEN + (int)r, &theirs, 1, MPI_UINT64_T, left(),
                 SEEN + (int)r, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    state.said = mix(state.said ^ seen);
    state.heard = mix(state.heard ^ theirs);
    MPI_Sendrecv(&state.heard, 1, MPI_UINT64_T, left(), BACK + (int)r, &theirs, 1, MPI_UINT64_T,
                 right(), BACK + (int)r, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(theirs == state.said);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < opt.rounds; state.round++) {
        uint64_t r = state.round;
        safepoint();
        seen = 0;
        switch (r % KINDS) {
        case 0: ring(r); break;
        case 1: all_to_all(r); break;
        case 3: taken(r, r % (2 * KINDS) < KINDS); break;
        case 4: buffered(r); break;
        default: choice(r); break;
        }
        tell_what_was_seen(r);
    }
}

int main(int argc, char **argv)
{
    static char buffer[BUFFER];
    start(argc, argv, 24);
    CHECK(np <= MAX_RANKS && opt.rounds < OTHER && np * (WORDS * 8 + MPI_BSEND_OVERHEAD) <= BUFFER);
    opt.plain = !opt.protect;
    void *back;
    int bytes;
    MPI_Buffer_attach(buffer, BUFFER);
    protect(&state, sizeof state);
    unprotect(&seen, sizeof seen);
    unprotect(out, sizeof out);
    unprotect(in, sizeof in);
    run(body, NULL);
    MPI_Buffer_detach(&back, &bytes);
    CHECK(back == buffer && bytes == BUFFER);
    return finish(state.sum);
}
