/* SPDX-License-Identifier: BSD-3-Clause
 *
 * action.h - what the machines of a process want to be done: by the shell, or (the last ones) by
 * another machine of the same process.
 */
#ifndef FT_PROTO_ACTION_H
#define FT_PROTO_ACTION_H

#include "proto/demand.h"
#include "proto/order.h"
#include "proto/place.h"
#include "proto/published.h"

enum ft_do {
    FT_DO_NOTHING = 0,
    FT_DO_MAIL, /* to slot `to`, or FT_TO_RANKS, mail number `mail`, of `bytes`. FT_TO_RANKS:
                 * to the carriers of all other ranks, by the mapping as it is now (markers of a
                 * snapshot: failpoint SNAPSHOT_MARKED after the first) */
    /* to main: `command`, `number`, `arg`. REBUILD of a version with FT_VERSION_ALONE: of a rank,
     * its image of that version; of a checksum process, the codeword of the images that MEMBER
     * named: answered by its version, 0 if all of them are the committed ones */
    FT_DO_COMMAND,
    FT_DO_HOLD,      /* value: FT_HOLD_NONE, _ASK, _AT + safepoint; then main's half is copied */
    FT_DO_WISH,      /* value 1: an image alone is wanted, in this generation. Said again, or while
                      * main is at one, it changes nothing. 0: it is not, unless main has begun it.
                      * FT_WISH_FORGET: nor what was taken. Then main's half is copied, and counts:
                      * from here on main begins none that it was not told of after this */
    FT_DO_TOOK,      /* main's `taken` was heard: empty it, main may answer again */
    FT_DO_ATTENTION, /* value: FT_ATTENTION_* */
    FT_DO_AWAIT,     /* value: FT_LOOK_*, in place of those before */
    FT_DO_PUBLISH,   /* word, value */
    FT_DO_SAY_TAGS,  /* the lead of this process's group: to each rank of it, mail DEMAND with
                      * `demand`, in which rank and version are filled in. version: of the rank's
                      * image in the latest codeword here (covered[] in the own control block); the
                      * committed version where there is no codeword but that one */
    FT_DO_MEMBER,    /* a checksum process: from now on REBUILD takes image `value` of rank `to` */
    FT_DO_GATE,      /* value: the snapshot that begins here: accesses and messages look at it from
                      * now on, and what main has asked of the one before (FT_ASK_SNAPSHOT_OFF) is
                      * forgotten. 0: it is over; main is rung, as it may wait for that */
    FT_DO_STILL_THERE, /* main stands, and all will go back to version `value`: the job ends if a
                        * window of that image was freed since */
    FT_DO_FORGET,      /* all go back: what is known of the lost ranks' last calls counts no more */
    FT_DO_WITNESS,     /* a vote: what this process contributes, and of whom it can say something
                        * in `set`. The very next event is WITNESSED */
    FT_DO_REPAIR,      /* the dead of the decision that is being adopted (D3) */
    FT_DO_BIND,        /* the mapping is a new one (ft_process_map) */
    FT_DO_INHERIT,        /* this process's rank was carried by the process that left `left` (in the
                        * step's actions); ROLE comes later */
    FT_DO_SAY_LEFT,    /* to slot `to`, mail LEFT: what the lost process in slot `value` has left */
    FT_DO_WATCH,       /* slot `to`, from now on */
    FT_DO_KILL,        /* slot `to` */
    FT_DO_EVENT,       /* on the board: event, who, a, b, dur */
    FT_DO_SAY,         /* all wait for the next call of this rank, to go back to version `value` */
    FT_DO_SAVE,        /* version `value` is to be saved, if it is due */
    FT_DO_GONE_ON,     /* all have gone back to the checkpoint that is from files */
    FT_DO_JOB_DONE,    /* root: the job is done, on the board */
    FT_DO_LOST,        /* the job cannot go on: the plan says why */
    /* between the machines of a process; they do not leave it */
    FT_DO_READY,    /* seq, ready; event: enum ft_order_kind */
    FT_DO_STUCK,    /* the same */
    FT_DO_ROOT,     /* tell the root: `event` FT_ROOT_*, number `value`; LATE: a: why, or 0 */
    FT_DO_MARKER,   /* of snapshot `value`, kind `event`, to rank `to` or FT_TO_RANKS: as a mail */
    FT_DO_DEMAND,   /* demand, to FT_TO_LEAD, FT_TO_HELPER(i), or the rank at position `to` */
    FT_DO_SNAPSHOT, /* to the machine of snapshot `value`: begin; or, event: the marker of that kind
                     * from rank `to` has come. It answers at once (ft_carrier_snapshot) */
};
#define FT_TO_RANKS (-1) /* all ranks' carriers but this one */
#define FT_TO_LEAD (-2)  /* DEMAND: the checksum process that leads the group of demand.rank */
#define FT_TO_HELPER(i) (-3 - (i)) /* DEMAND: the i-th checksum process of the own group */
#define FT_WISH_FORGET 2ull
enum { FT_ROOT_DUE = 1, FT_ROOT_ROLLBACK, FT_ROOT_LATE };
enum { FT_ATTENTION_REBIND = 1, FT_ATTENTION_PARK = 2 };

enum {                    /* what the shell looks at, in each turn, until it is told otherwise */
       FT_LOOK_QUIET = 1, /* nobody here is inside an access that began before this was asked, or
                           * before GATE. Looked at after the actions of the step, never before */
       FT_LOOK_UNTOUCHED = 2, /* nobody is inside an access to this process's windows that began
                               * before SNAPSHOT_ENTERED was published */
       FT_LOOK_STUCK = 4,     /* main sleeps in the library, and nothing has moved for a while */
       FT_LOOK_LIVE = 8,      /* all ranks are live */
       FT_LOOK_GROUP = 16, /* value: bits of the group's checksum processes that are live and have
                            * rejoined in this generation; bit 31: all of its ranks are live. Seen
                            * again whenever it has changed */
       FT_LOOK_ROOM = 32,  /* value: bytes that the group (a spare: the largest rank) protects, and
                            * the room it has for it. Seen again whenever it has changed */
};

struct ft_action {
    enum ft_do kind;
    int32_t to;
    uint32_t mail, bytes; /* MAIL */
    uint32_t word;        /* PUBLISH */
    uint32_t event, who;  /* EVENT: enum ft_event_kind, FT_WHO; ROOT, MARKER */
    uint32_t seq;         /* READY, STUCK */
    enum ft_command command;
    uint64_t number; /* COMMAND */
    uint64_t value;
    int64_t a, b, dur; /* EVENT */
    struct ft_command_arg arg;
    struct ft_ready ready;
    struct ft_demand_msg demand;
};
#define FT_ACTIONS 64
struct ft_actions {
    int n;
    struct ft_action a[FT_ACTIONS];
};
struct ft_action *ft_action_add(struct ft_actions *out, enum ft_do kind, uint64_t value);

#endif
