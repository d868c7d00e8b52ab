/* SPDX-License-Identifier: BSD-3-Clause
 *
 * streams.h - standard output, error and input of a slot, on the board. ftrun makes files and pipes
 * for them, so that a rank's streams go on whichever process carries it (P8).
 */
#ifndef FT_BASE_STREAMS_H
#define FT_BASE_STREAMS_H

#include "base/base.h"

/* One output stream (0 stdout, 1 stderr) of a slot. ftrun makes an anonymous file for it. The
 * process that carries a rank there and its children append to the file, and ftrun shows what is
 * new in it. Byte k of what a rank prints has the *logical position* k, whichever process carries
 * the rank. The file's first byte has position 0. From offset jump[i].at on the bytes go on from
 * position jump[i].pos, for i < jumps, in order; of two jumps at the same offset the later one
 * holds. Only the process writes jumps. It writes a jump before any byte that follows it, and only
 * when taken + FT_JUMP_RING > jumps. */
#define FT_JUMP_RING 32
struct ft_board_jump {
    _Atomic uint64_t at, pos;
};
struct ft_board_output {
    /* set by ftrun before anything is started; -1: the stream stays mpirun's */
    FT_ALIGNED_LINE _Atomic int32_t fd;
    _Atomic uint32_t jumps; /* number of jumps ever written */
    _Atomic uint32_t taken; /* number of jumps that ftrun has read; only ftrun writes it */
    /* identify the stream that mpirun gave to the slot's first process */
    _Atomic uint64_t dev, ino;
    struct ft_board_jump jump[FT_JUMP_RING];
};

/* ftrun's standard input as a pipe, from its first byte, for a slot that may carry rank 0. ftrun
 * writes to it; its readers open it through /proc. If begun equals fed, no write is under way, and
 * the bytes that were taken out are `fed` less what is still in the pipe. The first bytes are
 * written a line at a time, the following ones in pieces of any size (launch/stdin.h). */
#define FT_INPUT_BY_LINE (256u << 10)
struct ft_board_input {
    _Atomic int32_t fd; /* set by ftrun before anything is started; -1: none */
    _Atomic uint64_t begun,
        /* begun: bytes that ftrun has written or is about to write; fed: bytes that it has written
         * */
        fed;
    /* identify the standard input that mpirun gave to the slot's first process */
    _Atomic uint64_t dev, ino;
};

/* OTHER: a wrapper script or the program has redirected it. */
enum ft_input_is { FT_INPUT_UNKNOWN = 0, FT_INPUT_OURS, FT_INPUT_OTHER };

#endif
