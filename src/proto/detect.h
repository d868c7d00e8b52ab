/* SPDX-License-Identifier: BSD-3-Clause
 *
 * detect.h - who watches whom, and when silence becomes death (D1). A machine without I/O.
 *
 * Each process watches the next living slot of its node (ascending, cyclic). The runtime observes
 * exits (pidfd) and answers to pings. A local process counts as dead only when its exit was
 * observed: one that stays silent for `limit` ticks is first to be killed (KILL action), and its
 * exit awaited. Time is counted in ticks that the watcher itself lived through: a watcher that was
 * stopped with its peers (Ctrl-Z, a suspended machine) sees one late tick, not many, and condemns
 * nobody.
 */
#ifndef FT_PROTO_DETECT_H
#define FT_PROTO_DETECT_H

#include "base/base.h"

enum ft_detect_event_kind {
    FT_DETECT_EV_TICK = 1, /* a tick interval passed */
    FT_DETECT_EV_ALIVE,    /* slot answered a ping */
    FT_DETECT_EV_EXITED,   /* the exits of a set of slots were observed */
    FT_DETECT_EV_FAILED,   /* a set is known to have failed from elsewhere (agreement): owed for
                              each slot that joins its set F */
};
struct ft_detect_event {
    enum ft_detect_event_kind kind;
    int slot;                    /* ALIVE */
    const struct ft_bitset *set; /* EXITED, FAILED: those of one node all in one event */
};
enum ft_detect_action_kind {
    FT_DETECT_ACT_WATCH = 1, /* watch slot's exit from now on (instead of whom it watched before) */
    FT_DETECT_ACT_PING,
    FT_DETECT_ACT_KILL,   /* SIGKILL through its pidfd */
    FT_DETECT_ACT_FAILED, /* the set of EXITED is dead: tell agreement */
};
struct ft_detect_action {
    enum ft_detect_action_kind kind;
    int slot;                    /* not of FAILED */
    const struct ft_bitset *set; /* FAILED: the event's */
};
#define FT_DETECT_MAX_ACTIONS 4
struct ft_detect_actions {
    int n;
    struct ft_detect_action a[FT_DETECT_MAX_ACTIONS];
};
struct ft_detect {
    int self, nslots;
    int watching; /* -1: nobody is left */
    int silent;   /* ticks since the watched last answered */
    int limit;    /* 0: never condemn for silence; at least 2 otherwise: a watcher that was stopped
                     sees one late tick */
    int killed;   /* KILL was said, exit awaited */
    struct ft_bitset local; /* slots of this node */
    struct ft_bitset dead;
};
/* Starts watching: fills actions with the first WATCH (and PING when limit > 0). */
void ft_detect_init(struct ft_detect *m, int self, int nslots, const struct ft_bitset *local,
                    int limit, struct ft_detect_actions *actions);
void ft_detect_step(struct ft_detect *m, const struct ft_detect_event *ev,
                    struct ft_detect_actions *actions);
void ft_detect_check(const struct ft_detect *m);
int ft_detect_dump(const struct ft_detect *m, char *out, int size);

#endif
