/* SPDX-License-Identifier: BSD-3-Clause
 *
 * writer.c - see writer.h.
 */
#define _GNU_SOURCE 1
#include "launch/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/settings.h"
#include "image/image.h"
#include "launch/children.h"
#include "launch/held.h"
#include "launch/sets.h"
#include "launch/watch.h"
#include "save/saved.h"
#include "transport/arena.h"

#define PATIENCE_NS 30000000000ull /* for a replacement to have its image */
#define NAP_NS 20000000
#define AT_ONCE (8ull << 20) /* bytes of a file that may be on their way to the disk */

#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_IDLE (3 << 13)

/* An image in the arena of a rank. */
struct source {
    const struct ft_ctl *ctl;
    const struct ft_image *image;
    uint64_t bytes;
    int slot; /* of image[] in ctl */
};

static struct ft_writing *g;

__attribute__((format(printf, 1, 2))) static _Noreturn void give_up(const char *fmt, ...)
{
    char path[PATH_MAX + 40];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(g->out->why, sizeof g->out->why, fmt, ap);
    va_end(ap);
    ft_set_path(g->dir, g->number, 1, path, sizeof path);
    if (g->part != FT_WRITES_FILES) /* others write there: ftrun removes it */
        ft_remove_tree(path);
    _exit(1);
}

static _Noreturn void disk_refused(const char *path)
{
    g->out->error = errno;
    give_up("%s: %s", path, strerror(errno));
}

static size_t ctl_bytes(void)
{
    return sizeof(struct ft_ctl) + (size_t)g->board->nslots * sizeof(struct ft_ctl_peer);
}

/* Maps the image of the wanted version in the arena of fd. 0: it is not there. */
static int find_image(int fd, int rank, struct source *s)
{
    struct ft_held_place at;
    if (!ft_held_image(fd, rank, g->version, &at))
        return 0;
    uint64_t first = at.off & ~((uint64_t)ft_page_bytes() - 1), bytes = at.off + at.bytes - first;
    const struct ft_ctl *ctl = mmap(NULL, ctl_bytes(), PROT_READ, MAP_SHARED, fd, 0);
    char *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)first);
    if (ctl != MAP_FAILED && p != MAP_FAILED && ctl->magic == FT_CTL_MAGIC &&
        atomic_load_explicit(&ctl->image[at.slot].version, memory_order_acquire) == g->version) {
        *s = (struct source){.ctl = ctl,
                             .image = (const void *)(p + (at.off - first)),
                             .bytes = at.bytes,
                             .slot = at.slot};
        return 1;
    }
    if (p != MAP_FAILED)
        munmap(p, bytes);
    if (ctl != MAP_FAILED)
        munmap((void *)(uintptr_t)ctl, ctl_bytes());
    return 0;
}

/* The rank's present carrier has it, or will: a replacement publishes it when its setup is over. The
 * earlier carrier that is held had it. */
static void open_image(int rank, struct source *s)
{
    uint64_t end = ft_now_ns() + PATIENCE_NS;
    const int *arena = &g->arena[2 * rank];
    for (int i = 0; i < 2; i++)
        if (arena[i] >= 0 && find_image(arena[i], rank, s))
            return; /* the mapping keeps the memory */
    for (;;) {
        int slot = ft_watch_carrier(g->board, rank);
        int fd = slot >= 0 ? ft_board_open_arena(&g->board->slot[slot], O_RDONLY) : -1;
        int found = fd >= 0 && find_image(fd, rank, s);
        if (fd >= 0)
            close(fd);
        if (found)
            return;
        if (atomic_load(&g->board->state) != FT_JOB_RUNNING || ft_now_ns() > end)
            give_up("the image of rank %d is gone", rank);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

/* Its owner takes the version away before it writes there (F3). */
static void check_unchanged(int rank, const struct source *s)
{
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load(&s->ctl->image[s->slot].version) != g->version)
        give_up("rank %d needed the memory of the image for another one", rank);
}

static int create(const char *set, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", set, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        disk_refused(path);
    return fd;
}

/* Closes it, when all of it is on the disk. */
static void finish(int fd, const char *path)
{
    if (fsync(fd) != 0 || close(fd) != 0)
        disk_refused(path);
}

static void sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 ||
        (fsync(fd) != 0 && errno != EINVAL)) /* EINVAL: this file system does not do that */
        disk_refused(path);
    close(fd);
}

struct progress {
    int fd;
    uint64_t before, half, begun, on_disk;
};

/* Data is sent to the disk at once, and only little of it is ever on its way. Otherwise the kernel
 * would collect all of a large image and write it while others wait for the disk, and nobody could
 * tell a slow disk from one that does nothing. Errors are reported again by fsync. */
static void push(struct progress *p, uint64_t done)
{
    (void)sync_file_range(p->fd, (off_t)p->begun, (off_t)(done - p->begun), SYNC_FILE_RANGE_WRITE);
    p->begun = done;
    if (done - p->on_disk < AT_ONCE)
        return;
    (void)sync_file_range(p->fd, (off_t)p->on_disk, (off_t)(done - AT_ONCE / 2 - p->on_disk),
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                              SYNC_FILE_RANGE_WAIT_AFTER);
    p->on_disk = done - AT_ONCE / 2;
}

static void tell_progress(void *arg, uint64_t done)
{
    struct progress *p = arg;
    push(p, done);
    atomic_store(&g->out->bytes, p->before + done);
    atomic_store(&g->board->save.written, p->before + done);
    if (done >= p->half && p->half) {
        p->half = 0;
        ft_failpoint(SAVE_HALF);
    }
}

static void write_image(const char *set, int rank, const struct source *s)
{
    char name[32], path[PATH_MAX + 80];
    struct ft_saved_head head = {.magic = FT_SAVED_MAGIC,
                                 .format = FT_SAVED_FORMAT,
                                 .nranks = (uint32_t)g->board->nranks,
                                 .rank = (uint32_t)rank,
                                 .layout = sizeof(struct ft_image),
                                 .job = g->m.job,
                                 .version = g->version,
                                 .bytes = s->bytes};
    struct ft_saved_tail tail;
    ft_saved_name(rank, name, sizeof name);
    int fd = create(set, name, path, sizeof path);
    struct progress p = {
        .fd = fd, .before = atomic_load(&g->out->bytes), .half = (s->bytes + 1) / 2};
    if (ft_saved_write(fd, &head, s->image, &tail, tell_progress, &p) != FT_OK)
        disk_refused(path);
    struct ft_manifest_rank *r = &g->m.rank[rank];
    *r = (struct ft_manifest_rank){
        .bytes = s->bytes,
        .sum = {tail.low, tail.high},
        .printed = {s->image->counters.out[0], s->image->counters.out[1]},
        .generation = s->image->counters.generation};
    check_unchanged(rank, s);
    finish(fd, path);
    atomic_store(&g->out->bytes, p.before + sizeof head + s->bytes + sizeof tail);
    ft_failpoint(SAVE_FILE);
}

/* [q has an image, the checkpoint is called off, and q is lost. q' takes another image of this
 * version, which is committed, and is lost too. q's arena is held, that of q' is not.] */
static void check_one_checkpoint(void)
{
    for (int r = 1; r < g->board->nranks; r++)
        if (g->m.rank[r].generation != g->m.rank[0].generation)
            give_up("rank %d was lost, and its image with it: what is left is of a checkpoint that "
                    "was called off",
                    g->m.rank[r].generation < g->m.rank[0].generation ? r : 0);
}

static void write_manifest(const char *set)
{
    char path[PATH_MAX + 80];
    char *text = ft_manifest_print(&g->m);
    int fd = create(set, FT_MANIFEST_NAME, path, sizeof path);
    size_t len = text ? strlen(text) : 0;
    if (!text)
        give_up("there is no memory");
    ssize_t n = write(fd, text, len);
    if (n >= 0 && n < (ssize_t)len)
        errno = ENOSPC;
    if (n != (ssize_t)len)
        disk_refused(path);
    free(text);
    finish(fd, path);
    sync_dir(set);
    ft_failpoint(SAVE_MANIFEST);
}

static void give_name(const char *part)
{
    char set[PATH_MAX + 40];
    ft_set_path(g->dir, g->number, 0, set, sizeof set);
    if (rename(part, set) != 0)
        disk_refused(set);
    ft_failpoint(SAVE_NAMED);
    sync_dir(g->dir);
}

static void removing_old(void) { ft_failpoint(SAVE_OLD); }

/* It ends with ftrun: nobody would notice a set that it left incomplete. */
static void begin(void)
{
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent || parent != g->board->launcher_pid)
        _exit(1);
    prctl(PR_SET_NAME, "ftrun-writer", 0, 0, 0);
    setpriority(PRIO_PROCESS, 0, 19);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
    ft_fp_set_last_hit(&g->board->save.failpoint, &g->board->save.failpoint_ns,
                       &g->board->save.injected);
    ft_fp_arm(ft_setting_str(FT_SET_INJECT), FT_ROLE_WRITER, (int)g->request - 1, 0);
    ft_failpoint(SAVE_BEGIN);
}

static int is_mine(int rank) { return !g->mine || g->mine[rank]; }

static void write_images(const char *part)
{
    int n = g->board->nranks;
    struct source *s = calloc((size_t)n, sizeof *s);
    if (!g->m.rank)
        g->m.rank = calloc((size_t)n, sizeof *g->m.rank);
    if (!s || !g->m.rank)
        give_up("there is no memory");
    for (int r = 0; r < n; r++)
        if (is_mine(r))
            open_image(r, &s[r]);
    ft_failpoint(SAVE_OPENED);
    if (g->part == FT_WRITES_ALL && mkdir(part, 0777) != 0)
        disk_refused(part);
    for (int r = 0; r < n; r++)
        if (is_mine(r))
            write_image(part, r, &s[r]);
}

/* All hosts have written. [A host has another directory of that name.] */
static void check_files(const char *part)
{
    char name[32], path[PATH_MAX + 80];
    struct stat st;
    for (int r = 0; r < g->board->nranks; r++) {
        ft_saved_name(r, name, sizeof name);
        snprintf(path, sizeof path, "%s/%s", part, name);
        if (stat(path, &st) != 0)
            disk_refused(path);
        if ((uint64_t)st.st_size !=
            sizeof(struct ft_saved_head) + g->m.rank[r].bytes + sizeof(struct ft_saved_tail))
            give_up("%s has another length than was written", path);
    }
}

_Noreturn void ft_writer_run(struct ft_writing *w)
{
    char part[PATH_MAX + 40];
    g = w;
    begin();
    w->m.version = w->version;
    w->m.wtime = (double)(ft_now_ns() - w->board->wtime_zero_ns) * 1e-9;
    if (w->part == FT_WRITES_NOTHING)
        give_up("%s", w->dropped);
    ft_set_path(w->dir, w->number, 1, part, sizeof part);
    if (w->part == FT_WRITES_BEGIN && mkdir(part, 0777) != 0)
        disk_refused(part);
    if (w->part == FT_WRITES_ALL || w->part == FT_WRITES_FILES)
        write_images(part);
    if (w->part == FT_WRITES_BEGIN || w->part == FT_WRITES_FILES)
        _exit(0);
    check_one_checkpoint();
    if (w->part == FT_WRITES_END)
        check_files(part);
    write_manifest(part);
    give_name(part);
    ft_sets_drop_old(w->dir, removing_old);
    _exit(0);
}
