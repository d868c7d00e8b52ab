/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memcheck.c - looks for memory that body changes and no checkpoint holds: see memcheck.h.
 * src/image/memory.h has the parts that need not read memory.
 */
#define _GNU_SOURCE
#include "runtime/memcheck.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/private.h"
#include "runtime/alloc_sites.h"
#include "runtime/ckpt.h"
#include "runtime/maps.h"

#define BUDGET_NS 50000000ull /* of processor time, for all looks of `first` */
#define LOOKS 5               /* of `first`: at safepoints 1, 2, 3, 5, 9 */
#define WINDOW (64u << 10)
/* In larger things, pages that were never touched are not read. */
#define SPARSE (1ull << 20)
#define ARENA_MAX (64ull << 20)           /* glibc: a thread's heap begins at a multiple of it */
#define TOUCHED 2048                      /* pages whose state is queried at once */
#define FORTRAN_BUFFER ((128u << 10) + 8) /* as malloc rounds it */
#define OWNER_MOST (64ull << 10)          /* larger statics are not searched for pointers */

typedef FT_LIST(struct ft_mem_thing) thing_list;

struct ft_memcheck {
    int always, looks;
    uint64_t seen, next; /* safepoints: seen so far, and the next one to look at */
    uint64_t used_ns, deadline;
    struct ft_elf elf;
    thing_list statics, now, was;
    struct {
        uint32_t *v;
        size_t n, cap;
    } order;
    ft_span_list known; /* what an image holds, what was promised, what is the library's */
    /* Ranges where mappings are not the program's, or are looked at as something else. */
    ft_span_list others;
    uint64_t heap_unlooked;
    ft_alloc_site_fn *site; /* NULL: nobody knows */
    /* What was read last. */
    char *window;
    uint64_t window_at, window_bytes;
    int pagemap;
    uint64_t touched_at, touched[TOUCHED]; /* of the page with number touched_at, and on */
    /* The last two lines of the list of mappings; their paths are gone. */
    struct ft_map below, held;
    int holds; /* the last one may be the program's */
};

/* Private mappings that existed when MPI_Init was entered are the program's. Those that came until
 * it was left are not. Nor is the one that holds main's thread-local storage: the loader made it,
 * and the C library writes to it. */
static ft_span_list before_init, not_programs;

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int late(const struct ft_memcheck *mc) { return cpu_ns() > mc->deadline; }

/* ---- what is mapped by whom ---- */

static int is_private(const struct ft_map *m)
{
    return strcmp(m->rights, "rw-p") == 0 || strcmp(m->rights, "rwxp") == 0;
}

static void note_mapping(void *arg, const struct ft_map *m)
{
    if (is_private(m))
        ft_span_add(arg, m->from, m->to);
}

static void note_thread_local(void *arg, const struct ft_map *m)
{
    uint64_t local = (uint64_t)(uintptr_t)&errno;
    if (m->from <= local && local < m->to)
        ft_span_add(arg, m->from, m->to);
}

void ft_runtime_before_init(void)
{
    if (strcmp(ft_setting_str(FT_SET_CHECK_MEMORY), "off") != 0) {
        ft_maps_each(note_mapping, &before_init);
        ft_maps_each(note_thread_local, &not_programs);
    }
    before_init.n = ft_spans_join(before_init.v, before_init.n);
}

void ft_runtime_after_init(void)
{
    ft_span_list all = {0};
    struct ft_span gap;
    if (ft_own_rt->check_memory == FT_CHECK_MEMORY_OFF)
        return;
    ft_maps_each(note_mapping, &all);
    for (size_t i = 0; i < all.n; i++)
        for (uint64_t at = all.v[i].from;
             ft_spans_gap(before_init.v, before_init.n, at, all.v[i].to, &gap); at = gap.to)
            ft_span_add(&not_programs, gap.from, gap.to);
    FT_LIST_FREE(&all);
}

/* ---- reading ---- */

/* Returns [addr, addr + want) as it was when it was first read in this look; NULL: it cannot be
 * read. want: at most FT_MEM_PAGE. */
static const void *peek(struct ft_memcheck *mc, uint64_t addr, size_t want)
{
    if (addr >= mc->window_at && addr + want <= mc->window_at + mc->window_bytes)
        return mc->window + (addr - mc->window_at);
    static const size_t sizes[2] = {
        /* reads much at once; if that fails, only what is asked for [the end of what is mapped] */
        WINDOW, 0};
    mc->window_bytes = 0;
    for (int i = 0; i < 2; i++) {
        size_t bytes = sizes[i] ? sizes[i] : want;
        struct iovec here = {mc->window, bytes}, there = {(void *)(uintptr_t)addr, bytes};
        ssize_t n = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
        if (n >= (ssize_t)want) {
            mc->window_at = addr;
            mc->window_bytes = (uint64_t)n;
            return mc->window;
        }
    }
    return NULL;
}

/* The first page in [at, to) to which the process has ever written; the others hold zeros, or what
 * a file holds. Looks only at the pages of the last query of the kernel; `to`: there is none. */
static uint64_t next_touched(struct ft_memcheck *mc, uint64_t at, uint64_t to)
{
    enum { FILE_PAGE = 61, SWAPPED = 62, PRESENT = 63 };
    uint64_t bytes = ft_page_bytes(), page = at / bytes;
    if (mc->pagemap < 0)
        return at;
    if (page - mc->touched_at >= TOUCHED) {
        ssize_t n = pread(mc->pagemap, mc->touched, sizeof mc->touched,
                          (off_t)(page * sizeof mc->touched[0]));
        if (n < (ssize_t)sizeof mc->touched[0])
            return at;
        memset((char *)mc->touched + n, 0xff, sizeof mc->touched - (size_t)n);
        mc->touched_at = page;
    }
    for (; page - mc->touched_at < TOUCHED; page++) {
        uint64_t entry = mc->touched[page - mc->touched_at];
        if ((entry >> SWAPPED & 1) || ((entry >> PRESENT & 1) && !(entry >> FILE_PAGE & 1)))
            break;
    }
    return ft_min_u64(ft_max_u64(at, page * bytes), to);
}

static uint64_t fold(uint64_t h, uint64_t x) { return (h ^ x) * 0x9e3779b97f4a7c15ull + (h >> 31); }

struct look {
    uint64_t hash, shape, looked;
};

/* Hashes what no image holds of the first `most` bytes of a thing. looked < most: there was no
 * time, or it cannot be read. */
static struct look look_at(struct ft_memcheck *mc, const struct ft_mem_thing *t, uint64_t most)
{
    struct look l = {0};
    struct ft_span gap;
    uint64_t to = t->addr + most, pages = 0;
    int sparse = t->whole_bytes >= SPARSE;
    for (uint64_t at = t->addr; ft_spans_gap(mc->known.v, mc->known.n, at, to, &gap);) {
        l.shape = fold(fold(l.shape, gap.from), gap.to);
        for (at = gap.from; at < gap.to;) {
            uint64_t end = ft_min_u64(gap.to, (at / FT_MEM_PAGE + 1) * FT_MEM_PAGE);
            if (pages >= 64 && late(mc)) {
                l.looked = at - t->addr;
                return l;
            }
            pages %= 64;
            uint64_t touched = sparse ? next_touched(mc, at, gap.to) : at;
            const void *p = touched == at ? peek(mc, at, end - at) : NULL;
            if (touched == at && !p) {
                l.looked = at - t->addr;
                return l;
            }
            l.hash += p ? ft_mem_hash(p, end - at, at) : 0;
            at = p ? end : touched;
            pages += p ? 1 : 16; /* in the time for this many */
        }
    }
    l.looked = most;
    return l;
}

/* ---- what there is ---- */

static void add_thing(thing_list *l, struct ft_mem_thing t)
{
    if (FT_LIST_ROOM(l))
        l->v[l->n++] = t;
}

/* Splits [from, to) into pieces of `piece` bytes. */
static void add_pieces(thing_list *l, uint64_t from, uint64_t to, uint64_t piece,
                       enum ft_mem_kind kind, const char *source)
{
    for (uint64_t at = from; at < to; at += piece)
        add_thing(l, (struct ft_mem_thing){.addr = at,
                                           .bytes = ft_min_u64(piece, to - at),
                                           .whole = from,
                                           .whole_bytes = to - from,
                                           .kind = kind,
                                           .source = source});
}

static int add_static(void *arg, uint64_t addr, uint64_t bytes, const char *name,
                      const char *source)
{
    struct ft_memcheck *mc = arg;
    if (name)
        add_thing(&mc->statics, (struct ft_mem_thing){.addr = addr,
                                                      .bytes = bytes,
                                                      .whole = addr,
                                                      .whole_bytes = bytes,
                                                      .name = name,
                                                      .source = source,
                                                      .kind = FT_MEM_STATIC});
    else
        add_pieces(&mc->statics, addr, addr + bytes, FT_MEM_PAGE, FT_MEM_UNNAMED, source);
    return 1;
}

static void add_block(void *arg, uint64_t addr, uint64_t bytes)
{
    struct ft_memcheck *mc = arg;
    add_thing(&mc->now, (struct ft_mem_thing){.addr = addr,
                                              .bytes = bytes,
                                              .whole = addr,
                                              .whole_bytes = bytes,
                                              .kind = FT_MEM_BLOCK});
}

static const void *peek_heap(void *arg, uint64_t addr, size_t bytes)
{
    struct ft_memcheck *mc = arg;
    return mc->window_bytes && addr - mc->window_at < mc->window_bytes ? peek(mc, addr, bytes)
           : late(mc)                                                  ? NULL
                                                                       : peek(mc, addr, bytes);
}

/* The heap as it is from the end of MPI_Init on (heap.c). */
static void list_heap(struct ft_rt *rt, struct ft_memcheck *mc)
{
    uint64_t from = atomic_load(&rt->me->testament.heap_from), to = (uint64_t)(uintptr_t)sbrk(0);
    size_t n = mc->now.n;
    mc->heap_unlooked = 0;
    if (!from || to <= from)
        return;
    enum ft_status st = ft_mem_walk(from, to, FT_MEM_LEAST, peek_heap, add_block, mc);
    if (st == FT_ERR_RANGE)
        mc->now.n = n;
    if (st != FT_OK)
        mc->heap_unlooked = to - from;
}

static int has_no_rights(const struct ft_map *m) { return strcmp(m->rights, "---p") == 0; }

/* Where memory of the program's mmap ends in m. A thread's stack lies above its guard pages. A
 * thread's heap is the beginning of ARENA_MAX bytes of which the rest has no rights yet, and may be
 * merged with what lies below it. */
static uint64_t own_end(const struct ft_map *below, const struct ft_map *m,
                        const struct ft_map *above)
{
    if (has_no_rights(below) && below->to == m->from && below->to - below->from <= FT_MEM_LEAST)
        return m->from;
    if (has_no_rights(above) && above->from == m->to && above->to % ARENA_MAX == 0 &&
        above->to - ARENA_MAX >= m->from)
        return above->to - ARENA_MAX;
    return m->to;
}

/* Each line is judged when the next one is known. */
static void list_mapping(void *arg, const struct ft_map *m)
{
    struct ft_memcheck *mc = arg;
    struct ft_span gap;
    const struct ft_map *h = &mc->held;
    uint64_t to = mc->holds ? own_end(&mc->below, h, m) : h->from;
    for (uint64_t at = h->from; ft_spans_gap(mc->others.v, mc->others.n, at, to, &gap); at = gap.to)
        if (gap.to - gap.from >= FT_MEM_LEAST)
            add_pieces(&mc->now, gap.from, gap.to, ft_mem_piece(gap.to - gap.from), FT_MEM_MAPPING,
                       NULL);
    int device = strncmp(m->path, "/dev/", 5) == 0 && strcmp(m->path, "/dev/zero") != 0;
    mc->below = mc->held;
    mc->held = *m;
    mc->holds = is_private(m) && m->path[0] != '[' && !device;
}

static void add_spans(ft_span_list *to, const ft_span_list *from)
{
    for (size_t i = 0; i < from->n; i++)
        ft_span_add(to, from->v[i].from, from->v[i].to);
}

static void add_ours(void *arg, uint64_t from, uint64_t to) { ft_span_add(arg, from, to); }

static void list_known(struct ft_rt *rt, struct ft_memcheck *mc)
{
    struct ft_region *r;
    int n = ft_ckpt_regions(rt, 1, &r);
    mc->known.n = mc->others.n = 0;
    for (int i = 0; i < n; i++)
        ft_span_add(&mc->known, (uint64_t)(uintptr_t)r[i].addr,
                    (uint64_t)(uintptr_t)r[i].addr + r[i].bytes);
    for (size_t i = 0; i < rt->npromised; i++)
        ft_span_add(&mc->known, rt->promised[i].from, rt->promised[i].to);
    ft_private_each(add_ours, &mc->known);
    ft_private_each(add_ours, &mc->others);
    add_spans(&mc->others, &mc->elf.loaded);
    add_spans(&mc->others, &not_programs);
    mc->known.n = ft_spans_join(mc->known.v, mc->known.n);
    mc->others.n = ft_spans_join(mc->others.v, mc->others.n);
}

static int list_things(struct ft_rt *rt, struct ft_memcheck *mc)
{
    list_known(rt, mc);
    mc->now.n = 0;
    for (size_t i = 0; i < mc->statics.n; i++)
        add_thing(&mc->now, mc->statics.v[i]);
    list_heap(rt, mc);
    static const struct ft_map none = {.rights = "", .path = ""};
    mc->below = mc->held = none;
    mc->holds = 0;
    ft_maps_each(list_mapping, mc);
    list_mapping(mc, &none);
    mc->now.n = ft_mem_settle(mc->now.v, mc->now.n);
    ft_mem_carry(mc->now.v, mc->now.n, mc->was.v, mc->was.n);
    for (mc->order.n = 0; mc->order.n < mc->now.n; mc->order.n++)
        if (!FT_LIST_ROOM(&mc->order))
            return 0;
    ft_mem_order(mc->now.v, mc->now.n, mc->order.v);
    return 1;
}

/* ---- saying it ---- */

static int was_said(const struct ft_board_slot *s, const struct ft_note *n)
{
    for (uint32_t i = 0; i < FT_NOTES && i < atomic_load(&s->notes); i++)
        if (strcmp(s->note[i].what, n->what) == 0 && s->note[i].at == n->at)
            return 1;
    return 0;
}

static void say(struct ft_rt *rt, const struct ft_note *n)
{
    struct ft_board_slot *me = rt->me;
    uint32_t i = atomic_load(&me->notes);
    char who[40], line[600];
    if (was_said(me, n))
        return;
    if (i < FT_NOTES)
        me->note[i] = *n;
    atomic_store_explicit(&me->notes, i + 1, memory_order_release);
    if (i >= FT_NOTES)
        return;
    ft_rt_event(rt, FT_EV_UNPROTECTED, ft_who(rt), rt->self, (int64_t)i, 0, 0);
    if (rt->board->launcher_pid || rt->verbose)
        return; /* ftrun prints it once for all ranks; or the event has it */
    ft_who_format(ft_who(rt), who, sizeof who);
    int len = snprintf(line, sizeof line, "ftrma: note: ");
    len += ft_note_format(n, who, line + len, (int)sizeof line - len - 1);
    line[len++] = '\n';
    ft_print(line, (size_t)len);
}

struct owners {
    uint64_t block[FT_NOTES];
    const struct ft_mem_thing *by[FT_NOTES];
    int n;
};

/* Finds a static variable that points to a block, to name it. */
static void find_owners(struct ft_memcheck *mc, struct owners *o)
{
    for (size_t i = 0; o->n && i < mc->statics.n; i++) {
        const struct ft_mem_thing *t = &mc->statics.v[i];
        if (t->kind != FT_MEM_STATIC || t->bytes > OWNER_MOST || (i % 64 == 0 && late(mc)))
            continue;
        for (uint64_t at = ft_align_up(t->addr, 8); at + 8 <= t->addr + t->bytes; at += 8) {
            uint64_t word;
            const void *p = peek(mc, at, sizeof word);
            if (!p)
                break;
            memcpy(&word, p, sizeof word);
            for (int k = 0; word && k < o->n; k++)
                if (o->block[k] == word &&
                    (!o->by[k] ||
                     t->bytes < o->by[k]->bytes)) /* prefers a pointer to a table of pointers */
                    o->by[k] = t;
        }
    }
}

static const char *owner_of(const struct owners *o, uint64_t block, char *name, size_t size)
{
    for (int k = 0; k < o->n; k++)
        if (o->block[k] == block && o->by[k]) {
            ft_mem_tidy(o->by[k]->name, name, size);
            return name;
        }
    return NULL;
}

static const char *site_of(const struct ft_memcheck *mc, const struct ft_mem_thing *t, char *site,
                           size_t size)
{
    int has_one = t->kind == FT_MEM_BLOCK || t->kind == FT_MEM_MAPPING;
    return has_one && mc->site && mc->site(t->addr, t->bytes, site, size) ? site : NULL;
}

/* GNU Fortran has a buffer of 128 KiB for each unformatted file, in an ordinary block of the
 * heap. */
static int is_runtimes(const struct ft_memcheck *mc, const struct ft_mem_thing *t,
                       const char *owner)
{
    return t->kind == FT_MEM_BLOCK && !owner && mc->elf.fortran && t->bytes == FORTRAN_BUFFER;
}

/* Reports pieces of one thing together. Returns how many places of the order they take. */
static size_t name_one(struct ft_rt *rt, struct ft_memcheck *mc, size_t i, const struct owners *o)
{
    struct ft_mem_thing *t = mc->now.v, *first = NULL;
    const uint32_t *order = mc->order.v;
    uint64_t whole = t[order[i]].whole, changed = 0;
    size_t n = 0;
    int named = 0;
    for (; i + n < mc->now.n && t[order[i + n]].whole == whole; n++) {
        struct ft_mem_thing *p = &t[order[i + n]];
        named |= p->named;
        changed += p->changed ? p->bytes : 0;
        if (p->changed && !first)
            first = p;
    }
    if (first && !named) {
        char name[80], site[120];
        const char *owner = owner_of(o, whole, name, sizeof name);
        struct ft_note note =
            ft_mem_note(first, changed, owner, site_of(mc, first, site, sizeof site));
        if (!is_runtimes(mc, first, owner))
            say(rt, &note);
        for (size_t k = 0; k < n; k++)
            t[order[i + k]].named = 1;
    }
    return n;
}

static void name_changed(struct ft_rt *rt, struct ft_memcheck *mc)
{
    struct owners o = {.n = 0};
    for (size_t i = 0; i < mc->now.n && o.n < FT_NOTES; i++)
        if (mc->now.v[i].changed && !mc->now.v[i].named && mc->now.v[i].kind == FT_MEM_BLOCK)
            o.block[o.n++] = mc->now.v[i].addr;
    find_owners(mc, &o);
    for (size_t i = 0; i < mc->now.n;)
        i += name_one(rt, mc, i, &o);
}

/* ---- a look ---- */

/* Looks at all things that were hashed before, or at all others, the largest first. No new thing
 * takes more than half of the time that is left. Returns how many have changed. */
static int look_at_all(struct ft_memcheck *mc, int hashed)
{
    struct ft_mem_thing *t = mc->now.v;
    uint64_t end = mc->deadline, whole = 0;
    int changed = 0;
    for (size_t i = 0; i < mc->now.n; i++) {
        struct ft_mem_thing *p = &t[mc->order.v[i]];
        if (p->hashed != hashed)
            continue;
        int large = p->whole_bytes >= FT_MEM_LEAST;
        uint64_t now = large || i % 16 == 0 ? cpu_ns() : 0;
        if (now > end)
            break;
        if (!large || hashed || end == UINT64_MAX)
            mc->deadline = end;
        else if (p->whole != whole)
            mc->deadline = now + (end - now) / 2;
        whole = p->whole;
        if (now > mc->deadline)
            continue;
        struct look l = look_at(mc, p, hashed ? p->looked : p->bytes);
        if (!hashed || l.looked == p->looked)
            changed += ft_mem_compare(p, l.hash, l.shape, l.looked);
    }
    mc->deadline = end;
    return changed;
}

static void count(struct ft_rt *rt, struct ft_memcheck *mc)
{
    uint64_t looked = 0, left = mc->heap_unlooked;
    for (size_t i = 0; i < mc->was.n; i++) {
        looked += mc->was.v[i].hashed ? mc->was.v[i].looked : 0;
        left += mc->was.v[i].bytes - (mc->was.v[i].hashed ? mc->was.v[i].looked : 0);
    }
    atomic_store(&rt->me->check_ns, mc->used_ns);
    atomic_store(&rt->me->check_bytes, looked);
    atomic_store(&rt->me->check_left, left);
}

static void swap_lists(struct ft_memcheck *mc)
{
    thing_list t = mc->was;
    mc->was = mc->now;
    mc->now = t;
}

static void look(struct ft_rt *rt, struct ft_memcheck *mc)
{
    uint64_t t0 = cpu_ns(), left = BUDGET_NS - ft_min_u64(BUDGET_NS, mc->used_ns);
    mc->deadline = mc->always ? UINT64_MAX : t0 + left;
    mc->window_bytes = 0;
    mc->touched_at = UINT64_MAX / 2;
    if (mc->looks == 0) {
        ft_elf_open(&mc->elf);
        ft_elf_statics(&mc->elf, add_static, mc);
        /* the lists have grown by now, and must not be news at the next look */
        if (list_things(rt, mc))
            swap_lists(mc);
    }
    if (list_things(rt, mc)) {
        if (look_at_all(mc, 1))
            name_changed(rt, mc);
        uint64_t now = cpu_ns();
        if (!mc->always && now < mc->deadline) /* two more looks will need the same time */
            mc->deadline = now + (mc->deadline - now) / 3;
        look_at_all(mc, 0);
    }
    swap_lists(mc);
    mc->looks++;
    mc->used_ns += cpu_ns() - t0;
    count(rt, mc);
}

void ft_memcheck_begin(struct ft_rt *rt)
{
    char byte, *here = &byte;
    int wanted = rt->check_memory;
    if (rt->memcheck || wanted == FT_CHECK_MEMORY_OFF)
        return;
    rt->check_memory = FT_CHECK_MEMORY_OFF; /* unless all that follows succeeds */
    if (!rt->checkpoints || (rt->replacement &&
                             /* in a replacement the lost process has already reported */
                             wanted == FT_CHECK_MEMORY_FIRST))
        return;
    struct iovec to = {&byte, 1}, from = {&here, 1};
    struct ft_memcheck *mc = ft_private_alloc(sizeof *mc);
    if (!mc)
        return;
    mc->window = ft_private_alloc(WINDOW);
    if (!mc->window || process_vm_readv(getpid(), &to, 1, &from, 1, 0) !=
                           1) { /* no memory, or the kernel's rules forbid it */
        ft_private_free(mc->window, WINDOW);
        ft_private_free(mc, sizeof *mc);
        return;
    }
    rt->check_memory = wanted;
    mc->always = wanted == FT_CHECK_MEMORY_ALWAYS;
    mc->next = 1;
    mc->site = (ft_alloc_site_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, FT_ALLOC_SITE);
    mc->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    rt->memcheck = mc;
}

void ft_memcheck_end(struct ft_rt *rt)
{
    struct ft_memcheck *mc = rt->memcheck;
    if (!mc)
        return;
    rt->memcheck = NULL;
    rt->check_memory = FT_CHECK_MEMORY_OFF;
    if (mc->pagemap >= 0)
        close(mc->pagemap);
    ft_elf_close(&mc->elf);
    FT_LIST_FREE(&mc->statics);
    FT_LIST_FREE(&mc->now);
    FT_LIST_FREE(&mc->was);
    FT_LIST_FREE(&mc->order);
    FT_LIST_FREE(&mc->known);
    FT_LIST_FREE(&mc->others);
    ft_private_free(mc->window, WINDOW);
    ft_private_free(mc, sizeof *mc);
}

void ft_memcheck_safepoint(struct ft_rt *rt)
{
    struct ft_memcheck *mc = rt->memcheck;
    if (++mc->seen < mc->next)
        return;
    look(rt, mc);
    mc->next = mc->always || mc->looks <= 2 ? mc->seen + 1 : 2 * mc->seen - 1; /* 1, 2, 3, 5, 9 */
    if (!mc->always && (mc->looks == LOOKS || mc->used_ns > BUDGET_NS / 10 * 9))
        ft_memcheck_end(rt);
}

void ft_memcheck_promise(struct ft_rt *rt, uint64_t from, uint64_t to)
{
    if (rt->check_memory == FT_CHECK_MEMORY_OFF || from >= to)
        return; /* nobody asks */
    ft_span_list l = {rt->promised, rt->npromised, rt->cap_promised};
    ft_span_add(&l, from, to);
    rt->promised = l.v;
    rt->cap_promised = l.cap;
    rt->npromised = ft_spans_join(l.v, l.n);
}
