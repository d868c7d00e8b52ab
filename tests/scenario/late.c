/* SPDX-License-Identifier: BSD-3-Clause
 *
 * late.c - one rank computes for long in each step, and its neighbour waits for it: while a
 * checkpoint is under way all but these two stand at the safepoint, and the neighbour sleeps. It
 * does not wait for one that has stopped, so the checkpoint must not be called off. With LATE_SLEEP
 * in the environment the one is late until the other has slept for a while, however long it takes on
 * a busy machine to fall asleep.
 */
#include "round.h"

#include <time.h>

enum { STEPS = 10, LATE_US = 400000 };

static uint64_t sum;
static int step;

/* What changes when the main thread of a process runs; nothing if the process is gone. */
static void look(int pid, char *out, size_t room)
{
    char path[64], line[200];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "r");
    out[0] = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "State:", 6) == 0 || strstr(line, "ctxt_switches:"))
            strncat(out, line, room - strlen(out) - 1);
    if (f)
        fclose(f);
}

/* Until it has slept for 300 ms. */
static void until_asleep(int pid)
{
    char before[600], now[600];
    look(pid, before, sizeof before);
    for (int still = 0; still < 6; still++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        look(pid, now, sizeof now);
        if (!now[0])
            return;
        if (strcmp(now, before) != 0 || !strstr(now, "State:\tS"))
            still = -1;
        memcpy(before, now, sizeof before);
    }
}

/* The pid differs in a replay, and only times depend on it. */
static void wait_for_neighbour(void)
{
    int pid = (int)getpid();
    if (me == 2)
        MPI_Send(&pid, 1, MPI_INT, 1, 99, MPI_COMM_WORLD);
    if (me != 1)
        return;
    MPI_Recv(&pid, 1, MPI_INT, 2, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    until_asleep(pid);
}

static void body(void *arg)
{
    (void)arg;
    while (step < STEPS) {
        FTRMA_Safepoint();
        uint64_t x = mix(sum + (uint64_t)(me * STEPS + step));
        if (getenv("LATE_SLEEP")) {
            uint64_t y = round_begin(x);
            wait_for_neighbour();
            sum = round_end(sum, x, y);
        } else {
            sum = round_of_all(sum, x, me == 1 ? LATE_US : 0);
        }
        step++;
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    FTRMA_Protect(&sum, sizeof sum);
    FTRMA_Protect(&step, sizeof step);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(sum);
}
