/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire_sock.c - the provider sock: a nonblocking TCP connection between each two nodes, all in one
 * epoll. Each node listens; the one with the lower number dials. A poll at which nothing has come
 * is one system call, whatever the number of nodes.
 *
 * A packet is sent unchanged. If the kernel does not take all of it at once, the rest is sent
 * first, and the next packet after it. An accepted connection belongs to no node until its first
 * message has come.
 */
#define _GNU_SOURCE 1 /* accept4 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "wire/provider.h"

#define IN_BYTES (2 * (sizeof(struct ft_packet_head) + FT_WIRE_FRAME))
#define FIRST_BYTES (sizeof(struct ft_packet_head) + sizeof(struct ft_packet_hello))
#define GUESTS 16
#define UNSENT_BYTES (128 << 10) /* in the kernel: more would delay what should be sent first */

struct sock_conn {
    int fd, connecting;
    size_t have; /* bytes in `in` */
    char *in;
    struct ft_packet_head head;                /* of the packet that is being sent */
    char word[sizeof(struct ft_packet_hello)]; /* what follows it, if it is no frame */
    struct iovec out[1 + FT_WIRE_PIECES];      /* what is left of it */
    int at, n;
};

/* Accepted, and its node not known yet. */
struct sock_guest {
    int fd;
    uint64_t since_ns;
    size_t have;
    char in[FIRST_BYTES];
};

/* What an event of the epoll is about: a node's connection, a guest, or the listener. */
enum { GUEST_EVENT = FT_WIRE_NODES, LISTENER_EVENT = GUEST_EVENT + GUESTS, EVENTS };

struct sock_state {
    int epoll, listener;
    struct sock_guest guest[GUESTS];
    struct sock_conn conn[FT_WIRE_NODES];
};

static struct sock_state *state_of(const struct ft_wire *w) { return w->own; }

static struct addrinfo *resolve(const char *text)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV},
                    *found = NULL;
    char host[80];
    const char *colon = text ? strrchr(text, ':') : NULL;
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof host)
        return NULL;
    int bracket = text[0] == '[' && colon[-1] == ']';
    memcpy(host, text + bracket, (size_t)(colon - text - 2 * bracket));
    host[colon - text - 2 * bracket] = '\0';
    return getaddrinfo(host, colon + 1, &hints, &found) == 0 ? found : NULL;
}

static void set(int fd, int level, int name, int value)
{
    (void)setsockopt(fd, level, name, &value, sizeof value); /* it works without, too */
}

/* The connection is given up when the other end is silent. */
static void tune(const struct ft_wire *w, int fd)
{
    uint64_t silent = ft_max_u64(w->cfg.silent_ns / 1000000, 1000);
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)ft_min_u64(silent, 1 << 30));
    set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

/* Edge-triggered events suffice, as each is answered by reading and writing until nothing is left.
 * op: EPOLL_CTL_ADD, or EPOLL_CTL_MOD, which tells again what is there already. */
static int watch(const struct ft_wire *w, int op, int fd, int about)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = (uint32_t)about};
    return epoll_ctl(state_of(w)->epoll, op, fd, &e) == 0;
}

static int listen_at(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, FT_WIRE_NODES) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static enum ft_status sock_open(struct ft_wire *w)
{
    struct addrinfo *a = w->cfg.address ? resolve(w->cfg.address[w->cfg.self]) : NULL;
    struct sock_state *s = a ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        if (a)
            freeaddrinfo(a);
        return a ? FT_ERR_NOMEM : FT_ERR_ARG;
    }
    w->own = s;
    for (int i = 0; i < FT_WIRE_NODES; i++)
        s->conn[i].fd = -1;
    for (int i = 0; i < GUESTS; i++)
        s->guest[i].fd = -1;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->listener = s->epoll < 0 ? -1 : w->cfg.listener ? w->cfg.listener - 1 : listen_at(a);
    freeaddrinfo(a);
    if (s->listener >= 0 && watch(w, EPOLL_CTL_ADD, s->listener, LISTENER_EVENT))
        return FT_OK;
    int why = errno;
    if (s->listener >= 0)
        close(s->listener);
    if (s->epoll >= 0)
        close(s->epoll);
    free(s);
    errno = why;
    return FT_ERR_SYS;
}

static void sock_hang_up(struct ft_wire *w, int node)
{
    struct sock_conn *c = &state_of(w)->conn[node];
    if (c->fd >= 0)
        close(c->fd);
    free(c->in);
    *c = (struct sock_conn){.fd = -1};
}

static void lose(struct ft_wire *w, int node)
{
    sock_hang_up(w, node);
    ft_wire_lost(w, node);
}

static void sock_close(struct ft_wire *w)
{
    struct sock_state *s = state_of(w);
    for (int i = 0; i < w->cfg.nnodes; i++)
        sock_hang_up(w, i);
    for (int i = 0; i < GUESTS; i++)
        if (s->guest[i].fd >= 0)
            close(s->guest[i].fd);
    close(s->listener);
    close(s->epoll);
    free(s);
}

static int adopt(struct ft_wire *w, int node, int fd)
{
    struct sock_conn *c = &state_of(w)->conn[node];
    c->in = malloc(IN_BYTES);
    c->fd = fd;
    return c->in != NULL;
}

static void sock_dial(struct ft_wire *w, int node)
{
    struct sock_conn *c = &state_of(w)->conn[node];
    struct addrinfo *a = resolve(w->cfg.address[node]);
    int fd = a ? socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;
    if (fd >= 0) {
        tune(w, fd);
        c->connecting = 1;
        if (!adopt(w, node, fd) || !watch(w, EPOLL_CTL_ADD, fd, node) ||
            (connect(fd, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS))
            sock_hang_up(w, node); /* the next attempt may succeed */
    }
    if (a)
        freeaddrinfo(a);
}

static int sock_ready(const struct ft_wire *w, int node)
{
    const struct sock_conn *c = &state_of(w)->conn[node];
    return c->fd >= 0 && !c->connecting && c->at == c->n;
}

/* Sends the rest of a packet; 0: the connection has broken. */
static int flush(struct sock_conn *c)
{
    while (c->at < c->n) {
        struct msghdr m = {.msg_iov = c->out + c->at, .msg_iovlen = (size_t)(c->n - c->at)};
        ssize_t went = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (went < 0 && errno == EINTR)
            continue;
        if (went < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
        for (; c->at < c->n && (size_t)went >= c->out[c->at].iov_len; c->at++)
            went -= (ssize_t)c->out[c->at].iov_len;
        if (c->at < c->n) {
            c->out[c->at].iov_base = (char *)c->out[c->at].iov_base + went;
            c->out[c->at].iov_len -= (size_t)went;
        }
    }
    return 1;
}

static void sock_put(struct ft_wire *w, int node, const struct ft_packet *p)
{
    struct sock_conn *c = &state_of(w)->conn[node];
    c->head = p->head;
    c->out[0] = (struct iovec){&c->head, sizeof c->head};
    c->at = 0;
    c->n = 1;
    for (int i = 0; i < p->n; i++)
        c->out[c->n++] = (struct iovec){(void *)(uintptr_t)p->piece[i].data, p->piece[i].bytes};
    if (p->head.kind != FT_PACKET_FRAME) { /* it may be another message by the time it is sent */
        FT_ASSERT(p->n == 1 && p->head.bytes <= sizeof c->word);
        memcpy(c->word, p->piece[0].data, p->head.bytes);
        c->out[1].iov_base = c->word;
    }
    if (!flush(c))
        lose(w, node);
}

/* Handles all complete packets in the buffer; 0: the connection is given up. */
static int take_packets(struct ft_wire *w, int node)
{
    struct sock_conn *c = &state_of(w)->conn[node];
    struct ft_packet_head h;
    size_t at = 0;
    while (c->have - at >= sizeof h) {
        memcpy(&h, c->in + at, sizeof h);
        if (!ft_wire_is_head(&h))
            return 0;
        if (c->have - at < sizeof h + h.bytes)
            break;
        if (!ft_wire_came(w, node, &h, c->in + at + sizeof h))
            return 0;
        at += sizeof h + h.bytes;
    }
    c->have -= at;
    memmove(c->in, c->in + at, c->have);
    return 1;
}

/* Returns 0 if the connection has broken. */
static int read_all(struct ft_wire *w, int node)
{
    struct sock_conn *c = &state_of(w)->conn[node];
    for (;;) {
        ssize_t came = recv(c->fd, c->in + c->have, IN_BYTES - c->have, MSG_DONTWAIT);
        if (came < 0 && errno == EINTR)
            continue;
        if (came < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        c->have += (size_t)came;
        if (came == 0 || !take_packets(w, node))
            return 0;
    }
}

/* 1: the connection exists; 0: not yet; -1: it failed. */
static int has_connected(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int why = 0;
    socklen_t len = sizeof why;
    if (poll(&p, 1, 0) <= 0)
        return 0;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) == 0 && why == 0 ? 1 : -1;
}

static void look_at(struct ft_wire *w, int node)
{
    struct sock_conn *c = &state_of(w)->conn[node];
    if (c->fd >= 0 && c->connecting) {
        int is = has_connected(c->fd);
        if (is < 0)
            lose(w, node);
        if (is <= 0)
            return;
        c->connecting = 0;
        ft_wire_connected(w, node);
    }
    if (c->fd >= 0 && (!flush(c) || !read_all(w, node)))
        lose(w, node);
}

static void send_away(struct sock_guest *g)
{
    close(g->fd);
    g->fd = -1;
}

static void let_in(struct ft_wire *w)
{
    struct sock_state *s = state_of(w);
    int fd;
    while ((fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct sock_guest *g = &s->guest[0]; /* a free place, or that of the oldest guest */
        for (int i = 1; i < GUESTS && g->fd >= 0; i++)
            if (s->guest[i].fd < 0 || s->guest[i].since_ns < g->since_ns)
                g = &s->guest[i];
        if (g->fd >= 0)
            send_away(g);
        tune(w, fd);
        *g = (struct sock_guest){.fd = fd, .since_ns = w->now_ns};
        if (!watch(w, EPOLL_CTL_ADD, fd, GUEST_EVENT + (int)(g - s->guest)))
            send_away(g);
    }
}

/* Its first message has come: it is a node now, and has that node's only connection. */
static void know(struct ft_wire *w, struct sock_guest *g)
{
    struct ft_packet_head h;
    memcpy(&h, g->in, sizeof h);
    int node = ft_wire_knock(w, &h, g->in + sizeof h);
    if (node < 0) {
        send_away(g);
        return;
    }
    sock_hang_up(w, node);
    ft_wire_lost(w, node);
    int fd = g->fd;
    g->fd = -1;
    if (!adopt(w, node, fd) || !watch(w, EPOLL_CTL_MOD, fd, node) ||
        !ft_wire_came(w, node, &h, g->in + sizeof h))
        lose(w, node);
}

static void hear_guest(struct ft_wire *w, struct sock_guest *g)
{
    ssize_t came;
    do
        came = recv(g->fd, g->in + g->have, FIRST_BYTES - g->have, MSG_DONTWAIT);
    while (came < 0 && errno == EINTR);
    g->have += came > 0 ? (size_t)came : 0;
    if (g->have == FIRST_BYTES)
        know(w, g);
    else if (came == 0 || (came < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
        send_away(g);
}

/* An event may be about a connection that has ended meanwhile: then it is about the next one. */
static void answer(struct ft_wire *w, int about)
{
    struct sock_state *s = state_of(w);
    if (about == LISTENER_EVENT)
        let_in(w);
    else if (about < GUEST_EVENT)
        look_at(w, about);
    else if (s->guest[about - GUEST_EVENT].fd >= 0)
        hear_guest(w, &s->guest[about - GUEST_EVENT]);
}

static void sock_poll(struct ft_wire *w, uint64_t now_ns)
{
    struct sock_state *s = state_of(w);
    struct epoll_event e[EVENTS];
    int n = epoll_wait(s->epoll, e, EVENTS, 0);
    for (int i = 0; i < n; i++)
        answer(w, (int)e[i].data.u32);
    for (int i = 0; i < GUESTS; i++)
        if (s->guest[i].fd >= 0 && now_ns - s->guest[i].since_ns > 4 * w->cfg.again_ns)
            send_away(&s->guest[i]);
    /* what the kernel had no memory for: there is no event when it has some again */
    for (int i = 0; i < w->cfg.nnodes; i++)
        if (s->conn[i].at < s->conn[i].n && !s->conn[i].connecting && !flush(&s->conn[i]))
            lose(w, i);
}

static int sock_fd(const struct ft_wire *w) { return state_of(w)->epoll; }

const struct ft_wire_ops ft_wire_sock = {.name = "sock",
                                         .open = sock_open,
                                         .close = sock_close,
                                         .dial = sock_dial,
                                         .hang_up = sock_hang_up,
                                         .ready = sock_ready,
                                         .put = sock_put,
                                         .poll = sock_poll,
                                         .fd = sock_fd};
