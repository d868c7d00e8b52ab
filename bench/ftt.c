/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftt.c - the transport (include/ftrma_transport.h) between two ranks, beside ping-pong and memcpy
 * in the same run. The kinds of measurement take turns, a short batch of each in every round: what
 * else the machine does meets all of them. Prints the minimum and the median over the rounds, and
 * the median of the ratios of one round.
 *
 *   bench_ftt [ROUNDS]           without the library (plain mpirun): ping-pong and memcpy alone
 *   bench_ftt sweep [ROUNDS]     8 B to 4 MiB, for the figure of the Wilke et al. paper
 *   bench_ftt ping               rank 1 dies; how long until FTT_Poll says so. It does not call MPI
 */
#include <ftrma.h>
#include <ftrma_transport.h>

#include "bench.h"

#define MOST_ROUNDS 400
enum { STOP = 1, ECHO, COMPUTE, WANT };
struct want {
    uint64_t number, bytes;
};

static FTT_Transport *t;
static int peer, rounds = 40;
static volatile double heat;

static void must(int status, const char *what)
{
    if (status == FTT_OK)
        return;
    fprintf(stderr, "bench_ftt: %s: %s\n", what, FTT_Status_text(status));
    exit(1);
}

/* --- what rank 1 does meanwhile --- */

static void compute(double seconds)
{
    double end = bench_now() + seconds;
    while (bench_now() < end)
        for (int i = 0; i < 1000; i++)
            heat = heat * 1.0000001 + 1;
}

/* Publishes memory that was not public before, until the next one is wanted. */
static void register_one(const struct want *w)
{
    static FTT_Buffer buffer;
    static char *fresh, name[32];
    if (fresh) {
        must(FTT_Unpublish(t, name), "FTT_Unpublish");
        must(FTT_Release(t, &buffer), "FTT_Release");
        free(fresh);
    }
    fresh = malloc(w->bytes);
    memset(fresh, 3, w->bytes);
    snprintf(name, sizeof name, "fresh %llu", (unsigned long long)w->number);
    must(FTT_Register(t, fresh, w->bytes, &buffer), "FTT_Register");
    must(FTT_Publish(t, name, fresh, w->bytes), "FTT_Publish");
}

/* The transaction of the paper: a header asks for a put, which is acknowledged. */
static void put_one(const FTT_Event *ev, const char *from)
{
    FTT_Buffer to;
    memcpy(&to, ev->data, sizeof to);
    must(FTT_Put(t, &to, 0, from, to.bytes, 0, 0, NULL), "FTT_Put");
    must(FTT_Answer(t, ev, NULL, 0, 1), "FTT_Answer");
}

static void serve(const char *block)
{
    FTT_Event ev;
    struct want w;
    for (;;) {
        must(FTT_Poll(t, &ev, -1), "FTT_Poll");
        if (ev.kind == FTT_EV_HEADER)
            put_one(&ev, block);
        if (ev.kind != FTT_EV_MESSAGE)
            continue;
        switch (ev.tag) {
        case STOP: return;
        case ECHO: must(FTT_Send(t, peer, ECHO, ev.data, ev.bytes, 0, NULL), "FTT_Send"); break;
        case COMPUTE: compute(1.2); break;
        case WANT:
            memcpy(&w, ev.data, sizeof w);
            register_one(&w);
            break;
        }
    }
}

/* --- the kinds: each does n of its operations; rank 1 takes part in those of MPI alone --- */

struct kind {
    const char *name;
    uint64_t bytes;
    void (*run)(struct kind *k, int n);
    int is_mpi;
    int each;       /* operations in a batch */
    const char *of; /* fetch: the name */
    char *here, *there;
    double v[MOST_ROUNDS];
};

static void await(enum FTT_Kind kind)
{
    FTT_Event ev;
    do
        must(FTT_Poll(t, &ev, -1), "FTT_Poll");
    while (ev.kind != kind);
}

static void trip(char *buf, uint64_t bytes)
{
    for (int turn = 0; turn < 2; turn++)
        if (bench_rank == turn)
            MPI_Send(buf, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(buf, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ping_pong(struct kind *k, int n)
{
    for (int i = 0; i < n; i++)
        trip(k->here, k->bytes);
}

/* From memory that was not used before, as a program that allocates for each message does. */
static void cold_ping_pong(struct kind *k, int n)
{
    for (int i = 0; i < n; i++) {
        char *buf = malloc(k->bytes);
        memset(buf, 3, k->bytes);
        trip(buf, k->bytes);
        free(buf);
    }
}

static void fetch(struct kind *k, int n)
{
    for (int i = 0; i < n; i++)
        must(FTT_Fetch(t, 1, k->of, k->here, k->bytes), "FTT_Fetch");
}

static void fetch_fresh(struct kind *k, int n)
{
    static struct want w;
    char name[32];
    for (int i = 0; i < n; i++) {
        w = (struct want){w.number + 1, k->bytes};
        snprintf(name, sizeof name, "fresh %llu", (unsigned long long)w.number);
        must(FTT_Send(t, 1, WANT, &w, sizeof w, 0, NULL), "FTT_Send");
        must(FTT_Fetch(t, 1, name, k->here, k->bytes), "FTT_Fetch");
    }
}

static void put_acked(struct kind *k, int n)
{
    FTT_Buffer to;
    must(FTT_Register(t, k->here, k->bytes, &to), "FTT_Register");
    for (int i = 0; i < n; i++) {
        must(FTT_Send_header(t, 1, WANT, &to, sizeof to, 0, NULL), "FTT_Send_header");
        await(FTT_EV_ANSWER);
    }
    must(FTT_Release(t, &to), "FTT_Release");
}

static void active_message(struct kind *k, int n)
{
    for (int i = 0; i < n; i++) {
        must(FTT_Send(t, 1, ECHO, k->here, k->bytes, 0, NULL), "FTT_Send");
        await(FTT_EV_MESSAGE);
    }
}

static void copy(struct kind *k, int n)
{
    for (int i = 0; i < n; i++) {
        memcpy(k->here, k->there, k->bytes);
        __asm__ volatile("" : : "r"(k->here) : "memory");
    }
}

/* --- one kind in one round --- */

static void one(struct kind *k, int n)
{
    if (k->is_mpi) {
        k->run(k, n);
    } else if (bench_rank == 0) {
        k->run(k, n);
        if (t)
            must(FTT_Send(t, 1, STOP, NULL, 0, 0, NULL), "FTT_Send");
    } else if (t) {
        serve(k->there);
    }
}

static void round_of(struct kind *k, int round)
{
    one(k, k->each / 8 + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double t0 = bench_now();
    if (k->is_mpi || bench_rank == 0)
        k->run(k, k->each);
    k->v[round] = (bench_now() - t0) / k->each;
    if (!k->is_mpi && t && bench_rank == 0)
        must(FTT_Send(t, 1, STOP, NULL, 0, 0, NULL), "FTT_Send");
    else if (!k->is_mpi && t)
        serve(k->there);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void show(const struct kind *k)
{
    double v[MOST_ROUNDS];
    char name[64];
    memcpy(v, k->v, sizeof *v * (size_t)rounds);
    double mid = bench_median(v, rounds);
    snprintf(name, sizeof name, "%s.min", k->name);
    bench_figure(name, k->bytes, 1e6 * v[0], "us");
    bench_figure(k->name, k->bytes, 1e6 * mid, "us");
}

/* Of the minima, and the median of the ratios of one round. */
static void ratio(const char *name, const struct kind *a, const struct kind *b)
{
    double r[MOST_ROUNDS], x = a->v[0], y = b->v[0];
    char min[64];
    for (int i = 0; i < rounds; i++) {
        r[i] = a->v[i] / b->v[i];
        x = a->v[i] < x ? a->v[i] : x;
        y = b->v[i] < y ? b->v[i] : y;
    }
    snprintf(min, sizeof min, "%s.min", name);
    bench_figure(min, a->bytes, x / y, "times");
    bench_figure(name, a->bytes, bench_median(r, rounds), "times");
}

/* The same memory for all kinds of a size: public, and the program's own. */
static void publish(struct kind *k, const char *name, int is_public)
{
    FTT_Buffer b;
    void *at = NULL;
    if (is_public)
        must(FTT_Alloc(t, k->bytes, &b, &at), "FTT_Alloc");
    else
        at = bench_alloc(k->bytes);
    memset(at, 3, k->bytes);
    k->there = at;
    if (bench_rank == 1)
        must(FTT_Publish(t, name, at, k->bytes), "FTT_Publish");
}

/* Fetches while rank 1 computes, with a pause after each. */
static void while_computing(struct kind *k)
{
    double v[40];
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_rank == 0) {
        must(FTT_Send(t, 1, COMPUTE, NULL, 0, 0, NULL), "FTT_Send");
        usleep(100000);
        for (int i = 0; i < 40; i++) {
            double t0 = bench_now();
            fetch(k, 1);
            v[i] = bench_now() - t0;
            usleep(20000);
        }
        must(FTT_Send(t, 1, STOP, NULL, 0, 0, NULL), "FTT_Send");
        char name[64];
        double mid = bench_median(v, 40);
        snprintf(name, sizeof name, "computing.%s", k->name);
        bench_figure(name, k->bytes, 1e6 * mid, "us");
        snprintf(name, sizeof name, "computing.%s.max", k->name);
        bench_figure(name, k->bytes, 1e6 * v[39], "us");
    } else {
        serve(k->there);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void usual(void *arg)
{
    (void)arg;
    static struct kind k[] = {
        {"pingpong", 8, ping_pong, 1, 2000, NULL, NULL, NULL, {0}},
        {"memcpy", 4 << 20, copy, 0, 8, NULL, NULL, NULL, {0}},
        {"fetch", 8, fetch, 0, 2000, "small", NULL, NULL, {0}},
        {"fetch.private", 8, fetch, 0, 2000, "small, private", NULL, NULL, {0}},
        {"active", 8, active_message, 0, 2000, NULL, NULL, NULL, {0}},
        {"fetch", 4 << 20, fetch, 0, 8, "large", NULL, NULL, {0}},
        {"fetch.private", 4 << 20, fetch, 0, 8, "large, private", NULL, NULL, {0}},
    };
    int n = t ? 7 : 2;
    for (int i = 0; i < n; i++) {
        k[i].here = bench_alloc(k[i].bytes);
        if (k[i].of)
            publish(&k[i], k[i].of, !strstr(k[i].of, "private"));
        else
            k[i].there = bench_alloc(k[i].bytes);
    }
    for (int i = 0; i < n; i++)
        one(&k[i], 1);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++)
            round_of(&k[i], r);
    for (int i = 0; i < n; i++)
        show(&k[i]);
    if (!t)
        return;
    ratio("fetch/pingpong", &k[2], &k[0]);
    ratio("fetch.private/pingpong", &k[3], &k[0]);
    ratio("active/pingpong", &k[4], &k[0]);
    ratio("memcpy/fetch", &k[1], &k[5]);
    ratio("memcpy/fetch.private", &k[1], &k[6]);
    while_computing(&k[2]);
    while_computing(&k[3]);
}

/* All kinds of the figure, size by size. */
static void sweep(void *arg)
{
    (void)arg;
    for (uint64_t bytes = 8; bytes <= 4 << 20; bytes *= bytes == 2 << 20 ? 2 : 4) {
        int each = bytes < 16384 ? 400 : bytes < 262144 ? 60 : 6;
        struct kind k[] = {
            {"mpi.hot", bytes, ping_pong, 1, each, NULL, NULL, NULL, {0}},
            {"mpi.cold", bytes, cold_ping_pong, 1, each, NULL, NULL, NULL, {0}},
            {"registered", bytes, fetch, 0, each, "block", NULL, NULL, {0}},
            {"acked", bytes, put_acked, 0, each, NULL, NULL, NULL, {0}},
            {"registering", bytes, fetch_fresh, 0, each, NULL, NULL, NULL, {0}},
        };
        int n = t ? 5 : 2;
        FTT_Buffer b;
        void *at = NULL;
        if (t) {
            must(FTT_Alloc(t, bytes, &b, &at), "FTT_Alloc");
            memset(at, 3, bytes);
            must(FTT_Publish(t, "block", at, bytes), "FTT_Publish");
        }
        for (int i = 0; i < n; i++) {
            k[i].here = bench_alloc(bytes);
            k[i].there = at;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int r = 0; r < rounds; r++)
            for (int i = 0; i < n; i++)
                round_of(&k[i], r);
        for (int i = 0; i < n; i++) {
            show(&k[i]);
            free(k[i].here);
        }
        if (t) {
            must(FTT_Unpublish(t, "block"), "FTT_Unpublish");
            must(FTT_Release(t, &b), "FTT_Release");
        }
    }
}

/* --- a death --- */

static void on_death(void *arg, int rank, uint32_t incarnation)
{
    (void)rank, (void)incarnation;
    *(double *)arg = bench_now();
}

/* Rank 1 says the time and dies. Its replacement goes straight to the end. */
static int ping(void)
{
    double died, known = 0;
    FTT_Event ev;
    must(FTT_Open(&t), "FTT_Open");
    if (FTT_Rank(t) == 1 && FTT_Incarnation(t, 1) == 0) {
        must(FTT_Poll(t, &ev, -1), "FTT_Poll"); /* rank 0 is here */
        double now = bench_now();
        must(FTT_Send(t, 0, 1, &now, sizeof now, 1, NULL), "FTT_Send");
        await(FTT_EV_ACK);
        FTT_Die(t);
    }
    if (FTT_Rank(t) == 0) {
        must(FTT_Ping(t, 1, 0, on_death, &known, NULL), "FTT_Ping");
        must(FTT_Send(t, 1, 1, NULL, 0, 0, NULL), "FTT_Send");
        do
            must(FTT_Poll(t, &ev, -1), "FTT_Poll");
        while (ev.kind != FTT_EV_MESSAGE);
        memcpy(&died, ev.data, sizeof died);
        while (!known)
            if (FTT_Poll(t, &ev, 100) == FTT_OK && ev.kind == FTT_EV_FAILURE)
                break;
        double replaced = bench_now();
        while (ev.kind != FTT_EV_FAILURE)
            if (FTT_Poll(t, &ev, -1) == FTT_OK)
                replaced = bench_now();
        bench_figure("ping.known", 0, 1e3 * (known - died), "ms");
        bench_figure("ping.replaced", 0, 1e3 * (replaced - died), "ms");
    }
    must(FTT_Close(t), "FTT_Close");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "ping") == 0)
        return ping();
    int sweeps = argc > 1 && strcmp(argv[1], "sweep") == 0;
    if (argc > 1 + sweeps)
        rounds = atoi(argv[1 + sweeps]);
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    bench_batches = rounds;
    bench_start(&argc, &argv, "ftt");
    if (bench_size != 2) {
        fprintf(stderr, "bench_ftt: start it with 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    peer = 1 - bench_rank;
    if (dlsym(NULL, "FTT_Open"))
        must(FTT_Open(&t), "FTT_Open");
    /* in FTRMA_Run no messages are logged */
    if (FTRMA_Run(sweeps ? sweep : usual, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (t)
        must(FTT_Close(t), "FTT_Close");
    MPI_Finalize();
    return 0;
}
