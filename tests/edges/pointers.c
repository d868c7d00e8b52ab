/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pointers.c - pointers into memory that MPI gave, kept in protected memory:  pointers KIND
 *
 *   allocate   windows of MPI_Win_allocate of several sizes
 *   again      the same, after windows that were made and freed in setup in another order
 *   mem        MPI_Alloc_mem in setup; a window of MPI_Win_create on one of the blocks
 *   shared     windows of MPI_Win_allocate_shared with all ranks; one of each rank alone
 *   dynamic    memory of malloc and of MPI_Alloc_mem that is attached to a dynamic window
 *   body       MPI_Alloc_mem and MPI_Free_mem in body before the first safepoint, and again later
 *   freed      a block of setup that body frees before the first safepoint
 *   thread     memory of malloc, a part of it given after setup has had a thread
 *   waited     memory of malloc, after a call that waited for one of several requests in the lost
 *              process alone: in a replacement its outcome is known
 *   issend     memory of malloc, a part of it while a synchronous send of the lost process waited
 *              for its receiver: in a replacement it is known to be matched
 *   past       stores just outside of a window and of other memory: each must end in SIGSEGV
 *
 * Each rank stores only through the pointers, loads by the names of setup (or the other way round),
 * and counts differences.
 */
#include <ftrma.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 6, STEPS = 12, WORDS = 600 };

static struct {
    long step, n, words[BLOCKS];
    long *at[BLOCKS]; /* what setup, or body, was given */
    long *hole;       /* where one was that body has freed */
    unsigned long sum;
} state;

static int me, np;
static long
    *given[BLOCKS]; /* the same, not protected: in a replacement, what its own setup was given */
static const char *kind;
static MPI_Win win[BLOCKS], dynamic;
static int nwins;

static unsigned long mix(unsigned long x)
{
    return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ul + 0x9e3779b97f4a7c15ul;
}

/* The number with which mpirun has started this process: its slot's, which the library replaces by
 * the rank's. */
static int started_as(const char *number)
{
    char text[65536], key[] = "OMPI_COMM_WORLD_RANK=";
    FILE *f = fopen("/proc/self/environ", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    for (char *p = text; number && p < text + n; p += strlen(p) + 1)
        if (strncmp(p, key, sizeof key - 1) == 0)
            return strcmp(p + sizeof key - 1, number) == 0;
    return 0;
}

static int is(const char *k) { return strcmp(kind, k) == 0; }

static void wrong(const char *what, long i, const void *have, const void *want)
{
    printf("WRONG: rank %d, step %ld: %s %ld is at %p and should be at %p\n", me, state.step, what,
           i, have, want);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void keep(long *p, long words)
{
    state.words[state.n] = words;
    state.at[state.n] = given[state.n] = p;
    state.n++;
}

static long *window(long words)
{
    long *p;
    MPI_Win_allocate(words * (long)sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p,
                     &win[nwins++]);
    return p;
}

static long *memory(long words)
{
    long *p;
    MPI_Alloc_mem(words * (long)sizeof *p, MPI_INFO_NULL, &p);
    return p;
}

static void make_and_free(void)
{
    MPI_Win w[4];
    long *p;
    for (int i = 0; i < 4; i++)
        MPI_Win_allocate((i + 1) * 20000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w[i]);
    MPI_Win_free(&w[2]);
    MPI_Win_free(&w[0]);
    keep(window(WORDS + 7 * me), WORDS + 7 * me);
    MPI_Win_free(&w[3]);
    keep(window(9000), 9000);
    MPI_Win_free(&w[1]);
    keep(window(500000), 500000);
}

static void make_shared(void)
{
    MPI_Aint bytes;
    int unit;
    long *p;
    for (int k = 0; k < 2; k++) {
        MPI_Win_allocate_shared(WORDS * (k + 1) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p,
                                &win[nwins]);
        keep(p, WORDS * (k + 1));
        MPI_Win_shared_query(win[nwins], (me + 1) % np, &bytes, &unit, &p);
        given[state.n] = state.at[state.n] = p; /* looked at, not stored to */
        state.words[state.n++] = 0;
        nwins++;
    }
    MPI_Win_allocate_shared(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &p, &win[nwins++]);
    keep(p, WORDS);
}

static void keep_three(void)
{
    for (int i = 0; i < 3; i++)
        keep(calloc(WORDS, 8), WORDS);
}

static void protect_all(void)
{
    for (int i = 0; i < state.n; i++)
        FTRMA_Protect(given[i], 8 * (size_t)state.words[i]);
}

static void *nothing(void *arg) { return arg; }

/* The C library takes memory from the heap for a thread, or uses again what it has kept of one that
 * has ended. So no thread of the library may end here: the rest of an image of a mebibyte is made
 * by one. */
static void make_by_thread(void)
{
    pthread_t t;
    keep(calloc(1 << 17, 8), 1 << 17);
    usleep(50000); /* long enough for one that ends; one that does not may still be at work */
    if (pthread_create(&t, NULL, nothing, NULL) == 0)
        pthread_join(t, NULL);
    keep_three();
    protect_all();
}

/* Long enough for rank 1 to wait for rank 0. */
static void come_late(void) { usleep(200000); }

static void make_after_a_wait(void)
{
    int x = 0, which;
    MPI_Request r;
    if (me == 0) {
        come_late();
        MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r);
        MPI_Waitany(1, &r, &which, MPI_STATUS_IGNORE);
    }
    keep_three();
    protect_all();
}

/* The first block could lie where the library had the message, or what belongs to the communicator
 * or the type. */
static void make_while_a_send_waits(void)
{
    static long wide[2 * WORDS];
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype gaps;
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Type_vector(WORDS, 1, 2, MPI_LONG, &gaps);
    MPI_Type_commit(&gaps);
    if (me == 0) {
        come_late();
        MPI_Recv(wide, WORDS, MPI_LONG, 1, 1, c, MPI_STATUS_IGNORE);
    } else if (me == 1) {
        MPI_Issend(wide, 1, gaps, 0, 1, c, &r);
    }
    MPI_Type_free(&gaps);
    MPI_Comm_free(&c);
    keep(calloc(WORDS, 8), WORDS);
    keep(calloc(WORDS / 20, 8), WORDS / 20);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    keep_three();
    protect_all();
}

/* A setup that differs when it is repeated: the process that mpirun has started as number MORE_BY
 * asks for more. */
static void ask_for_more(void)
{
    if (started_as(getenv("MORE_BY")))
        memory(1);
}

static void setup(void)
{
    ask_for_more();
    if (is("allocate") || is("past"))
        for (int i = 0; i < 4; i++)
            keep(window(WORDS * (i + 1) * (i + 1) + me), WORDS * (i + 1) * (i + 1) + me);
    if (is("again"))
        make_and_free();
    if (is("mem") || is("past") || is("freed"))
        for (int i = 0; i < 2; i++)
            keep(memory(WORDS * (1 + 300 * i)), WORDS * (1 + 300 * i));
    if (is("mem"))
        MPI_Win_create(given[1], 8 * state.words[1], 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &win[nwins++]);
    if (is("mem") || is("freed"))
        FTRMA_Protect(given[0], 8 * (size_t)state.words[0]);
    if (is("shared"))
        make_shared();
    if (is("thread"))
        make_by_thread();
    if (is("waited"))
        make_after_a_wait();
    if (is("issend"))
        make_while_a_send_waits();
    if (is("dynamic")) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
        keep(calloc(WORDS, 8), WORDS);
        keep(memory(3 * WORDS), 3 * WORDS);
        keep(calloc(40 * WORDS, 8), 40 * WORDS);
        for (int i = 0; i < 3; i++)
            MPI_Win_attach(dynamic, given[i], 8 * state.words[i]);
    }
    for (int i = 0; i < state.n; i++)
        for (long j = 0; j < state.words[i]; j++)
            given[i][j] = (long)mix((unsigned long)(me * 1000 + i * 7 + j));
    state.sum = mix((unsigned long)me);
}

/* In body, before its first safepoint: done only if the state does not say that it was done. */
static void begin_in_body(void)
{
    static int entered; /* gone back to its entry: what body had taken since stays, and holes too */
    if (is("body") && state.n == 0) {
        for (int i = 0; i < 5; i++)
            keep(memory(WORDS << i), 0);
        MPI_Free_mem(state.at[1]);
        state.hole = state.at[1];
        state.at[1] = given[1] =
            memory(10); /* the same place again, and the rest of it stays a hole */
        if (!entered++ && state.at[1] != state.hole)
            wrong("memory in the place of what was freed", 1, state.at[1], state.hole);
    }
    if (is("freed") && !state.hole) {
        MPI_Free_mem(given[1]);
        state.hole = state.at[1];
        state.n = 1;
    }
}

static void in_body(void)
{
    if (is("body")) {
        for (int i = 0; i < 5; i++)
            state.at[i][0] = state.step + i; /* it is there, and of nobody else */
        for (int i = 0; i < 5; i++)
            if (state.at[i][0] != state.step + i)
                wrong("another block", i, state.at[i], NULL);
        long *p = memory(WORDS << 6); /* after them all */
        if (state.step == 0)
            state.at[5] = p;
        if (p != state.at[5])
            wrong("a new block", 5, p, state.at[5]);
        MPI_Free_mem(p);
    }
    if (is("freed")) {
        long *p = memory(300 * WORDS);
        if (p != state.hole)
            wrong("what fills the hole", 0, p, state.hole);
        p[0] = 1;
        MPI_Free_mem(p);
    }
}

static void check(void)
{
    for (int i = 0; i < state.n; i++) {
        if (given[i] && state.at[i] != given[i])
            wrong(kind, i, given[i], state.at[i]);
        for (long j = state.step % 5; j < state.words[i]; j += 5) {
            state.at[i][j] = (long)mix((unsigned long)state.at[i][j] + state.sum);
            state.sum = mix(state.sum ^ (unsigned long)given[i][state.words[i] - 1 - j]);
        }
    }
}

/* At what others have stored, and nobody stores now. */
static void look(void)
{
    for (int i = 0; is("shared") && i < state.n; i++)
        if (state.words[i] == 0)
            state.sum = mix(state.sum ^ (unsigned long)*state.at[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void body(void *arg)
{
    (void)arg;
    begin_in_body();
    for (; state.step < STEPS; state.step++) {
        FTRMA_Safepoint();
        in_body();
        MPI_Barrier(MPI_COMM_WORLD);
        look();
        check();
        unsigned long all, mine = state.sum % 1000003;
        MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
        state.sum = mix(state.sum + all);
    }
}

static sigjmp_buf out;
static void caught(int sig)
{
    (void)sig;
    siglongjmp(out, 1);
}

static int ends_at(char *p)
{
    struct sigaction a = {.sa_handler = caught, .sa_flags = SA_NODEFER}, was;
    volatile int hit = 1;
    sigaction(SIGSEGV, &a, &was);
    if (!sigsetjmp(out, 1)) {
        *(volatile char *)p = 1;
        hit = 0;
    }
    sigaction(SIGSEGV, &was, NULL);
    return hit;
}

static void stores_outside(void)
{
    long shared_words = 512;
    long *p;
    MPI_Win_allocate_shared(shared_words * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win[nwins++]);
    long *first = p - me * shared_words, bad = 0;
    bad += !ends_at((char *)first - 1) + !ends_at((char *)(first + np * shared_words));
    for (int i = 0; i < state.n; i++) {
        char *from = (char *)given[i],
             *to = (char *)(((size_t)(given[i] + state.words[i]) + 4095) & ~(size_t)4095);
        bad += !ends_at(from - 1) + !ends_at(to) + ends_at(from) + ends_at(to - 1);
    }
    printf("rank %d: %ld stores went wrong\n", me, bad);
}

/* Another library of the program has mapped something: TAKEN=ADDRESS, in the process that mpirun
 * has started as number TAKEN_BY. */
static void take_address(void)
{
    const char *at = getenv("TAKEN");
    if (at && started_as(getenv("TAKEN_BY")) &&
        mmap((void *)strtoul(at, NULL, 0), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        abort();
}

int main(int argc, char **argv)
{
    kind = argc > 1 ? argv[1] : "allocate";
    take_address();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    setup();
    if (me == 1 && state.n)
        printf("address %p\n", (void *)given[0]);
    if (is("past"))
        stores_outside();
    FTRMA_Protect(&state, sizeof state);
    for (int i = 0; i < nwins; i++)
        MPI_Win_fence(0, win[i]);
    FTRMA_Run(body, NULL);
    unsigned long all;
    MPI_Reduce(&state.sum, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("sum %016lx\n", all);
    if (is("dynamic"))
        MPI_Win_free(&dynamic);
    while (nwins > 0)
        MPI_Win_free(&win[--nwins]);
    MPI_Finalize();
    return 0;
}
