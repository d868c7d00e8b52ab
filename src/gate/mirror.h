/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mirror.h - single words that a process says in its control block and on its node's board, and
 * that others read on its stand-in. Functions of memory, without I/O or clock.
 */
#ifndef FT_GATE_MIRROR_H
#define FT_GATE_MIRROR_H

#include "base/board.h"
#include "transport/ctl.h"

struct ft_words {
    uint64_t live, rejoined, let_go, protected_bytes;
    struct {
        uint64_t bytes, version;
    } image[FT_IMAGES];
};

void ft_words_read(struct ft_words *w, const struct ft_ctl *ctl, const struct ft_board_slot *s);
/* A version stands after the size that belongs to it. */
void ft_words_write(const struct ft_words *w, struct ft_ctl *ctl, struct ft_board_slot *s);

#define FT_TESTAMENT_WORDS 12
void ft_testament_read(uint64_t out[FT_TESTAMENT_WORDS], const struct ft_testament *t);
void ft_testament_write(const uint64_t in[FT_TESTAMENT_WORDS], struct ft_testament *t);

#endif
