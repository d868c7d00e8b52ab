/* SPDX-License-Identifier: BSD-3-Clause
 *
 * klog.c - see klog.h. The log is one growing array of bytes, in the order in which messages were
 * sent: a header and the payload of each. It is cut at its end when an iteration is aborted and
 * emptied when a checkpoint is complete, so that memory is taken once and used again. Its parts are
 * marked by what the paper's table 2 counts.
 */
#include "klog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct part {
    void *data, *copy; /* copy: as it was when the iteration began */
    size_t bytes;
    struct part *next;
};

struct header {
    int iteration, dest, tag;
    size_t bytes;
};

struct klog {
    int me, ranks, cp_int, log_size;
    klog_send_fn *send;
    void *arg;
    int iteration, checkpoint;
    bool running;
    int *front; /* where each rank began again after the last loss */
    struct part *parts, **last;
    unsigned char *log;
    size_t used, room, before; /* before: used when the iteration began */
    uint64_t entries, entries_before;
    struct klog_counts counts;
};

struct klog *klog_create(int me, int ranks, int cp_int, int log_size, klog_send_fn *send, void *arg)
{
    assert(me >= 0 && me < ranks && cp_int >= 1 && log_size >= 0 && log_size <= cp_int);
    struct klog *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (struct klog){.me = me,
                       .ranks = ranks,
                       .cp_int = cp_int,
                       .log_size = log_size,
                       .send = send,
                       .arg = arg,
                       .front = calloc((size_t)ranks, sizeof *k->front)};
    k->last = &k->parts;
    if (!k->front) {
        free(k);
        return NULL;
    }
    return k;
}

void klog_destroy(struct klog *k)
{
    if (!k)
        return;
    while (k->parts) {
        struct part *p = k->parts;
        k->parts = p->next;
        free(p->copy);
        free(p);
    }
    free(k->front);
    free(k->log);
    free(k);
}

/* --- temporary buffers --- */

bool klog_register(struct klog *k, void *data, size_t bytes)
{
    struct part *p = malloc(sizeof *p);
    void *copy = malloc(bytes);

    if (!p || !copy) {
        free(p);
        free(copy);
        return false;
    }
    *p = (struct part){.data = data, .copy = copy, .bytes = bytes};
    *k->last = p;
    k->last = &p->next;
    return true;
}

int klog_iteration(const struct klog *k) { return k->iteration; }
int klog_checkpoint(const struct klog *k) { return k->checkpoint; }

void klog_begin(struct klog *k)
{
    assert(!k->running);
    for (struct part *p = k->parts; p; p = p->next) {
        memcpy(p->copy, p->data, p->bytes);
        k->counts.copied_bytes += p->bytes;
    }
    k->before = k->used;
    k->entries_before = k->entries;
    k->running = true;
}

void klog_end(struct klog *k)
{
    assert(k->running);
    k->running = false;
    k->iteration++;
}

void klog_abort(struct klog *k)
{
    if (!k->running)
        return;
    for (struct part *p = k->parts; p; p = p->next)
        memcpy(p->data, p->copy, p->bytes);
    k->used = k->before; /* it will be sent and logged again */
    k->entries = k->entries_before;
    k->running = false;
}

/* --- message logging --- */

static bool append(struct klog *k, int dest, int tag, const void *data, size_t bytes)
{
    struct header h = {.iteration = k->iteration, .dest = dest, .tag = tag, .bytes = bytes};
    size_t more = sizeof h + bytes;

    if (k->room - k->used < more) {
        size_t room = 2 * (k->used + more);
        unsigned char *log = realloc(k->log, room);
        if (!log)
            return false;
        k->log = log;
        k->room = room;
    }
    memcpy(k->log + k->used, &h, sizeof h);
    memcpy(k->log + k->used + sizeof h, data, bytes);
    k->used += more;
    k->entries++;
    return true;
}

bool klog_send(struct klog *k, int dest, int tag, const void *data, size_t bytes)
{
    bool kept = true;

    assert(k->running);
    if (k->iteration - k->checkpoint < k->log_size)
        kept = append(k, dest, tag, data, bytes);
    if (k->iteration < k->front[dest]) { /* dest was further when the loss came */
        k->counts.spared++;
        return kept;
    }
    k->counts.sent++;
    k->send(k->arg, dest, tag, data, bytes);
    return kept;
}

/* --- checkpoint/restart --- */

bool klog_checkpoint_due(const struct klog *k)
{
    return k->iteration % k->cp_int == 0 && k->iteration != k->checkpoint;
}

size_t klog_image_bytes(const struct klog *k)
{
    size_t bytes = 0;
    for (const struct part *p = k->parts; p; p = p->next)
        bytes += p->bytes;
    return bytes;
}

void klog_save(const struct klog *k, void *image)
{
    unsigned char *to = image;

    assert(!k->running);
    for (const struct part *p = k->parts; p; to += p->bytes, p = p->next)
        memcpy(to, p->data, p->bytes);
}

static void forget(struct klog *k)
{
    k->used = 0;
    k->entries = 0;
}

void klog_committed(struct klog *k)
{
    assert(!k->running);
    k->checkpoint = k->iteration;
    forget(k);
}

void klog_load(struct klog *k, const void *image, int checkpoint)
{
    const unsigned char *from = image;

    assert(!k->running);
    for (struct part *p = k->parts; p; from += p->bytes, p = p->next)
        memcpy(p->data, from, p->bytes);
    k->iteration = k->checkpoint = checkpoint;
    forget(k);
    for (int r = 0; r < k->ranks; r++)
        k->front[r] = checkpoint;
}

/* --- message logging --- */

/* Sender s has of iteration i what dest d needs if front[d] <= i < front[s]; later ones s sends as
 * it comes to them. */
static void replay(struct klog *k)
{
    struct header h;

    for (size_t at = 0; at < k->used; at += sizeof h + h.bytes) {
        memcpy(&h, k->log + at, sizeof h);
        if (h.iteration < k->front[h.dest])
            continue;
        k->counts.replayed++;
        k->send(k->arg, h.dest, h.tag, k->log + at + sizeof h, h.bytes);
    }
}

enum klog_way klog_recover(struct klog *k, const int front[], int checkpoint)
{
    int most = front[0];

    assert(!k->running && front[k->me] == k->iteration);
    for (int r = 0; r < k->ranks; r++) {
        assert(front[r] >= checkpoint);
        most = front[r] > most ? front[r] : most;
    }
    if (checkpoint > k->checkpoint) { /* somebody has seen that all have it */
        k->checkpoint = checkpoint;
        forget(k);
    }
    if (most - checkpoint > k->log_size)
        return KLOG_GLOBAL;
    memcpy(k->front, front, (size_t)k->ranks * sizeof *front);
    replay(k);
    return KLOG_LOCAL;
}

/* --- for reading --- */

struct klog_counts klog_counts(const struct klog *k)
{
    struct klog_counts c = k->counts;
    c.logged = k->entries;
    c.logged_bytes = k->used - k->entries * sizeof(struct header);
    return c;
}
