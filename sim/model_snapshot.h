/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_snapshot.h - processes that put and get while snapshots are taken (src/proto/snapshot.h):
 * the world that the model keeps and its checkers read.
 */
#ifndef FT_SIM_MODEL_SNAPSHOT_H
#define FT_SIM_MODEL_SNAPSHOT_H

#include "proto/snapshot.h"
#include "sim.h"

enum snap_mutant {
    SNAP_M_NO_HOLD = 1, /* delay: answers while in the wave */
    SNAP_M_NO_PEEK,     /* peek: uses what it finds */
    SNAP_M_LATE_IMAGE,  /* partial: image with the last marker, whoever came first */
    SNAP_M_UNTRACKED,   /* peek, double, partial: nobody waits for its own gets */
    SNAP_M_NO_RECORD,   /* what arrives ahead of a marker is not recorded */
    SNAP_M_LOST_MARKER, /* the last process never gets the one of the first */
    SNAP_M_EARLY_COUNT, /* an image set counts when the wave is over at process 0 */
    SNAP_M_TAKEN,       /* an image is said to be whole when it is taken, channel state or not */
};

enum snap_kind { SNAP_PUT, SNAP_GET };
enum snap_state { SNAP_NONE, SNAP_SENT, SNAP_HELD, SNAP_READ, SNAP_PUT_OFF, SNAP_DONE };
/* The cut that something belongs to is told by how many images its process had taken: *_at. */
struct snap_op {
    uint8_t kind, state;
    uint8_t in_image; /* put: recorded as channel state of the target. Get: its request is in the
                         target's image */
    uint8_t pad;
    int32_t source, target;
    uint32_t sent_at; /* at the source: put or request issued */
    uint32_t read_at; /* at the target: read or written */
    uint32_t done_at; /* at the source: data used */
    uint8_t applied;  /* put: how often, at the target */
    struct {
        uint8_t source, target; /* enum snap_bit: what the image of each says of it */
    } image[2];                 /* by wave mod 2; snap_counts only */
};
enum snap_bit {
    SNAP_B_ISSUED = 1,
    SNAP_B_USED = 2,
    SNAP_B_APPLIED = 4,
    SNAP_B_RECORDED = 8,
    SNAP_B_HELD = 16
};
struct snap_world {
    int32_t nops, touched;                 /* op that the last step ended, -1: none */
    uint64_t markers[FT_SNAP_FLUSHED + 1]; /* sent, by kind */
    uint64_t pairs;                        /* g: flushed for pending gets */
    uint64_t overlaps, crosses, recorded, held, put_off;
    uint64_t began, ended, waiting; /* timed: the last wave; sum over processes of the time without
                                       one-sided traffic */
    int32_t waves;                  /* begun by a start that was not in vain */
    /* snap_counts: image sets that count; whose image of the next one is whole */
    uint32_t counted, pad;
    uint64_t whole;
    struct snap_op op[]; /* n * ops, those of a process together; then left[n], a byte each;
                            versions[n][2]; the machines */
};

static inline struct snap_world *snap_world(const struct sim *s)
{
    return (struct snap_world *)s->world;
}
static inline size_t snap_left_at(const struct sim_options *o)
{
    return sizeof(struct snap_world) + (size_t)o->n * (size_t)o->ops * sizeof(struct snap_op);
}
static inline uint8_t *snap_left(const struct sim *s, int p)
{
    return s->world + snap_left_at(&s->o) + p;
}
static inline size_t snap_versions_at(const struct sim_options *o)
{
    return (snap_left_at(o) + 2 * (size_t)o->n + 7) & ~(size_t)7;
}
/* snap_counts: of which waves p's two images are. */
static inline uint32_t *snap_versions(const struct sim *s, int p)
{
    return (uint32_t *)(s->world + snap_versions_at(&s->o)) + 2 * p;
}
static inline size_t snap_machines_at(const struct sim_options *o)
{
    return snap_versions_at(o) + (size_t)o->n * 2 * sizeof(uint32_t);
}
static inline size_t snap_machine_bytes(int n) { return (ft_snap_bytes(n) + 7) & ~(size_t)7; }
static inline struct ft_snap *snap_machine(const struct sim *s, int p)
{
    return (struct ft_snap *)(s->world + snap_machines_at(&s->o) +
                              (size_t)p * snap_machine_bytes(s->o.n));
}

/* --- messages --- */
enum { SNAP_MSG_MARKER, SNAP_MSG_PUT, SNAP_MSG_REQUEST, SNAP_MSG_DATA };
struct snap_msg {
    uint32_t kind, what; /* MARKER: enum ft_snap_marker. PUT, REQUEST, DATA: the op */
    uint32_t taken;      /* DATA: images of the target when it was read */
};

/* --- model_sets.c: which image sets count --- */
#define SNAP_SETS 3 /* --property */
static inline int snap_counts(const struct sim *s)
{
    return s->o.property == SNAP_SETS && !s->o.timed;
}
void snap_image(struct sim *s, int p);                             /* p takes its image */
void snap_record(struct sim *s, int p, int op, enum snap_bit bit); /* channel state of p's image */
void snap_whole(struct sim *s, int p);          /* p's image and channel state are whole */
int snap_may_start(const struct sim *s, int p); /* the next wave may begin */
void snap_check_counted(struct sim *s, uint32_t version); /* check_snapshot.c: it counts now */

extern const struct sim_checker sim_check_gets, sim_check_puts,
    sim_check_waves; /* check_snapshot.c */

#endif
