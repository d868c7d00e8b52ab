/* SPDX-License-Identifier: BSD-3-Clause
 *
 * board.h - the job's board: one shared object on each node. ftrun makes it, or slot 0 when there
 * is no ftrun. On it each process says who and where it is, what happened to it and how it ended.
 * No hot path uses it.
 *
 *   +--------+----------+----------+-----
 *   | job    | slot 0   | slot 1   | ...
 *   +--------+----------+----------+-----
 *
 * job: the result, by compare-and-swap on state: the first writer wins. slot i (slot.h): written by
 * the process in slot i alone, read by anyone.
 *
 * A process that dies at any instruction leaves nothing here that disturbs others: each field has
 * one writer, and an event exists once its ring's head has moved.
 */
#ifndef FT_BASE_BOARD_H
#define FT_BASE_BOARD_H

#include "base/event.h"
#include "base/link_counts.h"
#include "base/proc.h"
#include "base/reason.h"
#include "base/saved_job.h"
#include "base/slot.h"

enum ft_job_state {
    FT_JOB_STARTING = 0, /* not all processes have left MPI_Init */
    FT_JOB_RUNNING,
    FT_JOB_DONE,   /* all ranks agreed in MPI_Finalize: the library no longer recovers anything */
    FT_JOB_ENDING, /* somebody is writing `status` and `message` */
    FT_JOB_FAILED, /* the program itself failed: status is its own */
    FT_JOB_LOST,   /* the library gave the job up: status is 75 */
};

#define FT_BOARD_MAGIC 0x6472616f62746613ull /* layout version in the low byte */

struct ft_board {
    uint64_t magic;
    int32_t nslots, nranks, nchecksums, nspares; /* nslots = sum of the others */
    int32_t near_from, near_end; /* this node's slots: from, and below (near.h); set at the start */
    uint64_t t0_ns;              /* CLOCK_MONOTONIC at creation: the zero of all printed times */
    uint64_t wtime_zero_ns;      /* of MPI_Wtime: t0_ns, unless the job goes on from another one */
    int32_t launcher_pid;        /* ftrun; 0: there is none */
    _Atomic int32_t launcher_bell; /* the launcher's descriptor of its bell, a pipe; -1: none */
    /* identify that pipe; set before launcher_bell */
    uint64_t launcher_bell_dev, launcher_bell_ino;
    _Atomic int32_t state; /* enum ft_job_state */
    _Atomic int32_t status;
    uint32_t reason; /* LOST: enum ft_reason */
    _Atomic uint32_t generation, rollbacks;
    _Atomic uint32_t places_asked; /* how often all mains were asked where they are */
    /* a program has closed descriptors of the host MPI: nobody calls its MPI_Finalize */
    _Atomic int32_t host_cut_off;
    _Atomic uint32_t input_is;     /* what rank 0 has as standard input: enum ft_input_is */
    _Atomic uint32_t read_in_body; /* a message has said that rank 0 read it inside of body */
    /* here windows were accessed outside of body (P4); far: from another node: in no log (R14) */
    _Atomic uint32_t phase_rma, phase_far;
    /* homelogs.h: who has made the file (0: nobody), its descriptor there, and which file it is */
    int32_t homelogs_pid, homelogs_fd;
    struct ft_fd_file homelogs_file;
    char message[1024];
    struct ft_board_nodes nodes;
    struct ft_board_save save;
    struct ft_link_counts link[FT_NODES]; /* what this node's gateway has sent to node k */
    FT_ALIGNED_PAGE struct ft_board_slot slot[];
};

static inline size_t ft_board_bytes(int nslots)
{
    return sizeof(struct ft_board) + (size_t)nslots * sizeof(struct ft_board_slot);
}

/* Creates a board in an anonymous file. *fd stays open: the job's processes open the board as
 * /proc/<pid>/fd/<fd>. Fails with FT_ERR_SYS and errno. */
enum ft_status ft_board_create(int nranks, int nchecksums, int nspares, int launcher_pid,
                               struct ft_board **out, int *fd);
/* Maps the board that `where` names: "pid:fd" or "pid:fd@node". FT_ERR_SYS with errno; FT_ERR_ARG
 * when it is not a board of this version. Of a job on several nodes `where` lists their boards,
 * "pid:fd*end,pid:fd*end": the slots below `end` that are on no earlier node are on this one. slot:
 * the board of its node is wanted. */
enum ft_status ft_board_open(const char *where, int slot, struct ft_board **out);
/* A process on another node than the board's reports that by a line on its stderr, its only way to
 * reach the launcher. The line begins with this text; the name of its node follows. */
#define FT_BOARD_ELSEWHERE "ftrma: ftrun runs on another node than "
/* Records an event in the ring of `slot`, the calling process's own. Main and agent may call it at
 * once: they take turns by a lock private to the process. If the process dies in the middle, the
 * event does not exist. Without a launcher it also prints the event's line by ft_print: for events
 * that tell if verbose >= 1, for all if verbose >= 2. A launcher prints the lines of all processes
 * in the order of their times. If ev's time is 0 it is set, to a time later than any at which a
 * launcher has seen `recording` at 0. Rings the launcher before unread events are overwritten.
 * Never allocates. */
void ft_board_event(struct ft_board *b, int slot, int verbose, const struct ft_event *ev);
/* Reads the next event of a slot and moves *place after it; events come in order within each of the
 * slot's rings. Returns 0 when there is none yet. Events that were overwritten before they were
 * read are skipped and added to *lost. */
int ft_board_read_event(struct ft_board_slot *s, struct ft_event_place *place, struct ft_event *out,
                        uint64_t *lost);
/* Opens the arena of the process in a slot. Returns a descriptor to be closed with ft_fd_close, or
 * -1 with errno; EBADF: it is another file. The caller must check afterwards that it is still the
 * same process (ft_proc_gone). */
int ft_board_open_arena(const struct ft_board_slot *s, int flags);
/* Ends the job in two steps. Only the first begin has an effect, and returns 1: what it is given is
 * the job's. What its caller records before finish is there when others act. */
int ft_board_begin_end(struct ft_board *b, int status, enum ft_reason reason, const char *message);
void ft_board_finish_end(struct ft_board *b, enum ft_job_state state); /* below: both steps */
int ft_board_end(struct ft_board *b, enum ft_job_state state, int status, const char *message);
int ft_board_give_up(struct ft_board *b, enum ft_reason reason, const char *message);
void ft_board_ring_launcher(const struct ft_board *b); /* wakes it, if there is one */
/* An agent's bell. ft_bell_heard returns the value to pass to ft_bell_wait; call it before the last
 * look at what is waited for. ft_bell_wait sleeps until the bell was rung since then, or ms
 * milliseconds have passed. ft_bell_ring never blocks and never fails; any process of the job and
 * any thread may call it. */
uint32_t ft_bell_heard(struct ft_board *b, int slot);
void ft_bell_wait(struct ft_board *b, int slot, uint32_t heard, int ms);
void ft_bell_ring(struct ft_board *b, int slot);
/* Makes the launcher's bell. Returns the descriptor to poll for reading, or -1 with errno. */
int ft_launcher_bell(struct ft_board *b);
void ft_launcher_bell_drain(int fd);
#endif
