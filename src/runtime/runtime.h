/* SPDX-License-Identifier: BSD-3-Clause
 *
 * runtime.h - what src/mpi may ask of the runtime: start, end, checkpoints, and the check at the
 * door of each call (runtime_door.h). The runtime owns all threads, the clock and progress.
 */
#ifndef FT_RUNTIME_RUNTIME_H
#define FT_RUNTIME_RUNTIME_H

#include "base/base.h"
#include "base/engine.h"
#include "runtime/runtime_door.h"

/* The services of src/mpi for the runtime: the only upward calls, installed at start. */
struct ft_host {
    int slot, nslots;
    int threads; /* the program announced that it has several threads */
    int plain;   /* there is no MPI: a process has no log that its replacement needs */
    /* Shares `bytes` of buf from slot 0 to all slots through the host MPI. Used only inside
     * ft_runtime_start, without ftrun. */
    void (*bcast0)(void *buf, int bytes);
    /* Main is about to go back, and memory still is as it was: waits until the host writes to it no
     * more. */
    void (*going_back)(void);
    /* All processes, or only this one, have gone back to a checkpoint: drops open requests, and
     * forgets what was made inside body. Called on main, before body is entered again (over: the
     * image is of body's end, and body is not entered again). Communicates nothing. */
    void (*rolled_back)(int over);
    /* Lets go of requests that the program has freed and that are over, as they prevent no
     * checkpoint. Called on main, at both ends of body. */
    void (*reap)(void);
    /* Calls the host's own finalize in processes that carry no rank (src/mpi calls it itself in
     * those that do). Only when ft_runtime_wants_host_end(). */
    void (*finalize)(void);
};

/* The time in seconds: the same clock in all processes of a job on this node, also before MPI_Init,
 * in a replacement, and after a rollback. Its zero is the board's. Without ftrun there is no board
 * before MPI_Init, and the zero is that of CLOCK_MONOTONIC. Any thread. */
double ft_runtime_clock(void);
/* 0: the job is on several hosts, whose clocks agree only up to what the network takes. */
int ft_runtime_clock_is_global(void);

/* Called by MPI_Init before the host's: from now on this process waits for the others, and they for
 * it. */
void ft_runtime_entering(void);
/* The host's MPI_Init has returned: removes what only the host was to see in the environment. */
void ft_runtime_host_is_up(void);
/* The program ends this process with this status. Returns, unless that ends the job: a rank must
 * not leave before MPI_Finalize. */
void ft_runtime_exiting(int status);
/* Called inside MPI_Init after the host has started. Returns when this process carries a rank. A
 * process that never gets one does not return (it exits with 0 when the job is done). Invalid
 * settings: message on stderr, exit with 2. Sets *rank, *nranks. */
void ft_runtime_start(const struct ft_host *host, int *rank, int *nranks);
int ft_runtime_started(void); /* that was called already */
/* The last step of MPI_Init, on a rank: what main allocates from here on belongs to the program. */
void ft_runtime_begin_heap(void);
/* Called around the host's MPI_Init and ours: tell which mappings are the program's
 * (memcheck.c). */
void ft_runtime_before_init(void);
void ft_runtime_after_init(void);
/* Called inside MPI_Finalize: returns when all ranks have agreed that they are there. Afterwards
 * the program may do what it likes. */
void ft_runtime_finalize(void);
/* The program ends itself: MPI_Abort(code), or a call that the library cannot carry (message !=
 * NULL, "MPI_Foo: why"). Never returns. */
_Noreturn void ft_runtime_abort(int code, const char *message);
/* Whether the host's own finalize is to be called. It waits for all processes, and a wait for one
 * that has died, or dies meanwhile, may never end. [A spare is killed when all have agreed, and the
 * ranks never come back from MPI_Finalize.] It is not needed: ftrun removes what the host leaves,
 * and mpirun was told to let processes go. Without ftrun mpirun may not have been told; then the
 * host's finalize is left out only after a failure, and where the program has closed the host's
 * descriptors. */
int ft_runtime_wants_host_end(void);

/* Number of files that this rank has opened together with others, or is opening. The host carries
 * these, and would wait for a lost rank for ever. While a living rank has any, the loss of any rank
 * ends the job. Main writes it, all agents read it: it is on the board. */
extern FT_STATE(_Atomic uint32_t *, ft_runtime_shared_files);
#define ft_runtime_shared_files FT_MY(ft_runtime_shared_files)
int ft_runtime_slot(int rank); /* the present carrier, as main knows it */
/* The node on which this rank was at first, wherever it is now. [f' repeats setup on another node:
 * it would be in another communicator of MPI_Comm_split_type than f was.] */
int ft_runtime_node(void);
int ft_runtime_near(int rank); /* its carrier is on this node */
int ft_my_rank(void);
int ft_nranks(void);

/* FTRMA_Run, FTRMA_Protect, FTRMA_Safepoint; enum ft_status. */
enum ft_status ft_runtime_protect(void *addr, size_t bytes);
enum ft_status ft_runtime_unprotect(const void *addr, size_t bytes);
/* Takes memory for the images of what is protected so far, before the first is taken. */
void ft_runtime_prepare(void);
/* stays: body is never left by a longjmp. A rollback that would need one ends the job. */
enum ft_status ft_runtime_run(void (*body)(void *), void *arg, int stays);
void ft_runtime_safepoint(void);
int ft_runtime_replaced(int *ranks, int *versions, int max); /* FTRMA_Replaced */
enum ft_status ft_runtime_handles_losses(void); /* FTRMA_Handle_losses. FT_ERR_ARG: too late */

/* Handles that live across safepoints must be made in setup; src/mpi reports each communicator and
 * window that is made or freed. */
void ft_runtime_object_created(void);
void ft_runtime_object_freed(int created_in_body);
int ft_runtime_in_body(void);

/* For a rehearsal (ftrun --rehearse), which looks at windows when they are freed, as no image of
 * the end has them. */
int ft_runtime_keeps_windows(void);
void ft_runtime_keep_window(const void *addr, size_t bytes); /* nobody accesses it any more */

/* The counter from which src/mpi takes new context ids. It is a part of the image, so a rollback
 * takes it back too. */
extern FT_STATE(uint32_t, ft_next_ctx);
#define ft_next_ctx FT_MY(ft_next_ctx)

#endif
