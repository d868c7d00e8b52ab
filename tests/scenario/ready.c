/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ready.c - memory for images and logs is there when FTRMA_Run is entered, though it was protected
 * piece by piece. READY_LOGS is set to FTRMA_LOG_READY: the process looks at what its arena has,
 * and checks that checkpoints and puts take no more of it.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenario.h"

enum { PIECES = 8, ROUNDS = 6 };
#define PIECE ((size_t)1 << 20)
#define ALL (PIECES * PIECE)

static char *piece[PIECES], *base;
static MPI_Win win;
static struct {
    uint64_t round, sum;
} st;

/* The file that the own part of the window lies in. */
static unsigned long own_file(void)
{
    char line[600];
    unsigned long from, to, ino = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (!ino && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &from, &to, &ino) != 3 ||
            (unsigned long)base < from || (unsigned long)base >= to)
            ino = 0;
    fclose(maps);
    return ino;
}

/* Bytes of memory that it takes. */
static size_t real(void)
{
    size_t sum = 0;
    unsigned long ino = own_file();
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL && ino != 0);
    for (struct dirent *e; !sum && (e = readdir(d));) {
        char path[300];
        struct stat s;
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        if (stat(path, &s) == 0 && s.st_ino == ino)
            sum = (size_t)s.st_blocks * 512;
    }
    closedir(d);
    return sum;
}

static void body(void *arg)
{
    size_t then = real(),
           images = 3 * (ALL + PIECE); /* committed, latest, and one that is being made */
    const char *logs = arg;
    for (; st.round < ROUNDS; st.round++) {
        FTRMA_Safepoint();
        for (int i = 0; i < PIECES; i++)
            for (size_t at = 0; at < PIECE; at += 4096)
                piece[i][at] = (char)mix(st.sum + at);
        MPI_Win_fence(0, win);
        MPI_Put(piece[st.round % PIECES], (int)PIECE, MPI_CHAR, (me + 1) % np, 0, (int)PIECE,
                MPI_CHAR, win);
        MPI_Win_fence(0, win);
        for (size_t at = 0; at < PIECE; at += 4096)
            st.sum = mix(st.sum + (uint64_t)base[at]);
    }
    if (!logs)
        return;
    size_t ready = (ALL + PIECE) / 100 * (size_t)atol(logs);
    CHECK(then >= PIECE + images + ready && then < PIECE + images + ready + 12 * PIECE);
    CHECK(real() < then + (ready ? 1 : 8) * PIECE);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win_allocate((MPI_Aint)PIECE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < PIECES; i++) {
        piece[i] = malloc(PIECE);
        CHECK(piece[i] && FTRMA_Protect(piece[i], PIECE) == MPI_SUCCESS);
    }
    FTRMA_Protect(&st, sizeof st);
    CHECK(FTRMA_Run(body, getenv("READY_LOGS")) == MPI_SUCCESS);
    MPI_Win_free(&win);
    return finish(st.sum);
}
