/* SPDX-License-Identifier: BSD-3-Clause
 *
 * board.h - the job's board: one shared object per node, made by ftrun (or by slot 0 when there is
 * no ftrun), where each process says who and where it is, what happened to it and how it ended. Not
 * on any hot way.
 *
 *   +--------+----------+----------+-----
 *   | job    | slot 0   | slot 1   | ...
 *   +--------+----------+----------+-----
 *
 * job: the result, by compare-and-swap on state: the first writer wins. slot i (slot.h): written by
 * the process in slot i alone, read by anyone.
 *
 * A process that dies at any instruction leaves nothing here that others would trip over: each
 * field has one writer, and an event exists once its ring's head has moved.
 */
#ifndef FT_BASE_BOARD_H
#define FT_BASE_BOARD_H

#include "base/event.h"
#include "base/proc.h"
#include "base/reason.h"
#include "base/saved_job.h"
#include "base/slot.h"

enum ft_job_state {
    FT_JOB_STARTING = 0, /* not all processes are through MPI_Init */
    FT_JOB_RUNNING,
    FT_JOB_DONE, /* all ranks agreed in MPI_Finalize: nothing that happens now is ours to survive */
    FT_JOB_ENDING, /* somebody is writing status and message */
    FT_JOB_FAILED, /* the program itself failed: status is its own */
    FT_JOB_LOST,   /* the library gave up: status is 75 */
};

#define FT_BOARD_MAGIC 0x6472616f6274660eull /* layout version in the low byte */

struct ft_board {
    uint64_t magic;
    int32_t nslots, nranks, nchecksums, nspares; /* nslots = sum of the others */
    uint64_t t0_ns; /* CLOCK_MONOTONIC at creation: the zero of all printed times */
    uint64_t
        wtime_zero_ns; /* the zero of MPI_Wtime: t0_ns, unless the job goes on from another one */
    int32_t launcher_pid;          /* ftrun, 0 without */
    int32_t keeper_pid;            /* holds the files of home logs; 0: nobody does */
    _Atomic int32_t launcher_bell; /* a pipe: the launcher's descriptor of it; -1: none */
    uint64_t launcher_bell_dev, launcher_bell_ino; /* which pipe; set before launcher_bell */
    _Atomic int32_t state;                         /* enum ft_job_state */
    _Atomic int32_t status;
    uint32_t reason; /* LOST: enum ft_reason */
    _Atomic uint32_t generation, rollbacks;
    _Atomic uint32_t places_asked; /* how often all mains were asked where they are */
    _Atomic int32_t host_cut_off;  /* a program has closed descriptors of the host's: nobody calls
                                      its MPI_Finalize */
    _Atomic uint32_t input_is;     /* what rank 0 has as standard input: enum ft_input_is */
    _Atomic uint32_t
        read_in_body; /* it was said that rank 0 has read standard input inside FTRMA_Run's body */
    char message[1024];
    struct ft_board_save save;
    FT_ALIGNED_LINE struct ft_board_slot slot[];
};

static inline size_t ft_board_bytes(int nslots)
{
    return sizeof(struct ft_board) + (size_t)nslots * sizeof(struct ft_board_slot);
}

/* Creates a board in an anonymous file; *fd stays open (its processes open it as
 * /proc/<pid>/fd/<fd>). FT_ERR_SYS with errno. */
enum ft_status ft_board_create(int nranks, int nchecksums, int nspares, int launcher_pid,
                               struct ft_board **out, int *fd);
/* Maps a board by its text, "pid:fd" or "pid:fd@node". FT_ERR_SYS with errno; FT_ERR_ARG when it is
 * no board of this version. */
enum ft_status ft_board_open(const char *where, struct ft_board **out);
/* Begins the line by which a process of another node than the board's says so on its stderr, the
 * only way from there to the launcher. The name of its node follows. */
#define FT_BOARD_ELSEWHERE "ftrma: ftrun runs on another node than "
/* Records an event in slot's ring (the calling process's own); safe from its main and agent threads
 * at once: they take turns by a lock private to the process, so that a death in the middle leaves
 * an event that does not exist. Without a launcher it says the line by ft_print when the event
 * tells and verbose >= 1, or when verbose >= 2; a launcher says the lines of all processes in the
 * order of their times. Sets ev's time when it is 0: later than any for which a launcher has seen
 * `recording` at 0. Rings the launcher in time before unread events are overwritten. Never
 * allocates. */
void ft_board_event(struct ft_board *b, int slot, int verbose, const struct ft_event *ev);
/* The next event of a slot, in order within each of its rings, and moves *place after it; 0 when
 * there is none yet. Events overwritten before they were read are skipped and added to *lost. */
int ft_board_read_event(struct ft_board_slot *s, struct ft_event_place *place, struct ft_event *out,
                        uint64_t *lost);
/* Opens the arena of a slot whose process is there. A descriptor to be closed with ft_fd_close, or
 * -1: errno; EBADF: the process has another file under that number. Whether it is still the same
 * process must be asked afterwards (ft_proc_gone). */
int ft_board_open_arena(const struct ft_board_slot *s, int flags);
/* The file of rank's home log, likewise. ESRCH: there is none. */
int ft_board_open_homelog(const struct ft_board *b, int rank, int flags);
/* This process holds fd for the home log of rank. Before anything is started. */
void ft_board_keep_homelog(struct ft_board *b, int rank, int fd);
/* Ends the job once, and rings the launcher: returns 1 for the caller whose state (DONE, FAILED),
 * status and message hold. */
int ft_board_end(struct ft_board *b, enum ft_job_state state, int status, const char *message);
/* The same with LOST, status 75, and the reason. */
int ft_board_give_up(struct ft_board *b, enum ft_reason reason, const char *message);
/* Wakes the launcher so that it looks at the board; no-op without one. */
void ft_board_ring_launcher(const struct ft_board *b);
/* An agent's bell. heard: what to give to wait, asked before the last look at what is waited for.
 * wait: until it was rung since, or ms milliseconds have passed. ring: never blocks, never fails;
 * any process of the job, any thread. */
uint32_t ft_bell_heard(struct ft_board *b, int slot);
void ft_bell_wait(struct ft_board *b, int slot, uint32_t heard, int ms);
void ft_bell_ring(struct ft_board *b, int slot);
/* The launcher's: makes it and returns the descriptor to poll for reading, or -1 with errno. */
int ft_launcher_bell(struct ft_board *b);
void ft_launcher_bell_drain(int fd);
#endif
