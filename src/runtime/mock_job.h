/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mock_job.h - for the unit tests of this room: a job in one process. Each slot is an engine
 * (base/engine.h), with one thread for its main and one for its agent. All of the library below
 * src/mpi is real, on a board and arenas of memfds. There is no host MPI.
 *
 * A slot dies at a failpoint: the thread that has come there stops for ever, and the slot's other
 * thread at its next step in the library (a failpoint, a wait, a lock). Then the slot is gone for
 * the others. In jobs of processes (tests/chaos) the other thread may stop at any instruction.
 *
 * A test's process forks one process for each job, so that a job leaves nothing to the next one,
 * and a job that hangs or aborts is a failed test. Only tests whose names begin with test_job are
 * linked with mock_job.c, which replaces some functions of base and the C library (--wrap).
 */
#ifndef FT_RUNTIME_MOCK_JOB_H
#define FT_RUNTIME_MOCK_JOB_H

#include "base/failpoint.h"
#include "coll/coll.h"
#include "recover/process_mail.h"
#include "rma/rma.h"
#include "runtime/rt.h"

#define MOCK_SLOTS 12
#define MOCK_DEATHS 6
#define MOCK_ANY (-1) /* the slot that comes there first */
#define MOCK_SETTINGS 8
#define MOCK_WORDS 64 /* size of a window's part, and of what a rank protects */

struct mock_death {
    int slot, hit; /* hit: counted from 1; 0: no death */
    enum ft_failpoint_id at;
    int may; /* the death need not happen: the timing decides whether the point is passed */
};

/* The program's protected memory. */
struct mock_state {
    uint64_t round, sum, word[MOCK_WORDS];
};

struct mock_rank { /* a main that carries a rank */
    const struct mock_job *job;
    int slot, rank, nranks;
    int replacement; /* another slot has carried this rank before */
    struct ft_ctx world;
    struct ft_win *win;
    uint64_t *part;       /* the own part of win, MOCK_WORDS words */
    struct mock_state *s; /* protected */
    enum ft_status ran;   /* what FTRMA_Run has returned */
    uint64_t digest;      /* the program's result; each carrier of the rank must give the same */
};

struct mock_job {
    int nranks, nchecksums, nspares;
    int rounds; /* of body; each begins with a safepoint. 0: 8 */
    int slow;   /* a spare whose main stops in MPI_Init until its agent gives it a rank; 0: none */
    struct mock_death death[MOCK_DEATHS];
    const char *setting[MOCK_SETTINGS];              /* "FTRMA_LOG=off" */
    void (*setup)(struct mock_rank *me);             /* added to setup, at its end */
    void (*round)(struct mock_rank *me);             /* added to each round, before its end */
    void (*after)(struct mock_rank *me);             /* after FTRMA_Run */
    void (*program)(struct mock_rank *me);           /* instead of mock_program */
    void (*at_start)(struct ft_board *b);            /* before there is any slot */
    void (*at_end)(const struct ft_board *b);        /* when nothing runs any more */
    int (*drops)(int from, const struct ft_mail *m); /* 1: its receiver will not have heard it */
};

enum mock_fate {
    MOCK_RAN = 1, /* its program has returned; or it carried no rank and was released */
    MOCK_DIED,    /* at a failpoint */
    MOCK_ENDED    /* with `status`, before that */
};

/* What can be seen of a job from outside. */
struct mock_outcome {
    struct {
        enum mock_fate fate;
        int status;
        uint32_t who; /* what it carried at its end */
    } slot[MOCK_SLOTS];
    struct {
        uint64_t digest;
        int by; /* the slot whose program came there last; -1: none */
        enum ft_status ran;
    } rank[MOCK_SLOTS];
    int state, status; /* the board's */
    enum ft_reason reason;
    uint32_t generation, rollbacks;
    char message[1024];
    int events[FT_EV_COUNT];
    int deaths, late_ends;      /* requested deaths that happened; ends recorded after all knew */
    uint64_t hits[FT_FP_COUNT]; /* of points at which somebody is to die, summed over all slots */
};

/* Runs a job. Fails the test if its process does not end well. */
void mock_run(const struct mock_job *job, struct mock_outcome *out);
void mock_run_calm(const struct mock_job *job, struct mock_outcome *out); /* without deaths */
/* Checks that all requested deaths happened, and that all ranks give the result of `calm`. */
void mock_compare(const struct mock_job *job, const struct mock_outcome *calm,
                  const struct mock_outcome *out);
void mock_survives(const struct mock_job *job, struct mock_outcome *out); /* all of the above */
/* Runs a job, and checks that it was given up for this reason. */
void mock_is_lost(const struct mock_job *job, enum ft_reason reason, struct mock_outcome *out);
/* For use in the job's process, by any thread. */
int mock_deaths(void);           /* number of deaths so far */
struct ft_rt *mock_rt(int slot); /* NULL: it has not begun */

/* --- for programs: what src/mpi would do. All except mock_end run on a rank's main --- */
void mock_program(struct mock_rank *me);
void mock_begin(struct mock_rank *me); /* its parts: window and protected memory are made; */
void mock_body(void *me);              /* messages, puts, fetch-and-adds in each round */
void mock_end(struct mock_rank *me);   /* the digest; MPI_Finalize */
enum ft_status mock_run_body(struct mock_rank *me, void (*body)(void *), void *arg, int stays);
void mock_safepoint(void);
void mock_send(struct mock_rank *me, int to, int tag, const void *data, size_t bytes);
void mock_recv(struct mock_rank *me, int from, int tag, void *data, size_t bytes);
void mock_put(struct mock_rank *me, int target, size_t word, const void *data, size_t bytes);
uint64_t mock_get(struct mock_rank *me, int target, size_t word);
uint64_t mock_add(struct mock_rank *me, int target, size_t word, uint64_t what);
void mock_fence(struct mock_rank *me);
void mock_barrier(struct mock_rank *me);
#endif
