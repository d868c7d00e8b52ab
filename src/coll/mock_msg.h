/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mock_msg.h - an implementation of msg.h for the test of collectives: ranks are threads of one
 * process with a mailbox each. Only test_coll.c includes it. It defines the functions of src/msg,
 * so the linker leaves those out.
 *
 * Messages longer than mock.eager are not copied: the send stays active until the receiver has
 * taken the data from the sender's buffer. With eager 0 nothing is buffered, which shows deadlocks
 * and buffers that are changed too early. mock_stop makes all waits longjmp to mock_left, as a
 * global rollback does.
 */
#ifndef FT_COLL_MOCK_MSG_H
#define FT_COLL_MOCK_MSG_H

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "msg/msg.h"

#define MOCK_WORLD 11

struct mock_message {
    struct mock_message *next, *next_pending;
    uint32_t ctx;
    int src, tag, taken;
    size_t len;
    const void *data;
    char copy[];
};

static struct {
    pthread_mutex_t lock;
    struct {
        struct mock_message *first, **end;
        pthread_cond_t changed; /* a message came or was taken, or all stop */
    } box[MOCK_WORLD];
    struct mock_message *pending; /* messages that were not copied; freed by mock_reset */
    size_t eager;
    int stop;
    int bad_envelopes;
} mock = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int mock_me;
static _Thread_local jmp_buf mock_left;

/* Empties everything. Returns the number of messages that nobody had received. */
static int mock_reset(size_t eager)
{
    int unreceived = 0;
    pthread_mutex_lock(&mock.lock);
    for (int i = 0; i < MOCK_WORLD; i++) {
        for (struct mock_message *m = mock.box[i].first, *next; m; m = next) {
            next = m->next;
            unreceived++;
            if (m->data == m->copy)
                free(m);
        }
        mock.box[i].first = NULL;
        mock.box[i].end = &mock.box[i].first;
        pthread_cond_init(&mock.box[i].changed, NULL);
    }
    for (struct mock_message *m = mock.pending, *next; m; m = next) {
        next = m->next_pending;
        free(m);
    }
    mock.pending = NULL;
    mock.eager = eager;
    mock.stop = 0;
    pthread_mutex_unlock(&mock.lock);
    return unreceived;
}

static void mock_stop(void)
{
    pthread_mutex_lock(&mock.lock);
    mock.stop = 1;
    for (int i = 0; i < MOCK_WORLD; i++)
        pthread_cond_broadcast(&mock.box[i].changed);
    pthread_mutex_unlock(&mock.lock);
}

/* The caller holds the lock. */
static void mock_wait(int box)
{
    if (mock.stop) {
        pthread_mutex_unlock(&mock.lock);
        longjmp(mock_left, 1);
    }
    pthread_cond_wait(&mock.box[box].changed, &mock.lock);
}

void ft_msg_isend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    int copy = len <= mock.eager;
    struct mock_message *m = calloc(1, sizeof *m + len);
    if (!m)
        abort();
    m->ctx = ctx;
    m->src = mock_me;
    m->tag = tag;
    m->len = len;
    m->data = copy ? m->copy : buf;
    if (copy && len > 0)
        memcpy(m->copy, buf, len);
    req->peer = dst;
    req->entry = m;
    req->state = copy ? FT_REQ_DONE : FT_REQ_ACTIVE;
    pthread_mutex_lock(&mock.lock);
    mock.bad_envelopes +=
        !(ctx & FT_CTX_COLL) || tag >= FT_ANY_TAG || dst < 0 || dst >= MOCK_WORLD || dst == mock_me;
    if (!copy) {
        m->next_pending = mock.pending;
        mock.pending = m;
    }
    *mock.box[dst].end = m;
    mock.box[dst].end = &m->next;
    pthread_cond_broadcast(&mock.box[dst].changed);
    pthread_mutex_unlock(&mock.lock);
}

/* Some sizes of each kind, whichever messages are really copied. */
int ft_msg_copied_once(size_t len) { return len >= 64 && len % 3 == 0; }

void ft_msg_wait(struct ft_req *req)
{
    struct mock_message *m = req->entry;
    if (req->state == FT_REQ_DONE)
        return;
    pthread_mutex_lock(&mock.lock);
    while (!m->taken)
        mock_wait(req->peer);
    pthread_mutex_unlock(&mock.lock);
    req->state = FT_REQ_DONE;
}

void ft_msg_send(uint32_t ctx, int dst, int tag, const void *buf, size_t len)
{
    struct ft_req req = {0};
    ft_msg_isend(&req, ctx, dst, tag, buf, len);
    ft_msg_wait(&req);
}

/* The caller holds the lock. Takes the first match out of the own mailbox; NULL when there is
 * none. */
static struct mock_message *mock_match(uint32_t ctx, int src, int tag)
{
    for (struct mock_message **at = &mock.box[mock_me].first; *at; at = &(*at)->next) {
        struct mock_message *m = *at;
        if (m->ctx != ctx || m->src != src || m->tag != tag)
            continue;
        *at = m->next;
        if (!*at)
            mock.box[mock_me].end = at;
        return m;
    }
    return NULL;
}

void ft_msg_recv(uint32_t ctx, int src, int tag, void *buf, size_t cap,
                 struct ft_msg_status *status)
{
    struct mock_message *m;
    pthread_mutex_lock(&mock.lock);
    while (!(m = mock_match(ctx, src, tag)))
        mock_wait(mock_me);
    size_t n = m->len < cap ? m->len : cap;
    if (n > 0)
        memcpy(buf, m->data, n);
    if (status)
        *status = (struct ft_msg_status){src, tag, m->len > cap ? FT_ERR_TRUNC : FT_OK, 0, n};
    m->taken = 1;
    if (m->data == m->copy)
        free(m);
    pthread_cond_broadcast(&mock.box[mock_me].changed);
    pthread_mutex_unlock(&mock.lock);
}

#endif
