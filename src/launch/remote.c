/* SPDX-License-Identifier: BSD-3-Clause
 *
 * remote.c - starts keepers on other hosts, and takes in what they show.
 */
#define _GNU_SOURCE 1
#include "launch/remote.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "launch/identity.h"
#include "launch/report.h"

#define BYE_MS 1000
#define TICK_NS 1000000000ull /* of the arbiter: two without a look are a standstill of ftrun */
#define INPUT (64 << 10)      /* bytes of standard input that are sent at a time */
#define TOLD_MS 200           /* how often it looks for signals while hosts start */
#define WORDS 32              /* of the command that reaches a host, at most */

void ft_remote_init(struct ft_remote *r, const struct ft_remote_config *cfg)
{
    *r = (struct ft_remote){.cfg = *cfg};
    for (int k = 0; k < FT_NODES; k++) {
        r->node[k].ended = 1;
        r->node[k].frames.in = r->node[k].frames.out = r->node[k].input = -1;
    }
}

enum ft_status ft_remote_input(struct ft_remote *r, struct ft_stdin *in)
{
    int fd[FT_NODES];
    enum ft_status st = ft_stdin_serve_far(in, r->cfg.nhosts, fd);
    for (int k = 0; k < r->cfg.nhosts && st == FT_OK; k++)
        r->node[k].input = fd[k];
    return st;
}

/* Without it, the node may live on. */
static int is_connected(const struct ft_remote_node *node) { return node->frames.in >= 0; }

/* ---- which nodes are members ---- */

static void judge(struct ft_remote *r, struct ft_arbiter_event ev)
{
    static const char *const why[] = {[FT_OUT_LEASE] = "nothing has been heard of it",
                                      [FT_OUT_ENDED] = "its keeper has ended",
                                      [FT_OUT_UNREACHABLE] = "other nodes cannot reach it"};
    struct ft_arbiter_action a;
    ev.now = ft_now_ns();
    ft_arbiter_step(&r->arbiter, &ev, &a);
    if (a.kind == FT_ARBITER_GRANT) {
        ft_failpoint(LAUNCHER_GRANT);
        ft_frames_say(&r->node[a.node].frames, FT_SAY_GRANT, &a.sent, sizeof a.sent, NULL, 0);
    }
    for (int k = 0; k < r->cfg.nhosts && a.kind == FT_ARBITER_OUT; k++)
        if (ft_bit_get(&a.nodes, k) && !r->node[k].ended) {
            r->node[k].ended = 1;
            if (!r->node[k].why[0])
                snprintf(r->node[k].why, sizeof r->node[k].why, "%s", why[a.why]);
        }
}

static void hear_ask(struct ft_remote *r, int k, const struct ft_frame *f)
{
    struct ft_arbiter_event ev = {.kind = FT_ARBITER_RENEW, .node = k};
    memcpy(&ev.sent, f->data, sizeof ev.sent);
    judge(r, ev);
}

/* What the node's gateway says on its board. What it cannot reach is reported each time: the arbiter
 * forgets all reports when a node is out. [A and B do not reach C and D. D goes out, and C must go,
 * too.] */
static void hear_reports(struct ft_remote *r, int k)
{
    uint64_t now = atomic_load(&r->board[k]->nodes.unreachable), was = r->unreachable[k];
    r->unreachable[k] = now;
    for (int j = 0; j < r->cfg.nhosts; j++)
        if ((was | now) >> j & 1 && j != k)
            judge(r, (struct ft_arbiter_event){.kind = FT_ARBITER_REPORT,
                                               .node = k,
                                               .about = j,
                                               .reachable = !(now >> j & 1)});
}

static void begin_leases(struct ft_remote *r)
{
    uint32_t ranks[FT_NODES] = {0};
    uint64_t lease = r->cfg.lease_ns ? r->cfg.lease_ns : FT_LEASE_FOREVER;
    for (int k = 0; k < r->cfg.nhosts; k++)
        for (int i = r->board[k]->near_from; i < r->board[k]->near_end; i++)
            ranks[k] += r->board[k]->slot[i].at_first >> 24 == FT_ROLE_RANK;
    struct ft_arbiter_cfg cfg = {.nnodes = r->cfg.nhosts,
                                 .own = -1,
                                 .lease = lease,
                                 .drift = lease / 50,
                                 .first = r->cfg.start_ms < 0 ? FT_LEASE_FOREVER
                                                              : (uint64_t)r->cfg.start_ms * 1000000,
                                 .tick = TICK_NS,
                                 .bearable = 1};
    ft_arbiter_init(&r->arbiter, &cfg, ranks, ft_now_ns());
}

/* ---- the start ---- */

static int is_loopback(const char *address) { return strncmp(address, "127.", 4) == 0; }

/* The first address that is no loopback, if there is one: [Debian's /etc/hosts has 127.0.1.1 for
 * the machine's own name]. */
static int numeric(const char *host, char *out, size_t size)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    int known = 0;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return 0;
    for (struct addrinfo *a = found; a && (!known || is_loopback(out)); a = a->ai_next)
        known = getnameinfo(a->ai_addr, a->ai_addrlen, out, (socklen_t)size, NULL, 0,
                            NI_NUMERICHOST) == 0;
    freeaddrinfo(found);
    return known;
}

/* It is an address of this machine. */
static int is_here(const char *address)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int here = fd >= 0 && inet_pton(AF_INET, address, &a.sin_addr) == 1 &&
               bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
    if (fd >= 0)
        close(fd);
    return here;
}

/* All nodes use these addresses. A loopback one serves only if all of them are on this machine. */
static enum ft_status find_addresses(struct ft_remote *r, char *err, int errlen)
{
    int all_here = 1;
    for (int k = 0; k < r->cfg.nhosts; k++) {
        if (!numeric(r->cfg.host[k], r->node[k].address, sizeof r->node[k].address)) {
            snprintf(err, (size_t)errlen, "host %s is not known here", r->cfg.host[k]);
            return FT_ERR_SYS;
        }
        all_here &= is_here(r->node[k].address);
    }
    for (int k = 0; k < r->cfg.nhosts && !all_here; k++)
        if (is_loopback(r->node[k].address)) {
            snprintf(err, (size_t)errlen,
                     "host %s is %s here, which other hosts cannot reach: name it by its address",
                     r->cfg.host[k], r->node[k].address);
            return FT_ERR_SYS;
        }
    return FT_OK;
}

/* Runs "RSH HOST FTRUN --keeper" with a pipe to each of its ends. */
static int start_keeper(struct ft_remote *r, int k, const char *ftrun)
{
    char words[1024], *argv[WORDS + 4], *save = NULL;
    int to[2], from[2], n = 0;
    struct ft_remote_node *node = &r->node[k];
    snprintf(words, sizeof words, "%s", r->cfg.rsh);
    for (char *w = strtok_r(words, " ", &save); w && n < WORDS; w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    argv[n++] = (char *)r->cfg.host[k];
    argv[n++] = (char *)ftrun;
    argv[n++] = (char *)"--keeper";
    argv[n] = NULL;
    if (pipe2(to, O_CLOEXEC) != 0)
        return 0;
    if (pipe2(from, O_CLOEXEC) != 0) {
        close(to[0]);
        close(to[1]);
        return 0;
    }
    pid_t self = getpid();
    node->rsh = fork();
    if (node->rsh == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != self)
            _exit(1);
        setsid();
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execvp(argv[0], argv);
        fprintf(stderr, "ftrun: %s cannot be executed: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    ft_frames_begin(&node->frames, from[0], to[1]);
    node->ended = node->rsh <= 0;
    return !node->ended;
}

static void add(struct ft_sink *t, const char *text) { ft_sink_add(t, text, strlen(text) + 1); }

static void say_hello(struct ft_remote *r, int k, struct ft_hello *h)
{
    struct ft_sink t = {0};
    char *here = getcwd(NULL, 0);
    FT_ASSERT(here);
    h->self = k;
    h->nargs = h->nenv = 0;
    add(&t, r->node[k].address);
    add(&t, here);
    add(&t, r->cfg.preload);
    for (int i = 0; i < FT_IDS; i++)
        add(&t, r->cfg.identity[i]);
    for (char *const *p = r->cfg.program; *p; p++, h->nargs++)
        add(&t, *p);
    for (char **e = environ; *e; e++, h->nenv++)
        add(&t, *e);
    ft_frames_say(&r->node[k].frames, FT_SAY_HELLO, h, sizeof *h, t.data, t.len);
    free(t.data);
    free(here);
}

static struct ft_hello *make_hello(const struct ft_remote *r, const struct ft_board *b)
{
    struct ft_hello *h = calloc(1, sizeof *h);
    struct rlimit stack = {RLIM_INFINITY, RLIM_INFINITY};
    FT_ASSERT(h);
    getrlimit(RLIMIT_STACK, &stack);
    h->magic = FT_HELLO_MAGIC;
    h->bytes = sizeof *h;
    snprintf(h->version, sizeof h->version, "%s", FTRMA_VERSION);
    h->nranks = b->nranks;
    h->nchecksums = b->nchecksums;
    h->nspares = b->nspares;
    h->stack_soft = stack.rlim_cur;
    h->stack_hard = stack.rlim_max;
    h->input = r->node[0].input >= 0;
    h->mixed = r->cfg.mixed != 0;
    h->nodes = b->nodes;
    memcpy((void *)&h->save, (const void *)&b->save, sizeof h->save);
    for (int i = 0; i < b->nslots; i++)
        h->at_first[i] = b->slot[i].at_first;
    return h;
}

static const char *text_of(const struct ft_frame *f)
{
    return f->bytes && f->data[f->bytes - 1] == '\0' ? f->data : "?";
}

/* A signal that would end ftrun waits. They are blocked, and the loop that takes them has not
 * begun. */
static int is_told_to_end(void)
{
    sigset_t waits;
    sigpending(&waits);
    sigdelset(&waits, SIGCHLD);
    sigdelset(&waits, SIGTSTP);
    return !sigisemptyset(&waits);
}

/* As ft_frames_await; also 0 soon after a signal. */
static int await_unless_told(struct ft_frames *from, struct ft_frame *f, int ms)
{
    uint64_t until = ms < 0 ? UINT64_MAX : ft_now_ns() + (uint64_t)ms * 1000000;
    int heard;
    do
        heard = ft_frames_await(from, f, TOLD_MS);
    while (heard == 0 && !is_told_to_end() && ft_now_ns() < until);
    return heard;
}

/* The addresses of all gateways, in the order of nodes. */
static enum ft_status hear_addresses(struct ft_remote *r, struct ft_sink *all, char *err,
                                     int errlen)
{
    for (int k = 0; k < r->cfg.nhosts; k++) {
        struct ft_frame f;
        int heard = await_unless_told(&r->node[k].frames, &f, r->cfg.start_ms);
        if (heard == 1 && f.kind == FT_SAY_LISTENS) {
            add(all, text_of(&f));
            continue;
        }
        snprintf(err, (size_t)errlen, "node %s cannot be used: %s", r->cfg.host[k],
                 heard == 1  ? text_of(&f)
                 : heard < 0 ? "'ftrun --keeper' has ended there at once. Can the command of --rsh "
                               "reach the host, and is ftrma installed there at the same place?"
                 : is_told_to_end() ? "a signal ends the job"
                             : "it did not answer in time (FTRMA_START_TIMEOUT_MS)");
        return FT_ERR_SYS;
    }
    return FT_OK;
}

static void say_start(struct ft_remote *r, int k, const struct ft_board *b,
                      const struct ft_sink *addresses)
{
    uint64_t now = ft_now_ns();
    struct ft_say_start s = {
        .elapsed_ns = now - b->t0_ns, .wtime_ns = now - b->wtime_zero_ns, .t0_ns = b->t0_ns};
    ft_frames_say(&r->node[k].frames, FT_SAY_START, &s, sizeof s, addresses->data, addresses->len);
}

enum ft_status ft_remote_start(struct ft_remote *r, const struct ft_board *b,
                               struct ft_board *const *copies, char *err, int errlen)
{
    struct ft_sink all = {0};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct ft_hello *h = make_hello(r, b);
    enum ft_status st = find_addresses(r, err, errlen);
    self[n > 0 ? n : 0] = '\0';
    if (getrandom(&h->secret, sizeof h->secret, 0) != (ssize_t)sizeof h->secret)
        st = FT_ERR_SYS;
    fflush(NULL);
    for (int k = 0; k < r->cfg.nhosts; k++)
        r->board[k] = copies[k];
    for (int k = 0; k < r->cfg.nhosts && st == FT_OK; k++) {
        if (!start_keeper(r, k, self)) {
            snprintf(err, (size_t)errlen, "node %s cannot be started: %s", r->cfg.host[k],
                     strerror(errno));
            st = FT_ERR_SYS;
        } else {
            say_hello(r, k, h);
        }
    }
    explicit_bzero(&h->secret, sizeof h->secret);
    free(h);
    if (st == FT_OK)
        st = hear_addresses(r, &all, err, errlen);
    for (int k = 0; k < r->cfg.nhosts && st == FT_OK; k++)
        say_start(r, k, b, &all);
    free(all.data);
    if (st == FT_OK)
        begin_leases(r);
    return st;
}

/* ---- what they show ---- */

/* How many jumps were read is ours to say, and so is when our clock was at zero. */
static void take_board(struct ft_board *b, const char *data, size_t bytes)
{
    struct ft_say_run run;
    uint32_t taken[FT_MAX_SLOTS][2];
    uint64_t t0 = b->t0_ns, zero = b->wtime_zero_ns, size = ft_board_bytes(b->nslots);
    for (int i = b->near_from; i < b->near_end; i++)
        for (int k = 0; k < 2; k++)
            taken[i][k] = atomic_load(&b->slot[i].output[k].taken);
    while (bytes >= sizeof run) {
        memcpy(&run, data, sizeof run);
        data += sizeof run;
        bytes -= sizeof run;
        if (run.bytes > bytes || run.from > size || run.bytes > size - run.from)
            break;
        memcpy((char *)b + run.from, data, run.bytes);
        data += run.bytes;
        bytes -= run.bytes;
    }
    b->t0_ns = t0;
    b->wtime_zero_ns = zero;
    for (int i = b->near_from; i < b->near_end; i++)
        for (int k = 0; k < 2; k++)
            atomic_store(&b->slot[i].output[k].taken, taken[i][k]);
}

static void take_output(struct ft_board *b, const struct ft_frame *f, struct ft_outputs *outputs)
{
    struct ft_say_number of;
    memcpy(&of, f->data, sizeof of);
    int slot = (int)(of.of / 2), k = (int)(of.of % 2);
    if (slot < b->near_from || slot >= b->near_end)
        return;
    const char *data = f->data + sizeof of;
    size_t left = f->bytes - sizeof of;
    while (left) {
        ssize_t n = write(ft_outputs_file(outputs, slot, k), data, left);
        if (n <= 0)
            return;
        data += n;
        left -= (size_t)n;
    }
}

static void take_gone(struct ft_remote *r, const struct ft_frame *f)
{
    struct ft_say_number w;
    memcpy(&w, f->data, sizeof w);
    if (w.of >= FT_MAX_SLOTS)
        return;
    int status = (int)w.number, how = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    r->gone[w.of] = 1;
    r->worst = how > r->worst ? how : r->worst;
}

static void take(struct ft_remote *r, int k, const struct ft_frame *f, struct ft_outputs *outputs)
{
    switch (f->kind) {
    case FT_SAY_BOARD: take_board(r->board[k], f->data, f->bytes); break;
    case FT_SAY_OUTPUT:
        if (f->bytes > sizeof(struct ft_say_number))
            take_output(r->board[k], f, outputs);
        break;
    case FT_SAY_EARLY: ft_outputs_add(outputs, 0, f->data, f->bytes); break;
    case FT_SAY_GONE:
        if (f->bytes == sizeof(struct ft_say_number))
            take_gone(r, f);
        break;
    case FT_SAY_WANTS: r->node[k].wants = 1; break;
    case FT_SAY_SAVED:
        r->node[k].saved.len = 0;
        ft_sink_add(&r->node[k].saved, f->data, f->bytes);
        break;
    case FT_SAY_ASK:
        if (f->bytes == sizeof(uint64_t))
            hear_ask(r, k, f);
        break;
    default: snprintf(r->node[k].why, sizeof r->node[k].why, "%s", text_of(f));
    }
}

static void tell_taken(struct ft_remote *r, int k)
{
    const struct ft_board *b = r->board[k];
    for (int i = b->near_from; i < b->near_end; i++)
        for (int j = 0; j < 2; j++) {
            uint32_t n = atomic_load(&b->slot[i].output[j].taken);
            struct ft_say_number w = {(uint32_t)(2 * i + j), n};
            if (n == r->taken[i][j])
                continue;
            r->taken[i][j] = n;
            ft_frames_say(&r->node[k].frames, FT_SAY_TAKEN, &w, sizeof w, NULL, 0);
        }
}

int ft_remote_reaped(struct ft_remote *r, pid_t pid, int status)
{
    for (int k = 0; k < r->cfg.nhosts; k++)
        if (r->node[k].rsh == pid) {
            r->node[k].rsh_ended = 1;
            r->node[k].rsh_status = status;
            return 1;
        }
    return 0;
}

/* Why a node is lost whose connection has ended. signal: that killed its keeper, by the guardian's
 * word; 0: none did; -1: there is no word. */
static void note_why(struct ft_remote_node *node, int signal)
{
    if (node->why[0] ||
        signal == 0) /* the keeper has said it; this was noted before; judge says it */
        return;
    if (signal > 0)
        snprintf(node->why, sizeof node->why, "its keeper was killed by %s",
                 ft_signal_name(signal));
    else if (WIFSIGNALED(node->rsh_status))
        snprintf(node->why, sizeof node->why, "the command that led to it was killed by %s",
                 ft_signal_name(WTERMSIG(node->rsh_status)));
    else
        snprintf(node->why, sizeof node->why, "the connection to it was closed");
}

/* The connection to a keeper has ended. That the node has, only its guardian knows, and says by the
 * exit status of the command that led there. [ssh itself is killed, or its connection is reset: the
 * node runs on until its lease is over.] */
static void connection_closed(struct ft_remote *r, int k)
{
    struct ft_remote_node *node = &r->node[k];
    int status, signal = -1;
    if (!node->rsh_ended && waitpid(node->rsh, &status, WNOHANG) == node->rsh)
        (void)ft_remote_reaped(r, node->rsh, status);
    if (!node->rsh_ended)
        return; /* looked at again */
    if (WIFEXITED(node->rsh_status))
        signal = WEXITSTATUS(node->rsh_status) - FT_KEEPER_REAPED;
    if (signal < 0 || signal > FT_KEEPER_SIGNALS)
        signal = -1;
    note_why(node, signal);
    if (signal >= 0 || !r->cfg.lease_ns) /* without a lease nothing else tells */
        judge(r, (struct ft_arbiter_event){.kind = FT_ARBITER_ENDED, .node = k});
}

static void send_input(struct ft_remote_node *node)
{
    static char data[INPUT];
    ssize_t n = node->wants && node->input >= 0 ? read(node->input, data, sizeof data) : -1;
    if (n < 0) /* nothing yet */
        return;
    node->wants = 0;
    ft_frames_say(&node->frames, FT_SAY_INPUT, data, (size_t)n, NULL, 0);
    if (n == 0)
        node->input = -1;
}

/* What rank 0 has as standard input is said by the node where it began. */
static void spread_input_is(struct ft_remote *r, int k)
{
    struct ft_say_number is = {0, atomic_load(&r->board[k]->input_is)};
    if (r->input_is || is.number == FT_INPUT_UNKNOWN)
        return;
    r->input_is = is.number;
    for (int j = 0; j < r->cfg.nhosts; j++)
        ft_frames_say(&r->node[j].frames, FT_SAY_INPUT_IS, &is, sizeof is, NULL, 0);
}

/* Takes in what a keeper has shown, and tells it what is new for it. */
static void step_node(struct ft_remote *r, int k, struct ft_outputs *outputs)
{
    struct ft_remote_node *node = &r->node[k];
    struct ft_frame f;
    int heard;
    ft_frames_flush(&node->frames);
    while ((heard = ft_frames_hear(&node->frames, &f)) == 1)
        take(r, k, &f, outputs);
    tell_taken(r, k);
    send_input(node);
    spread_input_is(r, k);
    hear_reports(r, k);
    if (heard < 0)
        ft_frames_end(&node->frames);
}

void ft_remote_step(struct ft_remote *r, struct ft_outputs *outputs)
{
    for (int k = 0; k < r->cfg.nhosts; k++) {
        if (!r->node[k].ended && is_connected(&r->node[k]))
            step_node(r, k, outputs);
        if (!r->node[k].ended && !is_connected(&r->node[k]))
            connection_closed(r, k);
    }
    judge(r, (struct ft_arbiter_event){.kind = FT_ARBITER_TIME});
}

int ft_remote_polls(const struct ft_remote *r, struct pollfd *p)
{
    int n = 0;
    for (int k = 0; k < r->cfg.nhosts; k++) {
        const struct ft_remote_node *node = &r->node[k];
        p[n++] = (struct pollfd){.fd = node->ended ? -1 : node->frames.in, .events = POLLIN};
        p[n++] = (struct pollfd){.fd = node->wants ? node->input : -1, .events = POLLIN};
    }
    return n;
}

const char *ft_remote_lost(const struct ft_remote *r, int k)
{
    return r->node[k].ended ? r->node[k].why : NULL;
}

int ft_remote_left(const struct ft_remote *r)
{
    int n = 0;
    for (int k = 0; k < r->cfg.nhosts; k++)
        for (int i = r->board[k]->near_from; !r->node[k].ended && i < r->board[k]->near_end; i++)
            n += !r->gone[i];
    return n;
}

/* ---- what they are told ---- */

void ft_remote_tell_end(struct ft_remote *r, int k, const struct ft_board *result)
{
    struct ft_say_end e = {atomic_load(&result->state), atomic_load(&result->status),
                           result->reason};
    ft_frames_say(&r->node[k].frames, FT_SAY_END, &e, sizeof e, result->message,
                  strnlen(result->message, sizeof result->message - 1) + 1);
}

void ft_remote_tell_saves(struct ft_remote *r, const struct ft_say_saves *news)
{
    if (memcmp(news, &r->told, sizeof *news) == 0)
        return;
    r->told = *news;
    for (int k = 0; k < r->cfg.nhosts; k++)
        ft_frames_say(&r->node[k].frames, FT_SAY_SAVES, news, sizeof *news, NULL, 0);
}

void ft_remote_save(struct ft_remote *r, int k, const struct ft_say_save *what,
                    const unsigned char *ranks, const char *dir)
{
    struct ft_sink t = {0};
    ft_sink_add(&t, (const char *)ranks, what->nranks);
    add(&t, dir);
    r->node[k].saved.len = 0;
    ft_frames_say(&r->node[k].frames, FT_SAY_SAVE, what, sizeof *what, t.data, t.len);
    free(t.data);
}

void ft_remote_tell_out(struct ft_remote *r, int out)
{
    r->out |= 1ull << out;
    for (int i = r->board[out]->near_from; i < r->board[out]->near_end; i++)
        r->gone[i] = 1;
    for (int k = 0; k < r->cfg.nhosts; k++) {
        ft_frames_say(&r->node[k].frames, FT_SAY_OUT, &r->out, sizeof r->out, NULL, 0);
        if (k == (out == 0)) /* one that is there */
            ft_failpoint(LAUNCHER_OUT_TOLD);
    }
}

void ft_remote_bye(struct ft_remote *r, struct ft_outputs *outputs)
{
    uint64_t until = ft_now_ns() + BYE_MS * 1000000ull;
    struct pollfd p[FT_REMOTE_POLLS];
    int left = r->cfg.nhosts;
    for (int k = 0; k < r->cfg.nhosts; k++)
        ft_frames_say(&r->node[k].frames, FT_SAY_BYE, NULL, 0, NULL, 0);
    while (left && ft_now_ns() < until) {
        (void)poll(p, (nfds_t)ft_remote_polls(r, p), 20);
        ft_remote_step(r, outputs);
        left = 0;
        for (int k = 0; k < r->cfg.nhosts; k++)
            left += !r->node[k].ended && is_connected(&r->node[k]);
    }
    for (int k = 0; k < r->cfg.nhosts; k++)
        ft_frames_end(&r->node[k].frames);
}
