/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma.h - what a program may add to MPI so that it survives the loss of processes.
 *
 * CAVEATS FIRST
 *  - Every rank may call FTRMA_Run once, after MPI_Init. Everything before it is *setup*. The
 * replacement of a lost process runs setup again, alone, fed from logs. Setup must therefore do the
 * same from the same input each time.
 *  - body may be entered more than once: by a replacement alone, which then repeats what was done
 * since the checkpoint, or by all ranks. Windows and protected memory are then as they were at the
 * safepoint of the last checkpoint, and nothing else is: local variables of body, files and
 * unprotected memory are not restored. body, too, must do the same from the same input each time.
 *  - body does not communicate between its beginning and its first safepoint.
 *  - When all ranks go back to a checkpoint, body is left by a longjmp. Memory that body allocated
 * and did not protect is lost.
 *  - Create windows, communicators and datatypes that are used across safepoints in setup. No
 * checkpoint is taken while one that was created inside body is alive.
 *  - Protect plain data. A pointer in protected memory keeps its meaning if the allocation that it
 * points to repeats its address in the replacement. ftrun starts processes without address
 * randomisation for this reason.
 *  - No checkpoint is taken at a safepoint at which a rank has active nonblocking requests or holds
 * an exclusive lock.
 *
 * Without the library (plain mpirun) FTRMA_Run calls body and the other calls do nothing, so one
 * binary runs with and without it: the library's symbols are looked up when they are first called.
 * Linking needs nothing but a C library whose dlsym is in libc (glibc 2.34) or -ldl.
 *
 * Thread rules: the thread that called MPI_Init makes all these calls.
 */
#ifndef FTRMA_H
#define FTRMA_H

#include <stddef.h>

#define FTRMA_VERSION_MAJOR 0
#define FTRMA_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

/* The part of a program that may be entered again. FTRMA_Run hands arg to it. */
typedef void FTRMA_Body(void *arg);

#ifdef FTRMA_BUILDING
/* inside the library: the real symbols */
int FTRMA_Protect(void *addr, size_t bytes);
int FTRMA_Unprotect(const void *addr, size_t bytes);
int FTRMA_Run(FTRMA_Body *body, void *arg);
int FTRMA_Safepoint(void);
int FTRMA_Replaced(int *ranks, int *versions, int max);
int FTRMA_Handle_losses(void);
/* For the modules of interpreted languages: body is never left by a longjmp. A lost rank is
 * recovered alone; the job ends with status 75 where all ranks would have to go back. The program's
 * memory is not checked. */
int FTRMA_Run_local(FTRMA_Body *body, void *arg);
#else
#include <dlfcn.h>

/* The library's symbol of that name, or NULL when the library is not loaded. */
static inline void ftrma_lookup_(const char *name, void *fnptr)
{
    *(void **)fnptr = dlsym((void *)0, name); /* RTLD_DEFAULT */
}

/* This private memory belongs to my checkpoints. (Windows always do.)
 *   addr, bytes  any private, writable memory: heap, static data. Alignment is not required. bytes
 * may differ between ranks. Call it in setup, before FTRMA_Run, in the same order with the same
 * sizes whenever setup runs again. In body it takes FTRMA_Unprotect back. Returns MPI_SUCCESS;
 * MPI_ERR_ARG (addr is NULL and bytes > 0; in body, memory that setup did not protect; after
 * FTRMA_Run); or MPI_ERR_NO_MEM. */
static inline int FTRMA_Protect(void *addr, size_t bytes)
{
    int (*fn)(void *, size_t);
    ftrma_lookup_("FTRMA_Protect", &fn);
    return fn ? fn(addr, bytes) : 0;
}

/* The program promises: from here on no rank needs, after a safepoint or after the end of body,
 * what [addr, addr + bytes) held there. Coordinated checkpoints may leave it out, and cost less.
 * Optional. Use it for scratch windows, for memory that body fills at its beginning, and for memory
 * that body does not need any more. Memory that was never protected may be named, too: ftrun
 * --check-memory then does not take it for something forgotten.
 *   addr, bytes  all own window parts (their base) and protected memory that lie wholly in it; not
 * memory that is attached to a dynamic window. It must stay allocated until FTRMA_Run has returned.
 * Call it in setup or in body. Memory that is protected later, or a window that is made later, is
 * protected whatever lay there before. After a recovery the memory may hold anything. Returns
 * MPI_SUCCESS, or MPI_ERR_ARG (bytes > 0, and addr is NULL or only parts of protected memory lie in
 * it). */
static inline int FTRMA_Unprotect(const void *addr, size_t bytes)
{
    int (*fn)(const void *, size_t);
    ftrma_lookup_("FTRMA_Unprotect", &fn);
    return fn ? fn(addr, bytes) : 0;
}

/* Runs body(arg) and keeps it going when processes are lost. Collective over MPI_COMM_WORLD. It
 * takes a first coordinated checkpoint on entry, and a last one when all ranks agree that body is
 * over; then it returns. Returns MPI_SUCCESS; MPI_ERR_OTHER if it was called a second time, or if
 * no image could be taken on entry because a rank had active requests or held an exclusive lock
 * (body was not run); or MPI_ERR_NO_MEM if there is no room for the images (a line on stderr says
 * how many bytes were missing). */
static inline int FTRMA_Run(FTRMA_Body *body, void *arg)
{
    int (*fn)(FTRMA_Body *, void *);
    ftrma_lookup_("FTRMA_Run", &fn);
    if (fn)
        return fn(body, arg);
    body(arg);
    return 0;
}

/* "Body could be entered again from here": protected memory and windows describe a state from which
 * body, called again, would go on. A checkpoint may be taken here. Most calls do nothing and take
 * some nanoseconds. Ranks pass safepoints in step as far as the program's own communication keeps
 * them in step. If a rank has stopped here while another needs a message from it, the ranks agree
 * to call the checkpoint off, and the job does not hang. Returns MPI_SUCCESS. Outside FTRMA_Run it
 * does nothing. */
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

/* Who is new in body, where the program handles losses itself (ftrun --recovery program). After a
 * loss in body all ranks leave their calls, and body is entered again by all. Survivors keep their
 * memory and what their windows hold. The replacement of a lost rank has run setup, and its windows
 * and protected memory are as in its image of the last checkpoint, or, if that image could not be
 * made again, as setup has left them.
 *   ranks, versions  [max] the ranks that are new, in rising order, the same on all ranks; and the
 * number of the checkpoint that each one's image is of, from 1; 0: it has none. Either may be NULL.
 * A rank is new until all have come to a safepoint after it was replaced: call FTRMA_Safepoint when
 * what was lost is repaired. If more ranks are lost before that, all of them are named.
 * Returns how many there are, also if that is more than max. 0: body was entered for the first
 * time, or the program does not handle losses. Call it in body. It does not communicate. */
static inline int FTRMA_Replaced(int *ranks, int *versions, int max)
{
    int (*fn)(int *, int *, int);
    ftrma_lookup_("FTRMA_Replaced", &fn);
    return fn ? fn(ranks, versions, max) : 0;
}

/* "This program handles losses itself": the same as ftrun --recovery program. Call it before
 * MPI_Init (or FTT_Open), in every process, as spares must know it before they carry a rank. If
 * another --recovery was asked for, MPI_Init ends the job with a line that says so.
 * Returns MPI_SUCCESS, or MPI_ERR_OTHER after MPI_Init. */
static inline int FTRMA_Handle_losses(void)
{
    int (*fn)(void);
    ftrma_lookup_("FTRMA_Handle_losses", &fn);
    return fn ? fn() : 0;
}
#endif /* FTRMA_BUILDING */

#ifdef __cplusplus
}
#endif
#endif /* FTRMA_H */
