/* SPDX-License-Identifier: BSD-3-Clause
 *
 * frames.c - frames over two descriptors: a head, then bytes.
 */
#define _GNU_SOURCE 1
#include "launch/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/proc.h"

struct head {
    uint32_t kind, bytes;
};
#define MOST (64u << 20) /* no frame is longer: else what came is not of a keeper */

/* What was taken from its beginning needs no room. */
static void add(struct ft_sink *s, const void *data, size_t bytes)
{
    if (s->from && s->len + bytes > s->room) {
        s->len -= s->from;
        memmove(s->data, s->data + s->from, s->len);
        s->from = 0;
    }
    ft_sink_add(s, data, bytes);
}

static void no_wait(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void ft_frames_begin(struct ft_frames *f, int in, int out)
{
    *f = (struct ft_frames){.in = in, .out = out};
    no_wait(in);
    no_wait(out);
}

void ft_frames_end(struct ft_frames *f)
{
    if (f->in >= 0)
        close(f->in);
    if (f->out >= 0)
        close(f->out);
    free(f->heard.data);
    free(f->said.data);
    *f = (struct ft_frames){.in = -1, .out = -1};
}

void ft_frames_flush(struct ft_frames *f)
{
    struct ft_sink *b = &f->said;
    while (f->out >= 0 && b->from < b->len) {
        ssize_t n = write(f->out, b->data + b->from, b->len - b->from);
        if (n > 0) {
            b->from += (size_t)n;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) { /* its reader has gone: reading says so, too */
            close(f->out);
            f->out = -1;
        }
    }
}

void ft_frames_say(struct ft_frames *f, enum ft_frame_kind kind, const void *a, size_t abytes,
                   const void *b, size_t bbytes)
{
    struct head h = {(uint32_t)kind, (uint32_t)(abytes + bbytes)};
    FT_ASSERT(abytes + bbytes <= MOST);
    if (f->out < 0)
        return;
    add(&f->said, &h, sizeof h);
    add(&f->said, a, abytes);
    add(&f->said, b, bbytes);
    ft_frames_flush(f);
}

size_t ft_frames_waiting(const struct ft_frames *f)
{
    return f->out < 0 ? 0 : f->said.len - f->said.from;
}

/* 1 if there may be more to read; 0: not now; -1: never again. */
static int take_in(struct ft_frames *f)
{
    char data[65536];
    ssize_t n = f->in < 0 ? 0 : read(f->in, data, sizeof data);
    if (n < 0)
        return errno == EINTR ? 1 : errno == EAGAIN ? 0 : -1;
    if (n == 0)
        return -1;
    add(&f->heard, data, (size_t)n);
    return 1;
}

int ft_frames_hear(struct ft_frames *f, struct ft_frame *out)
{
    struct ft_sink *b = &f->heard;
    for (;;) {
        struct head h;
        size_t have = b->len - b->from;
        if (have >= sizeof h) {
            memcpy(&h, b->data + b->from, sizeof h);
            if (h.bytes > MOST)
                return -1;
        }
        if (have >= sizeof h && have - sizeof h >= h.bytes) {
            *out = (struct ft_frame){(enum ft_frame_kind)h.kind, b->data + b->from + sizeof h,
                                     h.bytes};
            b->from += sizeof h + h.bytes;
            return 1;
        }
        int more = take_in(f);
        if (more <= 0)
            return more;
    }
}

int ft_frames_await(struct ft_frames *f, struct ft_frame *out, int ms)
{
    uint64_t until = ms < 0 ? UINT64_MAX : ft_now_ns() + (uint64_t)ms * 1000000;
    for (;;) {
        ft_frames_flush(f);
        int heard = ft_frames_hear(f, out);
        uint64_t now = ft_now_ns();
        if (heard || now >= until)
            return heard;
        struct pollfd p[] = {{.fd = f->in, .events = POLLIN},
                             {.fd = ft_frames_waiting(f) ? f->out : -1, .events = POLLOUT}};
        (void)poll(p, FT_COUNTOF(p), ms < 0 ? -1 : (int)((until - now) / 1000000) + 1);
    }
}
