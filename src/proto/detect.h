/* SPDX-License-Identifier: BSD-3-Clause
 *
 * detect.h - who watches whom, and when a silent process counts as dead (D1). A machine without
 * I/O.
 *
 * Each process watches the next living slot of its node, in ascending and cyclic order. The runtime
 * observes exits (by pidfds) and answers to pings. A process of the node counts as dead only when
 * its exit was observed. One that is silent for `limit` ticks is killed first (action KILL), and
 * then its exit is awaited. Time is counted in ticks that the watcher itself lived through. So a
 * watcher that was stopped together with its peers (Ctrl-Z, a suspended machine) sees one late tick
 * and condemns nobody.
 */
#ifndef FT_PROTO_DETECT_H
#define FT_PROTO_DETECT_H

#include "base/base.h"

enum ft_detect_event_kind {
    FT_DETECT_EV_TICK = 1, /* one interval of ticks has passed */
    FT_DETECT_EV_ALIVE,    /* the slot has answered a ping */
    FT_DETECT_EV_EXITED,   /* the exits of a set of slots were observed */
    FT_DETECT_EV_FAILED,   /* agreement says that a set has failed: the caller owes it for
                              each slot that joins the failed set */
};
struct ft_detect_event {
    enum ft_detect_event_kind kind;
    int slot;                    /* ALIVE */
    const struct ft_bitset *set; /* EXITED, FAILED: all slots of a lost node come in one event */
};
enum ft_detect_action_kind {
    FT_DETECT_ACT_WATCH = 1, /* watch the exit of this slot from now on, and no other */
    FT_DETECT_ACT_PING,
    FT_DETECT_ACT_KILL,   /* SIGKILL through its pidfd */
    FT_DETECT_ACT_FAILED, /* the set of EXITED is dead, which agreement is to hear */
};
struct ft_detect_action {
    enum ft_detect_action_kind kind;
    int slot;                    /* all but FAILED */
    const struct ft_bitset *set; /* FAILED: the set of the event */
};
#define FT_DETECT_MAX_ACTIONS 4
struct ft_detect_actions {
    int n;
    struct ft_detect_action a[FT_DETECT_MAX_ACTIONS];
};
struct ft_detect {
    int self, nslots;
    int watching; /* the slot that it watches; -1: nobody is left */
    int silent;   /* ticks since that slot has last answered */
    int limit;    /* 0: silence is never taken for death; otherwise at least 2, since a watcher that
                     was    stopped sees one late tick */
    int killed;   /* KILL was said, and the exit is awaited */
    struct ft_bitset local; /* slots of this node */
    struct ft_bitset dead;
};
/* Starts to watch. Fills actions with the first WATCH, and with PING if limit > 0. */
void ft_detect_init(struct ft_detect *m, int self, int nslots, const struct ft_bitset *local,
                    int limit, struct ft_detect_actions *actions);
void ft_detect_step(struct ft_detect *m, const struct ft_detect_event *ev,
                    struct ft_detect_actions *actions);
void ft_detect_check(const struct ft_detect *m);
int ft_detect_dump(const struct ft_detect *m, char *out, int size);

#endif
