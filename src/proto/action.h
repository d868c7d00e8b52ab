/* SPDX-License-Identifier: BSD-3-Clause
 *
 * action.h - actions: what the machines of a process want to be done. The shell does most of them.
 * The last ones are for another machine of the same process.
 */
#ifndef FT_PROTO_ACTION_H
#define FT_PROTO_ACTION_H

#include "proto/demand.h"
#include "proto/order.h"
#include "proto/place.h"
#include "proto/published.h"

enum ft_do {
    FT_DO_NOTHING = 0,
    FT_DO_MAIL, /* Send mail number `mail`, of `bytes`, to slot `to`. FT_TO_RANKS: to the carriers
                 * of all other ranks by the present mapping; after the first marker of a snapshot
                 * comes failpoint SNAPSHOT_MARKED. */
    /* Give main `command` with `number` and `arg`. REBUILD of a version with FT_VERSION_ALONE:
     * a rank rebuilds its image of that version; a checksum process rebuilds the codeword
     * of the images that MEMBER named, and answers with its version, or 0 if all of them
     * are the committed ones. */
    FT_DO_COMMAND,
    FT_DO_HOLD, /* value: FT_HOLD_NONE, _ASK, or _AT + safepoint. Then main's half is copied. */
    FT_DO_WISH, /* value 1: main is to take an image alone, in this generation. This changes nothing
                 * if it was said already, or while main takes an image. 0: no image is wanted,
                 * unless main has begun it. FT_WISH_FORGET: and what was taken is forgotten. Then
                 * main's half is copied. From then on main begins no image that was wished before.
                 */
    FT_DO_TOOK, /* main's `taken` was heard: empty it, so that main can answer again */
    FT_DO_ATTENTION, /* value: FT_ATTENTION_* */
    FT_DO_AWAIT,     /* value: FT_LOOK_* bits; they replace those before */
    FT_DO_PUBLISH,   /* word, value */
    FT_DO_SAY_TAGS, /* This process leads its group. Send each rank of it mail DEMAND with `demand`,
                     * and fill in rank and version: that of the rank's image in the latest codeword
                     * here (covered[] in the own control block), or the committed version if there
                     * is no other codeword. */
    FT_DO_MEMBER,   /* a checksum process: from now on REBUILD uses image `value` of rank `to` */
    FT_DO_GATE, /* value: the snapshot that begins here. Accesses and messages look at it from now
                 * on, and what main has asked about the one before (FT_ASK_SNAPSHOT_OFF) is
                 * forgotten. 0: it is over; main's bell is rung, as main may wait for that. */
    FT_DO_STILL_THERE, /* main stands, and all will go back to version `value`: end the job if a
                        * window of that image was freed since */
    FT_DO_FORGET,      /* all go back: forget what is known of the last calls of lost ranks */
    FT_DO_WITNESS,     /* a vote is to be given, and WITNESSED is the answer: this process's
                        * contribution, with the
                        * testaments of the slots in `set` that it can read */
    FT_DO_REPAIR,      /* repair what the dead of the adopted decision have left (D3) */
    FT_DO_BIND,        /* there is a new mapping (ft_process_map) */
    FT_DO_INHERIT,     /* the process that carried this rank before has left `left` (in the step's
                        * actions); ROLE     comes later */
    FT_DO_SAY_LEFT, /* send slot `to` mail LEFT: what the lost process in slot `value` has left */
    FT_DO_WATCH,    /* watch slot `to` from now on */
    FT_DO_KILL,     /* kill the process in slot `to` */
    FT_DO_EVENT,    /* write to the board: event, who, a, b, dur */
    FT_DO_SAY,      /* tell the user: all wait for the next call of this rank, to go back to version
                       `value` */
    FT_DO_SAVE,     /* save version `value`, if that is due */
    FT_DO_GONE_ON,  /* all have gone back to the checkpoint that was read from files */
    FT_DO_JOB_DONE, /* the root: write to the board that the job is done */
    FT_DO_LOST,     /* the job cannot go on; the plan says why */
    /* The rest are for another machine of this process. */
    FT_DO_READY,    /* seq, ready; event: enum ft_order_kind */
    FT_DO_STUCK,    /* the same */
    FT_DO_ROOT,     /* tell the root: `event` FT_ROOT_*, number `value`; LATE: a: why, or 0 */
    FT_DO_MARKER,   /* of snapshot `value`, kind `event`, to rank `to` or FT_TO_RANKS: as a mail */
    FT_DO_DEMAND,   /* demand, to FT_TO_LEAD, FT_TO_HELPER(i), or the rank at position `to` */
    FT_DO_SNAPSHOT, /* to the machine of snapshot `value`: begin; or, if event is not 0, the marker
                     * of that kind from rank `to` has come. It answers at once
                     * (ft_carrier_snapshot). */
};
#define FT_TO_RANKS (-1) /* all ranks' carriers but this one */
#define FT_TO_LEAD (-2)  /* DEMAND: the checksum process that leads the group of demand.rank */
#define FT_TO_HELPER(i) (-3 - (i)) /* DEMAND: the i-th checksum process of the own group */
#define FT_WISH_FORGET 2ull
enum { FT_ROOT_DUE = 1, FT_ROOT_ROLLBACK, FT_ROOT_LATE };
enum { FT_ATTENTION_REBIND = 1, FT_ATTENTION_PARK = 2 };

enum { /* what the shell looks at in each turn, until it is told otherwise */
       FT_LOOK_QUIET =
           1, /* Nobody here is inside an access that began before this look was asked for, or
               * before GATE. The shell looks only after the other actions of the step. */
       FT_LOOK_UNTOUCHED = 2, /* Nobody is inside an access to this process's windows that began
                               * before SNAPSHOT_ENTERED was published. */
       FT_LOOK_STUCK = 4,     /* main sleeps in the library, and nothing has moved for some time */
       FT_LOOK_LIVE = 8,      /* all ranks are live */
       FT_LOOK_GROUP = 16, /* value: a bit for each checksum process of the group that is live and
                            * has rejoined in this generation; bit 31: all of its ranks are live. It
                            * is seen again whenever it has changed. */
       FT_LOOK_ROOM =
           32, /* value: the bytes that the group protects (a spare: the largest rank), and the room
                * that there is for it. It is seen again whenever it has changed. */
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
