/* SPDX-License-Identifier: BSD-3-Clause
 *
 * icoll.h - one collective, three forms: MPI_Bcast, MPI_Ibcast, and the persistent MPIX_Bcast_init
 * (or MPI_Bcast_init, where the host has it).
 *
 * A collective is written once, as a function that checks arguments, lays out buffers and hands
 * bytes to the engine. Its parameter `s` decides how: NULL carries it out at once; otherwise
 * everything from packing to unpacking becomes steps of that schedule (coll/sched.h), in memory of
 * its own. FT_COLL_FORMS makes the MPI calls from it.
 *
 * Main only.
 */
#ifndef FT_MPI_ICOLL_H
#define FT_MPI_ICOLL_H

#include "coll/sched.h"
#include "mpi/icoll_stage.h"
#include "mpi/request.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

/* Returns a request for a collective over c, to whose `sched` the steps are to be added. NULL: too
 * many requests; the error was raised. Takes the next tag of c's context, so all members must call
 * it alike. name: static storage, without MPI_. */
struct ft_request *ft_icoll_begin(struct ft_comm *c, const char *name, const char *call);
/* All steps are added: starts the request, or, if persistent, leaves that to MPI_Start. code:
 * MPI_SUCCESS, or an error in the arguments that was raised already; then the request is freed.
 * Returns code. */
int ft_icoll_commit(struct ft_request *q, int code, int persistent, MPI_Request *request);
/* Starts a persistent one. */
void ft_icoll_start(struct ft_request *q);

/* The communicator of the blocking collective that is under way. Its error handler is called at the
 * end if counts did not fit together. */
extern FT_STATE(struct ft_comm *, ft_coll_listener);
extern FT_STATE(int, ft_coll_has_heard);
#define ft_coll_listener FT_MY(ft_coll_listener)
#define ft_coll_has_heard FT_MY(ft_coll_has_heard)
int ft_coll_raise(struct ft_comm *c, const char *call);
static inline int ft_coll_heard(struct ft_comm *c, int code, const char *call)
{
    ft_coll_listener = NULL;
    return FT_UNLIKELY(ft_coll_has_heard) ? ft_coll_raise(c, call) : code;
}
void ft_coll_listen(void);       /* called at start */
void ft_coll_listen_reset(void); /* all went back */

/* Calls the engine's collective of this name (without ft_), or adds its steps. */
#define FT_ENGINE(s, name, ...)              \
    do {                                     \
        if (s)                               \
            ft_sched_##name(s, __VA_ARGS__); \
        else                                 \
            ft_##name(__VA_ARGS__);          \
    } while (0)

/* ---- the three forms ----
 * do_it(c, args, s, call) is the collective; x is X in the spelling that follows MPI_I; params and
 * args in parentheses, without the communicator. */
#define FT_LIST(...) __VA_ARGS__
#define FT_COLL_FORMS(X, x, do_it, params, args)                                                \
    FT_MPI(int, X, (FT_LIST params, MPI_Comm comm))                                             \
    {                                                                                           \
        ft_door();                                                                              \
        struct ft_comm *c = ft_comm_of(comm);                                                   \
        FT_COMM_OR_HOST(c, comm, X, (FT_LIST args, comm));                                      \
        ft_coll_listener = c;                                                                   \
        return ft_coll_heard(c, do_it(c, FT_LIST args, NULL, "MPI_" #X), "MPI_" #X);            \
    }                                                                                           \
    FT_MPI(int, I##x, (FT_LIST params, MPI_Comm comm, MPI_Request * request))                   \
    {                                                                                           \
        ft_door();                                                                              \
        struct ft_comm *c = ft_comm_of(comm);                                                   \
        FT_COMM_OR_HOST(c, comm, I##x, (FT_LIST args, comm, request));                          \
        struct ft_request *q = ft_icoll_begin(c, #x, "MPI_I" #x);                               \
        return q ? ft_icoll_commit(q, do_it(c, FT_LIST args, q->sched, "MPI_I" #x), 0, request) \
                 : MPI_ERR_NO_MEM;                                                              \
    }                                                                                           \
    FT_COLL_INIT_X(X, x, do_it, params, args)                                                   \
    FT_COLL_INIT_4(X, x, do_it, params, args)

#define FT_COLL_INIT(name, x, do_it, params, args)                                         \
    FT_TAKE_OVER(int, name, P##name,                                                       \
                 (FT_LIST params, MPI_Comm comm, MPI_Info info, MPI_Request * request))    \
    {                                                                                      \
        struct ft_comm *c = ft_comm_of(comm);                                              \
        if (FT_UNLIKELY(!c))                                                               \
            return FT_HOST_CALL(P##name)(FT_LIST args, comm, info, request);               \
        ft_door_unattended();                                                              \
        struct ft_request *q = ft_icoll_begin(c, #x, #name);                               \
        return q ? ft_icoll_commit(q, do_it(c, FT_LIST args, q->sched, #name), 1, request) \
                 : MPI_ERR_NO_MEM;                                                         \
    }
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define FT_COLL_INIT_X(X, x, do_it, params, args) \
    FT_COLL_INIT(MPIX_##X##_init, x, do_it, params, args)
#else
#define FT_COLL_INIT_X(X, x, do_it, params, args)
#endif
#ifdef FT_HOST_HAS_COLL_INIT
#define FT_COLL_INIT_4(X, x, do_it, params, args) \
    FT_COLL_INIT(MPI_##X##_init, x, do_it, params, args)
#else
#define FT_COLL_INIT_4(X, x, do_it, params, args)
#endif

#endif
