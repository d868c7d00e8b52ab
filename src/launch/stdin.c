/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stdin.c - see stdin.h.
 */
#define _GNU_SOURCE /* pipe2, dup3, F_SETPIPE_SZ, O_TMPFILE */
#include "launch/stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/near.h"

#define BLOCK (64 << 10) /* read from our stdin at once */
/* When to try again: a terminal in whose foreground we are not, a full disk. */
#define AGAIN_MS 250

size_t ft_stdin_piece(uint64_t at, const char *data, size_t bytes)
{
    if (at >= FT_INPUT_BY_LINE)
        return bytes;
    bytes = ft_min_u64(bytes, FT_STDIN_PIECE);
    const char *nl = memchr(data, '\n', bytes);
    return nl ? (size_t)(nl - data) + 1 : bytes;
}

struct feed {
    struct ft_board_input *on_board;
    int far; /* read by a host, which makes lines of it again */
    /* reader: for processes that open it by its number. writer: the number is never another file's
     * while the feed exists, so a child can close it, whenever it was forked. */
    int reader, writer;
    int over; /* all is written, and writer is only a copy of reader */
    uint64_t at;
};

struct ft_stdin {
    int fd, kept; /* the same: a regular file */
    off_t base;   /* where in `kept` byte 0 is */
    /* bytes of it that are there; of a regular file an upper bound until its end is reached */
    uint64_t have;
    int ended, terminal, served, said;
    struct feed *feed;
    struct pollfd *poll; /* [1 + nfeeds] */
    int nfeeds;
    struct ft_board_input *far; /* what would be on a board, of the feeds of hosts */
    pthread_t thread;
    size_t waiting; /* bytes of block that could not be kept yet */
    char block[BLOCK], piece[BLOCK];
};

static int nameless_file(const char *dir)
{
    char path[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (snprintf(path, sizeof path, "%s/stdin-XXXXXX", dir) >= (int)sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

enum ft_status ft_stdin_create(int fd, const char *dir, struct ft_stdin **out)
{
    struct stat sb;
    struct ft_stdin *in = calloc(1, sizeof *in);
    if (!in)
        return FT_ERR_NOMEM;
    in->fd = in->kept = fd;
    in->terminal = isatty(fd);
    in->base = fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    in->have = in->base >= 0 ? UINT64_MAX : 0;
    if (in->base < 0) {
        in->base = 0;
        in->kept = nameless_file(dir);
    }
    if (in->kept < 0) {
        int e = errno;
        free(in);
        errno = e;
        return FT_ERR_SYS;
    }
    *out = in;
    return FT_OK;
}

static void close_all(struct ft_stdin *in)
{
    for (int i = 0; i < in->nfeeds; i++) {
        atomic_store(&in->feed[i].on_board->fd, -1);
        close(in->feed[i].reader);
        close(in->feed[i].writer);
    }
    in->nfeeds = 0;
}

void ft_stdin_leave(const struct ft_stdin *in)
{
    for (int i = 0; in && i < in->nfeeds; i++)
        close(in->feed[i].writer);
}

void ft_stdin_stop(struct ft_stdin *in)
{
    if (!in)
        return;
    /* not through a message to it: it may be in a read that another process makes it wait for */
    if (in->served) {
        pthread_cancel(in->thread);
        pthread_join(in->thread, NULL);
    }
    in->served = 0;
    close_all(in);
    free(in->feed);
    free(in->poll);
    free(in->far);
    in->feed = NULL;
    in->poll = NULL;
    in->far = NULL;
}

void ft_stdin_destroy(struct ft_stdin *in)
{
    if (!in)
        return;
    ft_stdin_stop(in);
    if (in->kept != in->fd)
        close(in->kept);
    free(in);
}

/* ---- on the thread ---- */

/* Appends what was read to the file. Returns 0 if that is not possible now. */
static int keep(struct ft_stdin *in)
{
    while (in->waiting) {
        ssize_t n = pwrite(in->kept, in->block, in->waiting, in->base + (off_t)in->have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!in->said)
                fprintf(stderr,
                        "ftrun: standard input cannot be kept for a replacement of rank 0: %s. "
                        "ftrun reads on when there is room. "
                        "Set TMPDIR to another directory\n",
                        strerror(errno));
            in->said = 1;
            return 0;
        }
        memmove(in->block, in->block + n, in->waiting - (size_t)n);
        in->waiting -= (size_t)n;
        in->have += (uint64_t)n;
    }
    return 1;
}

/* Returns 0 if nothing came; try again later. */
static int read_more(struct ft_stdin *in)
{
    ssize_t n = read(in->fd, in->block, BLOCK);
    if (n < 0 && (errno == EINTR || errno == EAGAIN ||
                  (errno == EIO && in->terminal))) /* EIO: in the background */
        return 0;
    if (n <= 0) {
        in->ended = 1;
        return 1;
    }
    in->waiting = (size_t)n;
    return keep(in);
}

/* The pipe is empty, or accepts large pieces: writes the next one. */
static void write_piece(struct ft_stdin *in, struct feed *f)
{
    int by_line = f->at < FT_INPUT_BY_LINE && !f->far;
    size_t most = by_line ? FT_STDIN_PIECE : BLOCK;
    ssize_t n =
        pread(in->kept, in->piece, ft_min_u64(most, in->have - f->at), in->base + (off_t)f->at);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) { /* a regular file's end, now */
        in->ended = 1;
        in->have = f->at;
        return;
    }
    size_t bytes = f->far ? (size_t)n : ft_stdin_piece(f->at, in->piece, (size_t)n);
    atomic_store(&f->on_board->begun, f->at + bytes);
    ssize_t written = write(f->writer, in->piece, bytes);
    f->at += written > 0 ? (uint64_t)written : 0;
    atomic_store(&f->on_board->fed, f->at);
    atomic_store(&f->on_board->begun, f->at);
    if (!f->far && f->at >= FT_INPUT_BY_LINE && f->at < FT_INPUT_BY_LINE + (uint64_t)n)
        fcntl(f->writer, F_SETPIPE_SZ, BLOCK);
}

static int in_background(const struct ft_stdin *in)
{
    pid_t foreground = in->terminal ? tcgetpgrp(in->fd) : -1;
    return foreground >= 0 && foreground != getpgrp();
}

/* Waits for something to do; sets which feeds can take a piece, and whether our stdin has data. */
static int wait_for(struct ft_stdin *in)
{
    int wanted = 0, left = 0, later = in->waiting > 0;
    for (int i = 0; i < in->nfeeds; i++) {
        struct feed *f = &in->feed[i];
        if (!f->over && f->at >= in->have && in->ended) { /* the reader finds the end */
            dup3(f->reader, f->writer, O_CLOEXEC);
            f->over = 1;
        }
        in->poll[1 + i] =
            (struct pollfd){.fd = f->at < in->have ? f->writer : -1, .events = POLLOUT};
        wanted |= !f->over && f->at >= in->have;
        left |= !f->over;
    }
    later |= wanted && in_background(in);
    in->poll[0] = (struct pollfd){.fd = wanted && !later ? in->fd : -1, .events = POLLIN};
    poll(in->poll, 1 + (nfds_t)in->nfeeds, later ? AGAIN_MS : -1);
    return left;
}

static void *serve(void *arg)
{
    struct ft_stdin *in = arg;
    while (wait_for(in)) {
        if (in->waiting)
            keep(in);
        else if (in->poll[0].revents && !read_more(in))
            poll(NULL, 0, in->terminal ? AGAIN_MS : 1);
        for (int i = 0; i < in->nfeeds; i++)
            if (in->poll[1 + i].revents)
                write_piece(in, &in->feed[i]);
    }
    return NULL;
}

/* ---- */

static int add_feed(struct ft_stdin *in, struct ft_board_input *on_board, int far)
{
    int p[2];
    if (pipe2(p, O_CLOEXEC | O_NONBLOCK) != 0)
        return 0;
    if (!far) /* a page is the least: it is ready for writing when it is empty */
        fcntl(p[1], F_SETPIPE_SZ, FT_STDIN_PIECE);
    in->feed[in->nfeeds++] =
        (struct feed){.on_board = on_board, .far = far, .reader = p[0], .writer = p[1]};
    atomic_store(&on_board->fd, p[0]);
    return 1;
}

static int make_feeds(struct ft_stdin *in, int most)
{
    in->feed = calloc((size_t)most, sizeof *in->feed);
    in->poll = calloc((size_t)most + 1, sizeof *in->poll);
    return in->feed && in->poll;
}

/* Begins to feed, if all feeds could be made. */
static enum ft_status begin(struct ft_stdin *in, int made)
{
    sigset_t all, before;
    int e = made ? 0 : errno;
    if (made) {
        sigfillset(&all); /* SIGTTIN too: a read in the background then fails, and does not stop us */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        e = pthread_create(&in->thread, NULL, serve, in);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        in->served = e == 0;
    }
    if (e)
        close_all(in);
    errno = e;
    return e ? FT_ERR_SYS : FT_OK;
}

int ft_stdin_may_read(const struct ft_board *b, int slot)
{
    uint32_t at_first = b->slot[slot].at_first;
    return ft_board_near(b, slot) &&
           (at_first == FT_WHO_NONE || at_first == FT_WHO(FT_ROLE_RANK, 0) ||
            at_first >> 24 == FT_ROLE_SPARE);
}

enum ft_status ft_stdin_serve(struct ft_stdin *in, struct ft_board *b)
{
    int made = 1;
    if (!make_feeds(in, b->nslots))
        return FT_ERR_NOMEM;
    for (int i = 0; i < b->nslots && made; i++)
        made = !ft_stdin_may_read(b, i) || add_feed(in, &b->slot[i].input, 0);
    return begin(in, made);
}

enum ft_status ft_stdin_serve_far(struct ft_stdin *in, int n, int *fd)
{
    int made = 1;
    in->far = calloc((size_t)n, sizeof *in->far);
    if (!in->far || !make_feeds(in, n))
        return FT_ERR_NOMEM;
    for (int i = 0; i < n && made; i++) {
        made = add_feed(in, &in->far[i], 1);
        fd[i] = made ? in->feed[i].reader : -1;
    }
    return begin(in, made);
}
