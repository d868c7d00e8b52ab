/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma.h - what a program may add to MPI so that it outlives the loss of processes.
 *
 * CAVEATS FIRST
 *  - FTRMA_Run may be called once, after MPI_Init, by every rank. Everything before it is *setup*: a replacement of a failed
 *    process runs setup again, alone, fed from logs. Setup must therefore compute the same thing from the same input.
 *  - body may be entered more than once: by a replacement alone, which then repeats what was done since the checkpoint, or by all ranks.
 *    When it is, windows and protected memory are as they were at the safepoint of the last checkpoint, and nothing else is:
 *    local variables of body, files, unprotected memory are not restored. It must do the same from the same input as well.
 *  - body does not communicate between its beginning and its first safepoint.
 *  - body is left by a longjmp when everyone goes back to a checkpoint: memory allocated inside body and not protected is lost.
 *  - Windows, communicators and datatypes used across safepoints are created in setup (before FTRMA_Run). While one that
 *    was created inside body is alive no checkpoint is taken.
 *  - Protect plain data. Pointers in protected memory keep their meaning as far as the allocations that they point to repeat in
 *    the replacement; ftrun starts processes without address randomisation so that they do.
 *  - No checkpoint is taken at a safepoint that has active nonblocking requests or an exclusive lock held: it is passed over.
 *
 * Without the library (plain mpirun) these calls do nothing but run body, so one binary serves both: the symbols are
 * looked up when first called. Linking needs nothing but a C library whose dlsym is in libc (glibc 2.34) or -ldl.
 *
 * Thread rules: all are called by the thread that called MPI_Init.
 */
#ifndef FTRMA_H
#define FTRMA_H

#include <stddef.h>

#define FTRMA_VERSION_MAJOR 0
#define FTRMA_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

/* The part of a program that may be entered again. arg is handed through from FTRMA_Run. */
typedef void FTRMA_Body(void *arg);

#ifdef FTRMA_BUILDING
/* inside the library: the real symbols */
int FTRMA_Protect(void *addr, size_t bytes);
int FTRMA_Unprotect(const void *addr, size_t bytes);
int FTRMA_Run(FTRMA_Body *body, void *arg);
int FTRMA_Safepoint(void);
/* For the modules of interpreted languages: body is never left by a longjmp. A lost rank is recovered alone; the job ends with status 75
 * where all ranks would have to go back. The program's memory is not checked. */
int FTRMA_Run_local(FTRMA_Body *body, void *arg);
#else
#include <dlfcn.h>

/* The library's symbol of that name, or NULL when the library is not loaded. */
static inline void ftrma_lookup_(const char *name, void *fnptr)
{
    *(void **)fnptr = dlsym((void *)0, name); /* RTLD_DEFAULT */
}

/* This private memory belongs to my checkpoint (windows always do).
 *   addr, bytes  any private, writable memory: heap, static data; alignment is not required. bytes may differ between ranks.
 * Called in setup, before FTRMA_Run, in the same order with the same sizes whenever setup runs again. In body it takes FTRMA_Unprotect back.
 * Returns MPI_SUCCESS, or MPI_ERR_ARG (NULL with bytes > 0; in body, memory that setup did not protect; after FTRMA_Run), MPI_ERR_NO_MEM. */
static inline int FTRMA_Protect(void *addr, size_t bytes)
{
    int (*fn)(void *, size_t);
    ftrma_lookup_("FTRMA_Protect", &fn);
    return fn ? fn(addr, bytes) : 0;
}

/* From here on nothing that [addr, addr + bytes) holds at a safepoint, or at body's end, is needed behind it, by any rank: coordinated
 * checkpoints may leave it out, and cost less. Optional. For scratch windows, for what body fills at its beginning, and for what it has
 * done with. Of memory that was never protected it says that body may change it: else that is taken for something forgotten (ftrun
 * --check-memory).
 *   addr, bytes  of own window parts (their base) and protected memory, all that lie in it wholly; not memory that is attached to a dynamic
 *                window. It must stay allocated until FTRMA_Run has returned.
 * In setup or in body; memory that is protected, or a window that is made, afterwards is protected whatever lay there before. After a
 * recovery it may hold anything. Returns MPI_SUCCESS, or MPI_ERR_ARG (bytes > 0, and addr is NULL or only parts of protected
 * memory lie in it). */
static inline int FTRMA_Unprotect(const void *addr, size_t bytes)
{
    int (*fn)(const void *, size_t);
    ftrma_lookup_("FTRMA_Unprotect", &fn);
    return fn ? fn(addr, bytes) : 0;
}

/* Runs body(arg), fault tolerant. Collective over MPI_COMM_WORLD. Takes a first coordinated checkpoint on entry, returns when
 * all ranks agree that body is over, and takes a last coordinated checkpoint then.
 * Returns MPI_SUCCESS, MPI_ERR_OTHER when called a second time, or when no image could be taken on entry because a rank had active
 * requests or an exclusive lock (body was not run), MPI_ERR_NO_MEM when there is no room for the images
 * (it is said on stderr how many bytes were missing). */
static inline int FTRMA_Run(FTRMA_Body *body, void *arg)
{
    int (*fn)(FTRMA_Body *, void *);
    ftrma_lookup_("FTRMA_Run", &fn);
    if (fn)
        return fn(body, arg);
    body(arg);
    return 0;
}

/* "From here body could be entered again": protected memory and windows describe a state from which body, called anew, would
 * go on. A checkpoint may be taken here; mostly nothing happens (some nanoseconds). Every rank passes its safepoints in
 * step with the others as far as the program's own communication goes; a rank that is stopped here while another needs
 * a message from it does not hang the job: the checkpoint is called off by agreement.
 * Returns MPI_SUCCESS. Outside FTRMA_Run it does nothing. */
static inline int FTRMA_Safepoint(void)
{
    static int (*ftrma_fn_)(void);
    static int ftrma_looked_;
    if (!ftrma_looked_) {
        ftrma_lookup_("FTRMA_Safepoint", &ftrma_fn_);
        ftrma_looked_ = 1;
    }
    return ftrma_fn_ ? ftrma_fn_() : 0;
}
#endif /* FTRMA_BUILDING */

#ifdef __cplusplus
}
#endif
#endif /* FTRMA_H */
