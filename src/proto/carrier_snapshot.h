/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_snapshot.h - what a carrier remembers of a snapshot (C9), from PROPOSE until LEAVE or
 * CANCEL. The process (recover/process.h) holds the machine of proto/snapshot.h, whose size depends
 * on the job. carrier_snapshot.c has the behaviour.
 *
 *   PROPOSE --> GATE, AWAIT(nobody inside), then the promise
 *   TARGET, and main stands at its safepoint or at body's end --> the machine begins
 *   the machine says TAKE  --> PUBLISH entered, AWAIT(untouched), COPY to main, RELEASE, READY
 *                    FLOOD --> markers to all; each marker that comes goes to the machine
 *                    OVER  --> GATE 0 (with `partial`: at LEAVE)
 */
#ifndef FT_PROTO_CARRIER_SNAPSHOT_H
#define FT_PROTO_CARRIER_SNAPSHOT_H

#include "proto/snapshot.h"

enum ft_snapshot_step {
    FT_SNAPSHOT_AWAY = 0, /* main is not yet at its safepoint, or a ballot is open */
    FT_SNAPSHOT_RUNNING,
    FT_SNAPSHOT_ANSWERED, /* its own image is whole; those of others may not be */
    FT_SNAPSHOT_FAILED,
};
struct ft_carry_snapshot { /* all 0: there is no snapshot */
    uint64_t number;       /* generation << 32 | seq of PROPOSE */
    int32_t step;          /* enum ft_snapshot_step */
    int32_t gated, quiet;  /* the gate is closed; nobody is inside who came before that */
    int32_t entered, untouched,
        taken;    /* `entered` was published; nobody is inside its windows; the image is whole */
    int32_t over; /* the machine has said OVER */
    int32_t wanted_off, told_off; /* main cannot go on before its end; the root was told */
    int32_t asked, done;          /* the machine was asked; how many actions of todo are done */
    uint64_t bytes;
    struct ft_snap_actions todo;
    struct ft_bitset
        heard[2]; /* ranks whose first and second markers the machine has not heard yet */
};

#endif
