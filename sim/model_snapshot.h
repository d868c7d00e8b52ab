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
    SNAP_M_NO_HOLD = 1,  /* delay: answers while in the wave */
    SNAP_M_NO_PEEK,      /* peek: uses what it finds */
    SNAP_M_LATE_IMAGE,   /* partial: image with the last marker, whoever came first */
    SNAP_M_UNTRACKED,    /* peek, double, partial: nobody waits for its own gets */
    SNAP_M_NO_RECORD,    /* what arrives ahead of a marker is not recorded */
    SNAP_M_LOST_MARKER,  /* the last process never gets the one of the first */
    SNAP_M_EARLY_COUNT,  /* the root counts an image set when its own wave is over */
    SNAP_M_TAKEN,        /* an image is said to be whole when it is taken, channel state or not */
    SNAP_M_LATE_COMMIT,  /* between vote and adoption a commit still counts */
    SNAP_M_SAME_WAVE,    /* survivors go on in the wave of the old generation */
    SNAP_M_OLD_TRAFFIC,  /* messages of an older generation are not dropped */
    SNAP_M_EARLY_RESUME, /* a process goes on when it has restored, not when all have */
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
    } image[2];                 /* by version mod 2; crashes only */
};
enum snap_bit {
    SNAP_B_ISSUED = 1,
    SNAP_B_USED = 2,
    SNAP_B_APPLIED = 4,
    SNAP_B_RECORDED = 8,
    SNAP_B_HELD = 16
};
/* Crashes (snap_lives): what a process knows beside its machine. */
struct snap_life {
    uint32_t generation, flipped; /* flipped: version of the newest image set that counts */
    uint32_t base;                /* version that this generation began with */
    uint8_t ending, voted, parked, pad;
    struct {
        uint32_t version, generation;
    } image[2]; /* what its images are */
};
struct snap_world {
    int32_t nops, touched;                 /* op that the last step ended, -1: none */
    uint64_t markers[FT_SNAP_FLUSHED + 1]; /* sent, by kind */
    uint64_t pairs;                        /* g: flushed for pending gets */
    uint64_t overlaps, crosses, recorded, held, put_off;
    uint64_t began, ended, waiting; /* timed: the last wave; sum over processes of the time without
                                       one-sided traffic */
    int32_t waves;                  /* begun by a start that was not in vain */
    /* crashes: the newest decision, and how far it has come; what the root has heard of */
    uint32_t generation, version;
    int32_t ballot; /* 0 none, 1 open, 2 decided */
    int32_t lost;   /* nobody is left */
    uint64_t ready, flips, given_up;
    struct snap_op op[]; /* n * ops, those of a process together; then left[n], a byte each;
                            life[n]; the machines */
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
static inline size_t snap_lives_at(const struct sim_options *o)
{
    return (snap_left_at(o) + 2 * (size_t)o->n + 7) & ~(size_t)7;
}
static inline struct snap_life *snap_life(const struct sim *s, int p)
{
    return (struct snap_life *)(s->world + snap_lives_at(&s->o)) + p;
}
static inline size_t snap_machines_at(const struct sim_options *o)
{
    return (snap_lives_at(o) + (size_t)o->n * sizeof(struct snap_life) + 7) & ~(size_t)7;
}
static inline size_t snap_machine_bytes(int n) { return (ft_snap_bytes(n) + 7) & ~(size_t)7; }
static inline struct ft_snap *snap_machine(const struct sim *s, int p)
{
    return (struct ft_snap *)(s->world + snap_machines_at(&s->o) +
                              (size_t)p * snap_machine_bytes(s->o.n));
}

/* --- messages --- */
enum {
    SNAP_MSG_MARKER,
    SNAP_MSG_PUT,
    SNAP_MSG_REQUEST,
    SNAP_MSG_DATA,
    SNAP_MSG_READY,  /* to the root: the image of version `taken` is whole */
    SNAP_MSG_COMMIT, /* from it: that image set counts */
    SNAP_MSG_FLIPPED /* to it: known here */
};
struct snap_msg {
    uint32_t kind, what; /* MARKER: enum ft_snap_marker. PUT, REQUEST, DATA: the op */
    uint32_t
        taken; /* DATA: images of the target when it was read. READY, COMMIT, FLIPPED: version */
    uint32_t generation;
};
void snap_send(struct sim *s, int from, int to, uint32_t kind, int what, uint32_t taken);
void snap_take_up(
    struct sim *s,
    int p); /* answers what was held, issues what was put off, where the machine lets it */

/* --- model_lives.c: deaths. A wave is given up with its generation, all go back to the newest
 * image set that counts --- */
static inline int snap_lives(const struct sim *s) { return s->o.crashes > 0 && !s->o.timed; }
static inline uint32_t snap_version(const struct sim *s, int p)
{
    return snap_life(s, p)->base + snap_machine(s, p)->wave;
}
void snap_image(struct sim *s, int p);                             /* p takes its image */
void snap_record(struct sim *s, int p, int op, enum snap_bit bit); /* channel state of p's image */
void snap_whole(struct sim *s, int p);                             /* the wave is over at p */
int snap_hears(struct sim *s, int p, int from,
               struct snap_msg *msg);           /* 1: nothing more is to be done about it */
int snap_goes_on(const struct sim *s, int p);   /* the program of p may run */
int snap_may_start(const struct sim *s, int p); /* the next wave may begin */
void snap_can(struct sim *s, struct sim_choices *out,
              int act_votes);                 /* act_votes, + 1: adopts, + 2: resumes */
void snap_act(struct sim *s, int p, int act); /* 0 votes, 1 adopts, 2 resumes */
void snap_crashed(struct sim *s, int p);
void snap_check_counted(struct sim *s, int p,
                        uint32_t version); /* check_snapshot.c: an image set counts from now on */

extern const struct sim_checker sim_check_gets, sim_check_puts,
    sim_check_waves; /* check_snapshot.c */

#endif
