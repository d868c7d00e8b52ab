/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_internal.h - what the files of this room share. The only room that includes mpi.h.
 *
 * A call that the library takes over is written FT_MPI(int, Send, (...)) { ... }: it defines MPI_Send and, as an alias,
 * PMPI_Send, since the host's Fortran layer calls the latter. The host's own function is HOST(Send)(...). Handles that the
 * library does not know (the host's inner ones, everything before MPI_Init) are handed through to the host untouched.
 *
 * Thread rules: main thread only, throughout. Calls that wait may be left by longjmp (transport/wait.h): what they need is kept
 * in ft_scratch or in the request pool, never in memory that only their stack knows.
 */
#ifndef FT_MPI_MPI_INTERNAL_H
#define FT_MPI_MPI_INTERNAL_H

/* the deprecated calls are taken over like all others */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <mpi.h>

#include "base/base.h"
#include "base/failpoint.h"
#include "coll/coll.h"
#include "msg/msg.h"
#include "runtime/runtime.h"

/* ---- host.c: the host's functions ---- */
void *ft_host_symbol(const char *name);
#define FT_HOST_CALL(name)                                                                                                       \
    (*({                                                                                                                         \
        static __typeof__(&name) fn_;                                                                                            \
        if (FT_UNLIKELY(!fn_))                                                                                                   \
            fn_ = (__typeof__(&name))ft_host_symbol(#name);                                                                      \
        fn_;                                                                                                                     \
    }))
#define FT_TAKE_OVER(ret, name, alias_name, params)                                                                              \
    FT_EXPORT ret name params;                                                                                                   \
    extern __typeof__(name) alias_name __attribute__((alias(#name), visibility("default")));                                     \
    ret name params
#define HOST(X) FT_HOST_CALL(PMPI_##X)
#define FT_MPI(ret, X, params) FT_TAKE_OVER(ret, MPI_##X, PMPI_##X, params)

/* ---- init.c ---- */
extern int ft_mpi_up; /* between the runtime's start and its finalize */
extern _Thread_local int ft_main_thread; /* 1 in the thread that called MPI_Init */
/* Everybody went back to a checkpoint: open requests are dropped, communicators made inside body forgotten. A callback of the
 * runtime's. */
void ft_mpi_reset(int over);

/* ---- file.c ---- */
void ft_file_reset(void);

/* ---- error.c ---- */
/* Raises `code` on comm's error handler for the call "MPI_X" and returns it; MPI_ERRORS_ARE_FATAL ends the job, naming call and
 * class. MPI_COMM_NULL stands for MPI_COMM_WORLD. */
int ft_error(MPI_Comm comm, int code, const char *call);
/* The end of a call under MPI_ERRORS_ARE_FATAL, whatever the object (windows use it too). */
_Noreturn void ft_error_fatal(int code, const char *call);
/* A call of class `refuse` in calls.def. */
_Noreturn void ft_refuse(const char *call);
int ft_mpi_error(enum ft_status st);
static inline int ft_mpi_code(enum ft_status st) { return FT_LIKELY(st == FT_OK) ? MPI_SUCCESS : ft_mpi_error(st); }
/* Between these an error of the host's is only returned: to ask it whether it knows something. Not nested. */
void ft_quiet_begin(void);
void ft_quiet_end(void);

/* ---- comm.c, comm_table.c: communicators ----
 * The handle that the program holds is a host communicator of this process alone (a dup of MPI_COMM_SELF; MPI_COMM_WORLD and
 * MPI_COMM_SELF stand for themselves): attributes, name, info and error handler are the host's business, members ours. */
struct ft_comm {
    MPI_Comm handle;
    /* Valid as long as refs > 0. Three views of it, all the same but for an intercommunicator, all with one context id (who is
     * in one group is not in the other, so the source of a message says which view it belongs to):
     *   ctx     whom point-to-point calls name: an intercommunicator's remote group. ctx.rank is mine in my own group always
     *   local   my own group
     *   all     both groups; first the one whose rank 0 has the smaller world rank */
    struct ft_ctx ctx, local, all;
    int inter;             /* an intercommunicator */
    int refs;              /* the handle, each open request, each window */
    int in_body;           /* was made inside FTRMA_Run's body */
    struct ft_topo *topo;  /* topo.h; NULL: none */
    int *inverse; /* [ft_nranks()] rank in ctx by world rank, -1 = no member; made when a wildcard first needs it, NULL before */
    struct ft_comm *next; /* in the list of all */
};
extern struct ft_comm *ft_comm_world, *ft_comm_self;
extern struct ft_comm *ft_comm_last; /* cache of one; never NULL once up, a dummy before */
struct ft_comm *ft_comm_lookup(MPI_Comm handle);
/* NULL when the handle is not one of ours */
static inline struct ft_comm *ft_comm_of(MPI_Comm handle)
{
    return FT_LIKELY(ft_comm_last->handle == handle) ? ft_comm_last : ft_comm_lookup(handle);
}
/* A context id that no member of x has used, the same in all of them. Collective over x; for a communicator's, `all`. */
uint32_t ft_comm_agree_context(const struct ft_ctx *x);
void ft_comm_release(struct ft_comm *c); /* drops one of refs */
/* rank of a world rank in c->ctx, -1 when it is no member */
int ft_comm_rank_of(struct ft_comm *c, int world);
struct ft_comm *ft_comm_of_context(uint32_t id); /* NULL: it was freed, or there is none */
/* A new host group of these members. Groups speak of world ranks: host slot r stands for rank r. */
int ft_make_group(const struct ft_ctx *x, MPI_Group *out);
/* Members of a group as world ranks into out[size of group]. */
void ft_group_ranks(MPI_Group group, int n, int *out);
extern MPI_Group ft_world_group; /* of the host's whole world */
/* The host communicator without attributes from which handles are dup'ed. */
extern MPI_Comm ft_comm_blank;

/* ---- comm_attr.c ---- */
/* MPI_COMM_WORLD's attributes into a new handle, by their copy callbacks. */
int ft_attr_copy_world(MPI_Comm to);
/* MPI_Finalize deletes those of MPI_COMM_SELF first of all. */
void ft_attr_delete_self(void);

/* ---- datatype.c ---- */
void ft_type_init(void);
enum ft_kind { FT_KIND_OTHER = 0, FT_KIND_INT32, FT_KIND_UINT32, FT_KIND_INT64, FT_KIND_UINT64, FT_KIND_FLOAT, FT_KIND_DOUBLE };
struct ft_type {
    MPI_Datatype handle;
    size_t size;
    ptrdiff_t extent, true_lb, true_extent;
    uint8_t contiguous; /* an array of them in memory is its own packed form */
    uint8_t predefined;
    uint8_t padded; /* has bytes that belong to no value (ft_layout_is_padded). Of a derived type it is known with
                       FTRMA_CHECK=data only */
    uint8_t kind; /* enum ft_kind */
};
/* What there is to know of t, in a table's entry or in *store; NULL for MPI_DATATYPE_NULL or what the host does not know. */
const struct ft_type *ft_type_slow(MPI_Datatype t, struct ft_type *store);
extern struct ft_type ft_type_table[256]; /* predefined ones, open addressing */
static inline unsigned ft_type_hash(MPI_Datatype t) { return (unsigned)(((uintptr_t)t >> 4) * 0x9E3779B1u) >> 24; }
static inline const struct ft_type *ft_type_of(MPI_Datatype t, struct ft_type *store)
{
    const struct ft_type *e = &ft_type_table[ft_type_hash(t)];
    return FT_LIKELY(e->handle == t && e->size) ? e : ft_type_slow(t, store);
}
/* count elements at buf to/from contiguous bytes. With FTRMA_CHECK=data padded types are not contiguous, and packed
 * padding is zero: what is compared are values (R0). ft_unpack takes `bytes`, which may end within an element; what
 * lies beyond is untouched. */
void ft_pack(const struct ft_type *t, const void *buf, size_t count, void *out);
void ft_unpack(const struct ft_type *t, const void *in, size_t bytes, void *buf);
/* While pinned, types that the program frees live on (open receives unpack with them). */
void ft_type_pin(void);
void ft_type_unpin(void);
/* What the program frees while a pin is held lives until the last one is gone: l->op if it is not MPI_OP_NULL, else l->type.
 * -1: to be freed at once, nothing is pinned; else an MPI error class. */
struct ft_later {
    MPI_Op op;
    MPI_Datatype type;
};
int ft_free_later(const struct ft_later *l);

/* A reducer for an operation on elements that lie `stride` bytes apart, true_lb left out: element i is at base + i * stride. */
struct ft_op {
    struct ft_reducer reducer; /* reducer.arg points here */
    MPI_Op op;
    struct ft_type type;
    size_t stride;
};
void ft_op_init(struct ft_op *o, MPI_Op op, const struct ft_type *t);

/* ---- scratch.c: one reusable buffer a purpose; valid until the next request for the same purpose. Never NULL (no memory ends
 * the job). */
enum ft_scratch_use {
    FT_SCRATCH_SEND,
    FT_SCRATCH_RECV,
    FT_SCRATCH_REDUCE_IN,
    FT_SCRATCH_REDUCE_OUT,
    FT_SCRATCH_PIECE,
    FT_SCRATCH_ELEMENT, /* for a moment, also where a nonblocking collective goes on in the middle of another call */
    FT_SCRATCH_WAIT,
    FT_SCRATCH_SOFFS,
    FT_SCRATCH_SLENS,
    FT_SCRATCH_ROFFS,
    FT_SCRATCH_RLENS,
    FT_SCRATCH_COMM,
    FT_SCRATCH_VIEW, /* of an intercommunicator's collective */
    FT_SCRATCH_WIN,
    FT_SCRATCH_USES
};
void *ft_scratch(enum ft_scratch_use use, size_t bytes);

/* ---- request_pool.c: the handles of our requests point into one reserved range ---- */
#define FT_REQUEST_HOST_BYTES 256
struct ft_sched;
struct ft_part;
enum ft_send_mode { FT_SEND_STANDARD = 0, FT_SEND_SYNC, FT_SEND_BUFFERED };
struct ft_request {
    /* Open MPI's Fortran layer reads the Fortran index out of the host's request object: here lies ours, where it looks for it.
     */
    FT_ALIGNED_LINE int32_t host_shape[FT_REQUEST_HOST_BYTES / 4];
    struct ft_req r;
    struct ft_comm *comm; /* holds one of its refs while in use */
    void *buf;            /* of the program */
    int count, peer, tag; /* as the program gave them */
    MPI_Datatype type;
    void *packed; /* malloc'ed form of a non-contiguous buffer, or NULL */
    struct ft_sched *sched; /* of a collective; NULL: a send or receive */
    struct ft_part *part;   /* of partitioned communication; NULL: something else (part.c) */
    struct ft_inmsg *taken; /* not a request but a message that a matched probe has taken (matched.c) */
    uint8_t in_use, is_recv, persistent, active, orphan;
    uint8_t mode;            /* of a send: enum ft_send_mode */
    uint8_t pinned;          /* holds types alive (ft_type_pin) */
    uint8_t in_body;         /* was made inside FTRMA_Run's body */
    struct ft_request *next; /* free list, or list of orphans */
};
extern struct ft_request *ft_request_base, *ft_request_end;
static inline struct ft_request *ft_request_of(MPI_Request h)
{
    uintptr_t p = (uintptr_t)h;
    return p - (uintptr_t)ft_request_base < (uintptr_t)ft_request_end - (uintptr_t)ft_request_base ? (struct ft_request *)p
                                                                                                   : NULL;
}
/* Shared ones that are complete from the start: any operation that is already over, a receive from MPI_PROC_NULL. */
#define FT_REQUEST_DONE ((MPI_Request)(void *)&ft_request_base[0])
#define FT_REQUEST_NULL_RECV ((MPI_Request)(void *)&ft_request_base[1])

/* ---- arguments ---- */
/* A handle that is not ours goes to the host; MPI_COMM_NULL is an error of MPI_COMM_WORLD's. */
#define FT_COMM_OR_HOST(c, comm, X, args)                                                                                        \
    do {                                                                                                                         \
        if (FT_UNLIKELY(!(c))) {                                                                                                 \
            if (ft_mpi_up && (comm) == MPI_COMM_NULL)                                                                            \
                return ft_error(MPI_COMM_NULL, MPI_ERR_COMM, "MPI_" #X);                                                         \
            return HOST(X) args;                                                                                                 \
        }                                                                                                                        \
    } while (0)
/* For calls that intercommunicators do not have. */
#define FT_INTRA_OR_HOST(c, comm, X, args)                                                                                       \
    do {                                                                                                                         \
        FT_COMM_OR_HOST(c, comm, X, args);                                                                                       \
        FT_CHECK(!(c)->inter, comm, MPI_ERR_COMM, "MPI_" #X);                                                                    \
    } while (0)
#define FT_CHECK(cond, comm, code, call)                                                                                         \
    do {                                                                                                                         \
        if (FT_UNLIKELY(!(cond)))                                                                                                \
            return ft_error(comm, code, call);                                                                                   \
    } while (0)

#endif
