/* SPDX-License-Identifier: BSD-3-Clause
 *
 * output.h - shows what the ranks print, once. Each slot's stdout and stderr are files of ftrun
 * (base/streams.h, struct ft_board_output), which are read as they grow. A byte is shown if its
 * logical position in its rank's output has not been reached before. So what a replacement or a
 * rolled-back rank prints again is dropped.
 *
 *   slot's file --place--> (rank, position, bytes) --line--> new bytes, as whole lines --sink-->
 * our stdout or stderr
 *
 * The upper half is pure: no descriptors, and time is an argument.
 */
#ifndef FT_LAUNCH_OUTPUT_H
#define FT_LAUNCH_OUTPUT_H

#include "base/board.h"

/* Bytes that wait to be written: data[from .. len). */
struct ft_sink {
    char *data;
    size_t from, len, room;
};
void ft_sink_add(struct ft_sink *s, const char *data, size_t bytes);

/* The reader's place in one file, and the jumps ahead of it. */
struct ft_reading {
    uint64_t at;    /* offset of the next byte */
    uint64_t shift; /* its logical position less its offset (modulo 2^64) */
    struct ft_board_jump_copy {
        uint64_t at, pos;
    } * jump; /* [from .. count) are ahead */
    size_t from, count, room;
};
/* The byte at offset `at` (not before the place) has position pos. */
void ft_reading_jump(struct ft_reading *p, uint64_t at, uint64_t pos);
/* How many bytes of a file of this size can be read at once; *pos is the position of the first. The
 * caller moves p->at. */
uint64_t ft_reading_run(struct ft_reading *p, uint64_t size, uint64_t *pos);

/* One stream of one rank, from all its carriers. */
struct ft_line {
    uint64_t taken;      /* positions below are shown or held */
    uint64_t since_ns;   /* when the last byte came */
    struct ft_sink held; /* the beginning of a line */
};
#define FT_LINE_MAX (64u << 10) /* a longer line goes out in pieces */
/* Takes bytes of positions pos and on. New bytes, up to the last end of a line, go to `out` with
 * that line. */
void ft_line_feed(struct ft_line *l, uint64_t pos, const char *data, size_t bytes, uint64_t now_ns,
                  struct ft_sink *out);
/* Releases an unfinished line to which nothing was added for quiet_ns. */
void ft_line_flush(struct ft_line *l, uint64_t now_ns, uint64_t quiet_ns, struct ft_sink *out);

/* ---- with descriptors ---- */

struct ft_outputs;
/* Makes the files of all slots and enters them on the board, before anything is started.
 * FT_ERR_NOMEM; FT_ERR_SYS with errno: there are too few descriptors, and the streams stay
 * mpirun's, as the board says. fd: where the two streams go. */
enum ft_status ft_outputs_create(struct ft_board *b, const int fd[2], struct ft_outputs **out);
/* Nothing that a rank prints on stream k before this position is shown; and the position up to
 * which it was shown. */
void ft_outputs_begin_at(struct ft_outputs *o, int rank, int k, uint64_t pos);
uint64_t ft_outputs_taken(const struct ft_outputs *o, int rank, int k);
/* Shows bytes on stream k that belong to no rank's file, as they are. */
void ft_outputs_add(struct ft_outputs *o, int k, const char *data, size_t bytes);
int ft_outputs_file(const struct ft_outputs *o, int slot, int k); /* the descriptor of that file */
/* The bytes of that file before upto, which never decreases, are not needed: gives their memory
 * back. For whoever reads the file by itself. */
void ft_outputs_not_needed(struct ft_outputs *o, int slot, int k, uint64_t upto);
void ft_outputs_destroy(struct ft_outputs *o);
/* To be called before the first step: each stream of each rank goes to a file of its own instead,
 * DIR/out.RANK or DIR/err.RANK. FT_ERR_SYS with errno: nothing has changed. */
enum ft_status ft_outputs_split(struct ft_outputs *o, const char *dir);
/* Shows what is new, as far as stdout and stderr accept it without blocking; last: also unfinished
 * lines. Returns 1 while something remains to be shown. A write error ends the showing of a stream:
 * ft_outputs_error. */
int ft_outputs_step(struct ft_outputs *o, uint64_t now_ns, int last);
/* The errno of the failed write to stream k, once; 0: none failed, or it was asked for before. */
int ft_outputs_error(struct ft_outputs *o, int k);
/* The descriptor for which stream k waits, for poll with POLLOUT; -1: nothing remains to be
 * written. */
int ft_outputs_waits_for(const struct ft_outputs *o, int k);

#endif
