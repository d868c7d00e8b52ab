/* SPDX-License-Identifier: BSD-3-Clause
 *
 * transport.h - access to other processes' arenas, behind a struct of operations. Addresses are a
 * slot (not a rank) and an offset `off` in the slot's arena. Main and agent may call a provider's
 * functions at once.
 *
 * No function blocks on a dead peer. Its memory stays as it was until release; mails to it are
 * dropped.
 */
#ifndef FT_TRANSPORT_TRANSPORT_H
#define FT_TRANSPORT_TRANSPORT_H

#include "base/board.h"
#include "base/engine.h"
#include "transport/arena.h"

#define FT_MAIL_BYTES 4096 /* the longest mail between agents */

enum ft_tp_what { FT_TP_CONTROL, FT_TP_LOG, FT_TP_WINDOW, FT_TP_IMAGE };

/* Returns 1 if `mail` is void because of `newer`. */
typedef int ft_mail_test(const void *mail, const void *newer);

struct ft_tp;
struct ft_tp_ops {
    const char *name;
    /* Makes slot's arena reachable; idempotent. May enter the kernel; never waits for the peer.
     * FT_ERR_DEAD: the process had gone before it could be attached; FT_ERR_SYS with errno. */
    enum ft_status (*attach)(struct ft_tp *tp, int slot);
    /* Returns the address at which [off, off + len) of slot's arena can be read and written
     * directly, or NULL: then use put and get. Attaches if necessary. `what` says what the memory
     * is. Does not block. A mapping at FT_MIRROR or beyond is separate, and unmap gives it back;
     * all others stay as long as the transport. */
    void *(*map)(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, enum ft_tp_what what);
    void (*unmap)(struct ft_tp *tp, int slot, uint64_t off, void *p, uint64_t len);
    /* Takes room for what must outlive this process: takes file space for [off, off + len) of the
     * home log of `rank` (base/homelogs.h) and maps it at `at`, an address range that the caller
     * has reserved (all page-aligned). May enter the kernel. FT_ERR_NOMEM; FT_ERR_SYS: this process
     * holds no such file. */
    enum ft_status (*keep)(struct ft_tp *tp, int rank, uint64_t off, uint64_t len, void *at);
    /* Maps [off, off + len) of slot's arena at `at`, in place of what was mapped there. */
    enum ft_status (*place)(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, void *at);
    /* Forgets a dead slot: nobody in this process will ask for its arena any more. From now on it
     * cannot be reached. Agent only. */
    void (*forget)(struct ft_tp *tp, int slot);
    /* Unmaps the arenas that were forgotten and closes their descriptors. The caller knows that
     * nobody in this process holds an address in them. */
    void (*release)(struct ft_tp *tp);
    /* Copies. The data is complete at the target on return, and ordered after it by the caller's
     * next release. A source that dies inside leaves any part of the data (memcpy promises no
     * order). FT_ERR_DEAD: not attached, and gone. */
    enum ft_status (*put)(struct ft_tp *tp, int slot, uint64_t off, const void *src, uint64_t len);
    enum ft_status (*get)(struct ft_tp *tp, int slot, uint64_t off, void *dst, uint64_t len);
    /* Wakes slot's main if it sleeps. Call it after publishing something for which that main may
     * wait. Enters the kernel only if main sleeps. */
    void (*ring)(struct ft_tp *tp, int slot);
    /* Sends a mail to slot's agent: reliable and FIFO while both live; copies at most
     * FT_MAIL_BYTES. Agent only. Never waits, never allocates. FT_ERR_DEAD; FT_ERR_AGAIN: no more
     * mails can wait. */
    enum ft_status (*mail)(struct ft_tp *tp, int slot, const void *mail, uint32_t len);
    /* Sends mails that had to wait, because their receiver had not taken earlier ones or could not
     * be reached. Returns how many still wait. Agent only; called when its bell was rung, and now
     * and then. */
    int (*post)(struct ft_tp *tp);
    /* Drops the waiting mails to slot that are void because of `newer`. Agent only. */
    void (*recall)(struct ft_tp *tp, int slot, ft_mail_test *is_old, const void *newer);
    /* slot is dead: drops the waiting mails to it; from now on mail returns FT_ERR_DEAD. Agent
     * only. */
    void (*drop_mails)(struct ft_tp *tp, int slot);
    /* Takes the next mail from slot into buf (FT_MAIL_BYTES). Returns its length; 0: there is none.
     * Agent only; never blocks. */
    uint32_t (*take)(struct ft_tp *tp, int slot, void *buf);
};

struct ft_tp {
    const struct ft_tp_ops *ops;
    struct ft_arena *own;
    struct ft_board *board;
    int self, nslots;
    void *state;          /* the provider's own */
    struct ft_post *post; /* mails */
    struct ft_tp *below;  /* the wrapped provider, if any */
};

/* Opens a provider. FT_ERR_NOMEM; FT_ERR_ARG: unknown name. The own arena is already attached. */
enum ft_status ft_tp_open(struct ft_tp *tp, const char *name, struct ft_arena *own,
                          struct ft_board *board, int self);
/* For a process that acts as several slots, each with an arena: the same, and each other process's
 * arena is mapped once for tp and `beside`. */
enum ft_status ft_tp_open_beside(struct ft_tp *tp, const struct ft_tp *beside, struct ft_arena *own,
                                 int self);
void ft_tp_close(struct ft_tp *tp);
extern const struct ft_tp_ops ft_tp_shm_ops, ft_tp_fault_ops;
enum ft_status ft_tp_shm_init(struct ft_tp *tp, const struct ft_tp *beside);
void ft_tp_shm_finish(struct ft_tp *tp);
void ft_tp_shm_ring_ctl(struct ft_ctl *ctl); /* for callers that have the control block */

/* The process's one transport; the runtime sets it at start. */
extern FT_STATE(struct ft_tp *, ft_transport);
#define ft_transport FT_MY(ft_transport)

/* Returns another process's control block; NULL if the process cannot be attached. */
static inline struct ft_ctl *ft_tp_ctl(struct ft_tp *tp, int slot)
{
    return tp->ops->map(tp, slot, 0,
                        sizeof(struct ft_ctl) + (uint64_t)tp->nslots * sizeof(struct ft_ctl_peer),
                        FT_TP_CONTROL);
}

/* Reads bytes at an address of slot's process, in shared memory or not. Enters the kernel; does not
 * wait for the process. FT_ERR_DEAD: it is gone. FT_ERR_SYS with errno: the bytes cannot be read,
 * which can also mean that the process is about to be gone. */
enum ft_status ft_tp_read_far(const struct ft_tp *tp, int slot, uint64_t addr, void *to,
                              size_t len);
/* Whether the kernel allows that, as far as is known; assumed to be the same in both directions.
 * Main only. */
int ft_tp_reads_far(const struct ft_tp *tp, int slot);

#endif
