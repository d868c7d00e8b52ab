/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper_input.c - see keeper_input.h.
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "launch/keeper_input.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int ft_keeper_input_begin(struct ft_keeper_input *k, struct ft_board *b, const char *dir)
{
    int p[2], wanted = 0;
    *k = (struct ft_keeper_input){.feed = -1};
    for (int i = b->near_from; i < b->near_end; i++)
        wanted |= ft_stdin_may_read(b, i);
    if (!wanted)
        return 1;
    if (pipe2(p, O_CLOEXEC | O_NONBLOCK) != 0)
        return 0;
    k->feed = p[1];
    return ft_stdin_create(p[0], dir, &k->in) == FT_OK && ft_stdin_serve(k->in, b) == FT_OK;
}

static void over(struct ft_keeper_input *k)
{
    close(k->feed);
    k->feed = -1;
}

void ft_keeper_input_leave(const struct ft_keeper_input *k)
{
    if (k->in && k->feed >= 0)
        close(k->feed);
    ft_stdin_leave(k->in);
}

void ft_keeper_input_came(struct ft_keeper_input *k, const void *data, uint32_t bytes)
{
    if (k->feed < 0)
        return;
    k->asked = 0;
    k->ended = bytes == 0;
    if (bytes)
        ft_sink_add(&k->came, (const char *)data, bytes);
}

int ft_keeper_input_waits_for(const struct ft_keeper_input *k)
{
    return k->in && k->came.from < k->came.len ? k->feed : -1;
}

int ft_keeper_input_step(struct ft_keeper_input *k)
{
    struct ft_sink *s = &k->came;
    if (!k->in || k->feed < 0)
        return 0;
    while (s->from < s->len) {
        ssize_t n = write(k->feed, s->data + s->from, s->len - s->from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return 0; /* full */
        s->from += (size_t)n;
    }
    s->from = s->len = 0;
    if (k->ended) { /* whoever reads finds the end */
        over(k);
        return 0;
    }
    if (k->asked)
        return 0;
    k->asked = 1;
    return 1;
}
