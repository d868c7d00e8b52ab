/* SPDX-License-Identifier: BSD-3-Clause
 *
 * frames.h - what ftrun and the keeper of a node say to each other, over the standard input and
 * output of whatever started the keeper (ssh, srun). Both ends are of one build: data goes as it
 * lies in memory, and a text with its zero byte. Nothing blocks but ft_frames_await.
 */
#ifndef FT_LAUNCH_FRAMES_H
#define FT_LAUNCH_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "launch/output.h"

enum ft_frame_kind {
    /* from ftrun */
    FT_SAY_HELLO = 1, /* struct ft_hello (keeper.h), then its texts */
    FT_SAY_START,     /* struct ft_say_start, then the address of each gateway, a text each */
    FT_SAY_TAKEN,     /* struct ft_say_number: jumps of an output that ftrun has read */
    FT_SAY_OUT,       /* uint64_t: the nodes that are out */
    FT_SAY_END,       /* struct ft_say_end, then the message: the job has a result */
    FT_SAY_GRANT,     /* uint64_t: when the keeper had asked */
    FT_SAY_INPUT,     /* more of standard input; empty: it is over. Only after FT_SAY_WANTS */
    FT_SAY_INPUT_IS,  /* struct ft_say_number: number: enum ft_input_is, as another node says */
    FT_SAY_SAVES,     /* struct ft_say_saves: how far saving is */
    FT_SAY_SAVE, /* struct ft_say_save, the ranks, then the directory: their images are to be saved
                  */
    FT_SAY_BYE,  /* the keeper may end */
    /* from the keeper */
    FT_SAY_LISTENS, /* the address of its gateway, a text */
    FT_SAY_BOARD, /* what has changed of its board: runs of bytes, each after a struct ft_say_run */
    FT_SAY_OUTPUT, /* struct ft_say_number (of: slot * 2 + stream), then bytes of that file */
    FT_SAY_EARLY, /* what its processes print to standard output before MPI_Init, and without MPI */
    FT_SAY_GONE,  /* struct ft_say_number (of: slot): its process has ended, as waitpid says */
    FT_SAY_ASK,   /* uint64_t: it asks for its lease, at this time of its own */
    FT_SAY_WANTS, /* it wants more of standard input */
    FT_SAY_SAVED, /* struct ft_say_saved, then what is known of the files, or why there are none */
    FT_SAY_WHY    /* the keeper cannot go on, a text */
};
struct ft_say_number {
    uint32_t of, number;
};
/* Said when all keepers are up, so that the time that a login takes is not in it. */
struct ft_say_start {
    uint64_t elapsed_ns; /* since the zero of the job's times */
    uint64_t wtime_ns;   /* since the zero of MPI_Wtime */
    uint64_t t0_ns;      /* the zero of the job's times by ftrun's own clock */
};
struct ft_say_run {
    uint64_t from, bytes;
};
struct ft_say_end {
    int32_t state, status;
    uint32_t reason;
};

struct ft_say_saves { /* as on the board */
    uint64_t version, asked, over;
    uint32_t differs, more;
};
struct ft_say_save {
    uint64_t request, version;
    uint32_t number; /* of the set */
    uint32_t nranks; /* as many bytes follow, 1 for each rank whose image is saved there */
};
struct ft_say_saved {
    uint64_t request, bytes;
    uint32_t failed; /* a text follows. Else a struct ft_manifest_rank for each rank */
    int32_t error;   /* errno of the disk's error; 0: there is another reason */
};

struct ft_frame {
    enum ft_frame_kind kind;
    const char *data; /* valid until the next call */
    uint32_t bytes;
};

struct ft_frames {
    int in, out; /* descriptors, made non-blocking; -1: there is nobody any more */
    struct ft_sink heard, said;
};

void ft_frames_begin(struct ft_frames *f, int in, int out);
void ft_frames_end(struct ft_frames *f); /* closes both */
/* Adds a frame of two parts (b NULL: of one) to what is to be sent, and sends what can be sent. */
void ft_frames_say(struct ft_frames *f, enum ft_frame_kind kind, const void *a, size_t abytes,
                   const void *b, size_t bbytes);
void ft_frames_flush(struct ft_frames *f);
size_t ft_frames_waiting(const struct ft_frames *f); /* bytes that are not sent yet */
/* Takes the next frame. 1; 0: none is complete yet; -1: the other end has gone. */
int ft_frames_hear(struct ft_frames *f, struct ft_frame *out);
/* Waits for a frame as long as ms milliseconds; below 0: for ever. 1; 0: none came; -1. */
int ft_frames_await(struct ft_frames *f, struct ft_frame *out, int ms);

#endif
