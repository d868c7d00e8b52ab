/* SPDX-License-Identifier: BSD-3-Clause
 *
 * manager.c - an unmodified program: rank 0 hands out tasks to any free worker. Who did what
 * depends on timing, and so does the manager's next message; the result does not. With --order
 * workers are told the order in which they were served, and ask for it at the end.
 */
#include "local.h"

enum { TASKS = 24, LONGEST = 1200, WORK = 1, STOP = 2, DONE = 3, AGAIN = 4 };

struct task {
    uint64_t id, seed, serial; /* serial: how many tasks this worker had, as the manager counts */
};

static uint64_t value(const struct task *t, int i)
{
    return mix(t->seed ^ (t->id << 32) ^ (uint64_t)i);
}

/* Answers have as many words as the task says, and take different times. */
static uint64_t answer_length(const struct task *t) { return 2 + mix(t->id + t->seed) % LONGEST; }

static uint64_t manage(uint64_t seed, uint64_t *serial, uint64_t *order)
{
    static uint64_t in[LONGEST + 2];
    unsigned char done[TASKS] = {0};
    uint64_t sum = 0, given = 0, back = 0;
    struct task t[TASKS];
    for (int w = 1; w < np && given < TASKS; w++, given++) {
        t[given] = (struct task){given, seed, serial[w]++};
        MPI_Send(&t[given], 3, MPI_UINT64_T, w, WORK, MPI_COMM_WORLD);
    }
    for (; back < TASKS; back++) {
        MPI_Status st;
        int n;
        if (back % 2) { /* probed for its length, or not */
            MPI_Probe(MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_UINT64_T, &n);
            MPI_Recv(in, n, MPI_UINT64_T, st.MPI_SOURCE, DONE, MPI_COMM_WORLD, &st);
        } else {
            MPI_Recv(in, LONGEST + 2, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     &st);
        }
        MPI_Get_count(&st, MPI_UINT64_T, &n);
        CHECK(in[0] < TASKS && !done[in[0]] && st.MPI_TAG == DONE &&
              (uint64_t)n == answer_length(&t[in[0]]));
        done[in[0]] = 1;
        for (int i = 1; i < n; i++)
            CHECK(in[i] == value(&t[in[0]], i));
        sum += mix(in[n - 1] + in[0]);
        *order = mix(*order + (uint64_t)st.MPI_SOURCE);
        if (given < TASKS) {
            t[given] = (struct task){given, seed, serial[st.MPI_SOURCE]++};
            MPI_Send(&t[given], 3, MPI_UINT64_T, st.MPI_SOURCE, WORK, MPI_COMM_WORLD);
            given++;
        }
    }
    return sum;
}

static void work(void)
{
    static uint64_t out[LONGEST + 2];
    uint64_t had = 0, order = 0;
    for (;;) {
        struct task t;
        MPI_Status st;
        MPI_Recv(&t, 3, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        if (st.MPI_TAG == STOP)
            break;
        if (st.MPI_TAG ==
            AGAIN) { /* the order in which all were served, to be said again one day */
            order = t.seed;
            continue;
        }
        CHECK(t.serial == had);
        had++;
        uint64_t n = answer_length(&t);
        out[0] = t.id;
        for (uint64_t i = 1; i < n; i++)
            out[i] = value(&t, (int)i);
        MPI_Send(out, (int)n, MPI_UINT64_T, 0, DONE, MPI_COMM_WORLD);
    }
    tell(0, 1000, order);
    tell(0, 1001, had);
}

int main(int argc, char **argv)
{
    start(argc, argv, 6);
    uint64_t sum = 1, order = 0, told = 0;
    if (me > 0) {
        work();
        return finish(0);
    }
    uint64_t *serial = room((size_t)np * 8);
    for (uint64_t r = 0; r < opt.rounds; r++) {
        sum = mix(sum ^ manage(sum, serial, &order));
        told = order;
        for (int w = 1; opt.order && w < np; w++)
            MPI_Send(&(struct task){r, order, 0}, 3, MPI_UINT64_T, w, AGAIN, MPI_COMM_WORLD);
    }
    for (int w = 1; w < np; w++)
        MPI_Send(&(struct task){0}, 3, MPI_UINT64_T, w, STOP, MPI_COMM_WORLD);
    for (int w = 1; w < np; w++) {
        uint64_t heard = hear(w, 1000);
        CHECK(!opt.order || heard == told);
        CHECK(hear(w, 1001) == serial[w]);
    }
    free(serial);
    return finish(sum);
}
