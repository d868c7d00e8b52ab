/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shm.c - the provider for processes of one node: it maps peers' arenas completely.
 *
 * A peer's arena is found on the board (pid and descriptor) and opened through /proc: there are no
 * names, and nothing to clean up. For mails see mail.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/filespace.h"
#include "base/homelogs.h"
#include "base/near.h"
#include "base/private.h"
#include "transport/shm/mail.h"
#include "transport/transport.h"

struct shm_peer {
    _Atomic(char *) base;
    /* of its arena, in the table of the thread that attached it; -1: no descriptor was left */
    int fd;
    int in_own_table; /* the table is the agent's (base/fds.h) */
    int gone;         /* it was forgotten */
    char *unneeded;   /* its arena, forgotten but not given back yet */
};

/* What is mapped: of all transports of this process that share it. */
struct shm {
    pthread_mutex_t lock; /* of attaching */
    int users;            /* transports */
    _Atomic int said;     /* why another process could not be reached, as reported */
    struct shm_peer peer[];
};

static size_t shm_bytes(const struct ft_tp *tp)
{
    return sizeof(struct shm) + (size_t)tp->nslots * sizeof(struct shm_peer);
}

/* A transport that is the last one of its mappings gives them back. */
static void drop_maps(struct ft_tp *tp)
{
    struct shm *s = tp->state;
    atomic_store(&s->peer[tp->self].base, NULL); /* who has made the arena unmaps it */
    if (--s->users > 0)
        return;
    for (int i = 0; i < tp->nslots; i++) {
        char *base = s->peer[i].unneeded ? s->peer[i].unneeded : atomic_load(&s->peer[i].base);
        if (!base)
            continue;
        munmap(base, tp->own->bytes);
        ft_fd_close(s->peer[i].fd);
    }
    pthread_mutex_destroy(&s->lock);
    ft_private_free(s, shm_bytes(tp));
}

static struct shm *make_maps(const struct ft_tp *tp)
{
    struct shm *s = ft_private_alloc(shm_bytes(tp));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    for (int i = 0; i < tp->nslots; i++)
        s->peer[i].fd = -1;
    return s;
}

enum ft_status ft_tp_shm_init(struct ft_tp *tp, const struct ft_tp *beside)
{
    struct shm *s = beside ? beside->state : make_maps(tp);
    if (!s) {
        tp->ops = NULL;
        return FT_ERR_NOMEM;
    }
    s->users++;
    atomic_store(&s->peer[tp->self].base, tp->own->base);
    tp->state = s;
    tp->post = ft_post_open(tp);
    if (!tp->post) {
        drop_maps(tp);
        tp->ops = NULL; /* not open */
        return FT_ERR_NOMEM;
    }
    return FT_OK;
}

void ft_tp_shm_finish(struct ft_tp *tp)
{
    ft_post_close(tp->post);
    drop_maps(tp);
}

static enum ft_status open_file(struct ft_tp *tp, int slot, int *fd_out)
{
    struct ft_board_slot *b = &tp->board->slot[slot];
    int fd = ft_board_open_arena(b, O_RDWR), e = errno;
    if (fd < 0 && e == ESRCH && atomic_load(&b->arena_fd) < 0)
        return FT_ERR_DEAD; /* it never existed */
    /* This is checked after the open: the process may be gone, or the pid may name another one. */
    int dead = ft_proc_gone(atomic_load(&b->pid), atomic_load(&b->start_time));
    if (dead == 0 && fd >= 0) {
        *fd_out = fd;
        return FT_OK;
    }
    if (dead < 0) /* not known: there are no descriptors to look with */
        e = errno;
    ft_fd_close(fd);
    errno = e;
    return dead > 0 ? FT_ERR_DEAD : FT_ERR_SYS;
}

static enum ft_status open_arena(struct ft_tp *tp, int slot, char **base, int *fd_out)
{
    int fd;
    enum ft_status st = open_file(tp, slot, &fd);
    if (st != FT_OK)
        return st;
    void *p = mmap(ft_arena_map_hint(1 + slot, tp->own->bytes), tp->own->bytes,
                   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (p == MAP_FAILED) {
        ft_fd_close(fd);
        return FT_ERR_SYS;
    }
    (void)madvise(p, tp->own->bytes, MADV_DONTDUMP);
    const struct ft_ctl *ctl = p;
    FT_ASSERT(ctl->magic == FT_CTL_MAGIC && ctl->slot == (uint32_t)slot);
    *base = p;
    *fd_out = ft_fd_short() ? -1 : ft_fd_keep(fd);
    if (*fd_out < 0) /* the program has used up all descriptors: it is opened again when needed */
        ft_fd_close(fd);
    return FT_OK;
}

/* Returns in *fd a descriptor of slot's arena that the calling thread can use; leave_fd gives it
 * back. The kept descriptor is in the table of the thread that attached the arena, and a program
 * may have closed it by the system call. */
static enum ft_status peer_fd(struct ft_tp *tp, int slot, int *fd)
{
    const struct shm_peer *p = &((struct shm *)tp->state)->peer[slot];
    struct ft_fd_file file = tp->board->slot[slot].arena_file;
    char path[64];
    if (p->in_own_table == ft_fd_in_own_table() && ft_fd_sound(p->fd, file)) {
        *fd = p->fd;
        return FT_OK;
    }
    snprintf(path, sizeof path, "/proc/self/task/%d/fd/%d",
             p->in_own_table ? ft_fd_table() : (int)getpid(), p->fd);
    *fd = p->fd < 0 ? -1 : ft_fd_open(path, O_RDWR);
    struct ft_fd_file found = ft_fd_file_of(*fd);
    if (*fd >= 0 && found.dev == file.dev && found.ino == file.ino)
        return FT_OK;
    ft_fd_close(*fd);
    return open_file(tp, slot, fd);
}

static void leave_fd(struct ft_tp *tp, int slot, int fd)
{
    const struct shm_peer *p = &((struct shm *)tp->state)->peer[slot];
    if (slot != tp->self && (fd != p->fd || p->in_own_table != ft_fd_in_own_table()))
        ft_fd_close(fd);
}

/* A living process that cannot be reached is not taken for dead: this process tries again, and
 * reports it once. */
static void say_why(struct shm *s, int slot, int why)
{
    char text[320];
    const char *what = NULL;
    if (why == EMFILE || why == ENFILE)
        what = "the limit of open files (ulimit -n) is too small, or the program uses all of them";
    else if (why == ENOMEM)
        what = "the limit of address space (ulimit -v) is too small, or FTRMA_ARENA_SIZE too large";
    else if (why == EBADF)
        what = "the program has replaced ftrma's descriptor by one of its own";
    if (!what ||
        /* for any other reason the process is about to be gone */
        atomic_exchange(&s->said, why) == why)
        return;
    int n = snprintf(text, sizeof text,
                     "ftrma: process %d cannot reach the memory of slot %d (%s): %s\n",
                     (int)getpid(), slot, strerror(why), what);
    ft_print(text, ft_min_u64((uint64_t)n, sizeof text - 1));
}

static enum ft_status shm_attach(struct ft_tp *tp, int slot)
{
    struct shm *s = tp->state;
    FT_ASSERT(slot >= 0 && slot < tp->nslots);
    if (atomic_load_explicit(&s->peer[slot].base, memory_order_acquire))
        return FT_OK;
    enum ft_status st = FT_OK;
    char *base = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->peer[slot].gone) {
        st = FT_ERR_DEAD;
    } else if (!atomic_load(&s->peer[slot].base)) {
        st = open_arena(tp, slot, &base, &s->peer[slot].fd);
        s->peer[slot].in_own_table = ft_fd_in_own_table();
        if (st == FT_OK)
            atomic_store_explicit(&s->peer[slot].base, base, memory_order_release);
    }
    int why = errno;
    pthread_mutex_unlock(&s->lock);
    if (st == FT_ERR_SYS)
        say_why(s, slot, why);
    errno = why;
    return st;
}

static void *shm_map(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, enum ft_tp_what what)
{
    struct shm *s = tp->state;
    (void)what;
    FT_ASSERT(off >= FT_MIRROR || (off <= tp->own->bytes && len <= tp->own->bytes - off));
    char *base = atomic_load_explicit(&s->peer[slot].base, memory_order_acquire);
    if (!base) {
        if (shm_attach(tp, slot) != FT_OK)
            return NULL;
        base = atomic_load_explicit(&s->peer[slot].base, memory_order_acquire);
    }
    if (FT_UNLIKELY(off >= FT_MIRROR)) {
        if (slot == tp->self)
            return (void *)(uintptr_t)(off - FT_MIRROR);
        uint64_t first = off & ~(ft_page_bytes() - 1);
        int fd;
        if (peer_fd(tp, slot, &fd) != FT_OK)
            return NULL;
        void *p =
            mmap(NULL, off + len - first, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)first);
        leave_fd(tp, slot, fd);
        return p == MAP_FAILED ? NULL : (char *)p + (off - first);
    }
    return base + off;
}

static void shm_unmap(struct ft_tp *tp, int slot, uint64_t off, void *p, uint64_t len)
{
    if (!p || off < FT_MIRROR || slot == tp->self)
        return;
    uint64_t gap = off & (ft_page_bytes() - 1);
    munmap((char *)p - gap, len + gap);
}

static enum ft_status arena_fd(struct ft_tp *tp, int slot, int *fd)
{
    enum ft_status st = shm_attach(tp, slot);
    if (st != FT_OK)
        return st;
    if (slot != tp->self)
        return peer_fd(tp, slot, fd);
    *fd = tp->own->fd;
    return ft_fd_sound(*fd, tp->own->file) ? FT_OK : FT_ERR_SYS;
}

static enum ft_status place_fd(int fd, uint64_t off, uint64_t len, void *at)
{
    void *p = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)off);
    return p == MAP_FAILED ? FT_ERR_NOMEM : FT_OK;
}

static enum ft_status shm_place(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, void *at)
{
    int fd;
    enum ft_status st = arena_fd(tp, slot, &fd);
    if (st != FT_OK)
        return st;
    st = place_fd(fd, off, len, at);
    leave_fd(tp, slot, fd);
    return st;
}

/* Takes file space for [off, off + len) and maps it. */
static enum ft_status grow_into(int fd, uint64_t off, uint64_t len, void *at)
{
    if (ft_file_take(fd, off, off + len) < off + len)
        return FT_ERR_NOMEM;
    enum ft_status st = place_fd(fd, off, len, at);
#ifdef MADV_POPULATE_WRITE
    if (st == FT_OK)
        (void)madvise(at, len, MADV_POPULATE_WRITE); /* saves a fault for each page */
#endif
    return st;
}

static enum ft_status shm_keep(struct ft_tp *tp, int rank, uint64_t off, uint64_t len, void *at)
{
    int fd = atomic_load_explicit(&tp->board->slot[tp->self].homelogs_fd, memory_order_relaxed);
    FT_ASSERT(off <= FT_HOMELOG_SPAN && len <= FT_HOMELOG_SPAN - off);
    if (fd < 0 || !ft_fd_sound(fd, tp->board->homelogs_file))
        return FT_ERR_SYS;
    return grow_into(fd, (uint64_t)rank * FT_HOMELOG_SPAN + off, len, at);
}

/* Closes the descriptor of a forgotten slot: that is possible only in the table that has it. */
static void close_of_gone(struct shm_peer *p)
{
    if (p->fd < 0 || p->in_own_table != ft_fd_in_own_table())
        return;
    ft_fd_close(p->fd);
    p->fd = -1;
}

static void shm_forget(struct ft_tp *tp, int slot)
{
    struct shm *s = tp->state;
    struct shm_peer *p = &s->peer[slot];
    FT_ASSERT(slot != tp->self);
    pthread_mutex_lock(&s->lock);
    char *base = atomic_exchange(&p->base, NULL);
    p->gone = 1;
    if (base) { /* else another transport of these mappings has forgotten it */
        p->unneeded = base;
        close_of_gone(p);
    }
    pthread_mutex_unlock(&s->lock);
    atomic_store(&tp->own->ctl->peer[slot].mailbox, 0); /* the mailbox's writer is dead */
    ft_post_forget(tp->post, slot);
}

static void shm_release(struct ft_tp *tp)
{
    struct shm *s = tp->state;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < tp->nslots; i++) {
        struct shm_peer *p = &s->peer[i];
        if (!p->gone)
            continue;
        close_of_gone(p);
        if (p->unneeded)
            munmap(p->unneeded, tp->own->bytes);
        p->unneeded = NULL;
    }
    pthread_mutex_unlock(&s->lock);
}

/* Reports why a part of a process could not be mapped. */
static enum ft_status not_mapped(struct ft_tp *tp, int slot)
{
    const struct ft_board_slot *b = &tp->board->slot[slot];
    if (atomic_load(&b->arena_fd) < 0 ||
        ft_proc_gone(atomic_load(&b->pid), atomic_load(&b->start_time)) > 0)
        return FT_ERR_DEAD;
    return FT_ERR_SYS;
}

static enum ft_status shm_put(struct ft_tp *tp, int slot, uint64_t off, const void *src,
                              uint64_t len)
{
    if (len == 0)
        return shm_attach(tp, slot);
    char *p = shm_map(tp, slot, off, len, FT_TP_WINDOW);
    if (!p)
        return not_mapped(tp, slot);
    memcpy(p, src, len);
    shm_unmap(tp, slot, off, p, len);
    return FT_OK;
}

static enum ft_status shm_get(struct ft_tp *tp, int slot, uint64_t off, void *dst, uint64_t len)
{
    if (len == 0)
        return shm_attach(tp, slot);
    char *p = shm_map(tp, slot, off, len, FT_TP_WINDOW);
    if (!p)
        return not_mapped(tp, slot);
    memcpy(dst, p, len);
    shm_unmap(tp, slot, off, p, len);
    return FT_OK;
}

void ft_tp_shm_ring_ctl(struct ft_ctl *ctl)
{
    /* No fence is needed: the sleeper has issued a membarrier between `sleeping = 1` and its last
     * look (wait.h). */
    atomic_signal_fence(memory_order_seq_cst);
    if (FT_LIKELY(atomic_load_explicit(&ctl->sleeping, memory_order_relaxed) == 0))
        return;
    if (ctl->stand_in) {
        ft_gate_bell_ring(ft_transport->board);
        return;
    }
    atomic_fetch_add(&ctl->bell, 1);
    syscall(SYS_futex, &ctl->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void shm_ring(struct ft_tp *tp, int slot)
{
    struct ft_ctl *ctl = ft_tp_ctl(tp, slot);
    if (ctl)
        ft_tp_shm_ring_ctl(ctl);
}

static enum ft_status shm_mail(struct ft_tp *tp, int slot, const void *text, uint32_t len)
{
    return ft_post_mail(tp, tp->post, slot, text, len);
}

static uint32_t shm_take(struct ft_tp *tp, int slot, void *buf)
{
    return ft_post_take(tp, tp->post, slot, buf);
}

static int shm_post(struct ft_tp *tp) { return ft_post_flush(tp, tp->post); }

static void shm_recall(struct ft_tp *tp, int slot, ft_mail_test *is_old, const void *newer)
{
    ft_post_recall(tp->post, slot, is_old, newer);
}

static void shm_drop_mails(struct ft_tp *tp, int slot) { ft_post_forget(tp->post, slot); }

const struct ft_tp_ops ft_tp_shm_ops = {
    .name = "shm",
    .attach = shm_attach,
    .map = shm_map,
    .unmap = shm_unmap,
    .keep = shm_keep,
    .place = shm_place,
    .forget = shm_forget,
    .release = shm_release,
    .put = shm_put,
    .get = shm_get,
    .ring = shm_ring,
    .mail = shm_mail,
    .take = shm_take,
    .post = shm_post,
    .recall = shm_recall,
    .drop_mails = shm_drop_mails,
};
