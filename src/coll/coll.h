/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll.h - blocking collectives over messages; one algorithm (or family) in each file. The group
 * fixes the order of a reduction; the order of arrival never does. So a replay, which reads its
 * messages from the logs (R8), gets the same bits.
 *
 *
 * All data is contiguous bytes. A count is a number of elements of `esize` bytes. Buffers must not
 * overlap unless said otherwise; "in place" means that two arguments are the same address. Lengths
 * and counts of members must fit together as MPI says; where a message shows that they do not, the
 * process reports it and ends.
 *
 * Messages use the context ctx->id | FT_CTX_COLL, and tags < 0 that differ for each kind of
 * collective. Order is FIFO for each (source, context), and all members call collectives in the
 * same order, so blocking ones need no sequence number.
 *
 * Main only. Every call may be left by longjmp inside its waits, so no allocation is held across a
 * wait, except for ft_coll_scratch, which is reused and never lost.
 */
#ifndef FT_COLL_COLL_H
#define FT_COLL_COLL_H

#include "base/engine.h"
#include "base/fold.h"
#include "base/hole.h"
#include "msg/msg.h"

/* The participants: a communicator, as far as collectives need it. */
struct ft_ctx {
    uint32_t id;      /* context of its point-to-point messages; < FT_CTX_COLL */
    int rank, size;   /* this process's rank in the group, and the group's size */
    const int *world; /* [size]: world rank of each member */
};

/* inout[i] = in[i] op inout[i] for count elements, as in MPI_Reduce_local: `in` is the left
 * operand. It is applied to any piece of a vector, and must give the same bits for the same
 * operands wherever they lie. */
struct ft_reducer {
    void (*apply)(void *arg, const void *in, void *inout, size_t count);
    void *arg;
    int commutative; /* for information: operands always keep rank order here */
    /* Zeroes the bytes of count elements that hold no value (R0): the padding of a long double, the
     * holes of a pair. NULL: all bytes hold values. */
    void (*clear)(const void *arg, void *data, size_t count);
    /* fold: ft_fold(fold, kind) does the same, wherever; or FT_FOLD_NONE */
    enum ft_fold_op fold;
    enum ft_kind kind;
    struct ft_hole hole; /* of elements in a window (rma/rma.h); collectives copy whole ones */
};
static inline struct ft_hole ft_hole_of(const struct ft_reducer *op) /* NULL: none */
{
    return op ? op->hole : FT_NO_HOLE;
}

void ft_barrier(const struct ft_ctx *c);
/* A barrier after which nobody is likely to wait for one particular member (fences). */
void ft_gsync(const struct ft_ctx *c);
void ft_bcast(const struct ft_ctx *c, void *buf, size_t bytes, int root);
/* Reduce, allreduce and reduce_scatter combine along one tree over the ranks (reduce_tree.h), a
 * function of the group's size alone: the same operands give the same bits in all three, for every
 * root and count, and operands keep rank order. */
/* recvbuf is significant at root. sendbuf may equal recvbuf at root (in place). */
void ft_reduce(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
               size_t esize, const struct ft_reducer *op, int root);
/* sendbuf may equal recvbuf (in place). All members get the same bits. */
void ft_allreduce(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
                  size_t esize, const struct ft_reducer *op);
/* sendbuf may equal recvbuf (in place) in both. exscan does not change recvbuf of rank 0. */
void ft_scan(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count, size_t esize,
             const struct ft_reducer *op);
void ft_exscan(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
               size_t esize, const struct ft_reducer *op);
/* Rank i gets counts[i] elements. sendbuf holds the sum of counts; sendbuf may equal recvbuf. */
void ft_reduce_scatter(const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                       const size_t *counts, size_t esize, const struct ft_reducer *op);
/* Vector forms; offs and lens are in bytes, [size]. They also serve for MPI's regular forms. A
 * member's own part is copied, unless it is given in place: both addresses of that part are the
 * same (gatherv: sendbuf == recvbuf + offs[rank]). alltoallv has no in-place form. In gatherv and
 * scatterv, arguments about the entire group are significant at root only. */
void ft_gatherv(const struct ft_ctx *c, const void *sendbuf, size_t sendlen, void *recvbuf,
                const size_t *offs, const size_t *lens, int root);
void ft_scatterv(const struct ft_ctx *c, const void *sendbuf, const size_t *offs,
                 const size_t *lens, void *recvbuf, size_t recvlen, int root);
void ft_allgatherv(const struct ft_ctx *c, const void *sendbuf, size_t sendlen, void *recvbuf,
                   const size_t *offs, const size_t *lens);
void ft_alltoallv(const struct ft_ctx *c, const void *sendbuf, const size_t *soffs,
                  const size_t *slens, void *recvbuf, const size_t *roffs, const size_t *rlens);
/* Equal parts: allgather of `bytes` from each in rank order. The own part may be in place. */
void ft_allgather(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t bytes);

/* Returns scratch memory of at least `bytes`, index 0..3, aligned to a cache line, valid until the
 * next call with that index. The collectives use 0 and 1. Returns NULL when there is no memory.
 * bytes = 0 frees the memory and returns NULL. */
void *ft_coll_scratch(int index, size_t bytes);

/* A message or a length is not what the program expects: its members passed counts that do not fit
 * together. That is an error of the program, unless a replay has brought it about. The job ends
 * with a message; but if the program has an error handler of its own, this returns, the bytes that
 * came are used, zeros stand for the rest, and the call goes on to its end. blocking: it is a
 * blocking collective over the communicator of this context. */
void ft_coll_mismatch(uint32_t ctx, int blocking, const char *what);
/* The same where no call can go on. */
_Noreturn void ft_coll_give_up(const char *what);
/* Set by src/mpi. It returns if the program has an error handler. NULL: the process ends. */
typedef void ft_coll_mismatched_fn(uint32_t ctx, int blocking, const char *what);
extern FT_STATE(ft_coll_mismatched_fn *, ft_coll_mismatched);
#define ft_coll_mismatched FT_MY(ft_coll_mismatched)
#define FT_CTX_NOBODY UINT32_MAX /* a context of no communicator */
/* Called before a process, or the job, is ended for such an error. Does not return if a replay may
 * have caused it (R0). NULL, or set by the runtime. */
extern FT_STATE(__typeof__(void (*)(const char *what)), ft_coll_unexpected);
#define ft_coll_unexpected FT_MY(ft_coll_unexpected)

#endif
