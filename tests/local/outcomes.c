/* SPDX-License-Identifier: BSD-3-Clause
 *
 * outcomes.c - an unmodified program that goes by what Test, Testany, Testall, Testsome, Waitany,
 * Waitsome, Request_get_status, Iprobe, Cancel and Wtime say, and tells its neighbour: how often it
 * asked in vain, in which order things came, what time it was. How many messages it sends depends
 * on it too. In the end the neighbour is asked what it heard, so that a process that is replaced
 * and says anything else the second time is found out. The result holds none of that.
 */
#include "local.h"

enum { MAX_RANKS = 64, PER = 3, WORDS = 40, KINDS = 12, MORE = 20000, SEEN = 30000, BACK = 40000 };

static uint64_t sum, seen, vain, said, heard;
static uint64_t in[MAX_RANKS * PER][WORDS];
static MPI_Request req[MAX_RANKS * PER];

static int left(void) { return (me + np - 1) % np; }
static int right(void) { return (me + 1) % np; }
static void saw(uint64_t v) { seen = mix(seen + v); }
static int in_vain(int flag)
{
    vain += !flag;
    return !flag;
}
static uint64_t word(uint64_t r, int from, int to, int k, int i)
{
    return mix(r * 1000003 + (uint64_t)(((from * 64 + to) * 8 + k) * 100 + i));
}

static int any_left(int n)
{
    for (int i = 0; i < n; i++)
        if (req[i] != MPI_REQUEST_NULL)
            return 1;
    return 0;
}

static void one_by_one(int n, int look_first)
{
    while (any_left(n))
        for (int i = 0, flag; i < n; i++) {
            if (req[i] == MPI_REQUEST_NULL)
                continue;
            if (look_first) {
                MPI_Request_get_status(req[i], &flag, MPI_STATUS_IGNORE);
                if (in_vain(flag))
                    continue;
                MPI_Wait(&req[i], MPI_STATUS_IGNORE);
            } else {
                MPI_Test(&req[i], &flag, MPI_STATUS_IGNORE);
                if (in_vain(flag))
                    continue;
            }
            CHECK(req[i] == MPI_REQUEST_NULL);
            saw((uint64_t)i);
        }
}

static void some(int n, int wait)
{
    int count = 0, which[MAX_RANKS * PER];
    for (;;) {
        if (wait)
            MPI_Waitsome(n, req, &count, which, MPI_STATUSES_IGNORE);
        else
            MPI_Testsome(n, req, &count, which, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED)
            break;
        if (in_vain(count > 0))
            continue;
        saw(1000 + (uint64_t)count);
        for (int i = 0; i < count; i++)
            saw((uint64_t)which[i]);
    }
}

static void any(int n, int wait)
{
    for (int i = 0, flag = 1;;) {
        if (wait)
            MPI_Waitany(n, req, &i, MPI_STATUS_IGNORE);
        else
            MPI_Testany(n, req, &i, &flag, MPI_STATUS_IGNORE);
        if (in_vain(flag))
            continue;
        if (i == MPI_UNDEFINED)
            break;
        saw((uint64_t)i);
    }
}

static void all(int n)
{
    for (int flag = 0; !flag; in_vain(flag))
        MPI_Testall(n, req, &flag, MPI_STATUSES_IGNORE);
}

static void complete(uint64_t kind, int n)
{
    switch (kind) {
    case 0: one_by_one(n, 0); break;
    case 1: one_by_one(n, 1); break;
    case 2: some(n, 0); break;
    case 3: some(n, 1); break;
    case 4: any(n, 0); break;
    case 5: any(n, 1); break;
    default: all(n); break;
    }
}

static void say_to_all(uint64_t r)
{
    uint64_t out[WORDS];
    for (int k = 0; k < PER; k++)
        for (int d = 1; d < np; d++) {
            int to = (me + d) % np;
            for (int i = 0; i < WORDS; i++)
                out[i] = word(r, me, to, k, i);
            MPI_Send(out, WORDS, MPI_UINT64_T, to, (int)r, MPI_COMM_WORLD);
        }
}

/* PER messages from each rank, received by name. */
static void by_name(uint64_t r)
{
    for (int i = 0; i < np * PER; i++) {
        req[i] = MPI_REQUEST_NULL;
        if (i / PER != me)
            MPI_Irecv(in[i], WORDS, MPI_UINT64_T, i / PER, (int)r, MPI_COMM_WORLD, &req[i]);
    }
    say_to_all(r);
    complete(r % KINDS, np * PER);
    for (int i = 0; i < np * PER; i++)
        for (int j = 0; j < WORDS && i / PER != me; j++)
            CHECK(in[i][j] == word(r, i / PER, me, i % PER, j));
}

/* The same with receives from any source that are all posted at once: each rank's messages come in
 * order. */
static void by_wildcards(uint64_t r)
{
    int n = (np - 1) * PER, next[MAX_RANKS] = {0};
    for (int i = 0; i < n; i++)
        MPI_Irecv(in[i], WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, (int)r, MPI_COMM_WORLD, &req[i]);
    say_to_all(r);
    complete(r / KINDS % 7, n);
    for (int i = 0; i < n; i++) {
        int from = 0;
        while (from < np &&
               (from == me || next[from] == PER || in[i][0] != word(r, from, me, next[from], 0)))
            from++;
        CHECK(from < np);
        saw((uint64_t)from);
        next[from]++;
    }
}

static void by_iprobe(uint64_t r)
{
    say_to_all(r);
    for (int n = (np - 1) * PER, next[MAX_RANKS] = {0}, ask = left(); n > 0;) {
        MPI_Status st;
        int flag, named = r / KINDS % 2 == 0;
        if (named && ((ask = (ask + 1) % np) == me || next[ask] == PER))
            continue;
        MPI_Iprobe(named ? ask : MPI_ANY_SOURCE, named ? MPI_ANY_TAG : (int)r, MPI_COMM_WORLD,
                   &flag, &st);
        if (in_vain(flag))
            continue;
        CHECK(st.MPI_TAG == (int)r);
        saw((uint64_t)st.MPI_SOURCE);
        MPI_Recv(in[0], WORDS, MPI_UINT64_T, st.MPI_SOURCE, (int)r, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        for (int j = 0; j < WORDS; j++)
            CHECK(in[0][j] == word(r, st.MPI_SOURCE, me, next[st.MPI_SOURCE], j));
        next[st.MPI_SOURCE]++;
        n--;
    }
}

/* Cancels a receive after a while. If that is too late, the receive has the first of two messages;
 * otherwise another receive has it. */
static void by_cancel(uint64_t r)
{
    MPI_Request early;
    MPI_Status st;
    uint64_t x = 0, y = 0;
    int gone, flag = 0, from = r / KINDS % 2 ? MPI_ANY_SOURCE : left();
    MPI_Irecv(&x, 1, MPI_UINT64_T, from, (int)r, MPI_COMM_WORLD, &early);
    tell(right(), r, word(r, me, 0, 0, 0));
    for (uint64_t i = 0; i < mix(r + (uint64_t)me) % 4 && !flag; i++) {
        MPI_Request_get_status(early, &flag, MPI_STATUS_IGNORE);
        in_vain(flag);
    }
    MPI_Cancel(&early);
    MPI_Wait(&early, &st);
    MPI_Test_cancelled(&st, &gone);
    saw((uint64_t)gone);
    if (gone) {
        tell(right(), MORE + r, 1); /* somebody knows */
        x = hear(left(), r);
    } else {
        tell(right(), MORE + r, 0);
    }
    tell(right(), r, word(r, me, 0, 1, 0));
    y = hear(left(), r);
    CHECK(x == word(r, left(), 0, 0, 0) && y == word(r, left(), 0, 1, 0));
    heard = mix(heard ^ hear(left(), MORE + r));
    said = mix(said ^ (uint64_t)gone);
}

static void by_clock(void)
{
    double t[2];
    uint64_t bits[2];
    t[0] = MPI_Wtime();
    t[1] = MPI_Wtime();
    CHECK(t[1] >= t[0]);
    memcpy(bits, t, sizeof bits);
    saw(bits[0]);
    saw(bits[1]);
}

/* Tells the neighbour what this rank has seen; the number of messages depends on it. */
static void tell_what_was_seen(uint64_t r)
{
    uint64_t mine[2] = {mix(seen ^ vain), vain}, theirs[2];
    MPI_Sendrecv(mine, 2, MPI_UINT64_T, right(), SEEN + (int)r, theirs, 2, MPI_UINT64_T, left(),
                 SEEN + (int)r, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    said = mix(mix(said ^ mine[0]) ^ mine[1]);
    heard = mix(mix(heard ^ theirs[0]) ^ theirs[1]);
    for (uint64_t i = 0; i < mine[0] % 4; i++)
        tell(right(), SEEN + r, mine[0] + i);
    for (uint64_t i = 0; i < theirs[0] % 4; i++)
        CHECK(hear(left(), SEEN + r) == theirs[0] + i);
}

static void ask_back(uint64_t r)
{
    uint64_t again;
    MPI_Sendrecv(&heard, 1, MPI_UINT64_T, left(), BACK + (int)r, &again, 1, MPI_UINT64_T, right(),
                 BACK + (int)r, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(again == said);
}

int main(int argc, char **argv)
{
    start(argc, argv, 24);
    CHECK(np <= MAX_RANKS && opt.rounds < MORE);
    for (uint64_t r = 0; r < opt.rounds; r++) {
        switch (r % KINDS) {
        case 7: by_wildcards(r); break;
        case 8: by_iprobe(r); break;
        case 9: by_cancel(r); break;
        case 10: by_clock(); break;
        case 11: ask_back(r); break;
        default: by_name(r); break;
        }
        tell_what_was_seen(r);
        if (r % 4 == 3) {
            uint64_t one = 1, all_of_us;
            MPI_Allreduce(&one, &all_of_us, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            sum = mix(sum + all_of_us + r);
        }
    }
    ask_back(opt.rounds);
    return finish(sum);
}
