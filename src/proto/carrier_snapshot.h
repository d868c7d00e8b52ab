/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_snapshot.h - what a carrier keeps of a snapshot (C9), from PROPOSE until LEAVE or CANCEL.
 * The machine of proto/snapshot.h lies in the process (recover/process.h), as its size depends on
 * the job. carrier_snapshot.c has what it does.
 *
 *   PROPOSE --> GATE, AWAIT(nobody inside), then the promise
 *   TARGET, main stands at its safepoint or at body's end --> begin, to the machine
 *   the machine: TAKE --> PUBLISH entered, AWAIT(untouched), COPY to main, RELEASE, READY
 *                FLOOD --> markers to all; a marker comes --> to the machine
 *                OVER --> GATE 0 (partial: with LEAVE)
 */
#ifndef FT_PROTO_CARRIER_SNAPSHOT_H
#define FT_PROTO_CARRIER_SNAPSHOT_H

#include "proto/snapshot.h"

enum ft_snapshot_step {
    FT_SNAPSHOT_AWAY = 0, /* main does not yet stand at its safepoint; or a ballot is open */
    FT_SNAPSHOT_RUNNING,
    FT_SNAPSHOT_ANSWERED, /* its image is whole; the others' may not be */
    FT_SNAPSHOT_FAILED,
};
struct ft_carry_snapshot {             /* all 0: there is none */
    uint64_t number;                   /* generation << 32 | seq of PROPOSE */
    int32_t step;                      /* enum ft_snapshot_step */
    int32_t gated, quiet;              /* the gate is closed; nobody is inside without it */
    int32_t entered, untouched, taken; /* said; nobody is inside its windows; image whole */
    int32_t over;                      /* the machine has said so */
    int32_t wanted_off, told_off;      /* main cannot go on before it is over; the root knows */
    int32_t asked, done;               /* the machine was asked; carried out of todo */
    uint64_t bytes;
    struct ft_snap_actions todo;
    struct ft_bitset heard[2]; /* first and second markers that the machine does not know yet */
};

#endif
