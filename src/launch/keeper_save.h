/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper_save.h - a host's part in --save (F10): its keeper holds the images of the ranks that are
 * there, and starts the writer of their files when ftrun says so.
 */
#ifndef FT_LAUNCH_KEEPER_SAVE_H
#define FT_LAUNCH_KEEPER_SAVE_H

#include <sys/types.h>

#include "launch/frames.h"
#include "launch/held.h"
#include "launch/keeper_input.h"
#include "launch/writer.h"

struct ft_keeper_save {
    struct ft_board *b;
    const struct ft_keeper_input *input; /* of which writers keep nothing */
    struct ft_held held;
    struct ft_written *out;
    struct ft_manifest_rank *rank; /* [nranks], shared with the writer */
    unsigned char *mine;           /* [nranks]: what it writes */
    char *dir;
    pid_t writer; /* 0: none */
    uint64_t request;
};

/* Nothing, unless the board says that checkpoints are saved. */
void ft_keeper_save_begin(struct ft_keeper_save *s, struct ft_board *b,
                          const struct ft_keeper_input *input);
void ft_keeper_save_step(struct ft_keeper_save *s); /* now and then */
/* FT_SAY_SAVES, FT_SAY_SAVE */
void ft_keeper_save_news(struct ft_keeper_save *s, const char *data, size_t bytes);
void ft_keeper_save(struct ft_keeper_save *s, struct ft_frames *f, const char *data, size_t bytes);
/* A child has ended: if it was the writer, ftrun is told. */
void ft_keeper_save_reaped(struct ft_keeper_save *s, struct ft_frames *f, pid_t pid, int status);

#endif
