/* SPDX-License-Identifier: BSD-3-Clause
 *
 * steps.c - a program whose every step can be seen: rank 0 prints a line a step, all look at the
 * clock, setup reads standard input and does what the environment says: STEPS_ADD is added to an
 * atomic's word, STEPS_BYTES are in a window, STEPS_COMMS communicators are made, STEPS_SENDS
 * messages are sent, STEPS_LINE takes the place of an empty input, STEPS_BARE: FTRMA_Run is not
 * called; STEPS_EXIT is the exit status; STEPS_TAKE is a directory that gets the name STEPS_TO
 * after step 50; STEPS_COVER is one that a disk which can only be read covers then. After step 50
 * no step ends before the file STEPS_GO is there (200 ms at most).
 */
#include <dirent.h>
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

static struct {
    int step;
    unsigned long long sum;
    double clock;
} state;
static int rank, size, steps;
static unsigned long long *word, add;
static MPI_Win win;

static void sleep_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static int set_is_written(DIR *d)
{
    struct dirent *e;
    rewinddir(d);
    while ((e = readdir(d)) && !strstr(e->d_name, ".part"))
        ;
    return e != NULL;
}

/* Between two sets, because the first one that meets the other disk must begin there. */
static void cover(const char *dir)
{
    DIR *d = opendir(dir);
    while (d) {
        while (set_is_written(d))
            sleep_ms(1);
        if (mount("none", dir, "tmpfs", MS_RDONLY, NULL) != 0 || !set_is_written(d))
            break;
        umount(dir);
    }
    closedir(d);
}

static void change_disk(void)
{
    if (getenv("STEPS_TAKE"))
        rename(getenv("STEPS_TAKE"), getenv("STEPS_TO"));
    if (getenv("STEPS_COVER"))
        cover(getenv("STEPS_COVER"));
}

/* The writer gets its time, however slow it is. */
static void wait_for_go(void)
{
    for (int ms = 0; ms < 200 && access(getenv("STEPS_GO"), F_OK) != 0; ms += 10)
        sleep_ms(10);
}

static void work(void *arg)
{
    (void)arg;
    for (; state.step < steps; state.step++) {
        FTRMA_Safepoint();
        double now = MPI_Wtime();
        if (now < state.clock) {
            fprintf(stderr, "rank %d: the clock went back from %f to %f\n", rank, state.clock, now);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        state.clock = now;
        unsigned long long v = state.sum * 31 + (unsigned)(rank + state.step), old;
        MPI_Win_fence(0, win);
        MPI_Put(&v, 1, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 0, 1, MPI_UNSIGNED_LONG_LONG,
                win);
        MPI_Win_fence(0, win);
        MPI_Sendrecv(word, 1, MPI_UNSIGNED_LONG_LONG, (rank + 2) % size, 5, &old, 1,
                     MPI_UNSIGNED_LONG_LONG, (rank + size - 2) % size, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        state.sum = word[0] ^ old ^ add;
        if (rank == 0)
            printf("step %d\n", state.step);
        if (rank == 0 && state.step == 50)
            change_disk();
        if (rank == 0 && state.step > 50 && getenv("STEPS_GO"))
            wait_for_go();
    }
}

static int number(const char *name, int otherwise)
{
    return getenv(name) ? atoi(getenv(name)) : otherwise;
}

static void setup(void)
{
    MPI_Comm comm;
    unsigned long long first = (unsigned long long)number("STEPS_ADD", 1), one = 1;
    MPI_Win_allocate(number("STEPS_BYTES", 16), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
    for (int i = 0; i < number("STEPS_COMMS", 1); i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    word[1] = first;
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(&one, &add, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 1, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < number("STEPS_SENDS", 1); i++)
        MPI_Sendrecv(&one, 1, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 9, &one, 1,
                     MPI_UNSIGNED_LONG_LONG, (rank + size - 1) % size, 9, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    char line[64] = "0\n";
    if (rank == 0 && !fgets(line, sizeof line, stdin))
        snprintf(line, sizeof line, "%d\n", number("STEPS_LINE", 0));
    MPI_Bcast(line, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    state.sum = strtoull(line, NULL, 10);
    if (rank == 0)
        printf("setup\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 1 ? atoi(argv[1]) : 30;
    setup();
    FTRMA_Protect(&state, sizeof state);
    if (getenv("STEPS_BARE"))
        work(NULL);
    else
        FTRMA_Run(work, NULL);
    unsigned long long sum = 0;
    MPI_Reduce(&state.sum, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %016llx\n", sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return number("STEPS_EXIT", 0);
}
