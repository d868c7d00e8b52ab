/* SPDX-License-Identifier: BSD-3-Clause
 *
 * buffers.c - public memory, and copies into it and out of it. A handle names an entry in its
 * owner's table, which is looked at before each copy.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ftt/buffers.h"
#include "runtime/carriers.h"

#define PIECE (256u << 10) /* of a copy; in between others may take the lock */

void ft_copy(void *to, const void *from, uint64_t bytes)
{
    uint64_t half = bytes > 1024 ? bytes / 2 & ~63ull : 0;
    memcpy(to, from, half);
    ft_failpoint(FTT_COPYING);
    memcpy((char *)to + half, (const char *)from + half, bytes - half);
    ft_failpoint(FTT_COPIED);
}

uint64_t ft_buffer_at(const void *p, uint64_t bytes)
{
    const struct ft_arena *a = ft_transport->own;
    uint64_t off = (uint64_t)((uintptr_t)p - (uintptr_t)a->base);
    return off < a->bytes && bytes <= a->bytes - off ? off : 0;
}

static int add(struct ft_endpoint *e, int is_private, int is_block, uint64_t at, size_t bytes,
               FTT_Buffer *out)
{
    for (uint32_t i = 0; i < FT_BUFFERS; i++) {
        struct ft_public *b = &e->tables->buffer[i];
        if (atomic_load(&b->serial))
            continue;
        uint32_t serial = ++e->next_serial ? e->next_serial : ++e->next_serial;
        b->is_private = (uint16_t)is_private;
        b->is_block = (uint16_t)is_block;
        b->at = at;
        b->bytes = bytes;
        atomic_store(&b->serial, serial);
        *out = (FTT_Buffer){.rank = e->rank,
                            .incarnation = e->incarnation[e->rank],
                            .index = i,
                            .serial = serial,
                            .bytes = bytes};
        return FTT_OK;
    }
    return FTT_ERR_NO_MEMORY;
}

int ft_buffer_alloc(FTT_Transport *t, size_t bytes, FTT_Buffer *buffer, void **addr)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    struct ft_arena *a = ft_transport->own;
    if (!buffer || !addr)
        return FTT_ERR_ARG;
    uint64_t at = ft_arena_alloc(a, bytes ? bytes : 1, FT_CACHE_LINE);
    if (!at)
        return FTT_ERR_NO_MEMORY;
    ft_endpoint_lock(e);
    int st = add(e, 0, 1, at, bytes, buffer);
    ft_endpoint_unlock(e);
    if (st == FTT_OK)
        *addr = ft_arena_ptr(a, at);
    else
        ft_arena_free(a, at);
    return st;
}

/* Whether the kernel lets this process access others. Nothing lies at that address: permission is
 * looked at first. */
static int kernel_allows(const struct ft_endpoint *e)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {NULL, 1};
    for (int i = 0; i < e->n; i++)
        if (i != e->rank && e->peer[i].base && !e->peer[i].far)
            return process_vm_readv(e->peer[i].pid, &here, 1, &there, 1, 0) >= 0 || errno != EPERM;
    return 1;
}

int ft_buffer_register(FTT_Transport *t, void *addr, size_t bytes, FTT_Buffer *buffer)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if (!buffer || (!addr && bytes))
        return FTT_ERR_ARG;
    uint64_t off = ft_buffer_at(addr, bytes);
    ft_endpoint_lock(e);
    int st = off                ? add(e, 0, 0, off, bytes, buffer)
             : kernel_allows(e) ? add(e, 1, 0, (uint64_t)(uintptr_t)addr, bytes, buffer)
                                : (int)FTT_ERR_KERNEL;
    ft_endpoint_unlock(e);
    return st;
}

int ft_buffer_release(FTT_Transport *t, const FTT_Buffer *buffer)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    int st = FTT_ERR_HANDLE;
    uint64_t at = 0;
    ft_endpoint_lock(e);
    if (buffer && buffer->rank == e->rank && buffer->incarnation == e->incarnation[e->rank] &&
        buffer->index < FT_BUFFERS && buffer->serial) {
        struct ft_public *b = &e->tables->buffer[buffer->index];
        if (atomic_load(&b->serial) == buffer->serial) {
            at = b->is_block ? b->at : 0;
            atomic_store(&b->serial, 0);
            st = FTT_OK;
        }
    }
    ft_endpoint_unlock(e);
    if (at && st == FTT_OK)
        ft_arena_free(ft_transport->own, at);
    return st;
}

/* Where a handle's memory is now. */
static int look_up(struct ft_endpoint *e, const FTT_Buffer *h, uint64_t offset, uint64_t bytes,
                   struct ft_public *out)
{
    if (!h || h->rank < 0 || h->rank >= e->n)
        return FTT_ERR_ARG;
    struct ft_peer *p = &e->peer[h->rank];
    if (h->incarnation != e->incarnation[h->rank])
        return h->incarnation < e->incarnation[h->rank] ? FTT_ERR_DEAD : FTT_ERR_HANDLE;
    if (!p->tables)
        ft_peer_map(e, h->rank);
    if (!p->tables)
        return FTT_ERR_DEAD; /* nobody else has made this handle, and its process has gone */
    if (h->index >= FT_BUFFERS || !h->serial)
        return FTT_ERR_HANDLE;
    struct ft_public *b = &p->tables->buffer[h->index];
    if (atomic_load_explicit(&b->serial, memory_order_acquire) != h->serial)
        return FTT_ERR_HANDLE;
    out->is_private = b->is_private;
    out->at = b->at;
    out->bytes = b->bytes;
    if (offset > out->bytes || bytes > out->bytes - offset)
        return FTT_ERR_SIZE;
    if (!out->is_private && (out->at > ft_transport->own->bytes ||
                             out->bytes > ft_transport->own->bytes - out->at))
        return FTT_ERR_HANDLE;
    return FTT_OK;
}

static int through_kernel(const struct ft_peer *p, uint64_t there, void *here, uint64_t bytes,
                          int out)
{
    for (uint64_t at = 0; at < bytes;) {
        struct iovec a = {(char *)here + at, bytes - at},
                     b = {(void *)(uintptr_t)(there + at), bytes - at};
        ssize_t n = out ? process_vm_writev(p->pid, &a, 1, &b, 1, 0)
                        : process_vm_readv(p->pid, &a, 1, &b, 1, 0);
        if (n <= 0)
            return errno == ESRCH   ? FTT_ERR_DEAD
                   : errno == EPERM ? FTT_ERR_KERNEL
                                    : FTT_ERR_HANDLE; /* the program has freed it */
        at += (uint64_t)n;
    }
    return FTT_OK;
}

int ft_buffer_check(struct ft_endpoint *e, const FTT_Buffer *h, uint64_t offset, uint64_t bytes)
{
    struct ft_public b;
    return look_up(e, h, offset, bytes, &b);
}

int ft_buffer_copy(struct ft_endpoint *e, const FTT_Buffer *h, uint64_t offset, void *here,
                   uint64_t bytes, int out)
{
    uint64_t at = 0;
    do {
        struct ft_public b;
        int st = look_up(e, h, offset, bytes, &b);
        uint64_t n = ft_min_u64(bytes - at, PIECE);
        struct ft_peer *p = &e->peer[st == FTT_OK ? h->rank : 0];
        if (st == FTT_OK && b.is_private)
            st = through_kernel(p, b.at + offset + at, (char *)here + at, n, out);
        else if (st == FTT_OK && out)
            ft_copy(p->base + b.at + offset + at, (char *)here + at, n);
        else if (st == FTT_OK)
            ft_copy((char *)here + at, p->base + b.at + offset + at, n);
        if (st != FTT_OK)
            return st;
        at += n;
        if (at < bytes) {
            ft_endpoint_unlock(e);
            ft_endpoint_lock(e);
        }
    } while (at < bytes);
    return FTT_OK;
}

static int reach(FTT_Transport *t, const FTT_Buffer *h, size_t offset, void *here, size_t bytes,
                  uint32_t tag, int flags, uint64_t *id, int out)
{
    struct ft_endpoint *e = ft_endpoint_of(t);
    if ((!here && bytes) || (flags & ~(FTT_SEND_ACK | FTT_RECEIVE_ACK)))
        return FTT_ERR_ARG;
    ft_carriers_door();
    ft_endpoint_lock(e);
    int st = FTT_ERR_FULL, full = e->backlog || ft_txn_outstanding(e->txn) >= e->room;
    int far = h && h->rank >= 0 && h->rank < e->n && e->peer[h->rank].far;
    if (!full && far)
        st = ft_far_copy(e, h, offset, here, bytes, out);
    else if (!full)
        st = ft_buffer_copy(e, h, offset, here, bytes, out);
    if (st != FTT_OK || !flags) {
        ft_endpoint_unlock(e);
        return st;
    }
    /* the owner's helper thread takes it in any case; it tells the program if that is asked for */
    struct ft_parcel *b = ft_block_get(e, sizeof(struct ft_head));
    struct ft_head head = {.what = out ? FT_WHAT_PUT : FT_WHAT_GET,
                           .tag = tag,
                           .incarnation = flags & FTT_RECEIVE_ACK ? h->incarnation : UINT32_MAX,
                           .bytes = bytes};
    memcpy(b->data, &head, sizeof head);
    b->kind = FT_TXN_MESSAGE;
    b->to = h->rank;
    b->incarnation = h->incarnation;
    b->ack = (flags & FTT_SEND_ACK) != 0;
    ft_item_send(e, b, 1);
    if (id)
        *id = b->id;
    ft_progress_out(e);
    ft_endpoint_unlock(e);
    return FTT_OK;
}

int ft_buffer_put(FTT_Transport *t, const FTT_Buffer *to, size_t offset, const void *from,
                  size_t bytes, uint32_t tag, int flags, uint64_t *id)
{
    return reach(t, to, offset, (void *)(uintptr_t)from, bytes, tag, flags, id, 1);
}

int ft_buffer_get(FTT_Transport *t, const FTT_Buffer *from, size_t offset, void *to, size_t bytes,
                  uint32_t tag, int flags, uint64_t *id)
{
    return reach(t, from, offset, to, bytes, tag, flags, id, 0);
}
