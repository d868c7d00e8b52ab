/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rescue.h - what a kernel needs to outlive losses by its own logs (klog.h), on told recovery: its
 * messages, checkpoints in the memory of the next rank, and the repair when it is told of a loss.
 *
 * After K. Dichev and D. Nikolopoulos, "Implementing Efficient Message Logging Protocols as MPI
 * Application Extensions", with ftrma's told recovery in the place of ULFM:
 *
 *      setup:  rescue_create(s, ..);       all that iterations change
 *      body:   rescue_enter(s);            is the repair, if a rank is new
 *              while (klog_iteration(s->log) < n) {
 *                  rescue_begin(s);        a checkpoint if it is due, then klog_begin
 *                  ... messages by &s->sender, which logs them ...
 *                  rescue_end(s);
 *              }
 *              rescue_leave(s);
 *      after:  rescue_report(s, ..);
 *
 * Rank r keeps its own images and those of rank r - 1, each of two checkpoints: the newest that all
 * have, and the one that is being made. So the loss of a rank and of the next one at once is too
 * much, once there is a checkpoint. The program then says so, and ends with status 1.
 *
 * One thread. All functions but rescue_options and rescue_destroy communicate in MPI_COMM_WORLD.
 */
#ifndef KERNELS_LOG_RESCUE_H
#define KERNELS_LOG_RESCUE_H

#include "klog.h"
#include "sender.h"

#include <ftrma.h>

/* An image of a checkpoint, and the one that this rank keeps for the rank before it. Each has the
 * iteration before which it was taken, or -1. */
struct rescue_image {
    int mine_at, theirs_at;
    double *mine, *theirs;
};

/* For reading. Seconds are those of this process, figures those of this rank's present process. */
struct rescue_figures {
    double checkpoint_s, mpi_s, payload_s, buffer_s; /* mpi_s: in messages of iterations */
    uint64_t local, global;                          /* how often all went on in this way */
    uint64_t again;                                  /* iterations that a survivor went back */
    uint64_t replayed, spared;                       /* messages, as in struct klog_counts */
};

struct rescue {
    struct sender sender; /* first: the messages of an iteration are sent by it */
    struct klog *log;
    const char *name; /* of the program */
    int rank, size, cp_int, log_size;
    bool whole;        /* false: setup's data is all that this process has */
    MPI_Request *req;  /* of the message that is being sent; NULL: it is sent by MPI_Send */
    double mpi_before; /* rescue_mpi_seconds when the iteration began */
    struct rescue_image image[2];
    int count, their_count;                      /* doubles in mine and in theirs */
    double *last;                                /* the data at the end of body; protected */
    struct rescue_figures figures, last_figures; /* the latter protected */
    struct place *place;                         /* of each rank, at a repair */
    int *front;
};

#define RESCUE_USAGE(EVERY)                                                                      \
    "  --every N     iterations between checkpoints in the memory of the next rank; "            \
    "default " EVERY                                                                             \
    "\n  --log N       iterations after a checkpoint whose messages are logged; default all of " \
    "them\n"

/* Takes --every and --log out of the arguments, and leaves there what makes no sense. cp_int: the
 * default of --every. */
void rescue_options(struct rescue *s, int cp_int, int *argc, char **argv);

struct rescue_part {
    void *data;
    size_t bytes; /* a multiple of sizeof(double) */
};

/* In setup. part: all that an iteration changes and a later one reads, as it is before the first.
 * Does not return if there is no memory. */
void rescue_create(struct rescue *s, const char *name, const struct rescue_part part[], int parts);
void rescue_destroy(struct rescue *s);

/* FTRMA_Run, begun by all at once. Returns its seconds; does not return if it fails. */
double rescue_run(FTRMA_Body *body, void *arg);

/* In body. */
void rescue_enter(struct rescue *s);
void rescue_begin(struct rescue *s);
void rescue_end(struct rescue *s);
void rescue_leave(struct rescue *s);

/* After FTRMA_Run, before the data is looked at. Rank 0 says what there was to repair, and where
 * its time has gone. seconds: of all. */
void rescue_report(struct rescue *s, double seconds);

/* Seconds that this process has spent in the calls of MPI that a kernel's messages take. */
double rescue_mpi_seconds(void);
double rescue_now(void); /* in seconds */

#endif
