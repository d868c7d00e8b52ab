/* SPDX-License-Identifier: BSD-3-Clause
 *
 * decision.h - what votes say, what is decided by them, and the messages for that (agree.h).
 */
#ifndef FT_PROTO_DECISION_H
#define FT_PROTO_DECISION_H

#include "proto/exposure.h"

/* What the living contribute. It is merged on the way up: commutative, associative, idempotent. */
struct ft_agree_data {
    uint64_t committed; /* max: the newest version that anyone has committed */
    uint64_t flags;     /* or: FT_AGREE_* */
    /* max over the newly lost ranks: the version after whose commit it no longer matters that the
     * rank had a shared window with others, where nobody sees loads and stores. UINT64_MAX: a rank
     * had one when it was lost; 0: none ever had one. */
    uint64_t shared_until;
    struct ft_exposers exposers; /* ft_exposers_merge */
    struct ft_bitset incomplete; /* or: living slots that carry a rank or codeword, and do not have
                                    its image or content yet */
    /* ft_testimonies_merge: of slots that are new in the failed set and carried a rank */
    struct ft_testimonies told;
};
void ft_agree_merge(struct ft_agree_data *to, const struct ft_agree_data *from);
/* there was one-sided traffic in a phase that is replayed from message logs */
#define FT_AGREE_PHASE_RMA 1ull
/* the last coordinated checkpoint, that of FTRMA_Run's exit, is committed */
#define FT_AGREE_RUN_OVER 2ull
#define FT_AGREE_DONE 4ull /* all have agreed that MPI_Finalize may be left */
/* A rollback was decided, and RESUME is not carried out yet. The next generation starts it again,
 * even if it lost only a spare. */
#define FT_AGREE_ROLLBACK 8ull
/* body was entered without checkpoint and logs, so no rank can be replaced */
#define FT_AGREE_NO_REPLAY 32ull
/* No rank can be replaced because not all that happened outside of FTRMA_Run is kept: bits of
 * enum ft_unkept (alog/unkept.h). */
#define FT_AGREE_UNKEPT(why) ((uint64_t)(why) << 16)
/* A rank has a file open that several ranks have opened together. */
#define FT_AGREE_FILES 64ull
#define FT_AGREE_NODE 512ull       /* a slot that is new in the failed set was lost with its node */
#define FT_AGREE_REPLAYING 1024ull /* a replacement is not live yet */
/* the first checkpoint was called off, so FTRMA_Run has returned an error without running body. It
 * does so */
#define FT_AGREE_REFUSED 128ull
#define FT_AGREE_NO_ROOM 256ull /* in a replacement, too. NO_ROOM: for want of memory */
/* all are going back to the checkpoint that was read from files, so nobody has a memory to keep */
#define FT_AGREE_RESTARTING 2048ull
/* a rank was told who is new, and has not come to a safepoint since */
#define FT_AGREE_REPAIRING 4096ull
/* the checkpoint of FTRMA_Run's exit was called off, so there is no way back for a rank */
#define FT_AGREE_UNPROTECTED 16ull

struct ft_decision {
    uint32_t generation; /* 0: none yet */
    struct ft_bitset failed;
    struct ft_agree_data data;
};

enum ft_agree_kind { FT_AGREE_ANNOUNCE = 1, FT_AGREE_VOTE, FT_AGREE_DECIDE };

struct ft_agree_msg {
    uint32_t kind;
    uint32_t oldest; /* VOTE: the lowest generation of a last decision in the sender's subtree */
    struct ft_bitset failed;   /* the sender's F: its ballot */
    struct ft_agree_data data; /* VOTE: merged over the sender's subtree */
    /* VOTE: the newest decision adopted in the subtree. DECIDE: the decision to adopt. If its set
     * is `failed`, it ends the ballot. Otherwise it is an earlier one, and all vote again. */
    struct ft_decision last;
};

#endif
