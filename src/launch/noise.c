/* SPDX-License-Identifier: BSD-3-Clause
 *
 * noise.c - the table of mpirun's known noise, and a filter by lines and by blocks between two
 * lines of dashes.
 */
#define _GNU_SOURCE 1 /* memmem */
#include "launch/noise.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/board.h"

/* A line or block is noise when it contains both texts. */
struct pattern {
    const char *a, *b;
};
static const struct pattern noisy_line[] = {
    {"PMIX ERROR: BAD-PARAM in file", "pmix_event_notification.c"}, /* 4.1: after each death */
    {"mpirun: Forwarding signal", "to job"}, /* 4.1: when it was stopped and continued */
    {"sent help message", "mpi-abort"},
    {"pmix_ptl_base: send_msg: write failed", "[sd ="}, /* 5: to a process that has gone */
    {"[warn] Epoll ", "on fd"}, /* 5: of its event loop, when a process has gone */
};
static const struct pattern noisy_block[] = {
    {"MPI_ABORT was invoked on", "errorcode"},
    {"mpirun noticed that process rank", "exited on signal"},
    {"prterun noticed that process rank", "exited on signal"},
    {"Primary job  terminated normally", "non-zero exit code"},
    {"exited with non-zero status", "the job to be terminated"},
    {"is not tested for post-failure",
     "support for fault tolerance"}, /* 5 with ULFM, of a module that carries nothing here */
};

static int is_noise(const char *text, size_t len, const struct pattern *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(text, len, p[i].a, strlen(p[i].a)) && memmem(text, len, p[i].b, strlen(p[i].b)))
            return 1;
    return 0;
}

void ft_noise_init(struct ft_noise *n, int out_fd, int keep_all)
{
    *n = (struct ft_noise){.out_fd = out_fd, .keep_all = keep_all, .at_line_start = 1};
}

static void let_through(const struct ft_noise *n, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t k = write(n->out_fd, data, len);
        if (k <= 0)
            return; /* nobody reads our stderr */
        data += k;
        len -= (size_t)k;
    }
}

void ft_noise_flush(struct ft_noise *n)
{
    if (n->len == 0)
        return;
    let_through(n, n->held, (size_t)n->len);
    n->at_line_start = n->held[n->len - 1] == '\n';
    n->len = n->line_at = n->in_block = 0;
}

static int is_dashes(const char *line, size_t len)
{
    size_t k = 0;
    while (k < len && line[k] == '-')
        k++;
    return k >= 60 && k + 1 == len; /* and the newline */
}

/* A line of a process that cannot see the board. Only the first one counts. */
static int tells_node(struct ft_noise *n, const char *text, size_t len)
{
    static const char begin[] = FT_BOARD_ELSEWHERE;
    const char *at = memmem(text, len, begin, sizeof begin - 1), *end;
    if (!at)
        return 0;
    at += sizeof begin - 1;
    end = memchr(at, '\n', (size_t)(text + len - at));
    if (end && !n->elsewhere[0])
        snprintf(n->elsewhere, sizeof n->elsewhere, "%.*s", (int)(end - at), at);
    return 1;
}

/* held[line_at .. len) is a complete line. */
static void line_done(struct ft_noise *n)
{
    const char *line = n->held + n->line_at;
    size_t len = (size_t)(n->len - n->line_at);
    FT_ASSERT(len > 0 && line[len - 1] == '\n');
    if (is_dashes(line, len)) {
        if (!n->in_block) {
            n->in_block = 1;
            n->line_at = n->len;
        } else if (is_noise(n->held, (size_t)n->len, noisy_block, FT_COUNTOF(noisy_block))) {
            n->len = n->line_at = n->in_block = 0;
        } else {
            ft_noise_flush(n);
        }
    } else if (tells_node(n, line, len)) {
        n->len = n->line_at;
    } else if (is_noise(line, len, noisy_line, FT_COUNTOF(noisy_line))) {
        n->len = n->line_at;
    } else if (n->in_block) {
        n->line_at = n->len;
    } else {
        ft_noise_flush(n);
    }
}

void ft_noise_feed(struct ft_noise *n, const char *data, int len)
{
    FT_ASSERT(len >= 0);
    if (n->keep_all) {
        let_through(n, data, (size_t)len);
        (void)tells_node(n, data, (size_t)len);
        return;
    }
    for (int i = 0; i < len; i++) {
        if (!n->at_line_start) { /* the rest of a line whose begin was let through */
            const char *nl = memchr(data + i, '\n', (size_t)(len - i));
            int end = nl ? (int)(nl - data) + 1 : len;
            let_through(n, data + i, (size_t)(end - i));
            n->at_line_start = nl != NULL;
            i = end - 1;
            continue;
        }
        n->held[n->len++] = data[i];
        if (data[i] == '\n')
            line_done(n);
        if (n->len == (int)sizeof n->held)
            ft_noise_flush(n);
    }
}
