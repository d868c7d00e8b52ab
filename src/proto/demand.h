/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.h - demand checkpoints (C8): one rank takes an image alone, and its group's codeword over
 * the members' latest images follows, while the coordinated checkpoint stays whole beside it. Two
 * machines without I/O.
 *
 *    p (its logs are long)    CH, checksum process              q, whose logs they are
 *        ASK(q) ------------->  ASKED    -- TAKE ------------>  WANTED: main copies at its next
 *                                                               safepoint
 *                               FOLDING  <-- TAKEN(d) --------  TAKEN
 *                               tags d
 *                               TAGGED   -- COMMITTED(d) ---->  flips: d is its latest image, and
 *                               IDLE     <-- ACK(d) ----------  others may drop what it covers;
 * NONE
 *
 * - TAKE counts in the generation that it came from. q may still have to adopt that generation.
 * - CH's tag is the commit. [q flips first, p drops its records, q is lost before CH has the
 *   codeword.] So first CH tags, then the owner flips, then those drop records that logged for it.
 * - A group has one staging at a time. The old codeword stays until ACK.
 * - `stream`: q has no room for a third image, and writes the new one over its latest one, piece by
 *   piece. So CH first *lifts* the latest image of q out of the latest codeword, into its staged
 *   one: LIFTING, before TAKE. From then on, for q, that image is in the old codeword alone; what
 *   others of the group need of it is in the staged one. Then CH adds the new image to the staged
 *   codeword. What q has begun to overwrite cannot be dropped: a new generation voids nothing of
 *   it. CH asks again, and q answers with what it has taken, or declines if it had not begun. [CH
 *   asks while q is at it: TAKEN comes when TAKE has come.] If CH is lost, and there is no other, q
 *   flips by itself, as it has nothing else that the replacement could compute with. If q is lost
 *   before that is done, too many of the group are lost. If only q is lost, its latest image is
 *   what the old codeword says.
 * - A new generation voids what is under way. If q has taken d and CH's tag is d, q flips
 *   [COMMITTED was lost]; else q drops d. That is safe, since CH does not tag and q does not flip
 *   between its vote and its adoption of the decision: meanwhile the runtime feeds nothing but ASK
 *   and TAKE. [q finds an old tag, drops d and begins another image in its place, and CH tags d.] A
 *   CH that was lost has told nobody. So d is dropped, and the replacement computes the codeword
 *   from what the members say that their latest images are.
 * - A rollback without a new generation voids all of it, too, at each process when it hears of the
 *   rollback. Messages say how often all have gone back in their generation, and a message from
 *   before a rollback is void. [TAKEN of before comes when CH has asked again: it would tag an
 *   image that q has forgotten.] CH is fed TAKEN also before it has resumed, and answers that the
 *   image is called off. [q had been told to TAKE before, has resumed sooner than CH, and hands its
 *   image in: it would wait for COMMITTED for ever.] If q was told to TAKE twice, it says TAKEN
 *   twice, and that counts once. [The second would call off what is folded.]
 * - q answers an order to copy for a coordinated checkpoint only when it is in NONE, or in WANTED.
 *   In WANTED it declines the image that CH wants.
 * - A group with several codewords has as many CHs. One of them *leads*, the one drawn above. The
 *   others, its helpers, do each step that it tells them of (LIFT_IT, FOLD_IT, TAG_IT), at the same
 *   time as it does. The tag is an exception: the lead sets it when all helpers have. So: all have
 *   lifted, TAKE; all have staged d, the helpers tag d, CH's tag, the owner. What counts is CH's
 *   tag.
 * - In a new generation each helper goes by the lead's tag. A helper that has staged d (then all
 *   have) tags it if the lead has tagged it. A helper that has tagged d, where the lead has not,
 *   goes back to the codeword before, which is there until the next staging. The lead stays as long
 *   as it lives. After that one of those leads that are left with whole codewords: any of them, as
 *   q has not flipped unless all have tagged. [Each goes by its own tag: one holds d and another
 *   one does not, and what is rebuilt of both is garbage.]
 * - The lead says its tag by a message, TAG_IS, when it has adopted the generation. First it tells
 *   its helpers; those that go by it say TAG_HEARD. When all have, it tells the ranks of the group,
 *   and those checksum processes that are to be rebuilt. Until TAG_IS has come they are as between
 *   vote and adoption: they hear nothing but ASK and TAKE. [q is told first, and drops d. The lead
 *   is lost before a helper is told, which has tagged d and leads now: it names an image that is
 *   gone.] [The lead is lost when some of the helpers have gone back. What they have staged is
 *   there still, and they tag it again if the next lead has it tagged.] A lead says which image it
 *   has tagged last, and of whom. A helper that has tagged another one was a step ahead of it. A
 *   replaced checksum process takes that for its own. [It leads next, and the others would go back
 *   from what it knows nothing of.]
 * - A checksum process that is to be rebuilt computes its codeword from what the ranks of its group
 *   say that their latest images are (LATEST_IS), when all have said it. A rank says it when it
 * goes by the lead's tag, or at once if nobody leads. It says it again whenever that changes, which
 *   makes void what was computed meanwhile. [It reads what the ranks publish instead: q has still
 *   to flip to the image that the lead has tagged.]
 * - In the new generation CH's second TAKE is only for what q has begun to overwrite, and only
 * those that are left take part. [A replaced helper has computed its codeword with the latest image
 * of q, which goes in a staging that it does not take part in.] It is sent when all of them have
 *   adopted the generation, as a staging is begun.
 */
#ifndef FT_PROTO_DEMAND_H
#define FT_PROTO_DEMAND_H

#include "proto/demand_ch.h"
#include "proto/demand_owner.h"

#endif
