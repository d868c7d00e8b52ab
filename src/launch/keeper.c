/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper.c - the gateway and the processes of one node.
 */
#define _GNU_SOURCE 1
#include "launch/keeper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "base/proc.h"
#include "base/settings.h"
#include "wire/wire_net.h"

#define AGAIN_NS 1000000000ull
#define SILENT_NS 60000000000ull /* without leases: both ends are on this machine */

int ft_keeper_listen(const char *address, char *out, size_t size)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    if (inet_pton(AF_INET, address, &a.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, FT_NODES) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) != 0) {
        int e = errno;
        if (fd >= 0)
            close(fd);
        errno = e;
        return -1;
    }
    snprintf(out, size, "%s:%d", address, ntohs(a.sin_port));
    return fd;
}

uint64_t ft_keeper_lease_ns(void)
{
    int64_t ms = 0;
    FT_ASSERT(ft_setting_i64(FT_SET_LEASE, &ms, NULL, 0) == FT_OK);
    return (uint64_t)ms * 1000000;
}

int ft_keeper_start_ms(void)
{
    int64_t ms = 0;
    FT_ASSERT(ft_setting_i64(FT_SET_START_TIMEOUT, &ms, NULL, 0) == FT_OK);
    return ms == 0 ? -1 : ms > INT_MAX ? INT_MAX : (int)ms;
}

void ft_keeper_depend_on(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(1);
}

/* Of --inject: what concerns this process, which is no process of the program. */
static void arm(struct ft_board *b, enum ft_role role, int node)
{
    ft_fp_on_node(b, node);
    ft_fp_set_last_hit(NULL, NULL, &b->nodes.injected);
    (void)ft_fp_arm(ft_setting_str(FT_SET_INJECT), role, node, 0); /* it was checked */
}

_Noreturn static void be_gateway(const struct ft_keeper_gateway *k)
{
    struct ft_gate *gate;
    int64_t size = 0;
    const char *faulty = ft_setting_str(FT_SET_WIRE_FAULTS);
    struct ft_wire_faults faults = {.inner = NULL};
    int on = 0, start = ft_keeper_start_ms();
    FT_ASSERT(ft_setting_i64(FT_SET_ARENA_SIZE, &size, NULL, 0) == FT_OK); /* it was checked */
    FT_ASSERT(!*faulty || ft_wire_faults_read(faulty, k->self, &faults, &on));
    faults.inner = &ft_wire_sock;
    faults.rng.s = strtoull(ft_setting_str(FT_SET_TEST_SEED), NULL, 0) + (uint64_t)k->self;
    struct ft_gate_config cfg = {
        .board = k->board,
        .ops = on ? &ft_wire_fault : &ft_wire_sock,
        .wire = {.self = k->self,
                 .nnodes = k->board->nodes.n,
                 .secret = k->secret,
                 .again_ns = AGAIN_NS,
                 .silent_ns = k->lease_ns ? ft_max_u64(k->lease_ns / 2, AGAIN_NS) : SILENT_NS,
                 .address = k->address,
                 .listener = 1 + k->listener,
                 .faults = on ? &faults : NULL},
        .unreachable_ns = k->lease_ns ? k->lease_ns / 2 : UINT64_MAX,
        .first_ns = start < 0 ? UINT64_MAX : (uint64_t)start * 1000000,
        .arena_bytes = ft_align_up((uint64_t)size, 1 << 21),
        .arena_dir = ft_setting_str(FT_SET_ARENA_DIR)};
    if (ft_gate_open(&cfg, &gate) == FT_OK)
        ft_gate_run(gate);
    else
        fprintf(stderr, "ftrma: the gateway of node %d cannot start: %s\n", k->self,
                strerror(errno));
    _exit(1);
}

pid_t ft_keeper_gateway(const struct ft_keeper_gateway *k)
{
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        ft_keeper_depend_on(self);
        atomic_store(&k->board->nodes.gateway_pid, getpid());
        arm(k->board, FT_ROLE_GATEWAY, k->self);
        be_gateway(k);
    }
    return pid;
}

/* ---- the node's processes ---- */

void ft_keeper_begin(struct ft_keeper *k, struct ft_board *b)
{
    k->b = b;
    k->n = b->near_end - b->near_from;
    atomic_store(&b->nodes.keeper_pid, getpid());
    arm(b, FT_ROLE_KEEPER, ft_board_node_of(b, b->near_from));
    for (int i = 0; i < k->n; i++)
        k->p[i] = (struct pollfd){.fd = -1, .events = POLLIN};
}

/* Whether a process of this node has ended without a word. */
static int has_ended(struct ft_board *b, int slot)
{
    struct ft_board_slot *s = &b->slot[slot];
    int pid = atomic_load(&s->pid), state = atomic_load(&b->state);
    uint64_t start = atomic_load(&s->start_time);
    if (state != FT_JOB_RUNNING || !pid || !start || atomic_load(&s->ended) ||
        ft_proc_gone(pid, start) <= 0)
        return 0;
    return atomic_load(&s->phase) != FT_PHASE_EXITED; /* read when it could say no more */
}

/* It died before it could show its arena: the others would wait for it. [On its own node all others
 * have started by now, and its end is known: other nodes have never heard of it.] */
static int died_starting(struct ft_board *b, int slot)
{
    struct ft_board_slot *s = &b->slot[slot];
    int pid = atomic_load(&s->pid), phase = atomic_load(&s->phase);
    uint64_t start = atomic_load(&s->start_time);
    int state = atomic_load(&b->state);
    if ((state != FT_JOB_STARTING && state != FT_JOB_RUNNING) || !pid || !start ||
        phase < FT_PHASE_INIT || phase == FT_PHASE_EXITED || ft_proc_gone(pid, start) <= 0)
        return 0;
    return atomic_load(&s->arena_fd) < 0; /* read when it could do no more */
}

static void give_up_start(struct ft_board *b, int slot)
{
    char text[600];
    int node = ft_board_node_of(b, slot);
    ft_reason_say(text, sizeof text, DIED_STARTING, slot, (int)atomic_load(&b->slot[slot].pid),
                  b->nodes.name[node]);
    (void)ft_board_give_up(b, FT_REASON_DIED_STARTING, text);
}

static void close_at(struct pollfd *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

void ft_keeper_look(struct ft_keeper *k)
{
    for (int i = 0; i < k->n; i++) {
        struct ft_board_slot *s = &k->b->slot[k->b->near_from + i];
        int pid = atomic_load(&s->pid);
        uint64_t start = atomic_load(&s->start_time);
        if (died_starting(k->b, k->b->near_from + i))
            give_up_start(k->b, k->b->near_from + i);
        if (has_ended(k->b, k->b->near_from + i)) {
            if (!atomic_load(&s->died_of))
                atomic_store(&s->died_of, (uint32_t)ft_proc_signal(pid, k->p[i].fd));
            close_at(&k->p[i]);
            ft_failpoint(KEEPER_ENDED);
            atomic_store(&s->ended, 1);
        } else if (k->p[i].fd < 0 && pid && start && atomic_load(&s->arena_fd) >= 0 &&
                   !atomic_load(&s->ended)) {
            k->p[i].fd = ft_proc_pidfd(pid, start);
        } else if (k->p[i].fd >= 0 && k->p[i].revents) {
            close_at(&k->p[i]); /* in order: nobody is to be told */
        }
    }
}
