/* SPDX-License-Identifier: BSD-3-Clause
 *
 * published.h - the words that a process publishes (FT_DO_PUBLISH).
 */
#ifndef FT_PROTO_PUBLISHED_H
#define FT_PROTO_PUBLISHED_H

/* Others, or the own main, read these. */
enum ft_word {
    FT_WORD_REJOINED = 1,
    FT_WORD_LIVE,
    FT_WORD_LATEST, /* stored in the testament first, then in the control block. A rank flips by it
                     * (failpoint DEMAND_FLIPPED), and a checksum process tags (DEMAND_TAGGED) */
    FT_WORD_GIVEN_UP, /* the latest image, of this version, is being overwritten: 0 is stored in the
                       * control block. The testament still names it, as others keep only what
                       * follows it */
    FT_WORD_SNAPSHOT_ENTERED, /* the snapshot that this process enters (failpoint SNAPSHOT_ENTERED)
                               */
    FT_WORD_COMMITTED,
    FT_WORD_COMPLETE,
    FT_WORD_GENERATION,
    FT_WORD_REPLAYING,
    FT_WORD_FLAGS, /* bits: FT_SAYS_* (place.h) */
};

#endif
