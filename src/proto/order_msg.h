/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order_msg.h - orders, milestones, and messages about them (order.h).
 */
#ifndef FT_PROTO_ORDER_MSG_H
#define FT_PROTO_ORDER_MSG_H

#include "base/base.h"

enum ft_order_kind {
    FT_ORDER_NONE = 0,
    /* READY: max = number of the first safepoint that main can still be stopped at. Main waits
     * there until the next order. Processes without a rank say FT_SP_NONE. If body is over, a rank
     * says FT_SP_OVER, which counts as NONE. */
    FT_ORDER_PROPOSE,
    /* arg = number S of a safepoint. READY when main stands at S, or its body is over; not_ok: no
     * image can be taken there. */
    FT_ORDER_TARGET,
    /* arg = version. All have arrived, and mains copy. READY when copied, with bytes; not_ok: there
     * is no room. */
    FT_ORDER_CUT,
    /* arg = version. All have copied. Mains go on, and checksum processes compute. READY at once;
     * from checksum processes when staged. */
    FT_ORDER_LEAVE,
    FT_ORDER_COMMIT, /* arg = version, which is complete everywhere. All flip to it. READY when
                        flipped */
    /* arg = enum ft_skip_reason. All forget the checkpoint under way, and mains go on. READY */
    FT_ORDER_CANCEL,
    /* arg = version. Mains park. Replacements run setup and rebuild. READY when parked and rebuilt.
     */
    FT_ORDER_RECOVER,
    /* arg = version. READY when memory is as in the image, and channels are reset. */
    FT_ORDER_RESTORE,
    FT_ORDER_RESUME, /* arg = version. Mains enter body again. READY at once */
    FT_ORDER_REJOIN, /* READY when the new generation's arenas are mapped */
    FT_ORDER_DONE,   /* MPI_Finalize may be left. READY at once */
};
#define FT_SP_NONE 0ull
#define FT_SP_OVER UINT64_MAX

/* Flags of an order: it belongs to the checkpoint of FTRMA_Run's entry, or of its exit, at whose
 * COMMIT mains leave FTRMA_Run, or to a snapshot, in which mains do not stand still. */
#define FT_ORDER_ENTRY 1u
#define FT_ORDER_EXIT 2u
#define FT_ORDER_SNAPSHOT 4u /* TARGET and what follows */

enum ft_milestone {
    FT_MILE_SETUP = 0,
    FT_MILE_RUN,
    FT_MILE_OVER,
    FT_MILE_FINALIZE,
    FT_MILE_NONE, /* the process carries no rank; this is above all others */
};

/* How a main stands to the target: it has not come, and waits in the library (FT_OE_STUCK, which
 * counts as an answer); it has come since the order was given. */
enum ft_came { FT_CAME_NOT = 1, FT_CAME_LATER = 2 };

/* What READY carries. The comments say how it is merged. */
struct ft_ready {
    uint64_t max;    /* PROPOSE: the largest promise that is neither NONE nor OVER */
    uint64_t bytes;  /* CUT: the sum of the bytes of images */
    uint32_t not_ok; /* enum ft_skip_reason: the largest */
    uint32_t came;   /* TARGET, by or: enum ft_came */
    uint32_t running;     /* by or: somebody carries a rank whose body is not over */
    uint32_t no_snapshot; /* PROPOSE, by or: no snapshot can be taken now */
};

enum ft_order_msg_kind { FT_OM_ORDER = 1, FT_OM_READY, FT_OM_MILESTONE };
struct ft_order_msg {
    uint32_t kind;
    uint32_t generation;
    uint32_t seq;   /* of the order, counted within the generation */
    uint32_t order; /* ORDER: enum ft_order_kind; MILESTONE: enum ft_milestone */
    uint64_t arg;
    uint32_t flags; /* ORDER: FT_ORDER_ENTRY, FT_ORDER_EXIT */
    uint32_t pad;
    struct ft_ready ready;
};

#endif
