/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order_msg.h - orders, milestones, and what processes say to each other about them (order.h).
 */
#ifndef FT_PROTO_ORDER_MSG_H
#define FT_PROTO_ORDER_MSG_H

#include "base/base.h"

enum ft_order_kind {
    FT_ORDER_NONE = 0,
    /* READY: max = number of the first safepoint that main can still be stopped at; main waits
     * there until the next order. FT_SP_NONE from processes without a rank. FT_SP_OVER, which is
     * taken as NONE: body is over */
    FT_ORDER_PROPOSE,
    /* arg = safepoint number S. READY when main stands at S, or its body is over; not_ok: no image
     * can be taken there */
    FT_ORDER_TARGET,
    /* arg = version. All have arrived: mains copy. READY when copied: bytes; not_ok: no room */
    FT_ORDER_CUT,
    /* arg = version. All have copied: mains go on; checksum processes compute. READY; checksum
     * processes: when staged */
    FT_ORDER_LEAVE,
    FT_ORDER_COMMIT, /* arg = version. It is complete everywhere: flip. READY when flipped */
    /* arg = enum ft_skip_reason. Forget the checkpoint under way, mains go on. READY */
    FT_ORDER_CANCEL,
    /* arg = version. Mains park, replacements run setup and rebuild. READY when parked and rebuilt
     */
    FT_ORDER_RECOVER,
    /* arg = version. READY when own memory is as in the image and channels are reset */
    FT_ORDER_RESTORE,
    FT_ORDER_RESUME, /* arg = version. Enter body again. READY at once */
    FT_ORDER_REJOIN, /* READY when the new generation's arenas are mapped */
    FT_ORDER_DONE,   /* MPI_Finalize may be left. READY at once */
};
#define FT_SP_NONE 0ull
#define FT_SP_OVER UINT64_MAX

/* Flags of an order. It belongs to the checkpoint of FTRMA_Run's entry, or of its exit, with whose
 * COMMIT mains leave FTRMA_Run; or to a snapshot: mains do not stand still. */
#define FT_ORDER_ENTRY 1u
#define FT_ORDER_EXIT 2u
#define FT_ORDER_SNAPSHOT 4u /* TARGET and what follows */

enum ft_milestone {
    FT_MILE_SETUP = 0,
    FT_MILE_RUN,
    FT_MILE_OVER,
    FT_MILE_FINALIZE,
    FT_MILE_NONE, /* carries no rank: above all */
};

/* What READY carries; merged: max, min, sum, or. */
struct ft_ready {
    uint64_t max;     /* PROPOSE: largest promise that is neither NONE nor OVER */
    uint64_t bytes;   /* CUT: sum of image bytes */
    uint32_t not_ok;  /* or-ed: enum ft_skip_reason, the largest wins (max) */
    uint32_t stuck;   /* TARGET: or: somebody has not arrived, and waits in the library. That counts
                       * as an answer; see STUCK */
    uint32_t running; /* or: somebody carries a rank whose body is not over */
    uint32_t no_snapshot; /* PROPOSE: or: no snapshot can be taken now */
};

enum ft_order_msg_kind { FT_OM_ORDER = 1, FT_OM_READY, FT_OM_MILESTONE };
struct ft_order_msg {
    uint32_t kind;
    uint32_t generation;
    uint32_t seq;   /* of the order within the generation */
    uint32_t order; /* enum ft_order_kind (ORDER) / enum ft_milestone (MILESTONE) */
    uint64_t arg;
    uint32_t flags; /* ORDER: FT_ORDER_ENTRY, FT_ORDER_EXIT */
    uint32_t pad;
    struct ft_ready ready;
};

#endif
