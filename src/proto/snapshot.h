/* SPDX-License-Identifier: BSD-3-Clause
 *
 * snapshot.h - a coordinated snapshot without a common safepoint, for programs whose processes put
 * and get (Butelle and Coti, "Distributed Snapshot for Rollback-Recovery with One-Sided
 * Communications"). A wave of markers goes over FIFO channels. This is a machine without I/O, with
 * five algorithms:
 *
 * - vanilla: a process takes its image at the first marker, and then sends markers to all. A get
 *   may cross the cut: its request leaves before the source's image, and it is answered from the
 *   target's memory after the target's image.
 * - delay: as vanilla, but a target in the wave keeps requests until its wave is over. The
 *   requests that came ahead of the source's marker belong to its image. Gets overlap the cut, but
 *   none crosses it.
 * - peek: the data of a get comes with the number of images that the target has taken. If that
 *   number is ahead of the source's own, the data is not used, and the get is repeated after the
 *   wave. A source waits for its own gets before it takes its image.
 * - double: a process sends markers to all at once. It takes its image when the markers of all
 *   others are in and its own gets are answered. Then it sends markers to all once more. The wave
 *   is over when all second markers are in. [It sends second markers while one of its gets is
 *   unanswered. s has all second markers, goes on, and puts to t, whose image still waits for the
 *   data of that get.]
 * - partial: a process with pending gets sends a marked marker to each of their targets, and waits
 *   for the answers. Only then it sends its markers. It takes its image when the markers of all
 *   others are in, or just before the first message from after a marker comes. [It takes the image
 *   at the first marker. A later request would be answered from after the target's image, and the
 *   data would arrive before the source's image, which waits for it.] [It takes the image only
 *   with the last marker. s has all markers, goes on, and puts to t, which does not have r's
 *   marker yet.]
 *
 * From its first step in a wave until OVER a process issues neither puts nor gets. What arrives
 * after an image on a channel, ahead of that channel's marker, is channel state and part of the
 * image: FT_SNAP_RECORD. With `double` this never happens.
 *
 * What the runtime owes: channels are FIFO and reliable, markers and one-sided traffic share them,
 * and actions are carried out in their order. A wave in which a process dies is given up with its
 * generation: the caller calls ft_snap_init again, and drops what was sent in the old one. A set of
 * images counts when all have said OVER of its wave in one generation, and this is agreed on. OVER
 * means that all others have taken their images, but not that their channel state is whole. [q dies
 * with the last of it.]
 *
 * Messages, with n processes: n(n-1); double 2n(n-1); partial n(n-1) + 2g for g pairs with a
 * pending get, up to n(n-1) and not half of that as in the paper (docs/SIMULATOR.md).
 */
#ifndef FT_PROTO_SNAPSHOT_H
#define FT_PROTO_SNAPSHOT_H

#include "base/base.h"

enum ft_snap_alg {
    FT_SNAP_VANILLA,
    FT_SNAP_DELAY,
    FT_SNAP_PEEK,
    FT_SNAP_DOUBLE,
    FT_SNAP_PARTIAL,
    FT_SNAP_ALGS
};
enum ft_snap_marker { FT_SNAP_FIRST = 1, FT_SNAP_SECOND, FT_SNAP_FLUSH, FT_SNAP_FLUSHED };
enum ft_snap_phase { FT_SNAP_IDLE, FT_SNAP_WAITING /* for its own gets */, FT_SNAP_WAVE };

struct ft_snap_peer {
    uint32_t gets; /* pending, towards it */
    uint8_t first, second,
        flush;    /* its markers of this wave are in; it has not answered the marked one yet */
    uint8_t next; /* its first marker of the next wave is in, so its wave has ended already */
};
struct ft_snap {
    enum ft_snap_alg alg;
    enum ft_snap_phase phase;
    int self, n;
    uint32_t wave, taken; /* waves begun, images taken */
    uint32_t gets;        /* pending */
    int nfirst, nsecond, nflush, nnext;
    struct ft_snap_peer peer[];
};

enum ft_snap_act {
    FT_SNAP_ACT_TAKE = 1, /* take the image now */
    FT_SNAP_ACT_FLOOD,    /* send `marker` to all others */
    FT_SNAP_ACT_FLUSH,    /* send `marker` to those whose peer[].flush is set */
    FT_SNAP_ACT_SEND,     /* send `marker` to `to` */
    FT_SNAP_ACT_OVER, /* the wave is over: answer what was held, take up what was put off, go on */
};
struct ft_snap_action {
    enum ft_snap_act act;
    enum ft_snap_marker marker;
    int to;
};
#define FT_SNAP_MAX_ACTIONS 8 /* a wave's end and the next one's begin in one step */
struct ft_snap_actions {
    int n;
    struct ft_snap_action a[FT_SNAP_MAX_ACTIONS];
};

/* NULL for an unknown algorithm; -1 for an unknown name. */
const char *ft_snap_name(enum ft_snap_alg alg);
int ft_snap_by_name(const char *name);

size_t ft_snap_bytes(int n); /* of a machine among n processes */
void ft_snap_init(struct ft_snap *m, enum ft_snap_alg alg, int self, int n);
/* Each fills `out` (n is set to 0 first). */
void ft_snap_start(struct ft_snap *m,
                   struct ft_snap_actions *out); /* begins a wave, unless one is under way */
void ft_snap_marker(struct ft_snap *m, int from, enum ft_snap_marker marker,
                    struct ft_snap_actions *out);
/* 1: puts and gets may be issued. Then, for each get: */
int ft_snap_may_issue(const struct ft_snap *m);
void ft_snap_issued(struct ft_snap *m, int target);
/* A put, a request or data has come from a process and was not looked at yet: carry out `out`
 * first. Returns 1 if it is channel state: record it (puts and data; requests where the algorithm
 * keeps them). */
int ft_snap_arrives(struct ft_snap *m, int from, struct ft_snap_actions *out);
/* A request has come (after ft_snap_arrives). 0: hold it until OVER. */
int ft_snap_may_answer(const struct ft_snap *m);
/* Data has come from target, which had taken this many images when the data was read. Returns 0 if
 * it must not be used: take the get up after OVER. */
int ft_snap_answered(struct ft_snap *m, int target, uint32_t target_taken,
                     struct ft_snap_actions *out);
void ft_snap_check(const struct ft_snap *m);

#endif
