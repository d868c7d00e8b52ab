/* kv.c - a key-value store: each rank holds a part of it in its window, and all ranks add to it by
 * one-sided calls. (Under plain mpirun, Open MPI 4.1 needs --mca osc ^rdma: its
 * MPI_Compare_and_swap crashes otherwise.) */
#include <ftrma.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

#define SLOTS 1024 /* of each rank; a slot is a key, which is not 0, and a value */
#define KEYS 1000
#define ROUNDS 500

static struct {
    uint64_t random;
    int round;
} state; /* all that a rank keeps from one round to the next */
static int rank, size;
static MPI_Win store;
static int64_t *slots; /* of this rank */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Adds to the value of a key. The first to come takes a free slot for it. */
static void add(int64_t key, int64_t value)
{
    int home = (int)(key % size);
    for (int64_t at = key / size;; at++) {
        int64_t none = 0, found;
        MPI_Aint slot = at % SLOTS * 2;
        MPI_Compare_and_swap(&key, &none, &found, MPI_INT64_T, home, slot, store);
        MPI_Win_flush(home, store);
        if (found != 0 && found != key)
            continue; /* another key's */
        MPI_Accumulate(&value, 1, MPI_INT64_T, home, slot + 1, 1, MPI_INT64_T, MPI_SUM, store);
        MPI_Win_flush(home, store);
        return;
    }
}

static void work(void *arg)
{
    (void)arg;
    MPI_Win_lock_all(0, store);
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        state.random = mixed(state.random + 1);
        add((int64_t)(1 + state.random % KEYS), rank + 1);
        if (state.round % 50 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(store);
    MPI_Barrier(MPI_COMM_WORLD); /* all have added all */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(2 * SLOTS * sizeof *slots, sizeof *slots, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &slots, &store);
    for (int i = 0; i < 2 * SLOTS; i++)
        slots[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD); /* nobody adds to what is not yet cleared */
    state.random = mixed((uint64_t)rank + 1);
    FTRMA_Protect(&state, sizeof state); /* the window needs no protection */
    FTRMA_Run(work, NULL);
    uint64_t mine = 0, all = 0;
    for (int i = 0; i < SLOTS; i++)
        mine += mixed((uint64_t)slots[2 * i]) * (uint64_t)slots[2 * i + 1];
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %016" PRIx64 "\n", all);
    MPI_Win_free(&store);
    MPI_Finalize();
    return 0;
}
