/* SPDX-License-Identifier: BSD-3-Clause
 *
 * board.h - the job's board: one shared object per node, made by ftrun (or by slot 0 when there is no ftrun), where each
 * process says who and where it is, what happened to it and how it ended. Not on any hot way.
 *
 *   +--------+----------+----------+-----
 *   | job    | slot 0   | slot 1   | ...      job: result by compare-and-swap on state, first writer wins
 *   +--------+----------+----------+-----     slot i: written by the process in slot i alone, read by anyone
 *
 * A process that dies at any instruction leaves nothing here that others would trip over: each field has one writer, and an
 * event exists once its ring's head has moved.
 */
#ifndef FT_BASE_BOARD_H
#define FT_BASE_BOARD_H

#include "base/base.h"
#include "base/fds.h"
#include "base/life.h"
#include "base/note.h"

enum ft_event_kind {
#define FT_EVENT(id, name, fmt, tell, routine) FT_EV_##id,
#include "base/event.def"
#undef FT_EVENT
    FT_EV_COUNT
};

struct ft_event_info {
    const char *name, *fmt;
    int tell, routine;
};
extern const struct ft_event_info ft_event_table[FT_EV_COUNT];

/* Who, in events: role in the high byte, index in the low ones; FT_WHO_NONE for nobody in particular. */
#define FT_WHO(role, index) (((uint32_t)(role) << 24) | ((uint32_t)(index) & 0xffffff))
#define FT_WHO_NONE 0xffffffffu

struct ft_event {
    uint64_t t_ns;   /* CLOCK_MONOTONIC when it was recorded (its end, if it has a duration) */
    uint64_t dur_ns; /* 0: an instant */
    uint32_t kind;   /* enum ft_event_kind */
    uint32_t who;    /* FT_WHO */
    int64_t a, b, c; /* as the format says; INJECTED: a = failpoint id; CKPT_SKIPPED: b = enum ft_skip_reason; FALLBACK: a = enum
                        ft_fallback */
};

enum ft_skip_reason {
    FT_SKIP_NONE = 0,
    FT_SKIP_REQUESTS,
    FT_SKIP_LOCKS,
    FT_SKIP_OBJECTS,
    FT_SKIP_WAITING,
    FT_SKIP_FAILURE,
    FT_SKIP_NOMEM,
    FT_SKIP_DIVERGED, /* the largest: all go back, whatever others have to say */
};
const char *ft_skip_reason_string(int reason);

/* Why all ranks go back, though only some were lost. */
#define FT_FALLBACKS(X)                                                                                                        \
    X(EXPOSED, "exposed")                                                                                                      \
    X(SEVERAL, "several ranks lost")                                                                                           \
    X(DIVERGED, "replay diverged")                                                                                             \
    X(ASKED, "--recovery global")                                                                                              \
    X(NO_LOGS, "no logs")                                                                                                      \
    X(UNDER_WAY, "rollback under way")                                                                                         \
    X(SHARED, "a shared window")
enum ft_fallback {
    FT_FALLBACK_NONE = 0,
#define FT_FALLBACK_ID(id, text) FT_FALLBACK_##id,
    FT_FALLBACKS(FT_FALLBACK_ID)
#undef FT_FALLBACK_ID
};
const char *ft_fallback_string(int reason);

/* A slot's last events, those that are routine in a ring of their own. One writer at a time (the process's threads take turns, see
 * ft_board_event), any number of readers: a reader copies ev[i % FT_EVENT_RING] for i < head and then checks that head < i +
 * FT_EVENT_RING, else it came too late. */
#define FT_EVENT_RING 512
struct ft_event_ring {
    FT_ALIGNED_LINE _Atomic uint64_t head; /* events ever recorded */
    struct ft_event ev[FT_EVENT_RING];
};
struct ft_event_place { /* how far a reader is, in each ring */
    uint64_t next[2];
};

/* One output stream (0 stdout, 1 stderr) of a slot. ftrun makes an anonymous file for each, appended to by the process that
 * carries a rank there and its children, and shows what is new in it. Byte k of what a rank prints has the *logical position* k,
 * whoever carries it: the file's first byte has 0, and from offset jump[i].at on the bytes go on from position jump[i].pos, for i
 * < jumps (in order; a later one at the same offset wins). A jump is written before any byte behind it, by the process alone, and
 * not before taken + FT_JUMP_RING > jumps. */
#define FT_JUMP_RING 32
struct ft_board_jump {
    _Atomic uint64_t at, pos;
};
struct ft_board_output {
    FT_ALIGNED_LINE _Atomic int32_t fd; /* ftrun's; set before anything is started; -1: the stream stays mpirun's */
    _Atomic uint32_t jumps;             /* ever written */
    _Atomic uint32_t taken;             /* by ftrun, its only writer */
    _Atomic uint64_t dev, ino;          /* the stream as mpirun gave it to the slot's first process */
    struct ft_board_jump jump[FT_JUMP_RING];
};

/* ftrun's standard input as a pipe, from its first byte, for a slot that may carry rank 0. ftrun writes it; those who want
 * to read it open it under /proc. What was taken out of it is fed less what is still in it, if begun is the same as fed: no
 * write is under way. The first bytes come a line at a time, what follows in pieces of any size (launch/stdin.h). */
#define FT_INPUT_BY_LINE (256u << 10)
struct ft_board_input {
    _Atomic int32_t fd;         /* ftrun's; set before anything is started; -1: none */
    _Atomic uint64_t begun, fed; /* bytes that ftrun has written, or is about to have written; and has written */
    _Atomic uint64_t dev, ino;  /* standard input as mpirun gave it to the slot's first process */
};

/* OTHER: a wrapper or the program has redirected it. */
enum ft_input_is { FT_INPUT_UNKNOWN = 0, FT_INPUT_OURS, FT_INPUT_OTHER };

enum ft_slot_phase {
    FT_PHASE_NONE = 0,
    FT_PHASE_LOADED,    /* the library was loaded into the process that mpirun started */
    FT_PHASE_ENTERED,   /* MPI_Init was entered, the host's is not yet left: it waits for all processes */
    FT_PHASE_INIT,      /* the host is up */
    FT_PHASE_RUNNING,   /* carries a rank, or serves as checksum process or spare */
    FT_PHASE_FINALIZED, /* MPI_Finalize was left */
    FT_PHASE_EXITED,    /* exit() was called with exit_status */
};

/* Where main is, when the root's agent has asked for it the answered-th time. */
struct ft_board_place {
    _Atomic uint32_t answered;
    int32_t station, on; /* enum ft_station; 1 + the rank that it waits for, 0: not known */
    char call[52];
};

struct ft_board_slot {
    FT_ALIGNED_LINE _Atomic int32_t pid; /* 0: not yet there */
    _Atomic int32_t phase;               /* enum ft_slot_phase */
    _Atomic uint64_t start_time;         /* field 22 of /proc/pid/stat: with pid it names one process for ever */
    _Atomic int32_t arena_fd;            /* its arena's descriptor, ft_board_arena; -1: none yet */
    _Atomic int32_t table;               /* the thread in whose descriptors it is safe (base/fds.h); 0: none */
    struct ft_fd_file arena_file;        /* that it must be; set before arena_fd */
    _Atomic int32_t exit_status;         /* valid in phase EXITED */
    _Atomic uint32_t who;                /* FT_WHO of what it carries now */
    _Atomic uint32_t incarnation;
    _Atomic uint32_t last_failpoint; /* id + 1 of the failpoint it is dying at, 0: none */
    _Atomic uint64_t failpoint_ns;   /* and when */
    _Atomic uint64_t injected;       /* FT_FP_ENTRY of what it did as FTRMA_INJECT says */
    _Atomic uint32_t died_of;        /* as ft_proc_signal has it; by the process that watched it die */
    _Atomic uint32_t still;          /* looks of the agent in a row at which main slept in one call: runtime/still.c */
    struct ft_board_place place;
    _Atomic uint64_t safepoints;     /* safepoints executed */
    _Atomic uint64_t position;       /* where its rank is: milestone << 56 | number of the safepoint last reached */
    _Atomic uint64_t heap_from;      /* where the program's heap begins, 0: anywhere */
    _Atomic uint64_t arena_at, strayed; /* where its arena lies; struct ft_seen_place (transport/seen.h) */
    _Atomic uint64_t events;         /* actions that LG keeps for ever: a replacement checks that its log home has them all */
    /* its rank has a window of MPI_Win_allocate_shared with others, or had one after the last cut: it cannot go back alone before a
       checkpoint of this version is committed; UINT64_MAX: has one; 0: never had */
    _Atomic uint64_t shared_until;
    _Atomic uint32_t shared_files; /* that its rank has opened, or is opening, together with others: ft_runtime_shared_files */
    _Atomic uint64_t lg_whole_from;  /* version from whose cut on LG of its rank is whole; UINT64_MAX: records were dropped */
    _Atomic uint64_t mem_bytes, protected_bytes; /* beyond the program's own; and protected + windows */
    _Atomic uint64_t log_limit; /* of mem_bytes, at most that is for messages and logs */
    /* The check of the program's memory (runtime/memcheck.h): notes ever said, of which the first FT_NOTES are kept, each written before it
       counts; processor time, and bytes that were looked at, or not for want of time */
    _Atomic uint32_t notes;
    struct ft_note note[FT_NOTES];
    _Atomic uint64_t check_ns, check_bytes, check_left;
    _Atomic int32_t node_known; /* node is there */
    _Atomic uint32_t recording; /* an event of its process has its time, or is about to have it, and is not yet in its ring */
    ft_life life;               /* held by its agent */
    _Atomic uint32_t bell;      /* a futex: counted up by whoever wakes its agent */
    uint32_t at_first;          /* FT_WHO of what it carries at first; ftrun's, set before anything is started; FT_WHO_NONE: not known by then */
    char node[64];              /* its host's name, cut off; written once, before node_known, where somebody wants to know */
    FT_ALIGNED_LINE _Atomic uint64_t calls; /* calls(p), by its main. It outlives the process: D7 */
    struct ft_board_output output[2];
    struct ft_board_input input;
    struct ft_event_ring events_of[2]; /* routine ones in the second */
};

enum ft_job_state {
    FT_JOB_STARTING = 0, /* not all processes are through MPI_Init */
    FT_JOB_RUNNING,
    FT_JOB_DONE,    /* all ranks agreed in MPI_Finalize: nothing that happens now is ours to survive */
    FT_JOB_ENDING,  /* somebody is writing status and message */
    FT_JOB_FAILED,  /* the program itself failed: status is its own */
    FT_JOB_LOST,    /* the library gave up: status is 75 */
};

/* What is saved to files, and what the job began from (F1 to F9). Requests are numbered from 1; one at a time: the next is made when `over` has
 * come to `asked`. */
#define FT_SAVED_PATH 4096
struct ft_board_save {
    int64_t every;              /* each checkpoint whose version this divides is saved; 0: none. Set before anything is started */
    uint64_t job;               /* names this job in files; set before anything is started */
    char from[FT_SAVED_PATH];   /* the directory of the set that all go on from; empty: the job begins anew. Likewise */
    uint64_t from_job;          /* the job that has written it */
    _Atomic uint64_t version;   /* what is asked for; by the root's agent, before `asked` */
    _Atomic uint64_t asked;     /* number of the newest request; by the root's agent */
    _Atomic uint64_t ready;     /* of the newest one that is committed; by all agents */
    _Atomic uint64_t over;      /* of the newest one that was written, or given up; by ftrun alone */
    _Atomic uint32_t held;      /* ftrun has all ranks' arenas open; by ftrun */
    _Atomic uint64_t committed; /* the newest checkpoint that somebody has committed; by all agents */
    _Atomic uint32_t gone_on;   /* all ranks have gone on from `from`; by the root's agent */
    _Atomic uint32_t failpoint; /* as a slot's last_failpoint, of the writer */
    _Atomic uint64_t failpoint_ns, injected;
};

#define FT_BOARD_MAGIC 0x6472616f6274660cull /* layout version in the low byte */

struct ft_board {
    uint64_t magic;
    int32_t nslots, nranks, nchecksums, nspares; /* nslots = sum of the others */
    uint64_t t0_ns;                              /* CLOCK_MONOTONIC at creation: the zero of all printed times */
    uint64_t wtime_zero_ns;                      /* the zero of MPI_Wtime: t0_ns, unless the job goes on from another one */
    int32_t launcher_pid;                        /* ftrun, 0 without */
    _Atomic int32_t launcher_bell;               /* a pipe: the launcher's descriptor of it; -1: none */
    uint64_t launcher_bell_dev, launcher_bell_ino; /* which pipe; set before launcher_bell */
    _Atomic int32_t state;                       /* enum ft_job_state */
    _Atomic int32_t status;
    _Atomic uint32_t generation, rollbacks;
    _Atomic uint32_t places_asked; /* how often all mains were asked where they are */
    _Atomic int32_t host_cut_off; /* a program has closed descriptors of the host's: nobody calls its MPI_Finalize */
    _Atomic uint32_t input_is;     /* what rank 0 has as standard input: enum ft_input_is */
    _Atomic uint32_t read_in_body; /* it was said that rank 0 has read standard input inside FTRMA_Run's body */
    char message[1024];
    struct ft_board_save save;
    FT_ALIGNED_LINE struct ft_board_slot slot[];
};

static inline size_t ft_board_bytes(int nslots)
{
    return sizeof(struct ft_board) + (size_t)nslots * sizeof(struct ft_board_slot);
}

/* Creates a board in an anonymous file; *fd stays open (its processes open it as /proc/<pid>/fd/<fd>). FT_ERR_SYS with errno. */
enum ft_status ft_board_create(int nranks, int nchecksums, int nspares, int launcher_pid, struct ft_board **out, int *fd);
/* Maps a board by its "pid:fd" text. FT_ERR_SYS with errno; FT_ERR_ARG when it is no board of this version. */
enum ft_status ft_board_open(const char *where, struct ft_board **out);
/* Records an event in slot's ring (the calling process's own); safe from its main and agent threads at once: they take turns by a
 * lock private to the process, so that a death in the middle leaves an event that does not exist. Without a launcher it says the
 * line by ft_words when the event tells and verbose >= 1, or when verbose >= 2; a launcher says the lines of all processes in the
 * order of their times. Sets ev's time when it is 0: later than any for which a launcher has seen `recording` at 0. Rings the
 * launcher in time before unread events are overwritten. Never allocates. */
void ft_board_event(struct ft_board *b, int slot, int verbose, const struct ft_event *ev);
/* The next event of a slot, in order within each of its rings, and moves *place behind it; 0 when there is none yet. Events
 * overwritten before they were read are skipped and added to *lost. */
int ft_board_read_event(struct ft_board_slot *s, struct ft_event_place *place, struct ft_event *out, uint64_t *lost);
/* The line of an event without the newline, "[ftrma   1.234567] failure: rank 2 failed (slot 2, pid 123)"; returns its length. */
int ft_event_format(const struct ft_board *b, const struct ft_event *ev, char *out, int size);
/* "rank 2", "checksum process 0", "spare 1", "nobody"; returns its length. */
int ft_who_format(uint32_t who, char *out, int size);
/* Opens the arena of a slot whose process is there. A descriptor to be closed with ft_fd_close, or -1: errno; EBADF:
 * the process has another file under that number. Whether it is still the same process must be asked afterwards
 * (ft_proc_gone). */
int ft_board_open_arena(const struct ft_board_slot *s, int flags);
/* Ends the job once, and rings the launcher: returns 1 for the caller whose state (DONE, FAILED, LOST), status and message
 * hold. */
int ft_board_end(struct ft_board *b, enum ft_job_state state, int status, const char *message);
/* Wakes the launcher so that it looks at the board; no-op without one. */
void ft_board_ring_launcher(const struct ft_board *b);
/* An agent's bell. heard: what to give to wait, asked before the last look at what is waited for. wait: until it was
 * rung since, or ms milliseconds have passed. ring: never blocks, never fails; any process of the job, any thread. */
uint32_t ft_bell_heard(struct ft_board *b, int slot);
void ft_bell_wait(struct ft_board *b, int slot, uint32_t heard, int ms);
void ft_bell_ring(struct ft_board *b, int slot);
/* The launcher's: makes it and returns the descriptor to poll for reading, or -1 with errno. */
int ft_launcher_bell(struct ft_board *b);
void ft_launcher_bell_drain(int fd);
/* What /proc/pid/stat says of a process: 1; 0: it is gone or a zombie; -1 (errno): it cannot be looked at, for want of
 * descriptors. One whose first thread alone has ended looks like a zombie, but lives (D1), and is still the parent of
 * its children. Does not allocate. */
struct ft_proc {
    int parent, at_work; /* at_work: it runs, wants to, or waits for a disk */
    uint64_t start_time, ticks; /* ticks: processor time used, of all its threads */
};
int ft_proc_look(int pid, struct ft_proc *p);
/* The signal that it died of, + FT_CORE_DUMPED; 0: it lives, ended otherwise, or has been reaped and the kernel does not
 * tell any more (before Linux 6.15). fd: a pidfd of it, or -1. Does not allocate. */
#define FT_CORE_DUMPED 0x80
int ft_proc_signal(int pid, int fd);
/* Its start time, 0: as above, or it cannot be looked at. */
uint64_t ft_proc_start_time(int pid);
/* 1: the process (pid, start_time) has gone, or is a zombie; 0: it has not; -1 (errno): not known. */
int ft_proc_gone(int pid, uint64_t start_time);
/* A pidfd for (pid, start_time), or -1: the process is gone (errno ESRCH) or pidfds are not to be had. */
int ft_proc_pidfd(int pid, uint64_t start_time);
uint64_t ft_now_ns(void); /* CLOCK_MONOTONIC */
/* How long this process's logs are not whole: from begin (the first one counts) until the next cut. end: in ns, 0 if they were whole. Main
 * thread. */
void ft_exposure_begin(void);
uint64_t ft_exposure_end(void);

#endif
