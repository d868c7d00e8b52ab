/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_snapshot.h - processes that put and get while snapshots are taken (src/proto/snapshot.h): the world that the model keeps
 * and its checkers read.
 */
#ifndef FT_SIM_MODEL_SNAPSHOT_H
#define FT_SIM_MODEL_SNAPSHOT_H

#include "proto/snapshot.h"
#include "sim.h"

enum snap_kind { SNAP_PUT, SNAP_GET };
enum snap_state { SNAP_NONE, SNAP_SENT, SNAP_HELD, SNAP_READ, SNAP_PUT_OFF, SNAP_DONE };
/* The cut that something belongs to is told by how many images its process had taken: *_at. */
struct snap_op {
    uint8_t kind, state;
    uint8_t in_image; /* put: recorded as channel state of the target. Get: its request is in the target's image */
    uint8_t pad;
    int32_t source, target;
    uint32_t sent_at; /* at the source: put or request issued */
    uint32_t read_at; /* at the target: read or written */
    uint32_t done_at; /* at the source: data used */
};
struct snap_world {
    int32_t nops, touched;                 /* op that the last step ended, -1: none */
    uint64_t markers[FT_SNAP_FLUSHED + 1]; /* sent, by kind */
    uint64_t pairs;                        /* g: flushed for pending gets */
    uint64_t overlaps, crosses, recorded, held, put_off;
    uint64_t began, ended, waiting; /* timed: the last wave; sum over processes of the time without one-sided traffic */
    int32_t waves;                  /* begun by a start that was not in vain */
    struct snap_op op[];            /* n * ops, those of a process together; then left[n], a byte each; then the machines */
};

static inline struct snap_world *snap_world(const struct sim *s) { return (struct snap_world *)s->world; }
static inline size_t snap_left_at(const struct sim_options *o)
{
    return sizeof(struct snap_world) + (size_t)o->n * (size_t)o->ops * sizeof(struct snap_op);
}
static inline uint8_t *snap_left(const struct sim *s, int p) { return s->world + snap_left_at(&s->o) + p; }
static inline struct ft_snap *snap_machine(const struct sim *s, int p)
{
    size_t at = (snap_left_at(&s->o) + 2 * (size_t)s->o.n + 7) & ~(size_t)7;
    return (struct ft_snap *)(s->world + at + (size_t)p * ((ft_snap_bytes(s->o.n) + 7) & ~(size_t)7));
}

extern const struct sim_checker sim_check_gets, sim_check_puts, sim_check_waves; /* check_snapshot.c */

#endif
