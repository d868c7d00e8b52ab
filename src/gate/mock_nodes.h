/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mock_nodes.h - for tests: several nodes in one process, each with its board and its gateway, over
 * a simulated network. The test plays the processes and says whose turn it is.
 */
#ifndef FT_GATE_MOCK_NODES_H
#define FT_GATE_MOCK_NODES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gate/gateway.h"
#include "transport/transport.h"
#include "wire/wire_net.h"

#define MOCK_NODES 4 /* at most */
#define MOCK_UNREACHABLE 50000000
#define MOCK_FIRST 200000000
#ifndef MOCK_ARENA
#define MOCK_ARENA (16ull << 20) /* bytes of an arena */
#endif

static struct mock_nodes {
    uint64_t seed, now;
    struct ft_prng rng;
    struct ft_wire_net *net;
    int n, slots;
    struct ft_board *board[MOCK_NODES];
    int fd[MOCK_NODES];
    struct ft_gate *gate[MOCK_NODES];
} m;

#define HOLDS(x)                                                                              \
    do {                                                                                      \
        if (!(x))                                                                             \
            fail_msg("FTRMA_TEST_SEED=%llu: %s:%d: %s", (unsigned long long)m.seed, __FILE__, \
                     __LINE__, #x);                                                           \
    } while (0)

static inline uint64_t mock_seed(void)
{
    const char *given = getenv("FTRMA_TEST_SEED");
    return given && *given ? strtoull(given, NULL, 0) : ft_now_ns();
}

/* Node k has the slots from end[k - 1] to end[k]. faults: [n], or NULL: connections do not break by
 * themselves. again_ns: how long a gateway waits before it dials again. */
static inline void mock_begin(int n, const int *end, uint64_t seed,
                              const struct ft_wire_weather *weather, struct ft_wire_faults *faults,
                              uint64_t again_ns)
{
    m = (struct mock_nodes){
        .seed = seed, .rng = {.s = seed}, .now = 1000000000, .n = n, .slots = end[n - 1]};
    HOLDS((m.net = ft_wire_net_make(n, seed)) != NULL);
    *ft_wire_net_weather(m.net) = *weather;
    for (int k = 0; k < n; k++) {
        HOLDS(ft_board_create(m.slots, 0, 0, 0, &m.board[k], &m.fd[k]) == FT_OK);
        m.board[k]->near_from = k ? end[k - 1] : 0;
        m.board[k]->near_end = end[k];
        m.board[k]->nodes.n = n;
        memcpy(m.board[k]->nodes.end, end, (size_t)n * sizeof *end);
        if (faults)
            faults[k] =
                (struct ft_wire_faults){.inner = &ft_wire_mem, .rng = {.s = seed + (uint64_t)k}};
        struct ft_gate_config cfg = {.board = m.board[k],
                                     .ops = faults ? &ft_wire_fault : &ft_wire_mem,
                                     .wire = {.self = k,
                                              .nnodes = n,
                                              .again_ns = again_ns,
                                              .net = m.net,
                                              .faults = faults ? &faults[k] : NULL},
                                     .unreachable_ns = MOCK_UNREACHABLE,
                                     .first_ns = MOCK_FIRST,
                                     .arena_bytes = MOCK_ARENA,
                                     .arena_dir = "memfd"};
        HOLDS(ft_gate_open(&cfg, &m.gate[k]) == FT_OK);
    }
}

/* A process is there. */
static inline void mock_enter(int node, int slot, struct ft_arena *arena, struct ft_tp *tp)
{
    struct ft_board_slot *me = &m.board[node]->slot[slot];
    HOLDS(ft_arena_create(arena, slot, m.slots, MOCK_ARENA, "memfd") == FT_OK);
    HOLDS(ft_tp_open(tp, "shm", arena, m.board[node], slot) == FT_OK);
    atomic_store(&me->start_time, ft_proc_start_time(getpid()));
    atomic_store(&me->pid, getpid());
    me->arena_file = arena->file;
    atomic_store(&me->arena_fd, arena->fd);
}

static inline void mock_step(int node, uint64_t ns)
{
    m.now += ns;
    if (ft_gate_step(m.gate[node], m.now) < 0)
        fail_msg("FTRMA_TEST_SEED=%llu: gate %d: %s", (unsigned long long)m.seed, node,
                 ft_gate_why(m.gate[node]));
}

/* First the gateways, then each process, then the boards. */
static inline void mock_stop(void)
{
    for (int k = 0; k < m.n; k++)
        ft_gate_close(m.gate[k]);
    ft_wire_net_drop(m.net);
}

static inline void mock_leave(struct ft_arena *arena, struct ft_tp *tp)
{
    ft_tp_close(tp);
    ft_arena_destroy(arena);
}

static inline void mock_end(void)
{
    for (int k = 0; k < m.n; k++) {
        munmap(m.board[k], ft_board_bytes(m.slots));
        close(m.fd[k]);
    }
}

#endif
