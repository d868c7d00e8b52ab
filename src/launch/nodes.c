/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nodes.c - boards, keepers and gateways of virtual nodes.
 */
#define _GNU_SOURCE 1
#include "launch/nodes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "base/settings.h"
#include "launch/keeper.h"
#include "launch/remote.h"
#include "launch/stdin.h"
#include "transport/arena.h"

_Static_assert(sizeof(struct ft_board) % 4096 == 0 && sizeof(struct ft_board_slot) % 4096 == 0,
               "slots are mapped apart");

/* ---- boards ---- */

/* ftrun's own view: the pages of each slot are those of the slot's node. */
static int see_slots(struct ft_board *b, const struct ft_node *node, int from)
{
    size_t at = sizeof *b + (size_t)from * sizeof b->slot[0],
           bytes = (size_t)(node->end - from) * sizeof b->slot[0];
    memcpy(&node->board->slot[from], &b->slot[from], bytes);
    return mmap((char *)b + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, node->fd,
                (off_t)at) != MAP_FAILED;
}

static int make_board(struct ft_nodes *nodes, int k, struct ft_board *b)
{
    struct ft_node *node = &nodes->node[k];
    int from = k ? nodes->node[k - 1].end : 0;
    if (ft_board_create(b->nranks, b->nchecksums, b->nspares, b->launcher_pid, &node->board,
                        &node->fd) != FT_OK)
        return 0;
    struct ft_board *of = node->board;
    of->near_from = from;
    of->near_end = node->end;
    of->nodes = b->nodes;
    atomic_store(&of->input_is, atomic_load(&b->input_is));
    of->t0_ns = b->t0_ns;
    of->wtime_zero_ns = b->wtime_zero_ns;
    of->save = b->save;
    of->launcher_bell_dev = b->launcher_bell_dev;
    of->launcher_bell_ino = b->launcher_bell_ino;
    atomic_store(&of->launcher_bell, atomic_load(&b->launcher_bell));
    for (int i = 0; i < b->nslots; i++)
        of->slot[i].at_first = b->slot[i].at_first;
    return (nodes->remote || ft_arena_homelogs(of, ft_setting_str(FT_SET_ARENA_DIR))) &&
           see_slots(b, node, from);
}

/* The address is chosen by the kernel, and taken from now on. */
static int listen_for(struct ft_node *node)
{
    node->listener = ft_keeper_listen("127.0.0.1", node->address, sizeof node->address);
    return node->listener >= 0;
}

/* The slots of node e lie below end[e], and not on an earlier node. */
static void find_ends(const struct ft_spread_ask *cut, int *end)
{
    struct ft_spread_node node[FT_NODES];
    ft_spread_counts(cut, node);
    for (int e = 0, n = 0; e < cut->nnodes; e++)
        end[e] = n += node[e].ranks + node[e].checksums + node[e].spares;
}

static void name_node(char *name, size_t size, int i) { snprintf(name, size, "node%d", i); }

void ft_nodes_hosts(const struct ft_spread_ask *cut, const char *const *names, const char **host)
{
    static char name[FT_NODES][16];
    int end[FT_NODES];
    if (cut->nnodes < 2)
        return;
    find_ends(cut, end);
    for (int i = 0, s = 0; i < cut->nnodes; i++) {
        name_node(name[i], sizeof name[i], i);
        while (s < end[i])
            host[s++] = names ? names[i] : name[i];
    }
}

int ft_nodes_make(struct ft_nodes *nodes, const struct ft_spread_ask *cut, struct ft_board *b,
                  struct ft_remote *remote)
{
    int k = cut->nnodes;
    *nodes = (struct ft_nodes){.n = 0, .remote = remote};
    if (k < 2)
        return 1;
    FT_ASSERT(k <= FT_NODES && k <= b->nslots);
    if (ft_page_bytes() > 4096) {
        errno = ENOTSUP;
        return 0;
    }
    nodes->n = b->nodes.n = k;
    b->nodes.hosts = remote != NULL;
    find_ends(cut, b->nodes.end);
    for (int i = 0; i < k; i++) {
        if (remote)
            snprintf(b->nodes.name[i], sizeof b->nodes.name[i], "%s", remote->cfg.host[i]);
        else
            name_node(b->nodes.name[i], sizeof b->nodes.name[i], i);
        nodes->node[i] = (struct ft_node){.end = b->nodes.end[i], .listener = -1};
    }
    for (int i = 0; i < k; i++) {
        if (!make_board(nodes, i, b) || (!remote && !listen_for(&nodes->node[i])))
            return 0;
    }
    return 1;
}

void ft_nodes_name(const struct ft_nodes *nodes, int board_fd, const char *host)
{
    char text[2400];
    int me = (int)getpid(), n = 0, room = (int)sizeof text;
    if (nodes->n == 0)
        n = snprintf(text, (size_t)room, "%d:%d", me, board_fd);
    for (int i = 0; i < nodes->n && n < room; i++)
        n += snprintf(text + n, (size_t)(room - n), "%s%d:%d*%d", i ? "," : "", me,
                      nodes->node[i].fd, nodes->node[i].end);
    FT_ASSERT(n < room);
    n += snprintf(text + n, (size_t)(room - n), "@%s", host);
    FT_ASSERT(n < room);
    setenv(ft_settings_table[FT_SET_BOARD].env, text, 1);
}

/* ---- in the keeper and its gateway ---- */

/* What is other nodes' is not seen from here. */
static void leave_others(const struct ft_nodes *nodes, struct ft_board *all, int k)
{
    munmap(all, ft_board_bytes(all->nslots));
    for (int i = 0; i < nodes->n; i++) {
        if (i == k)
            continue;
        munmap(nodes->node[i].board, ft_board_bytes(nodes->node[i].board->nslots));
        close(nodes->node[i].fd);
        close(nodes->node[i].listener);
    }
}

_Noreturn static void be_keeper(const struct ft_nodes *nodes, int k,
                                const struct ft_wire_secret *secret, struct ft_board *all)
{
    const char *address[FT_NODES];
    struct ft_keeper keep;
    ft_keeper_depend_on(all->launcher_pid);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    leave_others(nodes, all, k);
    for (int i = 0; i < nodes->n; i++)
        address[i] = nodes->node[i].address;
    struct ft_keeper_gateway cfg = {.board = nodes->node[k].board,
                                    .self = k,
                                    .address = address,
                                    .listener = nodes->node[k].listener,
                                    .secret = *secret};
    pid_t gateway = ft_keeper_gateway(&cfg);
    ft_keeper_begin(&keep, nodes->node[k].board);
    while (gateway > 0 && waitpid(gateway, NULL, WNOHANG) == 0) {
        (void)poll(keep.p, (nfds_t)keep.n, FT_KEEPER_LOOK_MS);
        ft_keeper_look(&keep);
    }
    _exit(1);
}

/* ---- in ftrun ---- */

static int start_far(struct ft_nodes *nodes, struct ft_board *b, char *err, int errlen)
{
    struct ft_board *copy[FT_NODES];
    for (int k = 0; k < nodes->n; k++)
        copy[k] = nodes->node[k].board;
    return ft_remote_start(nodes->remote, b, copy, err, errlen) == FT_OK;
}

static int start_here(struct ft_nodes *nodes, struct ft_board *b, const struct ft_stdin *input)
{
    struct ft_wire_secret secret;
    if (getrandom(&secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        return 0;
    fflush(NULL);
    for (int k = 0; k < nodes->n; k++) {
        pid_t pid = fork();
        if (pid == 0) {
            ft_stdin_leave(input);
            be_keeper(nodes, k, &secret, b);
        }
        if (pid < 0)
            return 0;
        nodes->node[k].keeper = pid;
    }
    for (int k = 0; k < nodes->n; k++)
        close(nodes->node[k].listener);
    return 1;
}

int ft_nodes_start(struct ft_nodes *nodes, struct ft_board *b, const struct ft_stdin *input,
                   char *err, int errlen)
{
    if (nodes->n == 0)
        return 1;
    if (nodes->remote)
        return start_far(nodes, b, err, errlen);
    if (start_here(nodes, b, input))
        return 1;
    snprintf(err, (size_t)errlen, "the keepers of nodes cannot be started: %s", strerror(errno));
    return 0;
}

/* Of a job that has ended. */
static void end_as(struct ft_board *to, struct ft_board *from)
{
    int state = atomic_load(&from->state);
    from->message[sizeof from->message - 1] = '\0';
    if (state == FT_JOB_LOST)
        (void)ft_board_give_up(to, (enum ft_reason)from->reason, from->message);
    else
        (void)ft_board_end(to, (enum ft_job_state)state, atomic_load(&from->status), from->message);
}

static int has_a_result(const struct ft_board *b)
{
    int state = atomic_load(&b->state);
    return state == FT_JOB_DONE || state == FT_JOB_FAILED || state == FT_JOB_LOST;
}

static void raise_to(_Atomic uint32_t *to, _Atomic uint32_t *from)
{
    if (atomic_load(from) > atomic_load(to))
        atomic_store(to, atomic_load(from));
}

static void kill_process(const struct ft_board_slot *s)
{
    int pid = atomic_load(&s->pid), fd = pid ? ft_proc_pidfd(pid, atomic_load(&s->start_time)) : -1;
    if (fd < 0)
        return;
    syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    close(fd);
}

/* The job goes on without this node, if it can: that is for the others' agents to decide. First
 * its processes are killed, so that no living one is taken for lost. */
static void put_out(struct ft_nodes *nodes, struct ft_board *b, int k)
{
    ft_failpoint(LAUNCHER_OUT);
    nodes->node[k].out = 1;
    b->nodes.out_ns[k] = ft_now_ns();
    for (int i = nodes->node[k].board->near_from; i < nodes->node[k].board->near_end; i++)
        if (!nodes->remote) /* on another host they end with their keeper */
            kill_process(&b->slot[i]);
    if (nodes->remote)
        ft_remote_tell_out(nodes->remote, k);
    atomic_fetch_or(&b->nodes.out, 1ull << k);
    for (int j = 0; j < nodes->n; j++) {
        struct ft_board *of = nodes->node[j].board;
        if (!nodes->remote && j == 1)
            ft_failpoint(LAUNCHER_OUT_TOLD);
        atomic_fetch_or(&of->nodes.out, 1ull << k);
        for (int i = of->near_from; i < of->near_end && !nodes->node[j].out; i++)
            ft_bell_ring(of, i);
    }
}

/* "": not known, as of virtual nodes. */
static const char *why_lost(const struct ft_nodes *nodes, int k)
{
    const char *why = nodes->remote ? ft_remote_lost(nodes->remote, k) : NULL;
    return why ? why : "";
}

/* "node1 lost, and with it rank 2, rank 3, checksum process 0 and 3 spares". */
static void tell_loss(const struct ft_nodes *nodes, const struct ft_board *b, int k,
                      void (*say)(const char *line))
{
    char line[1000], who[40];
    const char *why = why_lost(nodes, k);
    int n = snprintf(line, sizeof line,
                     *why ? "%s lost (%s), and with it" : "%s lost%s, and with it",
                     b->nodes.name[k], why),
        spares = 0;
    for (int i = nodes->node[k].board->near_from; i < nodes->node[k].board->near_end; i++) {
        uint32_t is = atomic_load(&b->slot[i].who);
        if (is >> 24 == FT_ROLE_SPARE) {
            spares++;
        } else if (atomic_load(&b->slot[i].phase) != FT_PHASE_EXITED && n < 900) {
            ft_who_format(is, who, sizeof who);
            n += snprintf(line + n, sizeof line - (size_t)n, " %s,", who);
        }
    }
    snprintf(line + n, sizeof line - (size_t)n, " %d spare%s", spares, spares == 1 ? "" : "s");
    say(line);
}

static int living(const struct ft_nodes *nodes)
{
    int n = 0;
    for (int k = 0; k < nodes->n; k++)
        n += !nodes->node[k].out;
    return n;
}

/* A job that has just begun may lose a node before ftrun has heard of the beginning: nodes say what
 * is new every 20 ms, and links may be slow. For this long the others may still say that they run.
 * What the lost one had said does not matter: [it is lost 5 ms after its processes left MPI_Init]
 * the others run only if all of its processes were there. */
#define HEARD_NS 1000000000ull

static void keeper_lost(struct ft_nodes *nodes, struct ft_board *b, int k,
                        void (*say)(const char *line))
{
    char text[1000];
    struct ft_node *node = &nodes->node[k];
    atomic_fetch_or(&b->nodes.injected, atomic_load(&node->board->nodes.injected));
    int told = strcmp(ft_setting_str(FT_SET_RECOVERY), "program") == 0,
        may = (b->nchecksums > 0 || told) && living(nodes) > 1, state = atomic_load(&b->state);
    node->lost_ns = node->lost_ns ? node->lost_ns : ft_now_ns();
    if (may && state == FT_JOB_RUNNING) {
        if (say)
            tell_loss(nodes, b, k, say);
        put_out(nodes, b, k);
        return;
    }
    if (may && state == FT_JOB_STARTING && ft_now_ns() - node->lost_ns < HEARD_NS)
        return;                        /* ft_nodes_step asks again */
    node->out = nodes->remote != NULL; /* virtual ones are still told how it ended */
    const char *name = b->nodes.name[k], *why = why_lost(nodes, k);
    why = *why ? why : "its keeper or its gateway has ended";
    if (may && state == FT_JOB_STARTING) {
        ft_reason_say(text, sizeof text, NODE_STARTING, name, why);
        (void)ft_board_give_up(b, FT_REASON_NODE_STARTING, text);
        return;
    }
    ft_reason_say(text, sizeof text, NODE_ENDED, name, why,
                  b->nchecksums > 0 || told
                      ? "no other node is left"
                      : "without checksum processes nobody has what its ranks held");
    (void)ft_board_give_up(b, FT_REASON_NODE_ENDED, text);
}

static void raise_to_u64(_Atomic uint64_t *to, uint64_t value)
{
    if (value > atomic_load(to))
        atomic_store(to, value);
}

/* What the nodes' agents say of checkpoints that are saved (F10). Each node makes the request when
 * it comes to it, so the image stays from then on. One may hear later than another that the request
 * before is over, and make another one with the same number: the one that was seen first counts. */
static void hear_of_saves(struct ft_board_save *to, struct ft_board_save *of)
{
    uint64_t asked = atomic_load(&of->asked);
    if (asked > atomic_load(&to->asked)) {
        atomic_store(&to->version, atomic_load(&of->version));
        atomic_store(&to->asked, asked);
    }
    raise_to_u64(&to->committed, atomic_load(&of->committed));
    raise_to(&to->gone_on, &of->gone_on);
    raise_to(&to->differs, &of->differs);
}

/* Images of the requested version are kept on all nodes. [A node hears of the request when it needs
 * the memory already: the writer sees that the image has gone, and gives the set up.] */
static void tell_of_saves(struct ft_board_save *to, struct ft_board_save *of)
{
    if (atomic_load(&to->asked) <= atomic_load(&of->asked)) {
        atomic_store(&to->version, atomic_load(&of->version));
        atomic_store(&to->asked, atomic_load(&of->asked));
    }
    raise_to_u64(&to->over, atomic_load(&of->over));
    raise_to(&to->held, &of->held);
    raise_to(&to->differs, &of->differs);
}

static void share_saves(struct ft_nodes *nodes, struct ft_board *b)
{
    struct ft_board_save *s = &b->save;
    for (int k = 0; k < nodes->n; k++)
        hear_of_saves(s, &nodes->node[k].board->save);
    if (atomic_load(&s->asked) != atomic_load(&s->over) &&
        atomic_load(&s->committed) >= atomic_load(&s->version))
        raise_to_u64(&s->ready, atomic_load(&s->asked));
    struct ft_say_saves news = {.version = atomic_load(&s->version),
                                .asked = atomic_load(&s->asked),
                                .over = atomic_load(&s->over),
                                .differs = atomic_load(&s->differs)};
    if (nodes->remote)
        ft_remote_tell_saves(nodes->remote, &news);
    for (int k = 0; k < nodes->n && !nodes->remote; k++)
        tell_of_saves(&nodes->node[k].board->save, s);
}

void ft_nodes_step(struct ft_nodes *nodes, struct ft_board *b, void (*say)(const char *line))
{
    if (b->save.every || b->save.from[0])
        share_saves(nodes, b);
    int heard = 0, running = 1, starting = FT_JOB_STARTING;
    for (int k = 0; k < nodes->n; k++) {
        struct ft_board *of = nodes->node[k].board;
        if (nodes->node[k].out)
            continue;
        heard += !nodes->node[k].lost_ns;
        running &= nodes->node[k].lost_ns || atomic_load(&of->state) != FT_JOB_STARTING;
        raise_to(&b->generation, &of->generation);
        raise_to(&b->rollbacks, &of->rollbacks);
        atomic_fetch_or(&b->nodes.injected, atomic_load(&of->nodes.injected));
        if (has_a_result(of))
            end_as(b, of);
    }
    if (heard && running)
        (void)atomic_compare_exchange_strong(&b->state, &starting, FT_JOB_RUNNING);
    /* after that: [all are up, a host is lost, and nobody has looked since] */
    for (int k = 0; k < nodes->n; k++) {
        int lost = nodes->remote ? ft_remote_lost(nodes->remote, k) != NULL
                                 : nodes->node[k].lost_ns && !has_a_result(b);
        if (lost && !nodes->node[k].out)
            keeper_lost(nodes, b, k, say);
    }
    for (int k = 0; k < nodes->n && has_a_result(b); k++) {
        struct ft_node *node = &nodes->node[k];
        if (node->over || node->out)
            continue;
        node->over = 1;
        end_as(node->board, b);
        if (nodes->remote)
            ft_remote_tell_end(nodes->remote, k, b);
        for (int i = node->board->near_from; i < node->board->near_end; i++)
            ft_bell_ring(node->board, i);
    }
}

int ft_nodes_reaped(struct ft_nodes *nodes, struct ft_board *b, pid_t pid,
                    void (*say)(const char *line))
{
    for (int k = 0; k < nodes->n; k++) {
        if (!pid || nodes->node[k].keeper != pid)
            continue;
        if (!nodes->remote)
            ft_nodes_step(nodes, b, say); /* [All are up, and it was not looked at since.] */
        nodes->node[k].keeper = 0;
        keeper_lost(nodes, b, k, say);
        return 1;
    }
    return 0;
}
