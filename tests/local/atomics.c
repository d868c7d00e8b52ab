/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atomics.c - combining operations are applied exactly once. By argument: `count` counters, `cas` a
 * list, `ticket` a lock, `acc` long vectors. The result of an operation depends on who came first,
 * and decides what its rank does next. So a replay that gets another answer than the lost process
 * loses or doubles an element. The result holds only what does not depend on the order.
 */
#include "protect.h"

enum { STEPS = 24, NODES = 6, RECORD = 4, VECTOR = 1500 };

static struct {
    uint64_t round, sum, taken;
} state;
static uint64_t *mem, *fetched; /* fetched: count's, in the order of its operations, protected */
static MPI_Win win;

static void add(uint64_t x) { state.sum = mix(state.sum ^ mix(x + 1)); }

static uint64_t fetch_op(uint64_t x, int to, MPI_Aint at, MPI_Op op)
{
    uint64_t was = 0;
    MPI_Fetch_and_op(&x, &was, MPI_UINT64_T, to, at, op, win);
    MPI_Win_flush(to, win);
    return was;
}

static uint64_t read_word(int from, MPI_Aint at)
{
    uint64_t x = 0;
    MPI_Get(&x, 1, MPI_UINT64_T, from, at, 1, MPI_UINT64_T, win);
    MPI_Win_flush(from, win);
    return x;
}

/* ---- count: word 0 of every rank is a counter; who fetched v marks word 1 + v there ---- */

static size_t count_words(void) { return 1 + (size_t)np * STEPS * opt.rounds; }

static void count(uint64_t r)
{
    uint64_t mark = (uint64_t)me + 1;
    for (int i = 0; i < STEPS; i++) {
        int to = (me + i + (int)r) % np;
        uint64_t was = fetch_op(1, to, 0, MPI_SUM);
        CHECK(was + 1 < count_words());
        fetched[state.taken++] = was;
        MPI_Put(&mark, 1, MPI_UINT64_T, to, 1 + (MPI_Aint)was, 1, MPI_UINT64_T, win);
    }
    MPI_Win_flush_all(win);
}

/* Each number of each counter was fetched by one rank, which marked it. */
static void count_check(void)
{
    int per = (int)(STEPS * opt.rounds);
    uint64_t *all = room((size_t)np * (size_t)per * 8), mine = mem[0], total = 0;
    unsigned char *seen = room((size_t)np * count_words());
    CHECK(state.taken == (uint64_t)per);
    MPI_Allgather(fetched, per, MPI_UINT64_T, all, per, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int p = 0; p < np; p++)
        for (int i = 0; i < per; i++) {
            int to = (p + i % STEPS + i / STEPS) % np;
            uint64_t was = all[(size_t)p * (size_t)per + (size_t)i];
            CHECK(was < count_words());
            CHECK(!seen[(size_t)to * count_words() + was]);
            seen[(size_t)to * count_words() + was] = 1;
            if (to == me)
                CHECK(mem[1 + was] == (uint64_t)p + 1);
        }
    for (uint64_t v = 0; v < mine; v++)
        CHECK(seen[(size_t)me * count_words() + v]);
    MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(total == (uint64_t)np * (uint64_t)per);
    add(mine);
    free(all);
    free(seen);
}

/* ---- cas: a list over all ranks, its head in rank 0's word 0; a node is two words, next and value
 * ---- */

static uint64_t link_to(int rank, uint64_t node) { return ((uint64_t)rank << 32) + 1 + node * 2; }

static void push(uint64_t node)
{
    uint64_t self = link_to(me, node), value = mix(self), head = fetch_op(0, 0, 0, MPI_NO_OP), was;
    for (;;) {
        MPI_Aint at = 1 + (MPI_Aint)node * 2;
        if (node % 2) { /* its own by a put to itself, or by stores */
            uint64_t pair[2] = {head, value};
            MPI_Put(pair, 2, MPI_UINT64_T, me, at, 2, MPI_UINT64_T, win);
            MPI_Win_flush(me, win);
        } else {
            mem[at] = head;
            mem[at + 1] = value;
            MPI_Win_sync(win);
        }
        MPI_Compare_and_swap(&self, &head, &was, MPI_UINT64_T, 0, 0, win);
        MPI_Win_flush(0, win);
        if (was == head)
            return;
        head = was;
    }
}

/* Follows the list and returns the sum of its values, which does not depend on their order. */
static uint64_t walk(uint64_t expected)
{
    uint64_t n = 0, sum = 0, pair[2];
    for (uint64_t at = read_word(0, 0); at; at = pair[0]) {
        CHECK(n++ < expected);
        int owner = (int)(at >> 32);
        CHECK(owner < np);
        MPI_Get(pair, 2, MPI_UINT64_T, owner, (MPI_Aint)(uint32_t)at, 2, MPI_UINT64_T, win);
        MPI_Win_flush(owner, win);
        CHECK(pair[1] == mix(at));
        sum += pair[1];
    }
    CHECK(n == expected);
    return sum;
}

static void cas(uint64_t r)
{
    for (uint64_t i = 0; i < NODES; i++)
        push(r * NODES + i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (r % (uint64_t)np == (uint64_t)me || r + 1 == opt.rounds)
        add(walk((r + 1) * NODES * (uint64_t)np));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- ticket: rank 0's words 0 and 1 are the next ticket and who is served; a record after them
 * ---- */

static void ticket(uint64_t r)
{
    uint64_t rec[RECORD], seed = state.sum;
    for (int i = 0; i < 3; i++) {
        uint64_t mine = fetch_op(1, 0, 0, MPI_SUM), now;
        while ((now = fetch_op(0, 0, 1, MPI_NO_OP)) != mine)
            CHECK(now < mine);
        MPI_Get(rec, RECORD, MPI_UINT64_T, 0, 2, RECORD, MPI_UINT64_T, win);
        MPI_Win_flush(0, win);
        CHECK(rec[0] == mine &&
              rec[3] == mix(rec[0] ^ rec[1] ^ rec[2])); /* as many turns as were before this one */
        rec[0]++;
        rec[1] += mix(seed + (uint64_t)i);
        rec[2] ^= mix(seed - (uint64_t)i);
        rec[3] = mix(rec[0] ^ rec[1] ^ rec[2]);
        MPI_Put(rec, RECORD, MPI_UINT64_T, 0, 2, RECORD, MPI_UINT64_T, win);
        MPI_Win_flush(0, win);
        CHECK(fetch_op(1, 0, 1, MPI_SUM) == mine);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(rec, RECORD, MPI_UINT64_T, 0, 2, RECORD, MPI_UINT64_T, win);
    MPI_Win_flush(0, win);
    CHECK(rec[0] == (r + 1) * 3 * (uint64_t)np);
    add(rec[3]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- acc: VECTOR doubles with integer values, VECTOR of xor, and the greatest; sums are exact in
 * any order ---- */

static double share(int from, uint64_t r, int j)
{
    return (double)(mix((uint64_t)from * 1000 + r + (uint64_t)j) % 1000);
}

static void acc(uint64_t r)
{
    static double out[VECTOR], got[VECTOR];
    static uint64_t bits[VECTOR];
    unprotect(out, sizeof out);
    unprotect(got, sizeof got);
    unprotect(bits, sizeof bits);
    int to = (me + 1 + (int)r) % np, every = (int)(r % 3) + 1;
    MPI_Datatype some;
    for (int j = 0; j < VECTOR; j++) {
        out[j] = share(me, r, j);
        bits[j] = mix(state.sum + (uint64_t)j);
    }
    for (int i = 0; i < np; i++)
        MPI_Accumulate(out, VECTOR, MPI_DOUBLE, (to + i) % np, 0, VECTOR, MPI_DOUBLE, MPI_SUM, win);
    MPI_Get_accumulate(out, VECTOR, MPI_DOUBLE, got, VECTOR, MPI_DOUBLE, to, 0, VECTOR, MPI_DOUBLE,
                       MPI_SUM, win);
    MPI_Win_flush(to, win);
    for (int j = 0; j < VECTOR; j++)
        CHECK(got[j] >= out[j] && got[j] < 1000.0 * (np + 1) * (double)(r + 1) &&
              got[j] == (double)(int64_t)got[j]);
    MPI_Type_vector(VECTOR / every, 1, every, MPI_UINT64_T, &some);
    MPI_Type_commit(&some);
    MPI_Accumulate(bits, 1, some, to, VECTOR, 1, some, MPI_BXOR, win);
    MPI_Accumulate(&bits[1], 1, MPI_UINT64_T, (to + 1) % np, 2 * VECTOR, 1, MPI_UINT64_T, MPI_MAX,
                   win);
    MPI_Win_flush_all(win);
    MPI_Type_free(&some);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    add(mix_all(state.sum, mem,
                2 * VECTOR + 1)); /* the next round's bits follow from what all did to this rank */
    for (int j = 0; r + 1 == opt.rounds && j < VECTOR; j++) {
        double sum = 0, have;
        memcpy(&have, &mem[j], 8);
        for (int p = 0; p < np; p++)
            for (uint64_t k = 0; k <= r; k++)
                sum += share(p, k, j) * ((p + 1 + (int)k) % np == me ? 2 : 1);
        CHECK(sum == have);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct play {
    const char *name;
    void (*round)(uint64_t);
} plays[] = {{"count", count}, {"cas", cas}, {"ticket", ticket}, {"acc", acc}};
static const struct play *play;

static void body(void *arg)
{
    (void)arg;
    MPI_Win_lock_all(0, win);
    for (; state.round < opt.rounds; state.round++) {
        safepoint();
        play->round(state.round);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    size_t words = 2 * VECTOR + 1;
    start(argc, argv, 12);
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++)
        if (strcmp(plays[i].name, opt.what) == 0)
            play = &plays[i];
    if (!play)
        usage(opt.what);
    if (play->round == count)
        words = count_words();
    else if (play->round == cas)
        words = 1 + 2 * NODES * opt.rounds;
    mem = window(words, MPI_COMM_WORLD, &win);
    if (play->round == ticket) {
        mem[5] = mix(0); /* of an empty record */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    fetched = room(STEPS * opt.rounds * 8);
    state.sum = mix((uint64_t)me + 1);
    protect(&state, sizeof state);
    protect(fetched, STEPS * opt.rounds * 8);
    run(body, NULL);
    if (play->round == count)
        count_check();
    if (play->round == acc)
        add(mix_all(0, mem, words));
    window_free(mem, &win);
    return finish(state.sum);
}
