/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gateway.h - the gateway of a node: all that goes between the node's processes and those of other
 * nodes goes through it. Nothing is mapped over the border between two nodes.
 *
 * For each process of another node the gateway has a *stand-in*: an arena of its own, in the entry
 * of that process on this node's board. To the processes of this node the stand-in is that process:
 * they announce channels and leave mails there, and read there what it says. The gateway carries
 * both over the wire (src/wire): what a stand-in is told goes to the other node, where the stand-in
 * of the teller says it.
 *
 * What crosses: channels (relay.h), accesses to windows and what a replay reads of put logs
 * (accesses.h), mails between agents, single words (mirror.h), sums of images (fetch.h), that a
 * process is there, and that it has ended, with its testament.
 *
 * A node that the board says is out does not exist any more: its connections are closed, and what
 * has come of it and was not applied is dropped.
 *
 * Nothing blocks. All calls come from one thread.
 */
#ifndef FT_GATE_GATEWAY_H
#define FT_GATE_GATEWAY_H

#include "base/board.h"
#include "wire/wire.h"

struct ft_gate_config {
    struct ft_board *board; /* of this node. Its `nodes` says which slots are on which node */
    const struct ft_wire_ops *ops;
    struct ft_wire_config wire; /* self: this node */
    uint64_t arena_bytes;       /* as all arenas of the job */
    uint64_t unreachable_ns;    /* a node is unreachable after this time without a connection */
    uint64_t first_ns; /* and after this time, if it is longer, if there never was one: it starts */
    const char *arena_dir;
};

struct ft_gate;
/* FT_ERR_NOMEM; FT_ERR_SYS with errno: no arena, or as ft_wire_open. */
enum ft_status ft_gate_open(const struct ft_gate_config *cfg, struct ft_gate **out);
void ft_gate_close(struct ft_gate *g);
/* Carries on what is there. 1: something was; 0: nothing was; -1: it cannot go on, see why. */
int ft_gate_step(struct ft_gate *g, uint64_t now_ns);
const char *ft_gate_why(const struct ft_gate *g);
int ft_gate_fd(const struct ft_gate *g); /* something has come: for poll; -1: as ft_wire_fd */
/* Steps until it cannot go on, and says why on stderr. Sleeps when nothing happens, and wakes
 * when something comes over the wire or a process of its node rings (doze.h). Few words change
 * without a ring, as when a process has ended, and it looks for these each 0.5 to 4 ms. */
void ft_gate_run(struct ft_gate *g);

#endif
