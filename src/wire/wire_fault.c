/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire_fault.c - the provider fault: wraps another one, cuts its connections at any time, takes
 * packets slowly, and delays them. A packet that is delayed over the end of its connection is lost,
 * as one in a network is.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/base.h"
#include "wire/provider.h"
#include "wire/wire_net.h"

static const struct ft_wire_ops *inner(const struct ft_wire *w) { return w->cfg.faults->inner; }

static int one_in(struct ft_wire_faults *f, unsigned n)
{
    return n && ft_prng_below(&f->rng, n) == 0;
}

/* Packets that are under way to one node, in order. */
#define LATE 256
struct ft_wire_late {
    uint64_t now_ns, drawn_ns; /* drawn: cuts were, the last time */
    int refused;               /* since the last poll: a link said no, and says yes soon */
    int epoll, timer;          /* epoll: the inner provider's descriptor and the timer */
    struct late_way {
        int busy; /* until the next poll */
        unsigned from, n;
        struct late_packet {
            uint64_t due_ns;
            struct ft_packet p;
            char word[sizeof(struct ft_packet_hello)]; /* of a packet that is no frame */
        } packet[LATE];
    } way[];
};

/* As a real link does, a busy one makes the descriptor readable when it is free again: after
 * this time. */
#define BUSY_NS 20000
/* Cuts are drawn no more often than this, or a fast machine would cut each connection before what
 * is delayed has come. */
#define DRAW_NS 10000

static int watch(const struct ft_wire *w, int fd)
{
    return fd < 0 || epoll_ctl(w->cfg.faults->late->epoll, EPOLL_CTL_ADD, fd,
                               &(struct epoll_event){.events = EPOLLIN}) == 0;
}

static void forget(struct ft_wire_late *late)
{
    if (late->epoll >= 0)
        close(late->epoll);
    if (late->timer >= 0)
        close(late->timer);
    free(late);
}

static enum ft_status fault_open(struct ft_wire *w)
{
    struct ft_wire_faults *f = w->cfg.faults;
    if (!f || inner(w) == w->ops)
        return FT_ERR_ARG;
    f->late = calloc(1, sizeof *f->late + (size_t)w->cfg.nnodes * sizeof f->late->way[0]);
    if (!f->late)
        return FT_ERR_NOMEM;
    f->late->epoll = epoll_create1(EPOLL_CLOEXEC);
    f->late->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    enum ft_status st = f->late->epoll < 0 || f->late->timer < 0 ? FT_ERR_SYS : inner(w)->open(w);
    if (st == FT_OK && !(watch(w, f->late->timer) && watch(w, inner(w)->fd(w)))) {
        inner(w)->close(w);
        st = FT_ERR_SYS;
    }
    if (st != FT_OK)
        forget(f->late);
    return st;
}

static void fault_close(struct ft_wire *w)
{
    inner(w)->close(w);
    forget(w->cfg.faults->late);
}

static void fault_dial(struct ft_wire *w, int node) { inner(w)->dial(w, node); }

static void fault_hang_up(struct ft_wire *w, int node)
{
    w->cfg.faults->late->way[node].n = 0; /* what the packets point to may go */
    inner(w)->hang_up(w, node);
}

static void draw_busy(struct ft_wire_faults *f, struct late_way *way)
{
    way->busy = f->slow_in && !one_in(f, f->slow_in);
}

static int fault_ready(const struct ft_wire *w, int node)
{
    struct ft_wire_faults *f = w->cfg.faults;
    const struct late_way *way = &f->late->way[node];
    if (way->busy) {
        f->late->refused = 1;
        return 0;
    }
    return f->delay_ns || way->n ? way->n < LATE && w->peer[node].connected
                                 : inner(w)->ready(w, node);
}

static void fault_put(struct ft_wire *w, int node, const struct ft_packet *p)
{
    struct ft_wire_faults *f = w->cfg.faults;
    struct late_way *way = &f->late->way[node];
    draw_busy(f, way); /* for the packet after this one */
    if (!f->delay_ns && way->n == 0) {
        inner(w)->put(w, node, p);
        return;
    }
    struct late_packet *late = &way->packet[(way->from + way->n++) % LATE];
    late->due_ns = f->late->now_ns + f->delay_ns;
    late->p = *p;
    if (p->head.kind != FT_PACKET_FRAME) { /* it may be another message by then */
        FT_ASSERT(p->n == 1 && p->head.bytes <= sizeof late->word);
        memcpy(late->word, p->piece[0].data, p->head.bytes);
        late->p.piece[0].data = late->word;
    }
}

/* The other end may have acknowledged a frame that was sent twice, and its memory may be used
 * again: it is not touched any more. [An acknowledgement of the connection before comes first.] */
static int is_wanted(const struct ft_wire *w, int node, const struct ft_packet_head *h)
{
    const struct ft_link *l = &w->peer[node].link;
    return w->peer[node].connected && h->conn == l->conn &&
           (h->kind != FT_PACKET_FRAME || h->number >= l->way[h->class_of].acked);
}

static void send_late(struct ft_wire *w, int node)
{
    struct ft_wire_late *late = w->cfg.faults->late;
    struct late_way *way = &late->way[node];
    while (way->n && way->packet[way->from].due_ns <= late->now_ns) {
        struct late_packet *p = &way->packet[way->from];
        int wanted = is_wanted(w, node, &p->p.head);
        if (wanted && !inner(w)->ready(w, node))
            return;
        way->from = (way->from + 1) % LATE;
        way->n--;
        if (wanted)
            inner(w)->put(w, node, &p->p);
    }
}

static void fault_poll(struct ft_wire *w, uint64_t now_ns)
{
    struct ft_wire_faults *f = w->cfg.faults;
    f->late->now_ns = now_ns;
    f->late->refused = 0;
    for (int i = 0; i < w->cfg.nnodes; i++)
        if (i != w->cfg.self) {
            draw_busy(f, &f->late->way[i]);
            send_late(w, i);
        }
    int draw = now_ns - f->late->drawn_ns >= DRAW_NS;
    if (draw)
        f->late->drawn_ns = now_ns;
    for (int i = 0; draw && i < w->cfg.nnodes; i++) {
        if (i == w->cfg.self || !w->peer[i].connected || !one_in(f, f->cut_in))
            continue;
        f->cuts++;
        fault_hang_up(w, i);
        ft_wire_lost(w, i);
    }
    inner(w)->poll(w, now_ns);
}

/* Readable when something has come, a packet is due, or a busy link is free again. */
static int fault_fd(const struct ft_wire *w)
{
    struct ft_wire_late *late = w->cfg.faults->late;
    uint64_t left_ns = late->refused ? BUSY_NS : UINT64_MAX;
    for (int i = 0; i < w->cfg.nnodes; i++)
        if (late->way[i].n) {
            uint64_t due_ns = late->way[i].packet[late->way[i].from].due_ns;
            uint64_t in_ns = due_ns > late->now_ns ? due_ns - late->now_ns : BUSY_NS;
            left_ns = in_ns < left_ns ? in_ns : left_ns;
        }
    struct itimerspec at = {.it_value = {0}}; /* never */
    if (left_ns != UINT64_MAX) {
        at.it_value.tv_sec = (time_t)(left_ns / 1000000000);
        at.it_value.tv_nsec = (long)(left_ns % 1000000000);
    }
    timerfd_settime(late->timer, 0, &at, NULL);
    return late->epoll;
}

const struct ft_wire_ops ft_wire_fault = {.name = "fault",
                                          .open = fault_open,
                                          .close = fault_close,
                                          .dial = fault_dial,
                                          .hang_up = fault_hang_up,
                                          .ready = fault_ready,
                                          .put = fault_put,
                                          .poll = fault_poll,
                                          .fd = fault_fd};

int ft_wire_faults_read(const char *text, int self, struct ft_wire_faults *out, int *on)
{
    unsigned long delay = 0, cut = 0, slow = 0, from = (unsigned long)self;
    const struct {
        const char *key;
        unsigned long *value;
    } known[] = {{"delay=", &delay}, {"cut=", &cut}, {"slow=", &slow}, {"from=", &from}};
    while (*text) {
        size_t k = 0;
        char *end;
        while (k < FT_COUNTOF(known) && strncmp(text, known[k].key, strlen(known[k].key)) != 0)
            k++;
        if (k == FT_COUNTOF(known))
            return 0;
        text += strlen(known[k].key);
        if (*text < '0' || *text > '9')
            return 0;
        *known[k].value = strtoul(text, &end, 10);
        if (*known[k].value > 1000000 || (*end && *end != ','))
            return 0;
        text = end + (*end == ',');
    }
    *out = (struct ft_wire_faults){
        .delay_ns = delay * 1000000, .cut_in = (unsigned)cut, .slow_in = (unsigned)slow};
    *on = from == (unsigned long)self;
    return 1;
}
