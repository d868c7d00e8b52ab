/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.c - makes ftrun's files a rank's stdout and stderr, and counts positions in them.
 *
 * The files are opened for appending, so that the program's children, and descriptors that share a
 * stream, append to one end. Only descriptors that are still what mpirun gave to the slot's first
 * process are replaced: a redirection by a wrapper or the program stays.
 */
#define _GNU_SOURCE
#include "runtime/output.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fds.h"
#include "runtime/rt.h"

#define FULL_TRIES 1000 /* of a millisecond: ftrun must take jumps over */

static struct stream {
    struct ft_board_output *o; /* NULL: not ours */
    int fd; /* the library's own: the program may do with 1 and 2 what it likes */
    struct stat file;
    uint64_t end;   /* its size at the last query */
    uint64_t shift; /* logical position of a byte written now, less its offset (modulo 2^64) */
} stream[2];

static void (*flush_fortran)(const int *unit); /* NULL: flush all units */

static int is_file(int fd, uint64_t dev, uint64_t ino)
{
    struct stat sb;
    return ino != 0 && fstat(fd, &sb) == 0 && sb.st_dev == dev && sb.st_ino == ino;
}

/* Which of the streams from mpirun, or a keeper, this descriptor is; -1: neither, or no longer. */
static int given_as(struct ft_rt *rt, int fd)
{
    for (int i = 0; i < 2; i++)
        if (is_file(fd, atomic_load(&rt->me->output[i].dev), atomic_load(&rt->me->output[i].ino)))
            return i;
    return -1;
}

/* The descriptor must not be a standard one, in case the program has closed one of them. */
static int aside(int fd)
{
    int high = fd > STDERR_FILENO ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (high != fd)
        close(fd);
    return ft_fd_keep(high);
}

static int open_stream(struct ft_rt *rt, int i)
{
    struct stream *s = &stream[i];
    struct ft_board_output *o = &rt->me->output[i];
    int theirs = atomic_load(&o->fd);
    char path[64];
    if (s->o)
        return 1;
    if (theirs < 0 || rt->board->launcher_pid == 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)rt->board->launcher_pid, theirs);
    int fd = ft_fd_open(path, O_WRONLY | O_APPEND);
    if (fd >= 0)
        fd = aside(fd);
    if (fd < 0 ||
        fstat(fd, &s->file) != 0) /* ftrun is on another node, or there are no descriptors */
        return 0;
    s->fd = fd;
    s->o = o;
    return 1;
}

void ft_output_prepare(struct ft_rt *rt)
{
    if (rt->board->launcher_pid == 0 || atomic_load(&rt->me->output[1].fd) < 0 ||
        given_as(rt, STDERR_FILENO) < 0)
        return;
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd >= 0)
        ft_print_to(ft_fd_keep(fd));
}

void ft_output_begin(struct ft_rt *rt)
{
    int as[2] = {given_as(rt, STDOUT_FILENO),
                 given_as(rt, STDERR_FILENO)}; /* both may be the same: 2>&1 */
    int terminal = isatty(STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
        if (as[i] < 0 || !open_stream(rt, as[i]))
            continue;
        dup2(stream[as[i]].fd, STDOUT_FILENO + i);
        /* mpirun gives a terminal, on which lines appear at once. If nobody has chosen otherwise or
         * printed yet, stdio will check that at the first print. */
        if (i == 0 && terminal && __fbufsize(stdout) == 0)
            setvbuf(stdout, NULL, _IOLBF, 0);
    }
    void *f = dlsym(RTLD_DEFAULT, "_gfortran_flush_i4");
    __builtin_memcpy(&flush_fortran, &f, sizeof f);
}

static void flush(void)
{
    fflush(stdout);
    fflush(stderr);
    if (flush_fortran)
        flush_fortran(NULL);
}

static uint64_t end_of(struct stream *s)
{
    struct stat sb;
    if (fstat(s->fd, &sb) == 0 && sb.st_dev == s->file.st_dev &&
        sb.st_ino == s->file.st_ino) /* else the program has closed it */
        s->end = (uint64_t)sb.st_size;
    return s->end;
}

void ft_output_mark(uint64_t pos[2])
{
    if (stream[0].o || stream[1].o)
        flush();
    for (int i = 0; i < 2; i++)
        pos[i] = stream[i].o ? end_of(&stream[i]) + stream[i].shift : 0;
}

static void jump(struct stream *s, uint64_t pos)
{
    uint64_t at = end_of(s);
    uint32_t n = atomic_load_explicit(&s->o->jumps, memory_order_relaxed);
    if (at + s->shift == pos)
        return;
    for (int i = 0; n - atomic_load(&s->o->taken) >= FT_JUMP_RING; i++) {
        if (i == FULL_TRIES)
            return; /* ftrun is stopped or stuck: some bytes will be shown twice, or not at all */
        if (i == 0)
            ft_board_ring_launcher(ft_own_rt->board);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    atomic_store(&s->o->jump[n % FT_JUMP_RING].at, at);
    atomic_store(&s->o->jump[n % FT_JUMP_RING].pos, pos);
    atomic_store_explicit(&s->o->jumps, n + 1, memory_order_release);
    /* before any byte after it: the file's size shows that byte */
    atomic_thread_fence(memory_order_release);
    s->shift = pos - at;
}

/* The position after the last byte in the file of stream i of a slot. */
static uint64_t end_in(struct ft_rt *rt, const struct ft_board_slot *s, int i)
{
    const struct ft_board_output *o = &s->output[i];
    uint32_t n = atomic_load_explicit(&o->jumps, memory_order_acquire);
    const struct ft_board_jump *last = n ? &o->jump[(n - 1) % FT_JUMP_RING] : NULL;
    char path[64];
    struct stat sb;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)rt->board->launcher_pid,
             atomic_load(&o->fd));
    if (atomic_load(&o->fd) < 0 || stat(path, &sb) != 0)
        return 0;
    return (uint64_t)sb.st_size + (last ? atomic_load(&last->pos) - atomic_load(&last->at) : 0);
}

void ft_output_go_on(struct ft_rt *rt)
{
    uint64_t pos[2];
    ft_output_mark(pos);
    for (int s = 0; s < rt->nslots; s++)
        for (int i = 0; i < 2; i++)
            if (s != rt->self && stream[i].o && atomic_load(&rt->board->slot[s].who) == ft_who(rt))
                pos[i] = ft_max_u64(pos[i], end_in(rt, &rt->board->slot[s], i));
    ft_output_jump(pos);
}

void ft_output_jump(const uint64_t pos[2])
{
    if (stream[0].o || stream[1].o)
        flush();
    for (int i = 0; i < 2; i++)
        if (stream[i].o)
            jump(&stream[i], pos[i]);
}
