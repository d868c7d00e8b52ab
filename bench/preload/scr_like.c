/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scr_like.c - a preload under a program without the library that takes checkpoints as SCR does
 * with its XOR scheme, and is not SCR: every SCR_LIKE_EVERY-th FTRMA_Safepoint all ranks stop at a
 * barrier; each writes what it has protected, and its windows, to a file in SCR_LIKE_CACHE, which
 * should be a tmpfs; sets of SCR_LIKE_SET ranks compute an XOR over their files, of which each
 * keeps a part in another file; and all agree that it is complete. With SCR_LIKE_PFS the files are
 * then copied to that directory, with fsync. Two checkpoints are kept.
 *
 * Nothing can be restarted with it: it costs what such a checkpoint must do at least. At the end
 * rank 0 prints how many there were, how many bytes each, and how long a rank stood still.
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REGIONS 64
#define PIECE (1u << 20)

static struct region {
    char *addr;
    size_t bytes;
    int left_out;
} region[REGIONS];
static int nregions, every, me, n;
static const char *cache, *pfs;
static MPI_Comm set;
static int set_me, set_n;
static uint64_t safepoints, checkpoints, bytes_each, pfs_bytes;
static double seconds, pfs_seconds;

static _Noreturn void fail(const char *what, const char *name)
{
    fprintf(stderr, "scr-like: rank %d: %s %s: %s\n", me, what, name, strerror(errno));
    PMPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void add(void *addr, size_t bytes)
{
    for (int i = 0; i < nregions; i++)
        if (region[i].addr == addr) {
            region[i].left_out = 0;
            return;
        }
    if (nregions == REGIONS)
        fail("too many regions", "");
    region[nregions++] = (struct region){addr, bytes, 0};
}

/* --- what the program says --- */

int FTRMA_Protect(void *addr, size_t bytes);
int FTRMA_Unprotect(const void *addr, size_t bytes);
int FTRMA_Run(void (*body)(void *), void *arg);
int FTRMA_Safepoint(void);

int FTRMA_Protect(void *addr, size_t bytes)
{
    add(addr, bytes);
    return MPI_SUCCESS;
}

int FTRMA_Unprotect(const void *addr, size_t bytes)
{
    for (int i = 0; i < nregions; i++)
        if (region[i].addr >= (const char *)addr &&
            region[i].addr + region[i].bytes <= (const char *)addr + bytes)
            region[i].left_out = 1;
    return MPI_SUCCESS;
}

int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base,
                     MPI_Win *win)
{
    int rc = PMPI_Win_allocate(bytes, unit, info, comm, base, win);
    void *p;
    memcpy(&p, base, sizeof p);
    add(p, (size_t)bytes);
    return rc;
}

int FTRMA_Run(void (*body)(void *), void *arg)
{
    const char *e = getenv("SCR_LIKE_EVERY"), *s = getenv("SCR_LIKE_SET");
    int size = s ? atoi(s) : 8;
    every = e ? atoi(e) : 1;
    cache = getenv("SCR_LIKE_CACHE");
    pfs = getenv("SCR_LIKE_PFS");
    if (!cache)
        cache = "/dev/shm";
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &n);
    int sets = n / size > 0 ? n / size : 1; /* strided, as ftrun's groups are */
    PMPI_Comm_split(MPI_COMM_WORLD, me % sets, me, &set);
    PMPI_Comm_rank(set, &set_me);
    PMPI_Comm_size(set, &set_n);
    body(arg);
    return MPI_SUCCESS;
}

/* --- a checkpoint --- */

static void name_of(char *out, size_t size, const char *dir, const char *what)
{
    snprintf(out, size, "%s/scr-like.%d.%s.%d", dir, me, what, (int)(checkpoints % 2));
}

static int create(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        fail("cannot create", name);
    return fd;
}

static void put_all(int fd, const char *data, size_t bytes, const char *name)
{
    while (bytes > 0) {
        ssize_t k = write(fd, data, bytes);
        if (k <= 0)
            fail("cannot write", name);
        data += k;
        bytes -= (size_t)k;
    }
}

static uint64_t write_own(const char *name)
{
    uint64_t sum = 0;
    int fd = create(name);
    for (int i = 0; i < nregions; i++)
        if (!region[i].left_out) {
            put_all(fd, region[i].addr, region[i].bytes, name);
            sum += region[i].bytes;
        }
    close(fd);
    return sum;
}

/* Reads a piece of the own file; beyond its end there are zeros. */
static void read_piece(int fd, char *to, uint64_t from, size_t bytes)
{
    ssize_t k = pread(fd, to, bytes, (off_t)from);
    size_t have = k > 0 ? (size_t)k : 0;
    memset(to + have, 0, bytes - have);
}

static void xor_into(char *restrict a, const char *restrict b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        a[i] ^= b[i];
}

/* A file is n - 1 chunks; the XOR of one chunk of each other member stays here. A piece of it goes
 * around the ring, and each member adds its own chunk to it. */
static void encode(const char *file, const char *parity, uint64_t bytes)
{
    static char send[PIECE], recv[PIECE];
    uint64_t most;
    PMPI_Allreduce(&bytes, &most, 1, MPI_UINT64_T, MPI_MAX, set);
    if (set_n < 2)
        return;
    uint64_t chunk = (most + (uint64_t)set_n - 2) / (uint64_t)(set_n - 1);
    int in = open(file, O_RDONLY | O_CLOEXEC), out = create(parity);
    int right = (set_me + 1) % set_n, left = (set_me + set_n - 1) % set_n;
    if (in < 0)
        fail("cannot open", file);
    for (uint64_t at = 0; at < chunk; at += PIECE) {
        size_t len = chunk - at < PIECE ? (size_t)(chunk - at) : PIECE;
        for (int step = 0; step < set_n - 1; step++) {
            read_piece(in, send, (uint64_t)step * chunk + at, len);
            if (step > 0)
                xor_into(send, recv, len);
            PMPI_Sendrecv(send, (int)len, MPI_BYTE, right, 0, recv, (int)len, MPI_BYTE, left, 0,
                          set, MPI_STATUS_IGNORE);
        }
        put_all(out, recv, len, parity);
    }
    close(in);
    close(out);
}

static void flush_to_pfs(const char *from, const char *what)
{
    static char buf[PIECE];
    char to[512];
    ssize_t k;
    name_of(to, sizeof to, pfs, what);
    int in = open(from, O_RDONLY | O_CLOEXEC), out = create(to);
    while (in >= 0 && (k = read(in, buf, sizeof buf)) > 0) {
        put_all(out, buf, (size_t)k, to);
        pfs_bytes += (uint64_t)k;
    }
    if (fsync(out))
        fail("cannot sync", to);
    close(in);
    close(out);
}

static void checkpoint(void)
{
    char file[512], parity[512];
    int good = 1, all;
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = PMPI_Wtime();
    name_of(file, sizeof file, cache, "data");
    name_of(parity, sizeof parity, cache, "xor");
    bytes_each = write_own(file);
    PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    encode(file, parity, bytes_each);
    PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (pfs) {
        double t = PMPI_Wtime();
        flush_to_pfs(file, "data");
        if (set_n > 1)
            flush_to_pfs(parity, "xor");
        PMPI_Barrier(MPI_COMM_WORLD);
        pfs_seconds += PMPI_Wtime() - t;
    }
    checkpoints++;
    seconds += PMPI_Wtime() - start;
}

int FTRMA_Safepoint(void)
{
    if (++safepoints % (uint64_t)every == 0)
        checkpoint();
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    double most, all_pfs = (double)pfs_bytes, sum;
    PMPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&all_pfs, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) {
        printf("scr-like: %llu checkpoints of %llu bytes a rank, %.6f s, sets of %d",
               (unsigned long long)checkpoints, (unsigned long long)bytes_each, most, set_n);
        if (pfs_seconds > 0)
            printf("; %.0f MB/s to the disk", sum / pfs_seconds / 1e6);
        putchar('\n');
    }
    for (int k = 0; k < 2; k++, checkpoints++) /* both names of each file */
        for (int f = 0; f < 4; f++) {
            char name[512];
            const char *dir = f < 2 ? cache : pfs;
            if (!dir)
                continue;
            name_of(name, sizeof name, dir, f % 2 ? "xor" : "data");
            unlink(name);
        }
    return PMPI_Finalize();
}
