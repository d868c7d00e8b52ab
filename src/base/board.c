/* SPDX-License-Identifier: BSD-3-Clause
 *
 * board.c - making, finding and writing the job's board; bells; which processes are alive.
 *
 * These functions run in a helper thread beside the program, and the program's allocator may be in
 * any state. So nothing here allocates, and each message is printed by one write.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "base/board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/join.h"
#include "base/near.h"

const struct ft_event_info ft_event_table[FT_EV_COUNT] = {
#define FT_EVENT(id, name, fmt, tell, routine) [FT_EV_##id] = {name, fmt, tell, routine},
#include "base/event.def"
#undef FT_EVENT
};

const char *ft_skip_reason_string(int reason)
{
    switch ((enum ft_skip_reason)reason) {
    case FT_SKIP_NONE: return "no reason";
    case FT_SKIP_REQUESTS: return "a rank has active requests";
    case FT_SKIP_LOCKS:
        return "a rank holds an exclusive lock, or is in an epoch of MPI_Win_post or MPI_Win_start";
    case FT_SKIP_OBJECTS: return "a window or communicator that body created is still there";
    case FT_SKIP_WAITING:
        return "a rank waits for another one, which has stopped for the checkpoint";
    case FT_SKIP_FAILURE: return "a process failed";
    case FT_SKIP_NOMEM: return "there is no room for the image";
    case FT_SKIP_DIVERGED: return "a replay diverged";
    }
    return "unknown reason";
}

const char *ft_fallback_string(int reason)
{
    switch ((enum ft_fallback)reason) {
    case FT_FALLBACK_NONE: return "no reason";
#define FT_FALLBACK_CASE(id, text) \
    case FT_FALLBACK_##id: return text;
        FT_FALLBACKS(FT_FALLBACK_CASE)
#undef FT_FALLBACK_CASE
    }
    return "unknown reason";
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t ft_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
uint64_t ft_boottime_ns(void) { return clock_ns(CLOCK_BOOTTIME); }

/* ---- the board itself ---- */

enum ft_status ft_board_create(int nranks, int nchecksums, int nspares, int launcher_pid,
                               struct ft_board **out, int *fd)
{
    int nslots = nranks + nchecksums + nspares;
    FT_ASSERT(nranks > 0 && nchecksums >= 0 && nspares >= 0 && nslots <= FT_MAX_SLOTS);
    /* The job's processes open it through /proc, so no child needs to inherit it. */
    int f = memfd_create("ftrma-board", MFD_CLOEXEC);
    if (f < 0)
        return FT_ERR_SYS;

    size_t bytes = ft_board_bytes(nslots);
    struct ft_board *b = MAP_FAILED;
    if (ftruncate(f, (off_t)bytes) == 0)
        b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    if (b == MAP_FAILED) {
        int e = errno;
        close(f);
        errno = e;
        return FT_ERR_SYS;
    }
    b->nslots = nslots;
    b->nranks = nranks;
    b->nchecksums = nchecksums;
    b->nspares = nspares;
    b->t0_ns = b->wtime_zero_ns = ft_now_ns();
    b->near_end = nslots;
    b->launcher_pid = launcher_pid;
    atomic_store(&b->launcher_bell, -1);
    for (int i = 0; i < nslots; i++) {
        atomic_store(&b->slot[i].arena_fd, -1);
        atomic_store(&b->slot[i].who, FT_WHO_NONE);
        b->slot[i].at_first = FT_WHO_NONE;
        atomic_store(&b->slot[i].input.fd, -1);
        atomic_store(&b->slot[i].homelogs_fd, -1);
        for (int k = 0; k < 2; k++)
            atomic_store(&b->slot[i].output[k].fd, -1);
    }
    __atomic_store_n(&b->magic, FT_BOARD_MAGIC,
                     __ATOMIC_RELEASE); /* last: whoever opens it finds it complete */
    *out = b;
    *fd = f;
    return FT_OK;
}

/* Two numbers with a colon between, or a list of them with ends; after an @ the name of a node.
 * Nothing else. */
static int parse_where(const char *where, int slot, int *pid, int *fd)
{
    while (where) {
        char rest = '@';
        int end = INT_MAX, n = 0;
        if (sscanf(where, "%9d:%9d*%9d%n", pid, fd, &end, &n) == 3 && n > 0)
            rest = where[n] ? where[n] : '@';
        else if (sscanf(where, "%9d:%9d%c", pid, fd, &rest) < 2)
            return 0;
        if ((rest != '@' && rest != ',') || *pid <= 0 || *fd < 0)
            return 0;
        if (slot < end)
            return 1;
        where = rest == ',' ? where + n + 1 : NULL;
    }
    return 0;
}

enum ft_status ft_board_open(const char *where, int slot, struct ft_board **out)
{
    int pid, fd;
    char path[64];
    if (!parse_where(where, slot, &pid, &fd))
        return FT_ERR_ARG;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int f = open(path, O_RDWR | O_CLOEXEC);
    if (f < 0)
        return FT_ERR_SYS;

    struct ft_board head;
    struct stat sb;
    struct ft_board *b = MAP_FAILED;
    enum ft_status st = FT_ERR_ARG;
    if (fstat(f, &sb) == 0 && S_ISREG(sb.st_mode) &&
        pread(f, &head, sizeof head, 0) == (ssize_t)sizeof head && head.magic == FT_BOARD_MAGIC &&
        head.nslots > 0 && head.nslots <= FT_MAX_SLOTS &&
        (size_t)sb.st_size == ft_board_bytes(head.nslots)) {
        b = mmap(NULL, (size_t)sb.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
        st = b == MAP_FAILED ? FT_ERR_SYS : FT_OK;
    }
    int e = errno;
    close(f);
    errno = e;
    if (st == FT_OK)
        *out = b;
    return st;
}

int ft_board_open_arena(const struct ft_board_slot *s, int flags)
{
    int pid = atomic_load_explicit(&s->pid, memory_order_acquire);
    int theirs = atomic_load_explicit(&s->arena_fd, memory_order_acquire);
    if (pid <= 0 || theirs < 0) {
        errno = ESRCH;
        return -1;
    }
    return ft_fd_open_of(pid, atomic_load(&s->table), theirs, flags, s->arena_file);
}

int ft_board_begin_end(struct ft_board *b, int status, enum ft_reason reason, const char *message)
{
    int32_t old = atomic_load(&b->state);
    do {
        if (old != FT_JOB_STARTING && old != FT_JOB_RUNNING)
            return 0;
    } while (!atomic_compare_exchange_weak(&b->state, &old, FT_JOB_ENDING));

    size_t n = message ? strnlen(message, sizeof b->message - 1) : 0;
    memcpy(b->message, message ? message : "", n);
    b->message[n] = '\0';
    b->reason = reason;
    atomic_store(&b->status, status);
    return 1;
}

void ft_board_finish_end(struct ft_board *b, enum ft_job_state state)
{
    FT_ASSERT(atomic_load(&b->state) == FT_JOB_ENDING);
    FT_ASSERT(state == FT_JOB_DONE || state == FT_JOB_FAILED || state == FT_JOB_LOST);
    FT_ASSERT((state == FT_JOB_LOST) == (b->reason != FT_REASON_NONE));
    atomic_store(&b->state, (int32_t)state);
    ft_board_ring_launcher(b);
}

int ft_board_end(struct ft_board *b, enum ft_job_state state, int status, const char *message)
{
    int begun = ft_board_begin_end(b, status, FT_REASON_NONE, message);
    if (begun)
        ft_board_finish_end(b, state);
    return begun;
}

int ft_board_give_up(struct ft_board *b, enum ft_reason reason, const char *message)
{
    FT_ASSERT(reason > FT_REASON_NONE && reason < FT_REASON_COUNT);
    int begun = ft_board_begin_end(b, FT_EXIT_LOST, reason, message);
    if (begun)
        ft_board_finish_end(b, FT_JOB_LOST);
    return begun;
}

/* ---- events ---- */

/* Stores field by field, atomically, because a reader may look at the cell while it is overwritten.
 * The reader then discards its copy. */
static void event_store(struct ft_event *to, const struct ft_event *from)
{
    __atomic_store_n(&to->t_ns, from->t_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&to->dur_ns, from->dur_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&to->kind, from->kind, __ATOMIC_RELAXED);
    __atomic_store_n(&to->who, from->who, __ATOMIC_RELAXED);
    __atomic_store_n(&to->a, from->a, __ATOMIC_RELAXED);
    __atomic_store_n(&to->b, from->b, __ATOMIC_RELAXED);
    __atomic_store_n(&to->c, from->c, __ATOMIC_RELAXED);
}

static void event_load(struct ft_event *to, const struct ft_event *from)
{
    to->t_ns = __atomic_load_n(&from->t_ns, __ATOMIC_RELAXED);
    to->dur_ns = __atomic_load_n(&from->dur_ns, __ATOMIC_RELAXED);
    to->kind = __atomic_load_n(&from->kind, __ATOMIC_RELAXED);
    to->who = __atomic_load_n(&from->who, __ATOMIC_RELAXED);
    to->a = __atomic_load_n(&from->a, __ATOMIC_RELAXED);
    to->b = __atomic_load_n(&from->b, __ATOMIC_RELAXED);
    to->c = __atomic_load_n(&from->c, __ATOMIC_RELAXED);
}

void ft_board_event(struct ft_board *b, int slot, int verbose, const struct ft_event *ev)
{
    static atomic_flag turn =
        ATOMIC_FLAG_INIT; /* private to the process: it ends with its holder */
    FT_ASSERT(slot >= 0 && slot < b->nslots);
    FT_ASSERT(ev->kind < FT_EV_COUNT);
    struct ft_event_ring *r = &b->slot[slot].events_of[ft_event_table[ev->kind].routine];
    struct ft_event e = *ev;
    while (atomic_flag_test_and_set_explicit(&turn, memory_order_acquire))
        sched_yield();
    atomic_store(&b->slot[slot].recording, 1);
    if (e.t_ns == 0)
        e.t_ns = ft_now_ns();
    uint64_t i = atomic_load_explicit(&r->head, memory_order_relaxed);
    atomic_thread_fence(
        memory_order_release); /* whoever sees a new word of this cell also sees the present head */
    event_store(&r->ev[i % FT_EVENT_RING], &e);
    atomic_store_explicit(&r->head, i + 1, memory_order_release);
    atomic_store(&b->slot[slot].recording, 0);
    atomic_flag_clear_explicit(&turn, memory_order_release);
    if ((i + 1) % (FT_EVENT_RING / 4) == 0)
        ft_board_ring_launcher(b);

    if (b->launcher_pid == 0 && (verbose >= 2 || (verbose >= 1 && ft_event_table[e.kind].tell))) {
        char line[512];
        int n = ft_event_format(b, &e, line, (int)sizeof line - 1);
        line[n++] = '\n';
        ft_print(line, (size_t)n);
    }
}

static int read_ring(struct ft_event_ring *r, uint64_t *next, struct ft_event *out, uint64_t *lost)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
    while (*next < head) {
        if (head - *next < FT_EVENT_RING) {
            event_load(out, &r->ev[*next % FT_EVENT_RING]);
            atomic_thread_fence(memory_order_acquire);
            head = atomic_load_explicit(&r->head, memory_order_relaxed);
        }
        if (head - *next < FT_EVENT_RING) {
            ++*next;
            return 1;
        }
        *lost += head - *next -
                 (FT_EVENT_RING -
                  1); /* the cell of event head - FT_EVENT_RING may be overwritten right now */
        *next = head - (FT_EVENT_RING - 1);
    }
    return 0;
}

int ft_board_read_event(struct ft_board_slot *s, struct ft_event_place *place, struct ft_event *out,
                        uint64_t *lost)
{
    return read_ring(&s->events_of[0], &place->next[0], out, lost) ||
           read_ring(&s->events_of[1], &place->next[1], out, lost);
}

/* ---- their lines ---- */

struct event_line {
    struct ft_joined text;
    int64_t last; /* the number printed last: decides between singular and plural */
};

static void put_who(struct ft_joined *t, uint32_t who)
{
    static const char *const name[] = {[FT_ROLE_RANK] = "rank",
                                       [FT_ROLE_CHECKSUM] = "checksum process",
                                       [FT_ROLE_SPARE] = "spare"};
    uint32_t role = who >> 24;
    if (role < FT_COUNTOF(name))
        ft_join(t, "%s %u", name[role], (unsigned)(who & 0xffffff));
    else
        ft_join(t, "nobody");
}

/* Prints a duration in a suitable unit, without floating point. */
static void put_duration(struct ft_joined *t, uint64_t ns)
{
    unsigned long long n = ns;
    if (n < 1000000)
        ft_join(t, "%llu.%02llu us", n / 1000, n / 10 % 100);
    else if (n < 10000000000ull)
        ft_join(t, "%llu.%02llu ms", n / 1000000, n / 10000 % 100);
    else
        ft_join(t, "%llu.%02llu s", n / 1000000000, n / 10000000 % 100);
}

static void put_number(struct event_line *l, int64_t n)
{
    l->last = n;
    ft_join(&l->text, "%lld", (long long)n);
}

static void put_note(struct ft_joined *t, const struct ft_board *b, const struct ft_event *ev)
{
    char who[40], text[600] = "the text of this note is missing";
    ft_who_format(ev->who, who, sizeof who);
    if (ev->a >= 0 && ev->a < b->nslots && ev->b >= 0 && ev->b < FT_NOTES)
        ft_note_format(&b->slot[ev->a].note[ev->b], who, text, sizeof text);
    ft_join(t, "%s", text);
}

static void put_field(struct event_line *l, const struct ft_board *b, const struct ft_event *ev,
                      char letter)
{
    struct ft_joined *t = &l->text;
    switch (letter) {
    case 'w': put_who(t, ev->who); break;
    case 'a': put_number(l, ev->a); break;
    case 'b': put_number(l, ev->b); break;
    case 'c': put_number(l, ev->c); break;
    case 's': ft_join(t, "%s", l->last == 1 ? "" : "s"); break;
    case 'e': ft_join(t, "%s", l->last == 1 ? "" : "es"); break;
    case 'k':
        ev->a ? ft_join(t, "checkpoint %lld", (long long)ev->a) : ft_join(t, "its start");
        break;
    case 'd': put_duration(t, ev->dur_ns); break;
    case 'p':
        ft_join(t, "%s", ev->a >= 0 && ev->a < FT_FP_COUNT ? ft_fp_table[ev->a].name : "unknown");
        break;
    case 'r': ft_join(t, "%s", ft_skip_reason_string((int)ev->b)); break;
    case 'm': put_note(t, b, ev); break;
    case 'f': ft_join(t, "%s", ft_fallback_string((int)ev->a)); break;
    default: FT_ASSERT(!"a letter that event.def does not explain");
    }
}

int ft_event_format(const struct ft_board *b, const struct ft_event *ev, char *out, int size)
{
    FT_ASSERT(ev->kind < FT_EV_COUNT);
    FT_ASSERT(size > 0);
    struct event_line l = {.text = {.out = out, .size = (size_t)size}};
    unsigned long long us = ev->t_ns > b->t0_ns ? (ev->t_ns - b->t0_ns) / 1000 : 0;
    out[0] = '\0';
    ft_join(&l.text, "[ftrma %3llu.%06llu] %s: ", us / 1000000, us % 1000000,
            ft_event_table[ev->kind].name);
    for (const char *f = ft_event_table[ev->kind].fmt; *f; f++) {
        if (*f == '%')
            put_field(&l, b, ev, *++f);
        else
            ft_join(&l.text, "%c", *f);
    }
    return (int)l.text.len;
}

int ft_who_format(uint32_t who, char *out, int size)
{
    FT_ASSERT(size > 0);
    struct ft_joined t = {.out = out, .size = (size_t)size};
    out[0] = '\0';
    put_who(&t, who);
    return (int)t.len;
}

/* ---- waking ---- */

/* An agent sleeps on a word of the board. Only processes of the job's user can map the board, so
 * there is no name that another user could take, and no descriptor that the program could close. */
uint32_t ft_bell_heard(struct ft_board *b, int slot) { return atomic_load(&b->slot[slot].bell); }

void ft_bell_wait(struct ft_board *b, int slot, uint32_t heard, int ms)
{
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l};
    if (ms > 0)
        syscall(SYS_futex, &b->slot[slot].bell, FUTEX_WAIT, heard, &limit, NULL, 0);
}

void ft_bell_ring(struct ft_board *b, int slot)
{
    FT_ASSERT(slot >= 0 && slot < b->nslots);
    if (b->nodes.n && !ft_board_near(b, slot)) { /* that one's agent has another board */
        ft_gate_bell_ring(b);
        return;
    }
    atomic_fetch_add(&b->slot[slot].bell, 1);
    syscall(SYS_futex, &b->slot[slot].bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The launcher also waits in poll for other things. So its bell is a pipe, which processes of the
 * same user open through /proc. */
int ft_launcher_bell(struct ft_board *b)
{
    int fd[2], both = -1;
    char path[40];
    struct stat sb;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd[0]);
    if (fstat(fd[0], &sb) == 0)
        both = open(path, O_RDWR | O_NONBLOCK |
                              O_CLOEXEC); /* without a writer poll would report a hangup */
    int e = errno;
    close(fd[0]);
    close(fd[1]);
    errno = e;
    if (both < 0)
        return -1;
    b->launcher_bell_dev = sb.st_dev;
    b->launcher_bell_ino = sb.st_ino;
    atomic_store(&b->launcher_bell, both);
    return both;
}

void ft_launcher_bell_drain(int fd)
{
    char some[256];
    while (read(fd, some, sizeof some) > 0)
        ;
}

/* When the launcher cannot be rung (no descriptor is left, or the launcher has gone), nothing is
 * lost: it looks at the board a few times a second anyway. A full pipe means that it has not looked
 * yet and will do so. */
void ft_board_ring_launcher(const struct ft_board *b)
{
    char path[64];
    struct stat sb;
    int theirs = atomic_load(&b->launcher_bell);
    if (b->launcher_pid == 0 || theirs < 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)b->launcher_pid, theirs);
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    /* [The launcher has gone, its pid was given to another process, and that process has another
     * file open under this number.] */
    if (fstat(fd, &sb) == 0 && S_ISFIFO(sb.st_mode) && sb.st_dev == b->launcher_bell_dev &&
        sb.st_ino == b->launcher_bell_ino)
        (void)!write(fd, "", 1);
    close(fd);
}

/* ---- who is alive ---- */

/* Reads the line of /proc/pid/stat. Returns 1; 0: there is none; -1 with errno: it cannot be read.
 * */
static int read_stat(int pid, char *text, size_t size)
{
    char path[48];
    /* The same contents as /proc/pid/stat. In that file qemu-user shows a process another start
     * time for itself than others see. */
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, pid);
    int fd = ft_fd_open(path, O_RDONLY);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? 0 : -1;
    ssize_t n = read(fd, text, size - 1);
    int e = errno;
    ft_fd_close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? 1 : n == 0 || e == ESRCH ? 0 : -1;
}

int ft_proc_look(int pid, struct ft_proc *proc)
{
    char text[1024];
    int seen = read_stat(pid, text, sizeof text);
    if (seen <= 0)
        return seen;
    /* "pid (name) S ppid ...": the name may hold blanks and brackets, so count from the last
     * bracket. S is field 3. */
    uint64_t field[23] = {0};
    char *p = strrchr(text, ')');
    if (!p || p[1] != ' ')
        return -1;
    char how = p[2];
    p += 2;
    for (int i = 4; i <= 22; i++) {
        p = strchr(p, ' ');
        if (!p)
            return -1;
        for (p++; *p >= '0' && *p <= '9'; p++)
            field[i] = field[i] * 10 + (uint64_t)(*p - '0');
    }
    if ((how == 'Z' || how == 'X') && field[20] <= 1)
        return 0;
    *proc = (struct ft_proc){.parent = (int)field[4],
                             .at_work = how != 'S',
                             .start_time = field[22],
                             .ticks = field[14] + field[15]};
    return 1;
}

/* The wait status of a process that has been reaped; 0: not known. */
static int reaped_status(int fd)
{
    struct { /* the kernel's struct pidfd_info, first version; C libraries do not have it yet */
        uint64_t mask, cgroup;
        uint32_t ids[11];
        int32_t exit_code;
    } info = {.mask = 1 << 3}; /* PIDFD_INFO_EXIT */
    _Static_assert(sizeof info == 64, "PIDFD_INFO_SIZE_VER0");
    return fd >= 0 && ioctl(fd, _IOWR(0xff, 11, info), &info) == 0 && info.mask & 1 << 3
               ? info.exit_code
               : 0;
}

int ft_proc_signal(int pid, int fd)
{
    char text[1024], *last;
    int status = 0;
    if (read_stat(pid, text, sizeof text) > 0 &&
        (last = strrchr(text, ' '))) /* the last field is a status as of waitpid */
        while (*++last >= '0' && *last <= '9')
            status = status * 10 + (*last - '0');
    if (status == 0)
        status = reaped_status(fd);
    return status & 0x7f ? status & 0xff : 0;
}

uint64_t ft_proc_start_time(int pid)
{
    struct ft_proc p;
    return ft_proc_look(pid, &p) > 0 ? p.start_time : 0;
}

int ft_proc_gone(int pid, uint64_t start_time)
{
    struct ft_proc p;
    int seen = ft_proc_look(pid, &p);
    return seen > 0 ? p.start_time != start_time : seen == 0 ? 1 : -1;
}

int ft_proc_pidfd(int pid, uint64_t start_time)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return -1;
    /* This is checked after the open: if the pid was given to another process before it, the start
     * time differs. */
    int gone = ft_proc_gone(pid, start_time);
    if (gone == 0)
        return fd;
    int e = gone > 0 ? ESRCH : errno;
    close(fd);
    errno = e;
    return -1;
}
