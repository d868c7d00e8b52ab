/* SPDX-License-Identifier: BSD-3-Clause
 *
 * noise.h - mpirun's stderr carries the program's lines and mpirun's own. Those of mpirun's own
 * that only say that a process died (which is what this house is for) are dropped; everything else
 * goes through as it comes.
 */
#ifndef FT_LAUNCH_NOISE_H
#define FT_LAUNCH_NOISE_H

struct ft_noise {
    int out_fd;
    int keep_all;
    int at_line_start; /* 0: the beginning of the present line was already let through */
    int in_block; /* within a block that a line of dashes opened: held until it is known what it is
                   */
    int len;      /* bytes held back: the block so far, then the present line from line_at on */
    int line_at;
    char elsewhere[256]; /* the node of a process that is on another one than ftrun; empty: none has
                            said so */
    char held[16384];
};

void ft_noise_init(struct ft_noise *n, int out_fd, int keep_all);
void ft_noise_feed(struct ft_noise *n, const char *data, int len);
/* Lets through what is held back: nothing more has come for a while, or nothing more will. */
void ft_noise_flush(struct ft_noise *n);
static inline int ft_noise_pending(const struct ft_noise *n) { return n->len > 0; }

#endif
