/* SPDX-License-Identifier: BSD-3-Clause
 *
 * transport.h - the way into other processes' arenas, behind an ops struct. Slots, not ranks, are
 * addressed; `off` is an offset in the slot's arena. A provider's functions may be called from main
 * and agent at once.
 *
 * What a dead peer does: nothing here ever blocks on one. Its memory stays as it was until release;
 * mails to it are dropped.
 */
#ifndef FT_TRANSPORT_TRANSPORT_H
#define FT_TRANSPORT_TRANSPORT_H

#include "base/board.h"
#include "base/engine.h"
#include "transport/arena.h"

#define FT_MAIL_BYTES 4096 /* the longest mail between agents */

enum ft_tp_what { FT_TP_CONTROL, FT_TP_LOG, FT_TP_WINDOW, FT_TP_IMAGE };

/* 1: a mail is void because of a newer one. */
typedef int ft_mail_test(const void *mail, const void *newer);

struct ft_tp;
struct ft_tp_ops {
    const char *name;
    /* Makes slot's arena reachable; idempotent. May enter the kernel; never waits for the peer.
     * FT_ERR_DEAD when the process has gone before it could be attached; FT_ERR_SYS (errno). */
    enum ft_status (*attach)(struct ft_tp *tp, int slot);
    /* Address at which [off, off + len) of slot's arena can be read and written directly, or NULL:
     * use put and get. Attaches. `what` says what for. Does not block. What was mapped at FT_MIRROR
     * or beyond is a mapping of its own and is given back by unmap; the rest stays as long as the
     * transport. */
    void *(*map)(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, enum ft_tp_what what);
    void (*unmap)(struct ft_tp *tp, int slot, uint64_t off, void *p, uint64_t len);
    /* Room at another process for what must outlive this one: makes [FT_GUEST + off, + len) of
     * slot's arena real and maps it at `at`, an address range that the caller has reserved
     * (page-aligned all). May enter the kernel. FT_ERR_NOMEM, FT_ERR_DEAD. */
    enum ft_status (*lend)(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, void *at);
    /* The same in the file that is kept for the home log of `rank` (ft_board_keep_homelog), which
     * outlives every process of the job: makes [off, off + len) of it real and maps it at `at`.
     * FT_ERR_DEAD: there is none, or its keeper has gone. */
    enum ft_status (*keep)(struct ft_tp *tp, int rank, uint64_t off, uint64_t len, void *at);
    /* Maps [off, off + len) of slot's arena at `at` likewise, in the place of what was there. */
    enum ft_status (*place)(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, void *at);
    /* A dead slot's arena: nobody here will ask for it any more. From now on it cannot be reached.
     * Agent only. */
    void (*forget)(struct ft_tp *tp, int slot);
    /* Gives back (addresses, descriptor) the arenas that were forgotten. By whoever knows that
     * nobody here holds an address in them. */
    void (*release)(struct ft_tp *tp);
    /* Copies; complete at the target on return (ordered after it by the caller's next release). A
     * source that dies inside leaves any part of the data (memcpy goes in no promised order).
     * FT_ERR_DEAD: not attached and gone. */
    enum ft_status (*put)(struct ft_tp *tp, int slot, uint64_t off, const void *src, uint64_t len);
    enum ft_status (*get)(struct ft_tp *tp, int slot, uint64_t off, void *dst, uint64_t len);
    /* Wakes slot's main if it sleeps (after something was published that it may wait for). Enters
     * the kernel only if it does. */
    void (*ring)(struct ft_tp *tp, int slot);
    /* A mail to slot's agent: reliable and FIFO while both live, at most FT_MAIL_BYTES, copied.
     * Agent only. Never waits, and allocates nothing. FT_ERR_DEAD; FT_ERR_AGAIN: as many mails as
     * can wait do so already. */
    enum ft_status (*mail)(struct ft_tp *tp, int slot, const void *mail, uint32_t len);
    /* Sends what waits for its receiver to take others, or to be reachable; how many still wait.
     * Agent only, when its bell was rung, and now and then. */
    int (*post)(struct ft_tp *tp);
    /* Mails to slot that wait, and that a newer one makes void, are dropped. Agent only. */
    void (*recall)(struct ft_tp *tp, int slot, ft_mail_test *is_old, const void *newer);
    /* slot is dead: what waits for it is dropped, and mail returns FT_ERR_DEAD. Agent only. */
    void (*drop_mails)(struct ft_tp *tp, int slot);
    /* Takes the next mail from slot into buf (FT_MAIL_BYTES); its length, 0 when there is none.
     * Agent only; never blocks. */
    uint32_t (*take)(struct ft_tp *tp, int slot, void *buf);
};

struct ft_tp {
    const struct ft_tp_ops *ops;
    struct ft_arena *own;
    struct ft_board *board;
    int self, nslots;
    void *state;         /* of the provider */
    struct ft_tp *below; /* of a provider that wraps another */
};

/* Providers. Return FT_ERR_NOMEM, FT_ERR_ARG (unknown name). The own arena is attached already. */
enum ft_status ft_tp_open(struct ft_tp *tp, const char *name, struct ft_arena *own,
                          struct ft_board *board, int self);
void ft_tp_close(struct ft_tp *tp);
extern const struct ft_tp_ops ft_tp_shm_ops, ft_tp_fault_ops;
enum ft_status ft_tp_shm_init(struct ft_tp *tp);
void ft_tp_shm_finish(struct ft_tp *tp);
void ft_tp_shm_ring_ctl(struct ft_ctl *ctl); /* for those who know the control block */

/* The process's one transport: set by the runtime at start. */
extern FT_STATE(struct ft_tp *, ft_transport);
#define ft_transport FT_MY(ft_transport)

/* Another process's control block; NULL when it cannot be attached. */
static inline struct ft_ctl *ft_tp_ctl(struct ft_tp *tp, int slot)
{
    return tp->ops->map(tp, slot, 0,
                        sizeof(struct ft_ctl) + (uint64_t)tp->nslots * sizeof(struct ft_ctl_peer),
                        FT_TP_CONTROL);
}

/* Bytes at an address of slot's process, shared memory or not. Enters the kernel; does not wait for
 * the process. FT_ERR_DEAD: it is gone; FT_ERR_SYS: they cannot be read (errno), which may be how a
 * process looks that is about to be gone. */
enum ft_status ft_tp_read_far(const struct ft_tp *tp, int slot, uint64_t addr, void *to,
                              size_t len);
/* Whether the kernel allows that, as far as is known: taken to be the same in both directions. Main
 * only. */
int ft_tp_reads_far(const struct ft_tp *tp, int slot);

#endif
