/* SPDX-License-Identifier: BSD-3-Clause
 *
 * local.h - shared by the programs of this folder, beside program.h: ordinary MPI programs for 4
 * ranks (3 or more), whose result never depends on timing. protect.h adds the three calls of
 * ftrma.h; a program that includes only this file is an unmodified MPI program.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "../program.h"

/* The arguments: the first one that is no option names what to play; the rest are these. */
static struct {
    const char *what;
    uint64_t rounds;
    int plain, create, protect, order, pid;
    long at; /* -1: not given */
} opt;

static inline uint64_t mix_all(uint64_t h, const void *data, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t x;
        memcpy(&x, (const char *)data + i * 8, 8);
        h = mix(h ^ mix(x + i));
    }
    return h;
}

static inline void usage(const char *word)
{
    if (me == 0)
        fprintf(
            stderr,
            "bad argument '%s'; WHAT --rounds N --plain --create --protect --order --pid --at K\n",
            word);
    MPI_Finalize();
    exit(2);
}

/* To be called after MPI_Init. Reads the arguments; rounds: the default number of rounds. */
static inline void start_up(int argc, char **argv, uint64_t rounds)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    opt.what = "";
    opt.rounds = rounds;
    opt.at = -1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            opt.rounds = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--at") == 0 && i + 1 < argc)
            opt.at = strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--plain") == 0)
            opt.plain = 1;
        else if (strcmp(argv[i], "--create") == 0)
            opt.create = 1;
        else if (strcmp(argv[i], "--protect") == 0)
            opt.protect = 1;
        else if (strcmp(argv[i], "--order") == 0)
            opt.order = 1;
        else if (strcmp(argv[i], "--pid") == 0)
            opt.pid = 1;
        else if (argv[i][0] != '-' && !*opt.what)
            opt.what = argv[i];
        else
            usage(argv[i]);
    }
    CHECK(np >= 3);
}

static inline void start(int argc, char **argv, uint64_t rounds)
{
    /* Open MPI's osc/rdma dies in an 8-byte MPI_Compare_and_swap (tests/mpi/EXCEPTIONS.txt): prefer
     * osc/sm. */
    setenv("OMPI_MCA_osc_rdma_priority", "99", 0);
    MPI_Init(&argc, &argv);
    start_up(argc, argv, rounds);
}

/* A message of one word with the round's number as its tag, so that a rank in another round is
 * noticed. */
static inline void tell(int to, uint64_t round, uint64_t v)
{
    MPI_Send(&v, 1, MPI_UINT64_T, to, (int)round, MPI_COMM_WORLD);
}

static inline uint64_t hear(int from, uint64_t round)
{
    uint64_t v;
    MPI_Recv(&v, 1, MPI_UINT64_T, from, (int)round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return v;
}

#endif
