/* SPDX-License-Identifier: BSD-3-Clause
 *
 * place.h - where a process's main is, what it can be told to do there, and what it reports. Main
 * and agent exchange this through the mailbox (runtime/mailbox.h); machines see copies only.
 */
#ifndef FT_PROTO_PLACE_H
#define FT_PROTO_PLACE_H

#include "base/board.h"
#include "proto/order.h"

/* Where main is. At some of these places it *stands*: it waits for others and takes commands. */
enum ft_place {
    FT_AT_INIT = 0, /* stands inside MPI_Init: it is a spare or a checksum process */
    FT_AT_SETUP,    /* is a rank, and has not yet entered FTRMA_Run */
    FT_AT_ENTRY,    /* stands at FTRMA_Run's entry */
    FT_AT_BODY,     /* is under way in body */
    FT_AT_HELD,     /* stands inside FTRMA_Safepoint, at safepoint `reached` */
    FT_AT_OVER,     /* stands at the end of body */
    FT_AT_PARKED,   /* stands outside of the call that it has left for a rollback */
    FT_AT_RESTORED, /* stands before body; memory and channels are as in an image */
    FT_AT_AFTER,    /* has left FTRMA_Run */
    FT_AT_FINALIZE, /* stands inside MPI_Finalize */
    FT_AT_GONE,     /* was let go from MPI_Init or MPI_Finalize */
    FT_PLACES
};

enum ft_command {
    FT_CMD_NONE = 0,
    FT_CMD_ROLE,    /* INIT: go on as the rank that was assigned. why: the refused run */
    FT_CMD_COPY,    /* take an image of `version`, for `snapshot` if that is not 0 */
    FT_CMD_RELEASE, /* HELD: go on */
    FT_CMD_BODY,    /* ENTRY: enter body. era: as in RESTORE; 0: there are no checkpoints */
    FT_CMD_OUT,     /* leave FTRMA_Run. era: FT_ERA_POST; 0: stay in body's era, unprotected */
    FT_CMD_RESERVE, /* INIT: take memory for an image or codeword as large as those of ranks. aside:
                     * and set memory aside for what else a replacement needs */
    FT_CMD_PARITY,  /* INIT, checksum process: stage the codeword of `version` */
    FT_CMD_REBUILD, /* rebuild the image (head: what setup is told of it) or codeword of `version` */
    FT_CMD_RESTORE, /* set memory, counters and channels as in the image of `version`, in `era`.
                     * alone: only this process goes back */
    FT_CMD_RESUME,  /* RESTORED: enter body; if the image was taken at body's end, stand there */
    FT_CMD_LIFT,    /* INIT, checksum process: stage the latest codeword without the image of
                     * `rank` */
    FT_CMD_FOLD,    /* INIT, checksum process: stage the latest codeword with `version` of `rank` */
    FT_CMD_FAIL,    /* ENTRY: FTRMA_Run returns an error: why */
    FT_CMD_DONE,    /* INIT, FINALIZE: the job is done */
    FT_COMMANDS
};

struct ft_command_arg {
    uint64_t version, snapshot;
    uint32_t generation; /* in which the command was given; main may get to it in a later one */
    uint32_t era;
    int32_t rank;
    uint32_t alone, aside, head;
    uint32_t why, told; /* enum ft_skip_reason; RESTORE: of these */
};
/* G5. A survivor keeps its memory. A new rank gets that of the image of `version`; 0: it has what
 * setup has left. */
enum { FT_TOLD_NOT = 0, FT_TOLD_KEEPS, FT_TOLD_NEW };

struct ft_answer {
    uint32_t moved;     /* main has left the place that the command needs, and nothing was done */
    uint32_t reason;    /* enum ft_skip_reason: why the command could not be carried out */
    uint64_t bytes;     /* COPY: bytes of the image */
    uint64_t version;   /* of what is here now; LIFT: 1. FOLD, LIFT: 0: it could not be made */
    uint64_t safepoint; /* RESTORE: the safepoint of the image; 0: none */
};

/* Bits: what main asks for. */
#define FT_ASK_ROLLBACK 1u     /* its replay has diverged, or what it needs was lost with a node */
#define FT_ASK_SNAPSHOT_OFF 2u /* it cannot go on before the end of the snapshot under way */
#define FT_ASK_IMAGE 4u        /* the log for `longest` is too long */
#define FT_ASK_LONG 8u         /* logs are long: take a coordinated checkpoint when that is cheap */
#define FT_ASK_ALL 16u /* many of its logs are too long: take a coordinated checkpoint at once */
/* What main has said of itself. */
struct ft_main {
    uint64_t moves;      /* how often it has changed its place */
    enum ft_place place; /* where it is since the last of these changes */
    uint64_t reached;    /* the safepoint that it is at or has passed */
    uint64_t passed;     /* the last safepoint that it has left */
    uint64_t answered;   /* number of the last command that it has answered */
    struct ft_answer answer;
    uint32_t asks;      /* FT_ASK_* bits that are new since the copy before */
    int32_t longest;    /* ASK_IMAGE: the rank whose log is too long */
    uint32_t cannot;    /* HELD: enum ft_skip_reason: why no image can be taken there; 0: one can */
    uint32_t replaying; /* it repeats what the lost process did */
    uint64_t taken;    /* the image that it took alone; FT_TAKEN_NOT: it declines; 0: nothing new */
    uint32_t taken_in; /* the generation in which that was wished */
    uint32_t over; /* with `stream`: no slot has the version that was last published as LATEST */
    uint64_t hold; /* the word `hold` as it was before `reached` was read */
    uint32_t no_snapshot; /* no snapshot can be taken: it shares memory with others */
    uint32_t lost;        /* FT_LACKS_*: what its logs miss */
};
#define FT_TAKEN_NOT UINT64_MAX

/* Bits: what else main is told. */
enum {
    FT_SAYS_RUN_OVER = 1, /* the checkpoint of FTRMA_Run's exit is committed */
    FT_SAYS_DONE = 2,     /* all have agreed that MPI_Finalize may be left */
    FT_SAYS_HURRY = 4     /* a checkpoint is under way: stop mapping others' images */
};
/* Where main has to stop; FT_HOLD_AT + n: at safepoint n. */
enum { FT_HOLD_NONE = 0, FT_HOLD_ASK = 1, FT_HOLD_AT = 2 };
/* Bits: what its logs miss. OWN: what it needs to go back alone, until it takes an image alone.
 * EVER: the same, until a coordinated checkpoint. OTHERS: what others need from it. */
enum { FT_LACKS_OWN = 1, FT_LACKS_EVER = 2, FT_LACKS_OTHERS = 4 };

int ft_place_stands(enum ft_place p);
/* Whether main can take the command at this place. */
int ft_place_takes(enum ft_place p, enum ft_command c);
/* Whether main leaves its place by this command. */
int ft_command_leaves(enum ft_command c);
/* The milestone of a process whose main is there. rank: it carries a rank, which a process at INIT
 * may have got just now. */
enum ft_milestone ft_place_milestone(enum ft_place p, int rank);
const char *ft_place_name(enum ft_place p);
const char *ft_command_name(enum ft_command c);

#endif
