/* SPDX-License-Identifier: BSD-3-Clause
 *
 * deaths.c - a rank dies every third round, each time another one, but for rank 0, which writes
 * down what it holds:
 *
 *   edges_deaths DIRECTORY DEATHS      prints "sum N", which depends on DEATHS and the number of
 * ranks alone
 *
 * DIRECTORY holds an empty file for each death that happened, and a file "held" with a line for
 * each round: the round, bytes in use in /dev/shm, and the numbers of descriptors and mappings of
 * rank 0; then descriptors, mappings and private KiB of ftrun with its keepers and gateways.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftrma.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define WORDS (1 << 18)

static int rank, n, rounds;
static const char *dir;
static uint64_t *window, *mine;
static MPI_Win win;
static int round_no; /* protected, as is mine */

struct held {
    int fds, maps, kib;
};

static int count_files(const char *path)
{
    int k = 0;
    DIR *d = opendir(path);
    while (d && readdir(d))
        k++;
    if (d)
        closedir(d);
    return k;
}

static int count_lines(const char *path)
{
    int k = 0, c;
    FILE *f = fopen(path, "re");
    while (f && (c = getc(f)) != EOF)
        k += c == '\n';
    if (f)
        fclose(f);
    return k;
}

/* The number after `name` in /proc/PID/status; 0: there is none. */
static int status_of(int pid, const char *name)
{
    char path[64], line[200];
    size_t n = strlen(name);
    int value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0)
            value = atoi(line + n);
    if (f)
        fclose(f);
    return value;
}

static int is_ftrun(int pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *f = fopen(path, "re");
    if (f && !fgets(name, sizeof name, f))
        name[0] = 0;
    if (f)
        fclose(f);
    return strcmp(name, "ftrun\n") == 0;
}

/* Adds what this process of ftrun holds, and its children of that name. */
static void add_held(int pid, struct held *h)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    h->fds += count_files(path);
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    h->maps += count_lines(path);
    h->kib += status_of(pid, "RssAnon:");
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%d", &child) == 1)
        if (is_ftrun(child))
            add_held(child, h);
    if (f)
        fclose(f);
}

static void write_down(void)
{
    char path[400], line[200];
    int fds = count_files("/proc/self/fd"), maps = count_lines("/proc/self/maps"), ftrun = 0;
    struct held theirs = {0, 0, 0};
    struct statvfs fs;
    if (statvfs("/dev/shm", &fs) != 0)
        return;
    for (int pid = getppid(); pid > 1; pid = status_of(pid, "PPid:"))
        if (is_ftrun(pid))
            ftrun = pid;
    if (ftrun)
        add_held(ftrun, &theirs);
    snprintf(path, sizeof path, "%s/held", dir);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int len = snprintf(line, sizeof line, "%d %llu %d %d %d %d %d\n", round_no,
                       (unsigned long long)(fs.f_blocks - fs.f_bfree) * fs.f_frsize, fds, maps,
                       theirs.fds, theirs.maps, theirs.kib);
    if (fd < 0 || write(fd, line, (size_t)len) != len)
        abort();
    close(fd);
}

/* Once: the next carrier finds the file. */
static void die(void)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%d", dir, round_no);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    close(fd);
    kill(getpid(), SIGKILL);
}

static void body(void *unused)
{
    (void)unused;
    while (round_no < rounds) {
        FTRMA_Safepoint();
        uint64_t sum = 0;
        MPI_Put(mine, WORDS / 2, MPI_UINT64_T, (rank + 1) % n, round_no % 2 * (WORDS / 2),
                WORDS / 2, MPI_UINT64_T, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < WORDS; i += 512)
            sum = sum * 31 + window[i];
        if (round_no % 3 == 2 && rank == 1 + round_no / 3 % (n - 1))
            die();
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < WORDS; i += 64)
            mine[i] += sum ^ (uint64_t)(rank + i);
        if (rank == 0)
            write_down();
        round_no++;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc < 3 || n < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    dir = argv[1];
    rounds = 3 * atoi(argv[2]);
    mine = calloc(WORDS, sizeof *mine);
    MPI_Win_allocate(WORDS * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window,
                     &win);
    memset(window, 0, WORDS * sizeof *window);
    FTRMA_Protect(mine, WORDS * sizeof *mine);
    FTRMA_Protect(&round_no, sizeof round_no);
    MPI_Win_fence(0, win);
    if (FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    uint64_t sum = 0, all = 0;
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + (mine[i] ^ window[i]);
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %llu\n", (unsigned long long)all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
