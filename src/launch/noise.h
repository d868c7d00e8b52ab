/* SPDX-License-Identifier: BSD-3-Clause
 *
 * noise.h - filters mpirun's stderr, which carries the program's lines and mpirun's own. Lines of
 * mpirun that only say that a process died, which ftrma handles, are dropped; everything else
 * passes unchanged.
 */
#ifndef FT_LAUNCH_NOISE_H
#define FT_LAUNCH_NOISE_H

struct ft_noise {
    int out_fd;
    int keep_all;
    int at_line_start; /* 0: the begin of the present line was already let through */
    /* inside a block that a line of dashes opened: held back until it is known what it is */
    int in_block;
    int len; /* bytes held back: the block so far, then the present line from line_at on */
    int line_at;
    /* the node of a process on another node than ftrun's; empty: none was reported */
    char elsewhere[256];
    char held[16384];
};

void ft_noise_init(struct ft_noise *n, int out_fd, int keep_all);
void ft_noise_feed(struct ft_noise *n, const char *data, int len);
/* Lets through what is held back, because nothing more has come for a while, or will come. */
void ft_noise_flush(struct ft_noise *n);
static inline int ft_noise_pending(const struct ft_noise *n) { return n->len > 0; }

#endif
