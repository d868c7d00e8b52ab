/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mailbox.c - see mailbox.h.
 */
#include "runtime/mailbox.h"

/* --- main --- */

void ft_box_move(struct ft_mailbox *b, enum ft_place to)
{
    uint64_t moves = (atomic_load_explicit(&b->at, memory_order_relaxed) >> 8) + 1;
    atomic_store_explicit(&b->at, moves << 8 | (uint64_t)to, memory_order_release);
}

uint64_t ft_box_reach(struct ft_mailbox *b)
{
    uint64_t n = atomic_load_explicit(&b->reached, memory_order_relaxed) + 1;
    atomic_store(&b->reached, n);
    return n;
}

void ft_box_pass(struct ft_mailbox *b, uint64_t n) { atomic_store(&b->passed, n); }

enum ft_command ft_box_command(const struct ft_mailbox *b)
{
    uint64_t cmd = atomic_load_explicit(&b->cmd, memory_order_acquire);
    return cmd >> 8 == atomic_load_explicit(&b->answered, memory_order_relaxed)
               ? FT_CMD_NONE
               : (enum ft_command)(cmd & 0xff);
}

void ft_box_answer(struct ft_mailbox *b, struct ft_answer with)
{
    b->answer = with;
    atomic_store_explicit(&b->answered, atomic_load_explicit(&b->cmd, memory_order_relaxed) >> 8,
                          memory_order_release);
}

void ft_box_ask(struct ft_mailbox *b, uint32_t what)
{
    atomic_fetch_or_explicit(&b->asks, what, memory_order_release);
}

void ft_box_ask_image(struct ft_mailbox *b, int rank)
{
    atomic_store_explicit(&b->longest, rank, memory_order_relaxed);
    ft_box_ask(b, FT_ASK_IMAGE);
}

uint32_t ft_box_wished(const struct ft_mailbox *b)
{
    return atomic_load_explicit(&b->taken, memory_order_acquire) ? 0 : atomic_load(&b->wish);
}

int ft_box_begin_image(struct ft_mailbox *b, uint32_t wish)
{
    return atomic_compare_exchange_strong(&b->wish, &wish, FT_WISH_BEGUN);
}

void ft_box_took_image(struct ft_mailbox *b, uint32_t wish, uint64_t version)
{
    uint32_t begun = FT_WISH_BEGUN;
    b->taken_in = wish - 1;
    if (!atomic_compare_exchange_strong(&b->wish, &begun, 0))
        /* Declined; by now another image may be wished, in another generation. */
        atomic_compare_exchange_strong(&b->wish, &wish, 0);
    atomic_store_explicit(&b->taken, version, memory_order_release);
}

/* --- the agent --- */

void ft_box_look(struct ft_mailbox *b, struct ft_main *m)
{
    uint64_t at;
    m->asks = 0;
    do {
        at = atomic_load_explicit(&b->at, memory_order_acquire);
        uint64_t answered = atomic_load_explicit(&b->answered, memory_order_acquire);
        if (answered != m->answered)
            m->answer = b->answer;
        m->answered = answered;
        m->passed = atomic_load(&b->passed);
        m->hold = atomic_load(&b->hold); /* before `reached`: what was promised stays true */
        m->reached = atomic_load(&b->reached);
        m->cannot = atomic_load_explicit(&b->cannot, memory_order_relaxed);
        m->replaying = atomic_load_explicit(&b->replaying, memory_order_acquire);
        m->asks |= atomic_exchange_explicit(&b->asks, 0, memory_order_acquire);
        if (m->asks & FT_ASK_IMAGE)
            m->longest = atomic_load_explicit(&b->longest, memory_order_relaxed);
        m->taken = atomic_load_explicit(&b->taken, memory_order_acquire);
        if (m->taken)
            m->taken_in = b->taken_in;
    } while (atomic_load_explicit(&b->at, memory_order_acquire) != at);
    m->moves = at >> 8;
    m->place = (enum ft_place)(at & 0xff);
}

void ft_box_heard_taken(struct ft_mailbox *b, struct ft_main *m)
{
    m->taken = 0;
    atomic_store_explicit(&b->taken, 0, memory_order_release);
}

uint64_t ft_box_issue(struct ft_mailbox *b, const struct ft_main *m, enum ft_command c,
                      const struct ft_command_arg *arg)
{
    uint64_t n = (atomic_load_explicit(&b->cmd, memory_order_relaxed) >> 8) + 1;
    FT_ASSERT(!ft_box_busy(b, m) && ft_place_takes(m->place, c));
    b->arg = *arg;
    atomic_store_explicit(&b->cmd, n << 8 | (uint64_t)c, memory_order_release);
    return n;
}

void ft_box_set_hold(struct ft_mailbox *b, uint64_t hold) { atomic_store(&b->hold, hold); }

int ft_box_wish(struct ft_mailbox *b, uint32_t generation)
{
    uint32_t none = 0;
    return atomic_compare_exchange_strong(&b->wish, &none, 1 + generation);
}

int ft_box_unwish(struct ft_mailbox *b)
{
    uint32_t wish = atomic_load(&b->wish);
    while (wish && wish != FT_WISH_BEGUN)
        if (atomic_compare_exchange_weak(&b->wish, &wish, 0))
            return 2;
    return wish == 0;
}

void ft_box_forget_images(struct ft_mailbox *b, struct ft_main *m)
{
    atomic_store(&b->wish, 0);
    ft_box_heard_taken(b, m);
}

void ft_box_flag(struct ft_mailbox *b, uint32_t flag, int on)
{
    if (on)
        atomic_fetch_or(&b->flags, flag);
    else
        atomic_fetch_and(&b->flags, ~flag);
}
