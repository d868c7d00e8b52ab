/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.h - demand checkpoints (C8). One rank takes an image alone, and the codeword over the
 * latest images of its group follows. The coordinated checkpoint stays whole beside them. These are
 * two machines without I/O: demand_ch.h for a checksum process (CH), demand_owner.h for the rank q
 * that takes the image.
 *
 *    p (its logs are long)    CH                                q, the owner of the image
 *        ASK(q) ------------->  ASKED    -- TAKE ------------>  WANTED: main copies at its next
 *                                                               safepoint
 *                               FOLDING  <-- TAKEN(d) --------  TAKEN
 *                               tags d
 *                               TAGGED   -- COMMITTED(d) ---->  flips: d is its latest image, and
 *                                                               others may drop what d covers
 *                               IDLE     <-- ACK(d) ----------  NONE
 *
 * Basics
 *
 * - TAKE belongs to the generation that it was sent in. q may still have to adopt that generation.
 * - CH's tag is the commit. [q flips first, and p drops its records. q is lost before CH has the
 *   codeword.] So CH tags first, then q flips, and then those who logged for q drop records.
 * - A group has one staging at a time. The old codeword stays until ACK.
 * - q answers an order to copy for a coordinated checkpoint only in NONE or WANTED. In WANTED it
 *   declines the image that CH wants.
 * - If q was told to TAKE twice, it says TAKEN twice, and that counts once. [The second one would
 *   call off what is being folded.]
 *
 * `stream`
 *
 * - With `stream` q has no room for a third image, and writes the new image over its latest one,
 *   piece by piece. So before TAKE, CH *lifts* q's latest image out of the latest codeword, into
 *   its staged codeword (LIFTING). From then on q's latest image is in the old codeword alone, and
 *   what others of the group need of the codeword is in the staged one. Then CH adds the new image
 *   to the staged codeword.
 * - What q has begun to overwrite cannot be dropped, and a new generation does not void it. CH
 *   asks again, and q answers with what it has taken, or declines if it had not begun. [CH asks
 *   while q is taking the image. TAKEN comes when TAKE has come.]
 * - If CH is lost and the group has no other, q flips by itself: nothing else is left from which
 *   the replacement could compute a codeword. If q is lost before that is done, too many of the
 *   group are lost. If only q is lost, its latest image is what the old codeword says.
 * - After a new generation the second TAKE asks only for what q has begun to overwrite, and only
 *   those CHs take part that are left. [A replaced helper has computed its codeword with the
 *   latest image of q. That image goes in a staging in which the helper does not take part.] It is
 *   sent when all of them have adopted the generation, as for any staging.
 *
 * New generations and rollbacks
 *
 * - A new generation voids what is under way. If q has taken d and CH's tag is d, q flips
 *   [COMMITTED was lost]. Otherwise q drops d. That is safe because between its vote and its
 *   adoption CH does not tag and q does not flip: in that time the runtime feeds only ASK and
 *   TAKE. [q finds an old tag, drops d, and begins another image in its place. Then CH tags d.] If
 *   CH was lost, it has told nobody. So d is dropped, and the replacement computes the codeword
 *   from the images that the members say are their latest ones.
 * - A rollback without a new generation voids all of it, too, at each process when it hears of the
 *   rollback. Messages say how many rollbacks their generation has had, and a message from before
 *   a rollback is void. [A TAKEN from before comes when CH has asked again. CH would tag an image
 *   that q has forgotten.] CH is fed TAKEN also before it has resumed, and answers that the image
 *   is called off. [q was told to TAKE before the rollback. It resumes sooner than CH, and hands
 *   its image in. It would wait for COMMITTED for ever.]
 *
 * Several codewords
 *
 * - A group with several codewords has as many CHs. One of them *leads*: it is the one in the
 *   picture. The others are its helpers. They do each step that it tells them (LIFT_IT, FOLD_IT,
 *   TAG_IT) at the same time as the lead does it. The tag is an exception: the lead tags when all
 *   helpers have tagged. So the order is: all have lifted, TAKE, all have staged d, the helpers
 *   tag d, the lead tags d, q flips. The tag that counts is the lead's.
 * - In a new generation each helper goes by the lead's tag. If a helper has staged d (then all
 *   have) and the lead has tagged d, the helper tags d. If a helper has tagged d and the lead has
 *   not, the helper goes back to the codeword before, which stays until the next staging. The lead
 *   stays as long as it lives. After that, another CH that has whole codewords takes the lead. Any
 *   of them will do, as q has not flipped unless all have tagged. [Each goes by its own tag. One
 *   holds d and another does not, and what is rebuilt from both is garbage.]
 * - When the lead has adopted the generation, it says its tag by a message, TAG_IS. First it tells
 *   its helpers; those that go by it say TAG_HEARD. When all have, it tells the ranks of the group
 *   and the checksum processes that are to be rebuilt. Until TAG_IS has come, all of these behave
 *   as between vote and adoption: they hear only ASK and TAKE. [q is told first, and drops d. The
 *   lead is lost before a helper is told. That helper has tagged d and leads now: it names an
 *   image that is gone.] [The lead is lost when some of the helpers have gone back. What they have
 *   staged is still there, and they tag it again if the next lead has tagged it.] TAG_IS says
 *   which image the lead has tagged last, and of which rank. A helper that has tagged another
 *   image was a step ahead of the lead. A replaced checksum process takes the lead's tag as its
 *   own. [It leads next, and the others would go back from an image that it does not know.] Only
 *   the word of the lead counts. [All who have adopted a generation are lost, and the next decision
 *   has its number: what the lead of the first one has said of it may come before or after.]
 * - A checksum process that is to be rebuilt computes its codeword when all ranks of its group
 *   have said which images are their latest ones (LATEST_IS). A rank says it when it goes by the
 *   lead's tag, or at once if nobody leads. It says it again whenever that changes, and this makes
 *   void what was computed meanwhile. [The process reads what the ranks publish instead. q has
 *   still to flip to the image that the lead has tagged.]
 */
#ifndef FT_PROTO_DEMAND_H
#define FT_PROTO_DEMAND_H

#include "proto/demand_ch.h"
#include "proto/demand_owner.h"

#endif
