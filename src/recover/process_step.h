/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process_step.h - what the files of a process share: one step, and the queue between its machines.
 * process.c feeds the machines. adoption.c has what a decision changes.
 */
#ifndef FT_RECOVER_PROCESS_STEP_H
#define FT_RECOVER_PROCESS_STEP_H

#include "recover/process.h"

/* An item of the queue: what a machine is to be fed. Items are taken in their order. */
enum ft_pitem_kind {
    TO_AGREE,   /* an event */
    TO_ORDER,   /* an event */
    TO_CARRIER, /* an order */
    TO_DETECT,
    TO_SNAPSHOT, /* begin, or a marker that has come */
    ENDING,      /* a ballot is open */
};
struct ft_pitem {
    enum ft_pitem_kind kind;
    int detect, slot; /* TO_DETECT. TO_SNAPSHOT: kind of marker, rank */
    const struct ft_bitset
        *set; /* TO_DETECT; TO_AGREE: who failed. It points into the event or the step */
    enum ft_agree_event_kind agree;
    struct ft_order_event order; /* its pointers point into the event or the process */
    struct ft_order_action execute;
};
#define ITEMS 48
struct ft_pstep {
    struct ft_process *p;
    const struct ft_process_cfg *cfg;
    const struct ft_process_event *ev;
    struct ft_process_actions *out;
    int head, tail;
    struct ft_bitset
        heard; /* slots that are known to be dead, and that the detector was not told yet */
    struct ft_pitem item[ITEMS];
};

/* process.c */
struct ft_pitem *ft_pstep_add(struct ft_pstep *s, enum ft_pitem_kind kind);
void ft_pstep_add_order(struct ft_pstep *s, struct ft_order_event ev);
/* Returns a mail, which the caller fills in. */
struct ft_mail *ft_pstep_mail(struct ft_pstep *s, int to, enum ft_mail_kind kind);
int ft_pstep_npositions(const struct ft_process_cfg *cfg);
/* Tells the carrier what it has to know of the other machines. */
void ft_pstep_inform(struct ft_process *p, const struct ft_process_cfg *cfg);

/* adoption.c */
/* For a group: bits of its checksum processes that had whole codewords before this generation, <<
 * 8, and the index of the one that leads. */
int *ft_pstep_lead_word(struct ft_process *p, const struct ft_process_cfg *cfg, int group);
/* The position of the i-th checksum process of a group. */
int ft_pstep_helper_at(const struct ft_process_cfg *cfg, int group, int i);
/* The index of a checksum process in its group; -1: the position is a rank's. */
int ft_pstep_index_of(const struct ft_process_cfg *cfg, int pos);
/* 1: this spare is next in line. As many spares are as a group may lose, in their order (plan.c).
 */
int ft_pstep_next_in_line(struct ft_process *p, const struct ft_process_cfg *cfg);
uint32_t ft_pstep_who(const struct ft_process_cfg *cfg, int pos);
/* An event for the board. */
void ft_pstep_board(struct ft_pstep *s, enum ft_event_kind event, uint32_t who, int64_t a,
                    int64_t b, uint64_t dur);
void ft_pstep_add_milestone(struct ft_pstep *s);
/* A decision. */
void ft_pstep_adopt(struct ft_pstep *s, const struct ft_decision *d);
void ft_pstep_hears_left(struct ft_pstep *s, const struct ft_testimony *t);

#endif
