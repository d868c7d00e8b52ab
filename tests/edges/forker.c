/* SPDX-License-Identifier: BSD-3-Clause
 *
 * forker.c - a program forks while it has a window:  forker KIND WHERE
 *
 *   KIND   create (MPI_Win_create), dynamic (MPI_Win_attach)
 *   WHERE  heap, data, stack: the memory of the window, which begins and ends in the middle of a
 *          page
 *
 * The child has a copy of the program's memory: of the window, and of what lies next to it. What it
 * stores there its parent does not see, and it does not see what its parent, or another rank, has
 * stored since. Then the window is as it was, also for a child that is killed at once, before fork
 * has come to its end.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 3000, TIMES = 20 }; /* N ints: some pages, and parts of two */

#define CHECK(x)                                                             \
    do {                                                                     \
        if (!(x)) {                                                          \
            fprintf(stderr, "rank %d, line %d: not " #x "\n", me, __LINE__); \
            fflush(stderr);                                                  \
            _exit(5);                                                        \
        }                                                                    \
    } while (0)

static int me, np, dies, handlers;
static int data[3 * N];
static int *touched; /* what a handler in the child stores to */
static const char *kind;

static void in_child(void)
{
    if (dies)
        kill(getpid(), SIGKILL);
    if (touched)
        *touched = -9;
    handlers++;
}

static void fill(int *p, int v)
{
    for (int i = 0; i < N; i++)
        p[i] = v + i;
}

static int filled(const int *p, int v)
{
    for (int i = 0; i < N; i++)
        if (p[i] != v + i)
            return 0;
    return 1;
}

static int is_over(pid_t pid)
{
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

/* The child stores; the parent waits and compares. */
static void child_stores(int *const *p)
{
    volatile int here = 1; /* on the stack of both */
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        here = 2;
        for (int k = 0; k < 3; k++) {
            CHECK(filled(p[k], 1000 * k));
            fill(p[k], -7);
            CHECK(filled(p[k], -7));
        }
        CHECK(here == 2 && handlers == 1);
        _exit(here);
    }
    CHECK(is_over(pid) == 2 << 8 && here == 1 && handlers == 0);
    for (int k = 0; k < 3; k++)
        CHECK(filled(p[k], 1000 * k));
}

/* A function of pthread_atfork stores in the child, next to the window and in it. */
static void handler_stores(int *const *p)
{
    int *const where[] = {p[1] - 1, p[1], p[2] - 1, p[2]};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        int was = *where[i];
        touched = where[i];
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            CHECK(*where[i] == -9);
            _exit(4);
        }
        CHECK(is_over(pid) == 4 << 8 && *where[i] == was);
    }
    touched = NULL;
}

/* The parent and another rank store; then the child compares. */
static void others_store(int *const *p, MPI_Win win, MPI_Aint there)
{
    int go[2], news[N], right = (me + 1) % np;
    char c = 0;
    CHECK(pipe(go) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(read(go[0], &c, 1) == 1);
        for (int k = 0; k < 3; k++)
            CHECK(filled(p[k], 1000 * k));
        _exit(3);
    }
    fill(p[0], 5);
    fill(p[2], 6);
    fill(news, 7);
    MPI_Win_fence(0, win);
    MPI_Put(news, N, MPI_INT, right, there, N, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(write(go[1], &c, 1) == 1);
    CHECK(is_over(pid) == 3 << 8);
    CHECK(filled(p[0], 5) && filled(p[1], 7) && filled(p[2], 6));
    close(go[0]);
    close(go[1]);
}

static void forks(int *block)
{
    int *const p[3] = {block, block + N, block + 2 * N};
    MPI_Aint disp = 0, there = 0;
    MPI_Win win;
    if (strcmp(kind, "dynamic") == 0) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, p[1], N * sizeof(int));
        MPI_Get_address(p[1], &disp);
        MPI_Sendrecv(&disp, 1, MPI_AINT, (me + np - 1) % np, 0, &there, 1, MPI_AINT, (me + 1) % np,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Win_create(p[1], N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    for (int t = 0; t < TIMES; t++) {
        for (int k = 0; k < 3; k++)
            fill(p[k], 1000 * k);
        child_stores(p);
        handler_stores(p);
        others_store(p, win, there);
    }
    dies = 1;
    pid_t pid = fork();
    CHECK(pid > 0 && is_over(pid) == SIGKILL);
    dies = 0;
    MPI_Win_fence(0, win);
    if (strcmp(kind, "dynamic") == 0)
        MPI_Win_detach(win, p[1]);
    MPI_Win_free(&win);
    for (int k = 0; k < 3; k++)
        fill(p[k], 1000 * k);
    child_stores(p);
}

static void on_stack(void)
{
    int block[3 * N];
    forks(block);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    CHECK(argc == 3 && pthread_atfork(NULL, NULL, in_child) == 0);
    kind = argv[1];
    if (strcmp(argv[2], "stack") == 0) {
        on_stack();
    } else if (strcmp(argv[2], "data") == 0) {
        forks(data);
    } else {
        int *block = malloc(3 * N * sizeof(int));
        CHECK(block);
        forks(block);
        free(block);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("forked\n");
    MPI_Finalize();
    return 0;
}
