/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_job.h - entire jobs. Processes run the machines of recover/process.h, and mains
 * (sim_main.h) run a program from setup to MPI_Finalize.
 */
#ifndef FT_SIM_MODEL_JOB_H
#define FT_SIM_MODEL_JOB_H

#include "base/board.h"
#include "sim_main.h"

#define JOB_MAX 9 /* most processes of free runs */
#define JOB_GENERATIONS (JOB_MAX + 2)
#define JOB_VERSIONS 64

struct job_proc {
    struct sim_main main;
    /* timed: bits of timers that are set; 1 + the process whose death it will see */
    int32_t moving, obeying, parking, due, seeing;
    int32_t asked;             /* it was asked for its vote, and has not answered yet */
    struct ft_bitset dead;     /* the slots whose testaments the vote is to have */
    struct ft_process process; /* and what follows it in memory */
};
struct job_cost { /* timed: sums over n checkpoints, from PROPOSE until all have flipped, */
    uint64_t began, sent, under_way, n, ticks, messages; /* or recoveries, until all go on */
};
struct job_world {
    int32_t nranks, nchecksums, dues, refuses, no_run, lost, forgeries, local, diverges;
    int32_t every, parity; /* every: mains stop by themselves at each multiple of it; 0: at none */
    int32_t slow;          /* agents look at their mains some time after these have changed */
    int32_t accesses;      /* how many mains may still begin */
    int32_t node_slots;    /* processes on each node; 0: all are on one node, which is never lost */
    uint32_t node_deaths;  /* bit k: the k-th death takes its node */
    int32_t alone;         /* there is one checkpoint only, between entry and exit */
    int32_t deaths, told;  /* told: the program handles losses (G5) */
    uint64_t nodes_lost;
    struct ft_bitset lost_with_node; /* processes that were lost with their node */
    int32_t alg;                     /* enum ft_snap_alg */
    int32_t
        offs; /* how many mains may still find that they cannot go on before a snapshot is over */
    uint8_t at[16];    /* --everywhere: the place at which each of enum job_what is to happen */
    int32_t stuck;     /* how many mains may still get stuck */
    int32_t ranks_die; /* only ranks die */
    uint64_t die_at;   /* nobody dies before this safepoint */
    struct ft_bitset crashed;
    uint64_t length; /* number of safepoints in body */
    /* Counts by process, for the user. They are 0 in a search, since they are no part of the state.
     * live: replacements that went back alone, and came to where the lost process was. */
    uint64_t commits, cancels, rollbacks, snapshots, offed, live, taken_alone;
    int32_t asks,
        stream; /* --demand: how many images may still be asked for; whether it is `stream` */
    struct ft_bitset failed[JOB_GENERATIONS];
    uint32_t superseded[JOB_GENERATIONS]; /* seq of the order that LATE has ended, by generation */
    struct job_cost checkpoint, recovery;
    /* Then come, by rank: image[JOB_VERSIONS], the safepoint of its cut; reached, the last
     * safepoint that others may have seen it at. By generation and process: adopted, a hash of the
     * decision, 0: none; said, the newest order that it has answered. Then the processes. */
};
static inline struct job_world *job_world(const struct sim *s)
{
    return (struct job_world *)s->world;
}
size_t job_images_bytes(const struct sim_options *o);
static inline size_t job_proc_bytes(const struct sim_options *o)
{
    size_t n = (size_t)o->n;
    return (sizeof(struct job_proc) + n * (4 * sizeof(int32_t) + sizeof(struct ft_fate)) +
            (o->timed ? 0 : n * sizeof(struct ft_heir)) + (o->alg ? ft_snap_bytes(o->n) : 0) +
            job_images_bytes(o) + 15) &
           ~(size_t)7;
}
static inline uint64_t *job_image(const struct sim *s, int rank, uint64_t version)
{
    return (uint64_t *)(s->world + sizeof(struct job_world)) + (size_t)rank * JOB_VERSIONS +
           version;
}
static inline uint64_t *job_reached(const struct sim *s, int rank)
{
    return job_image(s, s->o.n, 0) + rank;
}
static inline uint64_t *job_adopted(const struct sim *s, uint32_t g, int p)
{
    return job_reached(s, s->o.n) + (size_t)g * (size_t)s->o.n + p;
}
static inline uint32_t *job_said(const struct sim *s, uint32_t g, int p)
{
    return (uint32_t *)job_adopted(s, JOB_GENERATIONS, 0) + (size_t)g * (size_t)s->o.n + p;
}
static inline size_t job_procs_at(int n)
{
    size_t m = (size_t)n;
    return (sizeof(struct job_world) + m * (JOB_VERSIONS + 1 + JOB_GENERATIONS) * 8 +
            m * JOB_GENERATIONS * 4 + 7) &
           ~(size_t)7;
}
static inline struct job_proc *job_proc(const struct sim *s, int p)
{
    return (struct job_proc *)(s->world + job_procs_at(s->o.n) + (size_t)p * job_proc_bytes(&s->o));
}
static inline struct ft_process *job_process(const struct sim *s, int p)
{
    return &job_proc(s, p)->process;
}
/* The rank that p carries by its own mapping; -1: none. */
static inline int job_rank(const struct sim *s, int p)
{
    int pos = job_process(s, p)->carrier.pos;
    return pos < job_world(s)->nranks ? pos : -1;
}

/* Configuration of the job under way. job_cfg_of: that of process `self`; it is valid until the
 * next call. */
const struct ft_groups *job_groups(void);
const struct ft_process_cfg *job_cfg(void);
const struct ft_process_cfg *job_cfg_of(int self);

#endif
