/* SPDX-License-Identifier: BSD-3-Clause
 *
 * broken.h - what the simulator can break in a carrier (carrier.h, whose invariants the numbers
 * name).
 */
#ifndef FT_PROTO_BROKEN_H
#define FT_PROTO_BROKEN_H

/* Mutants: each is noticed by an invariant or by a checker of the simulator. */
enum ft_broken {
    FT_BROKEN_NOTHING = 0,
    FT_BROKEN_NO_ENDING,     /* (2) orders go on while a ballot is open */
    FT_BROKEN_TWICE,         /* (3) READY is said again */
    FT_BROKEN_WHOLE,         /* (4) a replacement without its image votes as if it had it */
    FT_BROKEN_UNBUILT,       /* (5) RESTORE without the image */
    FT_BROKEN_EARLY_PROMISE, /* (5) a replacement promises before it is where the lost one was */
    FT_BROKEN_REJOINS,       /* (6) rejoined is published though main is inside an access */
    FT_BROKEN_KEEPS_HOLD,    /* (7) what main was held for is not called off in a rollback */
    FT_BROKEN_HOLDS,         /* (8) a main that is held for nothing stays */
    FT_BROKEN_EARLY_RESUME,  /* main goes on when it has restored its image, not when all have */
    FT_BROKEN_DUE_ONCE,      /* a checkpoint is not asked for again after a rollback */
    FT_BROKEN_EAGER_COMMIT,  /* an image counts as committed when it is staged */
    FT_BROKEN_TOLD_EARLY,    /* the root leaves a refused run before all have heard */
    FT_BROKEN_THAWS,         /* (2) a checksum process tags, and a rank flips, with a ballot open */
    FT_BROKEN_COPIES,        /* (5) COPY is given while an image taken alone is under way */
    FT_BROKEN_WISHES,        /* (7) what main was wished to take is still wished in a rollback */
    FT_BROKEN_TELLS_FIRST,   /* the lead tells ranks its tags before its helpers go by them */
    FT_BROKEN_UNSAID,        /* a codeword is rebuilt before all ranks have said of which images */
    FT_BROKEN_FOLDS_OVER,    /* a codeword is staged over one that may be committed */
    FT_BROKEN_FOLDS_FROZEN,  /* a codeword is staged while its answer does not count */
    FT_BROKEN_FORGETS_GIVEN, /* a rank that gives up its latest image leaves no word */
    FT_BROKEN_OLD_ROUND,     /* what was said of images alone before a rollback is not dropped */
    FT_BROKEN_HEARS_LATE,    /* what the lead of this generation says is heard with a ballot open */
    FT_BROKEN_LEFT_UNKNOWN,  /* a replacement begins without what the lost one has left */
    FT_BROKEN_OWN_WITNESS,   /* a plan is made of what each process has read of the dead itself */
    FT_BROKEN_NO_NODE,       /* a vote does not say that somebody was lost with a node */
    FT_BROKEN_NO_REPLAYING,  /* a replacement does not say that it is not live yet */
    FT_BROKEN_SNAPSHOT_GOES_ON, /* (2) a snapshot goes on while a ballot is open */
    FT_BROKEN_UNGATED,        /* PROPOSE is answered with main inside an access without the gate */
    FT_BROKEN_TOUCHED,        /* (5) an image is copied while others write into it */
    FT_BROKEN_KEEPS_SNAPSHOT, /* (7) a snapshot outlives its generation */
    FT_BROKEN_EARLY_GATE,     /* partial: the gate opens while others are still without an image */
    FT_BROKEN_SILENT,         /* a rank that cannot take its image is silent at first */
    FT_BROKEN_SNAPSHOT_STAYS, /* (7) a snapshot goes on in a rollback */
    FT_BROKEN_UNTAKEN,        /* TARGET is answered before the image is taken */
    FT_BROKEN_TOLD_FORGETS,   /* a rank does not say that it has come to no safepoint since a told
                               * recovery */
    FT_BROKEN_TOLD_KEEPS,     /* a new rank does not restore its image */
    FT_BROKEN_TOLD_REBUILDS,  /* a rank that lacks its image for good does not know */
    FT_BROKEN_HEAD_IS_WHOLE,  /* a replacement takes the head of its image for all of it */
};

#endif
