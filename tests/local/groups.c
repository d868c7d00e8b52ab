/* SPDX-License-Identifier: BSD-3-Clause
 *
 * groups.c - an unmodified program of two groups: managers (rank 0, and rank 1 of four or more)
 * hand out tasks over an intercommunicator to whoever is free, workers answer whoever asked.
 * Between the phases the groups tell each other by collectives, blocking and not, and make
 * duplicates and a communicator of both. Who did what depends on timing, and the next message on
 * it; the result does not. Each manager tells a worker the order in which it was answered, and asks
 * for it in the end.
 */
#include "local.h"

enum { TASKS = 20, LONGEST = 600, WORK = 1, STOP = 2, DONE = 3 };

static MPI_Comm half, both;
static int manager, mine, others, managers;

static uint64_t value(uint64_t id, uint64_t seed, int i)
{
    return mix(seed ^ (id << 32) ^ (uint64_t)i);
}
static int length(uint64_t id, uint64_t seed) { return (int)(2 + mix(id + seed) % LONGEST); }

static uint64_t manage(MPI_Comm c, uint64_t seed, uint64_t *order)
{
    static uint64_t in[LONGEST + 2];
    uint64_t sum = 0, given = 0, task[2] = {0, seed}, done[TASKS] = {0};
    MPI_Status s;
    int n;
    for (int w = 0; w < others; w++) {
        task[0] = given++;
        MPI_Send(task, 2, MPI_UINT64_T, w, WORK, c);
    }
    for (int back = 0; back < TASKS; back++) {
        if (back % 2) { /* probed for its length, or not */
            MPI_Probe(MPI_ANY_SOURCE, DONE, c, &s);
            MPI_Get_count(&s, MPI_UINT64_T, &n);
            MPI_Recv(in, n, MPI_UINT64_T, s.MPI_SOURCE, DONE, c, &s);
        } else {
            MPI_Recv(in, LONGEST + 2, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s);
        }
        MPI_Get_count(&s, MPI_UINT64_T, &n);
        CHECK(s.MPI_SOURCE >= 0 && s.MPI_SOURCE < others && s.MPI_TAG == DONE);
        CHECK(in[0] < TASKS && !done[in[0]]++ && n == length(in[0], seed));
        for (int i = 1; i < n; i++)
            CHECK(in[i] == value(in[0], seed, i));
        sum += mix(in[n - 1] + in[0]);
        *order = mix(*order + (uint64_t)s.MPI_SOURCE);
        task[0] = given;
        if (given < TASKS) {
            given++;
            MPI_Send(task, 2, MPI_UINT64_T, s.MPI_SOURCE, WORK, c);
        }
    }
    for (int w = 0; w < others; w++)
        MPI_Send(order, 1, MPI_UINT64_T, w, STOP, c);
    return sum;
}

static void work(MPI_Comm c, uint64_t *orders)
{
    static uint64_t out[LONGEST + 2];
    for (int over = 0; over < managers;) {
        uint64_t task[2];
        MPI_Status s;
        MPI_Recv(task, 2, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s);
        CHECK(s.MPI_SOURCE >= 0 && s.MPI_SOURCE < managers);
        if (s.MPI_TAG == STOP) {
            orders[s.MPI_SOURCE] = task[0];
            over++;
            continue;
        }
        int n = length(task[0], task[1]);
        out[0] = task[0];
        for (int i = 1; i < n; i++)
            out[i] = value(task[0], task[1], i);
        MPI_Send(out, n, MPI_UINT64_T, s.MPI_SOURCE, DONE, c);
    }
}

/* The workers get what all managers got, and the managers get it back from them: the seed of the
 * next phase. */
static uint64_t agree(MPI_Comm c, uint64_t phase, uint64_t sum)
{
    uint64_t theirs = 0, seed = 0;
    MPI_Request q;
    MPI_Iallreduce(&sum, &theirs, 1, MPI_UINT64_T, MPI_SUM, c, &q);
    int flag = 0;
    while (!flag)
        MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
    int asked = (int)phase % others, told = manager                                ? asked
                                            : mine == (int)phase % (np - managers) ? MPI_ROOT
                                                                                   : MPI_PROC_NULL;
    seed = mix(theirs + phase);
    MPI_Bcast(&seed, 1, MPI_UINT64_T, told, c); /* a worker's, to the managers */
    if (phase % 2) {
        uint64_t all;
        MPI_Comm merged;
        MPI_Intercomm_merge(c, manager, &merged); /* workers first */
        MPI_Allreduce(&seed, &all, 1, MPI_UINT64_T, MPI_SUM, merged);
        MPI_Comm_free(&merged);
        return manager ? mix(seed + all) : all;
    }
    return seed;
}

int main(int argc, char **argv)
{
    start(argc, argv, 6);
    uint64_t sum = 0, order = 0, told[2] = {0}, seed = 1;
    MPI_Comm c;
    MPI_Request q;
    managers = np > 3 ? 2 : 1;
    manager = me < managers;
    mine = manager ? me : me - managers;
    others = manager ? np - managers : managers;
    MPI_Comm_split(MPI_COMM_WORLD, manager, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, manager ? managers : 0, 5, &both);
    for (uint64_t phase = 0; phase < opt.rounds; phase++) {
        MPI_Comm_idup(both, &c, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        uint64_t got = 0;
        if (manager)
            got = manage(c, seed, &order);
        else
            work(c, told);
        sum = mix(sum + got);
        seed = agree(c, phase, got);
        MPI_Ibarrier(c, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Comm_free(&c);
    }
    if (manager) {
        uint64_t said;
        for (int w = 0; w < others; w++) {
            MPI_Recv(&said, 1, MPI_UINT64_T, w, 9, both, MPI_STATUS_IGNORE);
            CHECK(said == order);
        }
    } else {
        for (int m = 0; m < managers; m++)
            MPI_Send(&told[m], 1, MPI_UINT64_T, m, 9, both);
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    return finish(manager ? sum : 0);
}
