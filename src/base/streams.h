/* SPDX-License-Identifier: BSD-3-Clause
 *
 * streams.h - standard output, error and input of a slot, on the board: files and pipes that ftrun
 * makes, so that a rank's streams go on whichever process carries it (P8).
 */
#ifndef FT_BASE_STREAMS_H
#define FT_BASE_STREAMS_H

#include "base/base.h"

/* One output stream (0 stdout, 1 stderr) of a slot. ftrun makes an anonymous file for each,
 * appended to by the process that carries a rank there and its children, and shows what is new in
 * it. Byte k of what a rank prints has the *logical position* k, whoever carries it: the file's
 * first byte has 0, and from offset jump[i].at on the bytes go on from position jump[i].pos, for i
 * < jumps (in order; a later one at the same offset wins). A jump is written before any byte after
 * it, by the process alone, and not before taken + FT_JUMP_RING > jumps. */
#define FT_JUMP_RING 32
struct ft_board_jump {
    _Atomic uint64_t at, pos;
};
struct ft_board_output {
    FT_ALIGNED_LINE _Atomic int32_t
        fd; /* ftrun's; set before anything is started; -1: the stream stays mpirun's */
    _Atomic uint32_t jumps;    /* ever written */
    _Atomic uint32_t taken;    /* by ftrun, its only writer */
    _Atomic uint64_t dev, ino; /* the stream as mpirun gave it to the slot's first process */
    struct ft_board_jump jump[FT_JUMP_RING];
};

/* ftrun's standard input as a pipe, from its first byte, for a slot that may carry rank 0. ftrun
 * writes it; those who want to read it open it under /proc. What was taken out of it is fed less
 * what is still in it, if begun is the same as fed: no write is under way. The first bytes come a
 * line at a time, what follows in pieces of any size (launch/stdin.h). */
#define FT_INPUT_BY_LINE (256u << 10)
struct ft_board_input {
    _Atomic int32_t fd; /* ftrun's; set before anything is started; -1: none */
    _Atomic uint64_t begun,
        fed; /* bytes that ftrun has written, or is about to have written; and has written */
    _Atomic uint64_t dev, ino; /* standard input as mpirun gave it to the slot's first process */
};

/* OTHER: a wrapper or the program has redirected it. */
enum ft_input_is { FT_INPUT_UNKNOWN = 0, FT_INPUT_OURS, FT_INPUT_OTHER };

#endif
