/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carriers.h - what the transport (src/ftt) needs of the runtime: to start a process of a program
 * without MPI, and who carries which rank.
 */
#ifndef FT_RUNTIME_CARRIERS_H
#define FT_RUNTIME_CARRIERS_H

#include "base/base.h"

enum ft_joining {
    FT_JOINED = 0,
    FT_JOIN_NO_JOB,  /* it was not started by ftrun */
    FT_JOIN_LEVEL,   /* the program does not handle losses, and there may be some */
    FT_JOIN_IN_RUN,  /* inside of FTRMA_Run */
    FT_JOIN_OVER,    /* after MPI_Finalize */
};
/* Whether a transport may be opened in this process. Without MPI the process joins the job; then it
 * returns when it carries a rank, and *own is 1. */
enum ft_joining ft_carriers_join(int *own);
/* The job of a process that has joined it by itself ends by agreement, as in MPI_Finalize. */
void ft_carriers_end(void);

/* Copies the newest mapping: slot and incarnation, and whether that carrier is known to have ended,
 * [nranks] each. Returns its generation. news: from now on called, by the agent, after each change.
 * It must not wait. */
uint32_t ft_carriers_now(int *slot, uint32_t *incarnation, unsigned char *dead, void (*news)(void));
/* A transport is open here: the others go on when this process is lost. */
void ft_carriers_opened(void);
/* Standard output and error of a replacement go on where those of the lost process ended. */
void ft_carriers_output(void);
/* This is main, and a recovery may take it out of its call. */
int ft_carriers_may_take_back(void);

/* A call that waits, or by which a program may be waiting for somebody, is like one of MPI: main may
 * leave it for a recovery (FTRMA_Run), and messages of MPI go on in it. [p is in MPI_Ssend to q,
 * whose receive is posted, and q waits for what p publishes after that.] Other threads may call
 * these, too. No lock may be held. */
void ft_carriers_door(void); /* at its begin */
/* While it waits. Returns 1 if main has requests of MPI: nobody rings when these can go on, so it is
 * not to sleep for long. */
int ft_carriers_go_on(void);
/* If main leaves a call by any door from now on, left(of) is called before, if it is not NULL.
 * Returns what was to be called until now. Does nothing in other threads. */
struct ft_holder {
    void (*left)(void *of);
    void *of;
};
struct ft_holder ft_carriers_holds(struct ft_holder h);

#endif
