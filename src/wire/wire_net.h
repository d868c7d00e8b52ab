/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire_net.h - the network between the nodes of a test: that of the provider mem, and the faults of
 * the provider fault.
 */
#ifndef FT_WIRE_WIRE_NET_H
#define FT_WIRE_WIRE_NET_H

#include <stdint.h>

#include "base/prng.h"
#include "wire/wire.h"

struct ft_wire_net;

/* May be changed at any time. */
struct ft_wire_weather {
    uint64_t delay_ns, jitter_ns; /* of each packet; the jitter is drawn */
    unsigned lost_in; /* one packet in this many is lost, and its connection breaks; 0: none */
    int reorders;     /* packets overtake each other within the jitter */
    /* an end gives a connection up when nothing has come through a cut for this time */
    uint64_t patience_ns;
};

struct ft_wire_net *ft_wire_net_make(int nnodes, uint64_t seed); /* NULL: no memory */
void ft_wire_net_drop(struct ft_wire_net *net);                  /* after its wires */
struct ft_wire_weather *ft_wire_net_weather(struct ft_wire_net *net);
/* Nothing gets from one node to another any more. on = 0: it does again, including what was held
 * up. */
void ft_wire_net_cut(struct ft_wire_net *net, int from, int to, int on);

/* For one wire. `inner` is set before it is opened; the rest may be changed at any time. */
struct ft_wire_faults {
    const struct ft_wire_ops *inner;
    struct ft_prng rng;
    /* Each connection is cut in one of this many polls; polls of the same 10 us count once. 0:
     * never. */
    unsigned cut_in;
    unsigned slow_in; /* a busy link accepts nothing before the next poll. It is busy in all but one
                       of this many cases, after each poll and each packet; 0: never */
    uint64_t cuts;    /* how many connections were cut */
    uint64_t delay_ns; /* of each packet that this wire sends, whatever comes the other way */
    struct ft_wire_late *late; /* the provider's: what is delayed */
};

/* Reads "delay=MS,cut=N,slow=N,from=K", in any order and number. 1; 0: it is none of these. *on: it
 * is for this node. */
int ft_wire_faults_read(const char *text, int self, struct ft_wire_faults *out, int *on);

#endif
