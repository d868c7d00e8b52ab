/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.h - what the ranks print, shown once: each slot's stdout and stderr are files of ours
 * (base/streams.h, struct ft_board_output), which are read as they grow. A byte is shown if its
 * logical position in what its rank prints is not below what has been taken of that rank, so what a
 * replacement or a rolled-back rank prints again is dropped.
 *
 *   slot's file --place--> (rank, position, bytes) --line--> new bytes, as whole lines --sink-->
 * our stdout or stderr
 *
 * The upper half is pure: no descriptors, time comes in.
 */
#ifndef FT_LAUNCH_OUTPUT_H
#define FT_LAUNCH_OUTPUT_H

#include "base/board.h"

/* What waits to be written. data[from .. len) is left. */
struct ft_sink {
    char *data;
    size_t from, len, room;
};
void ft_sink_add(struct ft_sink *s, const char *data, size_t bytes);

/* Where the reading of one file is, and the jumps ahead. */
struct ft_reading {
    uint64_t at;    /* offset of the next byte */
    uint64_t shift; /* its logical position less its offset (modulo 2^64) */
    struct ft_board_jump_copy {
        uint64_t at, pos;
    } * jump; /* [from .. count) are ahead */
    size_t from, count, room;
};
/* The byte at offset at (not before the place) has position pos. */
void ft_reading_jump(struct ft_reading *p, uint64_t at, uint64_t pos);
/* How many bytes can be read in one go, of a file of this size; *pos is the position of the first.
 * The caller moves p->at. */
uint64_t ft_reading_run(struct ft_reading *p, uint64_t size, uint64_t *pos);

/* One stream of one rank, from all its carriers. */
struct ft_line {
    uint64_t taken;      /* positions below are shown or held */
    uint64_t since_ns;   /* when the last byte came */
    struct ft_sink held; /* the beginning of a line */
};
#define FT_LINE_MAX (64u << 10) /* a longer line goes out in pieces */
/* Bytes of positions pos and on; new ones that end a line go to out with it. */
void ft_line_feed(struct ft_line *l, uint64_t pos, const char *data, size_t bytes, uint64_t now_ns,
                  struct ft_sink *out);
/* Lets go of an unfinished line to which nothing was added for quiet_ns. */
void ft_line_flush(struct ft_line *l, uint64_t now_ns, uint64_t quiet_ns, struct ft_sink *out);

/* ---- with descriptors ---- */

struct ft_outputs;
/* Makes the files of all slots and enters them on the board; before anything is started.
 * FT_ERR_NOMEM; FT_ERR_SYS with errno: there are too few descriptors, and the board says so: the
 * streams stay mpirun's. fd: where the two streams go. */
enum ft_status ft_outputs_create(struct ft_board *b, const int fd[2], struct ft_outputs **out);
/* Of what a rank prints on stream k, nothing before this position is shown; and up to which it was.
 */
void ft_outputs_begin_at(struct ft_outputs *o, int rank, int k, uint64_t pos);
uint64_t ft_outputs_taken(const struct ft_outputs *o, int rank, int k);
void ft_outputs_destroy(struct ft_outputs *o);
/* Before the first step: each stream of each rank goes to a file of its own instead, DIR/out.RANK
 * or DIR/err.RANK. FT_ERR_SYS with errno: nothing has changed. */
enum ft_status ft_outputs_split(struct ft_outputs *o, const char *dir);
/* Shows what is new, as far as stdout and stderr take it without making us wait; last: unfinished
 * lines too. Returns 1 while something is left to be shown that is there already. A writing error
 * ends a stream's showing: ft_outputs_error. */
int ft_outputs_step(struct ft_outputs *o, uint64_t now_ns, int last);
/* The errno of the write to stream k that failed, once; 0: none did, or it was asked for before. */
int ft_outputs_error(struct ft_outputs *o, int k);
/* The descriptor that stream k's showing waits for, -1: nothing to be written is left. For poll,
 * POLLOUT. */
int ft_outputs_waits_for(const struct ft_outputs *o, int k);

#endif
