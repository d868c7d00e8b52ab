/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.c - shows the ranks' output once.
 *
 * Order within a rank: what a former carrier printed is taken before what a later one did, because
 * the later one continues where an image says, and the image counts the former's bytes. A later
 * carrier's file is looked at first and read last: whatever it held then was written after the
 * former carrier's last byte, so all of the former's output is there.
 */
#define _GNU_SOURCE /* memfd_create, fallocate, memrchr */
#include "launch/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"

#define QUIET_NS (30ull * 1000000) /* how long the beginning of a line is held back */
#define PUNCH (1ull << 20)         /* memory of what was shown is given back in steps of this */
/* Nothing more is taken while this much waits to be written: it is as safe in the file. */
#define SINK_FULL (1u << 20)
/* What a pipe that is ready for writing accepts without blocking the writer. */
#define PIECE 4096

/* ---- pure ---- */

void ft_sink_add(struct ft_sink *s, const char *data, size_t bytes)
{
    if (s->len + bytes > s->room) {
        size_t room = s->room ? s->room : 4096;
        while (room < s->len + bytes)
            room *= 2;
        s->data = ft_need(realloc(s->data, room), room, "what the ranks print");
        s->room = room;
    }
    if (bytes)
        memcpy(s->data + s->len, data, bytes);
    s->len += bytes;
}

void ft_reading_jump(struct ft_reading *p, uint64_t at, uint64_t pos)
{
    FT_ASSERT(at >= p->at);
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 8;
        p->jump = ft_need(reallocarray(p->jump, p->room, sizeof *p->jump),
                          p->room * sizeof *p->jump, "what the ranks print");
    }
    p->jump[p->count++] = (struct ft_board_jump_copy){at, pos};
}

uint64_t ft_reading_run(struct ft_reading *p, uint64_t size, uint64_t *pos)
{
    for (; p->from < p->count && p->jump[p->from].at <= p->at; p->from++)
        p->shift = p->jump[p->from].pos - p->at;
    if (p->from == p->count)
        p->from = p->count = 0;
    else
        size = ft_min_u64(size, p->jump[p->from].at);
    *pos = p->at + p->shift;
    return size > p->at ? size - p->at : 0;
}

static void let_go(struct ft_line *l, struct ft_sink *out)
{
    ft_sink_add(out, l->held.data, l->held.len);
    l->held.len = 0;
}

void ft_line_feed(struct ft_line *l, uint64_t pos, const char *data, size_t bytes, uint64_t now_ns,
                  struct ft_sink *out)
{
    uint64_t seen = l->taken > pos ? ft_min_u64(l->taken - pos, bytes) : 0;
    data += seen;
    bytes -= seen;
    if (bytes == 0)
        return;
    l->taken = pos + seen + bytes;
    l->since_ns = now_ns;
    const char *nl = memrchr(data, '\n', bytes);
    size_t whole = nl ? (size_t)(nl - data) + 1 : 0;
    if (whole) {
        let_go(l, out);
        ft_sink_add(out, data, whole);
    }
    ft_sink_add(&l->held, data + whole, bytes - whole);
    if (l->held.len >= FT_LINE_MAX)
        let_go(l, out);
}

void ft_line_flush(struct ft_line *l, uint64_t now_ns, uint64_t quiet_ns, struct ft_sink *out)
{
    if (l->held.len && now_ns - l->since_ns >= quiet_ns)
        let_go(l, out);
}

/* ---- with descriptors ---- */

struct file {
    int fd; /* -1: none */
    uint64_t size, punched;
    struct ft_reading place;
};

struct carrier {
    int rank; /* -1: carries none yet */
    uint32_t incarnation;
    struct file file[2];
};

struct ft_outputs {
    struct ft_board *b;
    struct carrier *slot;
    struct ft_line *line; /* [2 * rank + stream] */
    struct ft_sink *sink; /* [nsinks]: line i goes to i % nsinks, so 2 is all ranks' together */
    int *fd, *broken; /* [nsinks]; broken: errno of the write that failed, nothing more is written
                         there */
    int nsinks;
    int told[2]; /* by ft_outputs_error */
};

/* Two descriptors for each slot, two for its standard input, and one for the home log of a rank. */
static void raise_limit(int nslots)
{
    struct rlimit l;
    rlim_t want = 5 * (rlim_t)nslots + 64;
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < want && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = want < l.rlim_max ? want : l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
    }
}

static int make_files(struct ft_outputs *o)
{
    for (int i = 0; i < o->b->nslots; i++)
        for (int k = 0; k < 2; k++) {
            o->slot[i].file[k].fd = memfd_create(k ? "ftrma-stderr" : "ftrma-stdout", MFD_CLOEXEC);
            if (o->slot[i].file[k].fd < 0)
                return 0;
        }
    for (int i = 0; i < o->b->nslots; i++) /* all or none */
        for (int k = 0; k < 2; k++)
            atomic_store(&o->b->slot[i].output[k].fd, o->slot[i].file[k].fd);
    return 1;
}

static void drop_sinks(struct ft_outputs *o)
{
    for (int i = 0; o->sink && i < o->nsinks; i++)
        free(o->sink[i].data);
    for (int i = 0; o->nsinks > 2 && i < o->nsinks; i++) /* ours */
        if (o->fd[i] >= 0)
            close(o->fd[i]);
    free(o->sink);
    free(o->fd);
    free(o->broken);
}

static int make_sinks(struct ft_outputs *o, int n)
{
    o->nsinks = n;
    o->sink = calloc((size_t)n, sizeof *o->sink);
    o->fd = calloc((size_t)n, sizeof *o->fd);
    o->broken = calloc((size_t)n, sizeof *o->broken);
    for (int i = 0; o->fd && i < n; i++)
        o->fd[i] = -1;
    return o->sink && o->fd && o->broken;
}

static struct ft_sink *sink_of(struct ft_outputs *o, int rank, int k)
{
    return &o->sink[(2 * rank + k) % o->nsinks];
}

enum ft_status ft_outputs_split(struct ft_outputs *o, const char *dir)
{
    struct ft_outputs split = {0};
    int n = 2 * o->b->nranks;
    int bad = !make_sinks(&split, n);
    for (int i = 0; i < n && !bad; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s.%d", dir, i % 2 ? "err" : "out", i / 2);
        split.fd[i] = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        bad = split.fd[i] < 0;
    }
    struct ft_outputs merged = {
        .sink = o->sink, .fd = o->fd, .broken = o->broken, .nsinks = o->nsinks};
    int e = errno;
    if (!bad) {
        o->sink = split.sink;
        o->fd = split.fd;
        o->broken = split.broken;
        o->nsinks = n;
    }
    drop_sinks(bad ? &split : &merged);
    errno = e;
    return bad ? FT_ERR_SYS : FT_OK;
}

enum ft_status ft_outputs_create(struct ft_board *b, const int fd[2], struct ft_outputs **out)
{
    struct ft_outputs *o = calloc(1, sizeof *o);
    if (!o)
        return FT_ERR_NOMEM;
    o->b = b;
    if (!make_sinks(o, 2)) {
        ft_outputs_destroy(o);
        return FT_ERR_NOMEM;
    }
    memcpy(o->fd, fd, 2 * sizeof *fd);
    o->slot = calloc((size_t)b->nslots, sizeof *o->slot);
    o->line = calloc((size_t)b->nranks, 2 * sizeof *o->line);
    for (int i = 0; o->slot && i < b->nslots; i++)
        o->slot[i].file[0].fd = o->slot[i].file[1].fd = -1;
    raise_limit(b->nslots);
    if (!o->slot || !o->line || !make_files(o)) {
        enum ft_status st = o->slot && o->line ? FT_ERR_SYS : FT_ERR_NOMEM;
        int e = errno;
        ft_outputs_destroy(o);
        errno = e;
        return st;
    }
    *out = o;
    return FT_OK;
}

void ft_outputs_begin_at(struct ft_outputs *o, int rank, int k, uint64_t pos)
{
    o->line[2 * rank + k].taken = pos;
}

uint64_t ft_outputs_taken(const struct ft_outputs *o, int rank, int k)
{
    return o->line[2 * rank + k].taken;
}

void ft_outputs_add(struct ft_outputs *o, int k, const char *data, size_t bytes)
{
    ft_sink_add(&o->sink[k], data, bytes);
}

int ft_outputs_file(const struct ft_outputs *o, int slot, int k)
{
    return o->slot[slot].file[k].fd;
}

void ft_outputs_destroy(struct ft_outputs *o)
{
    if (!o)
        return;
    for (int i = 0; o->slot && i < 2 * o->b->nslots; i++) {
        struct file *f = &o->slot[i / 2].file[i % 2];
        if (f->fd >= 0)
            close(f->fd);
        free(f->place.jump);
    }
    for (int i = 0; o->line && i < 2 * o->b->nranks; i++)
        free(o->line[i].held.data);
    drop_sinks(o);
    free(o->slot);
    free(o->line);
    free(o);
}

/* Reads the size first: a jump is on the board before the bytes after it are in the file. */
static void look(struct ft_board_output *from, struct file *f)
{
    struct stat sb;
    if (fstat(f->fd, &sb) != 0)
        return;
    f->size = (uint64_t)sb.st_size;
    atomic_thread_fence(memory_order_acquire);
    uint32_t n = atomic_load(&from->taken),
             have = atomic_load_explicit(&from->jumps, memory_order_acquire);
    for (; n != have; n++) {
        struct ft_board_jump *j = &from->jump[n % FT_JUMP_RING];
        uint64_t at = atomic_load(&j->at),
                 late = f->place.at > at ? f->place.at - at
                                         : 0; /* late: a child wrote at the same moment */
        ft_reading_jump(&f->place, at + late, atomic_load(&j->pos) + late);
    }
    atomic_store(&from->taken, have);
}

/* Finds out who carries what, and how much there is; later carriers first. Returns the highest
 * incarnation. */
static uint32_t look_at_all(struct ft_outputs *o)
{
    uint32_t most = 0;
    for (int i = 0; i < o->b->nslots; i++) {
        struct carrier *c = &o->slot[i];
        uint32_t who = atomic_load(&o->b->slot[i].who);
        c->incarnation = atomic_load(&o->b->slot[i].incarnation);
        c->rank = who >> 24 == FT_ROLE_RANK && (int)(who & 0xffffff) < o->b->nranks
                      ? (int)(who & 0xffffff)
                      : -1;
        most = c->rank >= 0 && c->incarnation > most ? c->incarnation : most;
    }
    for (uint32_t n = most + 1; n-- > 0;)
        for (int i = 0; i < o->b->nslots; i++)
            if (o->slot[i].rank >= 0 && o->slot[i].incarnation == n)
                for (int k = 0; k < 2; k++)
                    look(&o->b->slot[i].output[k], &o->slot[i].file[k]);
    return most;
}

/* Nobody needs what is before upto. */
static void give_back(struct file *f, uint64_t upto)
{
    uint64_t bytes = upto - f->punched;
    bytes -= bytes % PUNCH;
    if (bytes && fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)f->punched,
                           (off_t)bytes) == 0)
        f->punched += bytes;
}

void ft_outputs_not_needed(struct ft_outputs *o, int slot, int k, uint64_t upto)
{
    give_back(&o->slot[slot].file[k], upto);
}

/* Returns 0 when the sink is full. */
static int take(struct file *f, struct ft_line *l, uint64_t now_ns, struct ft_sink *out)
{
    static char data[64 << 10];
    uint64_t pos, n;
    while ((n = ft_reading_run(&f->place, f->size, &pos)) > 0) {
        if (out->len - out->from >= SINK_FULL)
            return 0;
        ssize_t k = pread(f->fd, data, ft_min_u64(n, sizeof data), (off_t)f->place.at);
        if (k <= 0) {
            f->size = f->place.at; /* the program has truncated it: wait until it is longer again */
            break;
        }
        ft_line_feed(l, pos, data, (size_t)k, now_ns, out);
        f->place.at += (uint64_t)k;
        give_back(f, f->place.at);
    }
    return 1;
}

/* Returns 1 when something is left. */
static int drain(struct ft_sink *s, int fd, int *broken)
{
    while (s->from < s->len && !*broken) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        if (poll(&p, 1, 0) <= 0)
            break;
        size_t n = ft_min_u64(s->len - s->from, PIECE);
        const char *at = s->data + s->from, *nl = memrchr(at, '\n', n);
        ssize_t k = write(fd, at, nl ? (size_t)(nl - at) + 1 : n);
        if (k > 0)
            s->from += (size_t)k;
        else if (k < 0 && (errno == EINTR || errno == EAGAIN))
            break;
        else
            *broken = k < 0 ? errno : EIO;
    }
    if (*broken || s->from == s->len) {
        s->from = s->len = 0;
    } else if (s->from) {
        memmove(s->data, s->data + s->from, s->len - s->from);
        s->len -= s->from;
        s->from = 0;
    }
    return s->len > 0;
}

static int step_stream(struct ft_outputs *o, int k, uint32_t most, uint64_t now_ns, int last)
{
    int left = 0, all = 1;
    do {
        all = 1;
        left = 0;
        for (uint32_t n = 0; n <= most && all; n++)
            for (int i = 0; i < o->b->nslots && all; i++)
                if (o->slot[i].rank >= 0 && o->slot[i].incarnation == n)
                    all = take(&o->slot[i].file[k], &o->line[2 * o->slot[i].rank + k], now_ns,
                               sink_of(o, o->slot[i].rank, k));
        for (int r = 0; r < o->b->nranks; r++)
            ft_line_flush(&o->line[2 * r + k], now_ns, last && all ? 0 : QUIET_NS,
                          sink_of(o, r, k));
        for (int i = k; i < o->nsinks; i += 2)
            left |= drain(&o->sink[i], o->fd[i], &o->broken[i]);
    } while (!all && !left);
    return left;
}

int ft_outputs_step(struct ft_outputs *o, uint64_t now_ns, int last)
{
    uint32_t most = look_at_all(o);
    int left = 0;
    for (int k = 0; k < 2; k++)
        left |= step_stream(o, k, most, now_ns, last);
    return left;
}

int ft_outputs_error(struct ft_outputs *o, int k)
{
    int e = 0;
    for (int i = k; i < o->nsinks && !e && !o->told[k]; i += 2)
        e = o->broken[i];
    o->told[k] |= e;
    return e;
}

int ft_outputs_waits_for(const struct ft_outputs *o, int k)
{
    for (int i = k; o && i < o->nsinks; i += 2)
        if (o->sink[i].len > 0)
            return o->fd[i];
    return -1;
}
