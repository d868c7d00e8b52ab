/* SPDX-License-Identifier: BSD-3-Clause
 *
 * klog.h - message logging inside a kernel: iterations as transactions, a log of what a rank has
 * sent, its replay, and the choice between local and global rollback.
 *
 * After K. Dichev and D. Nikolopoulos, "Implementing Efficient Message Logging Protocols as MPI
 * Application Extensions". It knows no MPI: the program hands in how to send, and it calls
 * klog_recover once it has been told of a loss and communication works again.
 *
 *      for (;;) {
 *          if (klog_checkpoint_due(k)) {   save klog_save's image; wait until all have done so;
 *              klog_committed(k); }
 *          klog_begin(k);                  from here to klog_end nothing counts until it is done
 *          ... klog_send(k, ..) ...        for each message
 *          klog_end(k);
 *      }
 *  Told of a loss, a survivor calls klog_abort, a replacement starts from klog_create. All tell
 *  each other klog_iteration and klog_checkpoint, and call klog_recover.
 *
 * Differs from the paper's listings where these are wrong:
 *  - Its replay loop never compares the iteration (`i++` stands where the condition should).
 *  - Its test for local rollback, max % CP_INT < LOG_SIZE, says "local" at max % CP_INT = 0 also
 *    while the newest checkpoint that all have is CP_INT iterations old. Here the distance from
 *    that checkpoint counts.
 *  - Its wrapper forgets what a replacement does not need to send again. The next loss in the same
 *    interval needs it; here it is logged.
 *
 * One thread. Nothing here is shared between ranks.
 */
#ifndef KLOG_H
#define KLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct klog;

typedef void klog_send_fn(void *arg, int dest, int tag, const void *data, size_t bytes);

/* cp_int: iterations between checkpoints, at least 1. log_size: the iterations after a checkpoint
 * whose messages are logged, 0 to cp_int. NULL: no memory. */
struct klog *klog_create(int me, int ranks, int cp_int, int log_size, klog_send_fn *send,
                         void *arg);
void klog_destroy(struct klog *k);

/* Tells what an iteration changes and a later one reads. To be called for all of it before the
 * first klog_begin. false: no memory. */
bool klog_register(struct klog *k, void *data, size_t bytes);

int klog_iteration(const struct klog *k);  /* the one that runs, or the next; from 0 */
int klog_checkpoint(const struct klog *k); /* the iteration of the newest that all have */

/* An iteration. klog_abort: as if it had not begun; also where none runs. */
void klog_begin(struct klog *k);
void klog_end(struct klog *k);
void klog_abort(struct klog *k);

/* Sends, unless dest has had this message before the loss. In any case it is logged, as far as
 * log_size allows. false: it was sent, but there is no memory to log it, and the program must end.
 */
bool klog_send(struct klog *k, int dest, int tag, const void *data, size_t bytes);

/* Before an iteration that is a multiple of cp_int. The image is for klog_load; klog_image_bytes
 * is its size. Whoever calls klog_committed knows that all have saved theirs. */
bool klog_checkpoint_due(const struct klog *k);
size_t klog_image_bytes(const struct klog *k);
void klog_save(const struct klog *k, void *image);
void klog_committed(struct klog *k);

/* A replacement, or all in a global rollback: the registered data as of that checkpoint. */
void klog_load(struct klog *k, const void *image, int checkpoint);

enum klog_way { KLOG_LOCAL, KLOG_GLOBAL };

/* Everybody comes to the same answer from the same front, which has klog_iteration of each rank (of
 * a lost one, of its checkpoint), and the newest checkpoint that anybody knows to be complete.
 * Local: what others lack of this rank's messages is sent again, and the program goes on with
 * klog_begin. Global: nothing was sent; the program calls klog_load, and goes on. */
enum klog_way klog_recover(struct klog *k, const int front[], int checkpoint);

/* Figures for reading. */
struct klog_counts {
    uint64_t logged, logged_bytes;   /* in the log now */
    uint64_t sent, replayed, spared; /* messages: sent, sent again from the log, not sent */
    uint64_t copied_bytes;           /* by klog_begin */
};
struct klog_counts klog_counts(const struct klog *k);

#endif
