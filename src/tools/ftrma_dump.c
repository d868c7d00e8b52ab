/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma_dump.c - ftrma-dump prints the logs of a running job's processes: put logs, home logs,
 * channels.
 *
 * All is read with pread from descriptors that cannot write. So reading what was never written
 * takes no memory (a mapping would make it real), and an offset from a chunk that was reused
 * meanwhile gives a short read and no fault. A record counts if it has the expected number before
 * and after it was read.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alog/homelog.h"
#include "base/board.h"
#include "base/failpoint.h"
#include "base/words.h"
#include "transport/arena.h"

#define SHOWN 32u /* bytes of data at the most */

static struct {
    int putlog, homelog, messages, data, rank;
    uint64_t limit;
} opt = {.rank = -1, .limit = UINT64_MAX};

static struct ft_board *board; /* a copy */

static const char usage[] =
    "usage: ftrma-dump [options] PID\n"
    "Prints the logs of a running job. PID is any of its processes, or ftrun.\n"
    "  --rank R     the logs of this rank (default: that of PID, else all)\n"
    "  --put-log    its puts to other ranks\n"
    "  --home-log   what its calls returned, kept by ftrun (also of a rank that is "
    "dead)\n"
    "  --messages   its messages to other ranks (default: --put-log --home-log)\n"
    "  --limit N    only the last N records of each log\n"
    "  --data       the first bytes of each record's data, in hex\n"
    "  -h, --help   print this\n";

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *fmt, ...)
{
    va_list ap;
    fflush(stdout);
    fputs("ftrma-dump: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

/* Reads all of [off, off + len); 0: it is not there. */
static int get(int fd, uint64_t off, void *to, size_t len)
{
    return off <= (uint64_t)INT64_MAX - len && pread(fd, to, len, (off_t)off) == (ssize_t)len;
}

static uint64_t get_word(int fd, uint64_t off)
{
    uint64_t v;
    return get(fd, off, &v, sizeof v) ? v : 0;
}

/* --- the board --- */

static int read_board(int fd)
{
    struct ft_board head;
    if (!get(fd, 0, &head, sizeof head) || head.magic != FT_BOARD_MAGIC || head.nslots <= 0 ||
        head.nslots > FT_MAX_SLOTS)
        return 0;
    size_t bytes = ft_board_bytes(head.nslots);
    board = aligned_alloc(_Alignof(struct ft_board), bytes);
    return board && get(fd, 0, board, bytes);
}

static int open_board(int pid, int bfd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, bfd);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && read_board(fd);
}

/* FTRMA_BOARD, which ftrun passes to all that it starts. */
static int board_by_environment(FILE *f)
{
    char *var = NULL;
    size_t cap = 0;
    int where[2], found = 0;
    while (!found && getdelim(&var, &cap, 0, f) > 0)
        found = sscanf(var, "FTRMA_BOARD=%9d:%9d", &where[0], &where[1]) == 2 &&
                open_board(where[0], where[1]);
    free(var);
    fclose(f);
    return found;
}

/* The board that pid has mapped, as its file's number. */
static ino_t mapped_board(int pid)
{
    char path[64], *line = NULL;
    size_t cap = 0;
    unsigned long long ino = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *f = fopen(path, "re");
    while (f && !ino && getline(&line, &cap, f) > 0)
        if (!strstr(line, "/memfd:ftrma-board") || sscanf(line, "%*s %*s %*s %*s %llu", &ino) != 1)
            ino = 0;
    free(line);
    return (ino_t)ino;
}

/* A descriptor of that file, from the process that made it. */
static int board_by_number(int pid, ino_t ino)
{
    char path[64], link[64];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        struct stat st;
        ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        found = strncmp(link, "/memfd:ftrma-board", 18) == 0 &&
                fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_ino == ino &&
                open_board(pid, atoi(e->d_name));
    }
    if (d)
        closedir(d);
    return found;
}

static void find_board(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    FILE *f = fopen(path, "re");
    if (!f && (errno == ENOENT || errno == ESRCH))
        fail("there is no process %d", pid);
    if (!f && (errno == EACCES || errno == EPERM))
        fail("no permission to look into process %d: %s", pid, strerror(errno));
    if (f && board_by_environment(f))
        return;
    ino_t ino = mapped_board(pid);
    DIR *d = ino ? opendir("/proc") : NULL;
    int found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d));)
        found = atoi(e->d_name) > 0 && board_by_number(atoi(e->d_name), ino);
    if (!found)
        fail("process %d belongs to no running job of this version of ftrma", pid);
}

/* --- processes --- */

/* The slot that carries a rank, or carried it last. */
static int slot_of(int rank)
{
    int slot = -1;
    for (int i = 0; i < board->nslots; i++)
        if (atomic_load(&board->slot[i].who) == FT_WHO(FT_ROLE_RANK, rank) &&
            (slot < 0 || atomic_load(&board->slot[i].incarnation) >
                             atomic_load(&board->slot[slot].incarnation)))
            slot = i;
    return slot;
}

/* Opens the slot's arena for reading; -1: it is gone (which was printed) or never existed. */
static int open_arena(int rank)
{
    int slot = slot_of(rank), pid = slot < 0 ? 0 : atomic_load(&board->slot[slot].pid);
    int there = slot >= 0 && ft_proc_start_time(pid) == atomic_load(&board->slot[slot].start_time);
    int arena = there ? atomic_load(&board->slot[slot].arena_fd) : -1;
    int fd = there ? ft_board_open_arena(&board->slot[slot], O_RDONLY) : -1;
    uint32_t magic = 0;
    if (!there || (fd < 0 && arena >= 0 &&
                   /* or it is dying, and its files are closed */
                   (errno == ENOENT || errno == ESRCH))) {
        printf("rank %d is dead\n", rank);
        return -1;
    }
    if (fd < 0)
        fail("the memory of rank %d (process %d) cannot be opened: %s", rank, pid, strerror(errno));
    if (!get(fd, offsetof(struct ft_ctl, magic), &magic, sizeof magic) || magic != FT_CTL_MAGIC)
        fail("rank %d (process %d) runs another version of ftrma", rank, pid);
    return fd;
}

/* --- records --- */

static const char *const segment_name[FT_SEG_COUNT] = {"setup", "run", "after run"};

static void show_data(int fd, uint64_t off, uint64_t bytes)
{
    unsigned char data[SHOWN];
    size_t n = bytes < SHOWN ? (size_t)bytes : SHOWN;
    if (!opt.data || !n || !get(fd, off, data, n))
        return;
    printf(" data=");
    for (size_t i = 0; i < n; i++)
        printf("%02x", data[i]);
    if (n < bytes)
        printf("...");
}

static void show_act(int fd, uint64_t at, const struct ft_act *a, uint64_t number, int putlog,
                     int rank)
{
    static const char *const name[] = {
        [FT_ACT_PUT] = "put",         [FT_ACT_GET] = "get",         [FT_ACT_ATOMIC] = "atomic",
        [FT_ACT_LOCK] = "lock",       [FT_ACT_UNLOCK] = "unlock",   [FT_ACT_CLOSE] = "close",
        [FT_ACT_WILD] = "wild",       [FT_ACT_OUTCOME] = "outcome", [FT_ACT_TIME] = "time",
        [FT_ACT_ADVANCE] = "advance", [FT_ACT_ATTACH] = "attach",   [FT_ACT_REACHED] = "reached",
        [FT_ACT_MADE] = "made",       [FT_ACT_SAID] = "said"};
    const char *kind = a->kind < FT_COUNTOF(name) && name[a->kind] ? name[a->kind] : "?";
    printf("%8llu %-7s ", (unsigned long long)number, kind);
    if (putlog && a->call == UINT64_MAX)
        printf("lo=inf");
    else
        printf("%s=%llu", putlog ? "lo" : "call", (unsigned long long)a->call);
    printf(" stamp=%llu win=%u target=%d disp=%llu bytes=%u",
           (unsigned long long)atomic_load(&a->stamp), a->win, putlog ? rank : a->where,
           (unsigned long long)a->off, a->bytes);
    if (putlog)
        printf(" interval=%d", a->where);
    else
        printf(" count=%llu", (unsigned long long)a->count);
    show_data(fd, at + sizeof *a, a->bytes);
    putchar('\n');
}

/* Passes the actions of a log, whose offsets count from base, and prints those from number `from`
 * on (UINT64_MAX: none). Returns how many there are. */
static uint64_t walk_log(int fd, uint64_t base, uint64_t hdr, int putlog, int rank, uint64_t from)
{
    struct ft_log_chunk c;
    struct ft_act a;
    uint64_t chunk = get_word(fd, hdr), n = 0;
    if (!chunk || !get(fd, base + chunk, &c, sizeof c))
        return 0;
    for (uint64_t seq = c.first, at = base + chunk + sizeof c;
         get(fd, at, &a, sizeof a) && atomic_load(&a.seq) == seq + 1; seq++) {
        if (a.kind == FT_ACT_LINK) {
            chunk = get_word(fd, base + chunk + offsetof(struct ft_log_chunk, next));
            if (!chunk || !get(fd, base + chunk, &c, sizeof c) || c.first != seq + 1)
                break;
            at = base + chunk + sizeof c;
            continue;
        }
        if (get_word(fd, at) != seq + 1)
            break;
        if (n++ >= from)
            show_act(fd, at, &a, seq, putlog, rank);
        at += ft_log_span(a.bytes);
    }
    return n;
}

static uint64_t first_shown(uint64_t n) { return n > opt.limit ? n - opt.limit : 0; }

/* Prints the segments of the put log of rank for `other`, or of the home log of rank (other -1);
 * the headers are at hdrs. */
static void dump_log(int fd, uint64_t base, uint64_t hdrs, int putlog, int rank, int other)
{
    for (int seg = 0; seg < FT_SEG_COUNT; seg++) {
        uint64_t hdr = hdrs + (uint64_t)seg * sizeof(struct ft_log_hdr),
                 n = walk_log(fd, base, hdr, putlog, other, UINT64_MAX);
        if (n == 0)
            continue;
        printf("%s of rank %d", putlog ? "put log" : "home log", rank);
        if (other >= 0)
            printf(" for rank %d", other);
        printf(", %s: %llu %s\n", segment_name[seg], (unsigned long long)n,
               putlog ? "records" : "actions");
        walk_log(fd, base, hdr, putlog, other, first_shown(n));
    }
}

static void dump_homelog(int rank)
{
    uint64_t base = (uint64_t)rank * FT_HOMELOG_SPAN;
    int fd = ft_homelogs_open(board, O_RDONLY);
    if (fd < 0) {
        printf("home log of rank %d: not there: %s\n", rank, strerror(errno));
        return;
    }
    dump_log(fd, base, base + offsetof(struct ft_homelog_head, seg), 0, rank, -1);
    close(fd);
}

static void dump_putlog(int rank, int fd)
{
    for (int q = 0; q < board->nranks; q++) {
        uint64_t hdrs =
            get_word(fd, offsetof(struct ft_ctl, peer) + (uint64_t)q * sizeof(struct ft_ctl_peer) +
                             offsetof(struct ft_ctl_peer, putlog));
        if (hdrs)
            dump_log(fd, 0, hdrs, 1, rank, q);
    }
}

/* --- messages --- */

static uint64_t walk_chan(int fd, uint64_t chunk, uint64_t at, uint64_t seq, uint64_t from)
{
    struct ft_rec r;
    uint64_t n = 0;
    for (;
         get(fd, at, &r, sizeof r) && atomic_load(&r.seq) == seq + 1 && get_word(fd, at) == seq + 1;
         seq++) {
        if (r.flags & FT_REC_LINK) {
            chunk = get_word(fd, chunk);
            if (!chunk || get_word(fd, chunk + offsetof(struct ft_chunk, first)) != seq + 1)
                break;
            at = chunk + sizeof(struct ft_chunk);
            continue;
        }
        if (n++ >= from) {
            printf("%8llu message era=%llu ctx=%u tag=%d bytes=%u %s=%llu",
                   (unsigned long long)FT_SEQ_NUMBER(seq), (unsigned long long)FT_SEQ_ERA(seq),
                   r.ctx, r.tag, r.here, r.flags & FT_REC_FIRST ? "of" : "from",
                   (unsigned long long)r.total);
            show_data(fd, at + sizeof r, r.here);
            putchar('\n');
        }
        at += ft_align_up(sizeof r + r.here, FT_CACHE_LINE);
    }
    return n;
}

static void dump_channel(int rank, int q, int fd, uint64_t off)
{
    struct ft_chan_hdr h;
    if (!get(fd, off, &h, sizeof h))
        return;
    for (int seg = 0; seg < FT_SEG_COUNT; seg++) {
        uint64_t chunk = atomic_load(&h.head[seg]), at = 0, seq = 0;
        const struct ft_chan_cut *c =
            &h.cut[atomic_load(&h.cut[1].version) > atomic_load(&h.cut[0].version)];
        if (seg == FT_SEG_RUN &&
            atomic_load(&c->chunk)) { /* the first chunk may have been reused since */
            chunk = atomic_load(&c->chunk);
            at = atomic_load(&c->pos);
            seq = atomic_load(&c->seq);
        } else if (chunk) {
            at = chunk + get_word(fd, chunk + offsetof(struct ft_chunk, begin));
            seq = get_word(fd, chunk + offsetof(struct ft_chunk, first));
        }
        uint64_t n = chunk ? walk_chan(fd, chunk, at, seq, UINT64_MAX) : 0;
        if (n == 0)
            continue;
        printf("messages of rank %d to rank %d, %s: %llu records\n", rank, q, segment_name[seg],
               (unsigned long long)n);
        walk_chan(fd, chunk, at, seq, first_shown(n));
    }
}

static void dump_messages(int rank, int fd)
{
    uint64_t entry =
        offsetof(struct ft_ctl, peer) + (uint64_t)slot_of(rank) * sizeof(struct ft_ctl_peer);
    for (int q = 0; q < board->nranks;
         q++) { /* where a channel begins is written at its reader's */
        int at_q = open_arena(q);
        uint64_t off = at_q < 0 ? 0 : get_word(at_q, entry + offsetof(struct ft_ctl_peer, chan));
        if (off)
            dump_channel(rank, q, fd, off);
        close(at_q);
    }
}

static void dump(int rank)
{
    int fd = opt.putlog || opt.messages ? open_arena(rank) : -1;
    if (fd >= 0 && opt.putlog)
        dump_putlog(rank, fd);
    if (opt.homelog)
        dump_homelog(rank);
    if (fd >= 0 && opt.messages)
        dump_messages(rank, fd);
    close(fd);
}

static uint64_t number(const char *what, const char *text, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || v > most)
        fail("%s must be a number up to %llu, not '%s'", what, (unsigned long long)most, text);
    return v;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"rank", 1, NULL, 'r'},           {"put-log", 0, &opt.putlog, 1},
        {"home-log", 0, &opt.homelog, 1}, {"messages", 0, &opt.messages, 1},
        {"limit", 1, NULL, 'n'},          {"data", 0, &opt.data, 1},
        {"help", 0, NULL, 'h'},           {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == 'h')
            return fputs(usage, stdout) < 0;
        if (c == '?' || c == ':') {
            char why[300];
            ft_option_refused(options, c, argv[optind - 1], why, sizeof why);
            fail("%s ('ftrma-dump --help' lists the options)", why);
        } else if (c == 'r')
            opt.rank = (int)number("--rank", optarg, FT_MAX_SLOTS);
        else if (c == 'n')
            opt.limit = number("--limit", optarg, INT64_MAX);
    }
    if (optind != argc - 1)
        fail("one process id is needed; 'ftrma-dump --help' lists the options");
    if (!opt.putlog && !opt.homelog && !opt.messages)
        opt.putlog = opt.homelog = 1;
    int pid = (int)number("PID", argv[optind], INT32_MAX);
    find_board(pid);
    if (opt.rank >= board->nranks)
        fail("there is no rank %d: the job has %d", opt.rank, board->nranks);
    for (int i = 0; i < board->nslots && opt.rank < 0; i++)
        if (atomic_load(&board->slot[i].pid) == pid &&
            atomic_load(&board->slot[i].who) >> 24 == FT_ROLE_RANK)
            opt.rank = (int)(atomic_load(&board->slot[i].who) & 0xffffff);
    for (int r = 0; r < board->nranks; r++)
        if (opt.rank < 0 || opt.rank == r)
            dump(r);
    return 0;
}
