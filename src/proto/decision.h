/* SPDX-License-Identifier: BSD-3-Clause
 *
 * decision.h - what votes say, what is decided of them, and the messages about that (agree.h).
 */
#ifndef FT_PROTO_DECISION_H
#define FT_PROTO_DECISION_H

#include "proto/exposure.h"

/* What the living contribute, merged on the way up (commutative, associative, idempotent). */
struct ft_agree_data {
    uint64_t committed; /* max: newest checkpoint version that anyone has committed */
    uint64_t flags;     /* or: FT_AGREE_* */
    /* max over the ranks lost now: the version from whose commit on it does not matter that the
     * rank had a shared window with others (nobody sees the loads and stores there). UINT64_MAX: a
     * rank had one when it was lost; 0: none ever had one */
    uint64_t shared_until;
    struct ft_exposers exposers; /* ft_exposers_merge */
    struct ft_bitset incomplete; /* or: living slots that carry a rank or codeword, but not (yet)
                                    its image or content */
    /* ft_testimonies_merge: of the slots that are not in the failed set of the decision before, and
     * that carried a rank */
    struct ft_testimonies told;
};
void ft_agree_merge(struct ft_agree_data *to, const struct ft_agree_data *from);
/* one-sided traffic happened in a phase that is replayed from message logs */
#define FT_AGREE_PHASE_RMA 1ull
/* the last coordinated checkpoint, that of FTRMA_Run's exit, is committed */
#define FT_AGREE_RUN_OVER 2ull
#define FT_AGREE_DONE 4ull /* MPI_Finalize was left by agreement */
#define FT_AGREE_ROLLBACK                                                                        \
    8ull /* a rollback was decided and RESUME not yet carried out: the next generation starts it \
            again, even if it lost only a spare */
/* body was entered with neither checkpoint nor logs: no rank can be replaced */
#define FT_AGREE_NO_REPLAY 32ull
/* The same, as not all of what happened outside of FTRMA_Run is kept: bits of an enum ft_unkept
 * (alog/unkept.h). */
#define FT_AGREE_UNKEPT(why) ((uint64_t)(why) << 16)
/* A rank has a file open that several ranks have opened together. */
#define FT_AGREE_FILES 64ull
#define FT_AGREE_NODE 512ull       /* a slot that is new in the failed set was lost with its node */
#define FT_AGREE_REPLAYING 1024ull /* a replacement is not live yet */
/* the first checkpoint was called off, and FTRMA_Run has said so and not run body; it says so */
#define FT_AGREE_REFUSED 128ull
#define FT_AGREE_NO_ROOM 256ull /* to a replacement as well. With NO_ROOM: for want of memory */
/* all are on their way to the checkpoint that is from files: nobody has a memory to keep */
#define FT_AGREE_RESTARTING 2048ull
/* a rank was told who is new, and has not yet come to a safepoint since */
#define FT_AGREE_REPAIRING 4096ull
/* FTRMA_Run was left though its exit checkpoint had been called off: no way back for a rank */
#define FT_AGREE_UNPROTECTED 16ull

struct ft_decision {
    uint32_t generation; /* 0: none yet */
    struct ft_bitset failed;
    struct ft_agree_data data;
};

enum ft_agree_kind { FT_AGREE_ANNOUNCE = 1, FT_AGREE_VOTE, FT_AGREE_DECIDE };

struct ft_agree_msg {
    uint32_t kind;
    uint32_t oldest; /* VOTE: lowest generation of a last decision in the sender's subtree */
    struct ft_bitset failed;   /* the sender's F: its ballot */
    struct ft_agree_data data; /* VOTE: merged over the sender's subtree */
    struct ft_decision last;   /* VOTE: newest decision adopted in the subtree. DECIDE: the decision
                                  to adopt; when its set is   `failed` it ends the ballot, otherwise
                                  it   is an earlier one, and all vote again */
};

#endif
