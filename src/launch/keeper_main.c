/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper_main.c - starts the processes of its node, and shows its board to ftrun.
 */
#define _GNU_SOURCE 1
#include "launch/keeper_main.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/settings.h"
#include "launch/checks.h"
#include "launch/children.h"
#include "launch/frames.h"
#include "launch/identity.h"
#include "launch/keeper.h"
#include "launch/keeper_input.h"
#include "launch/keeper_save.h"
#include "launch/mpirun.h"
#include "launch/output.h"
#include "launch/report.h"
#include "proto/member.h"
#include "transport/arena.h"

#define SHOW_MS 20                 /* how often changes of the board are shown */
#define HELLO_MS 60000             /* how long ftrun may take to tell what to do */
#define LINE 64                    /* bytes of the board that are compared, and sent, at a time */
#define GIVE_UP_NS 600000000000ull /* after the lease: then the node ends by itself */
#define BACKLOG (4u << 20)         /* bytes that are not sent yet: then nothing is added */
#define OUTPUT (256u << 10)        /* bytes of one output that are sent at a time */

struct node {
    struct ft_frames frames;
    struct ft_hello hello;
    const char *address, *directory, *preload;
    char **argv, **env, **identity;
    struct ft_board *b;
    int bell, children; /* descriptors: the board's bell; SIGCHLD */
    char *dir;          /* of the files of the PMIx servers and the host; the guardian sees it, too */
    char *shown, *now;  /* the board as it was sent, and a copy of it */
    char *update;       /* the runs that differ */
    size_t update_bytes;
    uint64_t skew; /* a time of our clock plus this is one of ftrun's */
    struct ft_outputs *outputs;
    int early[2]; /* a pipe: the standard output of its processes, until they have files of their own; -1: closed */
    uint64_t sent[FT_MAX_SLOTS][2]; /* bytes of outputs */
    pid_t gateway, pid[FT_MAX_SLOTS];
    int status[FT_MAX_SLOTS];         /* of processes that have ended */
    unsigned char gone[FT_MAX_SLOTS]; /* 1: it has ended, 2: and ftrun knows */
    struct ft_keeper keeper;
    struct ft_keeper_input input;
    struct ft_keeper_save save;
    struct ft_lease lease; /* its times are of CLOCK_BOOTTIME */
};

__attribute__((format(printf, 2, 3))) _Noreturn static void give_up(struct node *n,
                                                                    const char *format, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    ft_frames_say(&n->frames, FT_SAY_WHY, text, strlen(text) + 1, NULL, 0);
    for (int i = 0; i < 50 && ft_frames_waiting(&n->frames); i++) {
        usleep(SHOW_MS * 1000);
        ft_frames_flush(&n->frames);
    }
    ft_children_kill_all();
    if (n->dir[0])
        ft_remove_tree(n->dir);
    _exit(1);
}

/* ---- what it is told ---- */

/* The next of the texts in a frame. */
static char *text_of(struct node *n, const char **at, const char *end)
{
    const char *p = *at, *zero = memchr(p, '\0', (size_t)(end - p));
    if (!zero)
        give_up(n, "ftrun has sent less than was announced");
    *at = zero + 1;
    char *copy = strdup(p);
    FT_ASSERT(copy);
    return copy;
}

static char **texts_of(struct node *n, uint32_t count, const char **at, const char *end)
{
    char **list = calloc((size_t)count + 1, sizeof *list);
    FT_ASSERT(list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = text_of(n, at, end);
    return list;
}

static void hear_hello(struct node *n)
{
    struct ft_frame f;
    if (ft_frames_await(&n->frames, &f, HELLO_MS) != 1 || f.kind != FT_SAY_HELLO)
        _exit(2); /* not started by ftrun, or it has gone */
    if (f.bytes >= sizeof n->hello)
        memcpy(&n->hello, f.data, sizeof n->hello);
    if (n->hello.magic != FT_HELLO_MAGIC || n->hello.bytes != sizeof n->hello ||
        strcmp(n->hello.version, FTRMA_VERSION) != 0)
        give_up(n, "its ftrma is not the one of the node where ftrun runs: install the same there");
    const char *at = f.data + sizeof n->hello, *end = f.data + f.bytes;
    n->address = text_of(n, &at, end);
    n->directory = text_of(n, &at, end);
    n->preload = text_of(n, &at, end);
    n->identity = texts_of(n, FT_IDS, &at, end);
    n->argv = texts_of(n, n->hello.nargs, &at, end);
    n->env = texts_of(n, n->hello.nenv, &at, end);
    clearenv();
    for (char **e = n->env; *e; e++)
        putenv(*e);
}

static char room_said[600];

static void note_room(const char *line) { snprintf(room_said, sizeof room_said, "%s", line); }

/* ftrun cannot see what is free here. */
static void check_room(struct node *n)
{
    if (!ft_check_room(n->b->near_end - n->b->near_from, note_room))
        give_up(n, "%s", room_said);
}

static void make_board(struct node *n)
{
    const struct ft_hello *h = &n->hello;
    int fd;
    char host[HOST_NAME_MAX + 1] = "", where[120];
    if (ft_board_create(h->nranks, h->nchecksums, h->nspares, (int)getpid(), &n->b, &fd) != FT_OK)
        give_up(n, "it cannot make the job's board: %s", strerror(errno));
    struct ft_board *b = n->b;
    b->near_from = h->self ? h->nodes.end[h->self - 1] : 0;
    b->near_end = h->nodes.end[h->self];
    check_room(n);
    b->nodes = h->nodes;
    memcpy((void *)&b->save, (const void *)&h->save, sizeof b->save);
    for (int i = 0; i < b->nslots; i++)
        b->slot[i].at_first = h->at_first[i];
    n->bell = ft_launcher_bell(b);
    if (!ft_arena_homelogs(b, ft_setting_str(FT_SET_ARENA_DIR)) || n->bell < 0)
        give_up(n, "it cannot make the job's board: %s", strerror(errno));
    const int none[2] = {-1, -1};
    if (ft_outputs_create(b, none, &n->outputs) != FT_OK)
        give_up(n, "it cannot keep the output of its processes: %s", strerror(errno));
    gethostname(host, sizeof host);
    snprintf(where, sizeof where, "%d:%d@%s", (int)getpid(), fd, host);
    setenv(ft_settings_table[FT_SET_BOARD].env, where, 1);
    n->shown = calloc(1, ft_board_bytes(b->nslots));
    n->now = malloc(ft_board_bytes(b->nslots));
    n->update = malloc(2 * ft_board_bytes(b->nslots)); /* each line may need a head */
    FT_ASSERT(n->shown && n->now && n->update);
}

/* The zeros of the board's times. The gateway and the processes, which read them, begin later. */
static void set_zeros(struct node *n, const struct ft_frame *f)
{
    uint64_t now = ft_now_ns();
    struct ft_say_start s;
    if (f->bytes < sizeof s)
        give_up(n, "ftrun has sent less than was announced");
    memcpy(&s, f->data, sizeof s);
    n->b->t0_ns = now - s.elapsed_ns;
    n->b->wtime_zero_ns = now - s.wtime_ns;
    n->skew = s.t0_ns - n->b->t0_ns;
}

/* The gateway begins when the addresses of all are known. */
static void start_gateway(struct node *n)
{
    const char *address[FT_NODES] = {0};
    char mine[64];
    struct ft_frame f;
    int listener = ft_keeper_listen(n->address, mine, sizeof mine);
    if (listener < 0)
        give_up(n, "it cannot listen at %s: %s", n->address, strerror(errno));
    ft_frames_say(&n->frames, FT_SAY_LISTENS, mine, strlen(mine) + 1, NULL, 0);
    if (ft_frames_await(&n->frames, &f, ft_keeper_start_ms()) != 1 || f.kind != FT_SAY_START)
        give_up(n, "ftrun has not said where the other nodes are");
    set_zeros(n, &f);
    const char *at = f.data + sizeof(struct ft_say_start), *end = f.data + f.bytes;
    for (int i = 0; i < n->hello.nodes.n; i++)
        address[i] = text_of(n, &at, end);
    struct ft_keeper_gateway g = {.board = n->b,
                                  .self = n->hello.self,
                                  .address = address,
                                  .listener = listener,
                                  .secret = n->hello.secret,
                                  .lease_ns = ft_keeper_lease_ns()};
    n->gateway = ft_keeper_gateway(&g);
    if (n->gateway < 0)
        give_up(n, "it cannot start its gateway: %s", strerror(errno));
    close(listener);
}

/* ---- its processes ---- */

/* Where a node's memory ends, the kernel is to take one of these processes: with the keeper or the
 * gateway the node would go. */
static void go_first(void)
{
    char text[16] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDWR);
    if (fd < 0)
        return;
    if (read(fd, text, sizeof text - 1) > 0) {
        int adj = atoi(text) + 100, n = snprintf(text, sizeof text, "%d", adj < 1000 ? adj : 1000);
        (void)!pwrite(fd, text, (size_t)n, 0);
    }
    close(fd);
}

_Noreturn static void become(struct node *n, char **words, pid_t keeper)
{
    sigset_t none;
    int nothing = open("/dev/null", O_RDONLY);
    struct rlimit stack = {n->hello.stack_soft, n->hello.stack_hard};
    ft_keeper_depend_on(keeper);
    go_first();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    dup2(nothing, STDIN_FILENO);
    dup2(n->early[1], STDOUT_FILENO);
    unsetenv("LD_PRELOAD"); /* the user's own is for the program, and among the words */
    (void)setrlimit(RLIMIT_STACK, &stack);
    int now = personality(0xffffffff);
    if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
        fprintf(stderr,
                "ftrma: warning: address randomisation cannot be switched off on %s: "
                "pointers in protected memory will be wrong in a replacement\n",
                n->address);
    execv(words[0], words);
    fprintf(stderr, "ftrma: %s cannot be executed: %s\n", words[0], strerror(errno));
    _exit(127);
}

static void start_process(struct node *n, int slot)
{
    enum { WORDS = 7 };
    char program[PATH_MAX], number[4][16], *preload;
    char **words = calloc(WORDS + n->hello.nargs + 1, sizeof *words);
    int k = 0, has_slash = strrchr(n->preload, '/') != NULL;
    const int v[4] = {n->b->nslots, slot, n->b->near_from, n->b->near_end};
    FT_ASSERT(words && has_slash);
    snprintf(program, sizeof program, "%.*s/ftrma-process",
             (int)(strrchr(n->preload, '/') - n->preload), n->preload);
    words[k++] = program;
    for (int i = 0; i < 4; i++) {
        snprintf(number[i], sizeof number[i], "%d", v[i]);
        words[k++] = number[i];
    }
    words[k++] = n->dir;
    words[k++] = preload = ft_host_preload(n->preload);
    for (uint32_t i = 0; i < n->hello.nargs; i++)
        words[k++] = n->argv[i];
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        become(n, words, self);
    free(preload);
    free(words);
    if (pid < 0)
        give_up(n, "it cannot start a process: %s", strerror(errno));
    n->pid[slot] = pid;
}

/* [A rank that is replaced by another build goes on with other bits.] */
static void compare_identities(struct node *n)
{
    char path[PATH_MAX], *here[FT_IDS];
    if (chdir(n->directory) != 0) /* the program may be named from there */
        give_up(n, "there is no directory %s: %s", n->directory, strerror(errno));
    ft_identities(ft_find_program(n->argv[0], path, sizeof path) == FT_OK ? path : NULL, n->preload,
                  here);
    for (int i = 0; i < FT_IDS; i++) {
        if (strcmp(here[i], n->identity[i]) != 0 && !n->hello.mixed)
            give_up(n,
                    "%s is another one than where ftrun runs, so a rank that is replaced there may "
                    "give other bits. %s, or say --mixed to accept it",
                    ft_identity_name[i],
                    i == FT_ID_PROCESSOR ? "Take hosts of one kind" : "Install the same there");
        free(here[i]);
    }
}

static void start_processes(struct node *n)
{
    const char *base = getenv("TMPDIR");
    base = base && *base && access(base, W_OK) == 0 ? base : "/tmp";
    if (snprintf(n->dir, PATH_MAX, "%s/ftrun-XXXXXX", base) >= PATH_MAX || !mkdtemp(n->dir)) {
        n->dir[0] = '\0';
        give_up(n, "no directory can be made in %s: %s", base, strerror(errno));
    }
    if (n->hello.input && !ft_keeper_input_begin(&n->input, n->b, n->dir))
        give_up(n, "it cannot keep standard input: %s", strerror(errno));
    if (pipe2(n->early, O_CLOEXEC) != 0 || fcntl(n->early[0], F_SETFL, O_NONBLOCK) != 0)
        give_up(n, "it cannot take the output of its processes: %s", strerror(errno));
    for (int i = n->b->near_from; i < n->b->near_end; i++)
        start_process(n, i);
    close(n->early[1]); /* or there would be no end */
    ft_keeper_begin(&n->keeper, n->b);
    ft_keeper_save_begin(&n->save, n->b, &n->input);
}

static void reap(struct node *n)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;
    while (read(n->children, &info, sizeof info) == (ssize_t)sizeof info)
        ;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == n->gateway && WIFSIGNALED(status))
            give_up(n, "its gateway was killed by %s", ft_signal_name(WTERMSIG(status)));
        if (pid == n->gateway)
            give_up(n, "its gateway has ended");
        ft_keeper_save_reaped(&n->save, &n->frames, pid, status);
        for (int i = n->b->near_from; i < n->b->near_end; i++)
            if (n->pid[i] == pid) {
                n->pid[i] = 0;
                n->gone[i] = 1;
                n->status[i] = status;
            }
    }
}

/* After all that they have printed. */
static void say_gone(struct node *n)
{
    for (int i = n->b->near_from; i < n->b->near_end; i++) {
        struct ft_say_number w = {(uint32_t)i, (uint32_t)n->status[i]};
        if (n->gone[i] != 1)
            continue;
        n->gone[i] = 2;
        ft_frames_say(&n->frames, FT_SAY_GONE, &w, sizeof w, NULL, 0);
    }
}

/* ---- what it shows ---- */

/* Copies what is shown. Words that say how far something has come are copied first: what they speak
 * of is there by then. [An event is recorded between the copies of its ring and of the ring's
 * head.] */
static void copy_slot(struct ft_board_slot *to, struct ft_board_slot *from)
{
    uint64_t head[2], exit_status;
    uint32_t jumps[2], notes, recording;
    int32_t phase, arena, node;
    recording = atomic_load(&from->recording);
    for (int k = 0; k < 2; k++) {
        head[k] = atomic_load(&from->events_of[k].head);
        jumps[k] = atomic_load(&from->output[k].jumps);
    }
    notes = atomic_load(&from->notes);
    phase = atomic_load(&from->phase);
    exit_status = (uint64_t)atomic_load(&from->exit_status);
    arena = atomic_load(&from->arena_fd);
    node = atomic_load(&from->node_known);
    memcpy((void *)to, (const void *)from, sizeof *to);
    atomic_store(&to->recording, recording);
    for (int k = 0; k < 2; k++) {
        atomic_store(&to->events_of[k].head, head[k]);
        atomic_store(&to->output[k].jumps, jumps[k]);
    }
    atomic_store(&to->notes, notes);
    atomic_store(&to->phase, phase);
    if (phase == FT_PHASE_EXITED)
        atomic_store(&to->exit_status, (int32_t)exit_status);
    atomic_store(&to->arena_fd, arena);
    atomic_store(&to->node_known, node);
}

/* Adds each run of lines that differ from what was sent. */
static void add_runs(struct node *n, size_t from, size_t end)
{
    for (size_t at = from; at < end;) {
        struct ft_say_run run = {at, 0};
        while (at + run.bytes < end &&
               memcmp(n->now + at + run.bytes, n->shown + at + run.bytes, LINE) != 0)
            run.bytes += LINE;
        if (run.bytes) {
            memcpy(n->update + n->update_bytes, &run, sizeof run);
            memcpy(n->update + n->update_bytes + sizeof run, n->now + at, run.bytes);
            memcpy(n->shown + at, n->now + at, run.bytes);
            n->update_bytes += sizeof run + run.bytes;
        }
        at += run.bytes + LINE;
    }
}

/* The copy's times become those of ftrun's clock. The host was booted earlier or later, and the
 * skew stays: what is in order here is so there. */
static void convert_times(struct ft_board_slot *s, uint64_t skew)
{
    uint64_t died = atomic_load(&s->failpoint_ns);
    if (died)
        atomic_store(&s->failpoint_ns, died + skew);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < FT_EVENT_RING; i++)
            if (s->events_of[k].ev[i].t_ns) /* there is an event */
                s->events_of[k].ev[i].t_ns += skew;
}

/* In one frame: [ftrun would see the head of a ring of events before the events]. */
static void show_board(struct node *n)
{
    struct ft_board *b = n->b, *copy = (struct ft_board *)n->now;
    int32_t state = atomic_load(&b->state); /* of a result: its message is there by then */
    memcpy((void *)copy, (const void *)b, sizeof *b);
    atomic_store(&copy->state, state);
    for (int i = b->near_from; i < b->near_end; i++) {
        copy_slot(&copy->slot[i], &b->slot[i]);
        convert_times(&copy->slot[i], n->skew);
    }
    size_t from = sizeof *b + (size_t)b->near_from * sizeof b->slot[0];
    n->update_bytes = 0;
    add_runs(n, from, sizeof *b + (size_t)b->near_end * sizeof b->slot[0]);
    add_runs(n, 0, sizeof *b);
    if (n->update_bytes)
        ft_frames_say(&n->frames, FT_SAY_BOARD, n->update, n->update_bytes, NULL, 0);
}

struct grown {
    int slot, k;
    uint64_t size;
};

/* The outputs that have grown. To be asked before the board is copied: a jump is on the board
 * before the bytes after it are in the file. */
static int grown(struct node *n, struct grown *out)
{
    int count = 0;
    for (int i = n->b->near_from; i < n->b->near_end; i++)
        for (int k = 0; k < 2; k++) {
            struct stat sb;
            if (fstat(ft_outputs_file(n->outputs, i, k), &sb) == 0 &&
                (uint64_t)sb.st_size > n->sent[i][k])
                out[count++] = (struct grown){i, k, (uint64_t)sb.st_size};
        }
    return count;
}

static int show_outputs(struct node *n, const struct grown *g, int count)
{
    static char data[OUTPUT];
    int left = 0;
    for (int j = 0; j < count; j++) {
        uint64_t *sent = &n->sent[g[j].slot][g[j].k];
        struct ft_say_number of = {(uint32_t)(2 * g[j].slot + g[j].k), 0};
        ssize_t bytes = pread(ft_outputs_file(n->outputs, g[j].slot, g[j].k), data,
                              ft_min_u64(sizeof data, g[j].size - *sent), (off_t)*sent);
        if (bytes <= 0)
            continue;
        ft_frames_say(&n->frames, FT_SAY_OUTPUT, &of, sizeof of, data, (size_t)bytes);
        *sent += (uint64_t)bytes;
        ft_outputs_not_needed(n->outputs, g[j].slot, g[j].k, *sent);
        left |= *sent < g[j].size;
    }
    return left;
}

/* 1: there may be more. */
static int show_early(struct node *n)
{
    static char data[OUTPUT];
    ssize_t bytes = n->early[0] < 0 ? -1 : read(n->early[0], data, sizeof data);
    if (bytes > 0) {
        ft_frames_say(&n->frames, FT_SAY_EARLY, data, (size_t)bytes, NULL, 0);
    } else if (bytes == 0) {
        close(n->early[0]);
        n->early[0] = -1;
    }
    return bytes > 0;
}

/* Shows what has changed. 1: there is more. */
static int show(struct node *n)
{
    static struct grown g[2 * FT_MAX_SLOTS];
    ft_frames_flush(&n->frames);
    if (ft_frames_waiting(&n->frames) > BACKLOG)
        return 1;
    int count = grown(n, g), more = show_early(n);
    show_board(n);
    return show_outputs(n, g, count) || more;
}

/* ---- its lease ---- */

static void ring_all(struct node *n)
{
    for (int i = n->b->near_from; i < n->b->near_end; i++)
        ft_bell_ring(n->b, i);
}

/* 0: the node has to end. */
static int step_lease(struct node *n, struct ft_lease_event ev)
{
    ev.now = ft_boottime_ns();
    ev.gateway = ev.now - (ft_now_ns() - atomic_load(&n->b->nodes.gateway_ns));
    uint32_t what = ft_lease_step(&n->lease, &ev);
    uint64_t was = atomic_load(&n->b->nodes.lease_end), end = n->lease.from + n->lease.length;
    if (n->lease.length != FT_LEASE_FOREVER && end != was) {
        atomic_store(&n->b->nodes.lease_end, end);
        if (was <= ev.now) /* agents wait for that with their votes */
            ring_all(n);
    }
    if (what & FT_LEASE_ASK) {
        ft_frames_say(&n->frames, FT_SAY_ASK, &n->lease.asked, sizeof n->lease.asked, NULL, 0);
        ft_failpoint(KEEPER_ASKED);
    }
    if (what & FT_LEASE_STOP) { /* the gateway is among them */
        ft_failpoint(KEEPER_STOPS);
        ft_children_signal(SIGSTOP, 0);
    }
    if (what & FT_LEASE_GO_ON) {
        ft_failpoint(KEEPER_GOES_ON);
        ft_children_signal(SIGCONT, 0);
    }
    return !(what & FT_LEASE_END);
}

/* ---- until it is over ---- */

static void end_as(struct node *n, const struct ft_frame *f)
{
    struct ft_say_end e;
    if (f->bytes <= sizeof e)
        return;
    memcpy(&e, f->data, sizeof e);
    const char *message = f->data + sizeof e;
    if (e.state == FT_JOB_LOST)
        (void)ft_board_give_up(n->b, (enum ft_reason)e.reason, message);
    else
        (void)ft_board_end(n->b, (enum ft_job_state)e.state, e.status, message);
    ring_all(n);
}

/* What rank 0 has as standard input is known before it can be lost. */
static void note_input(struct node *n, const struct ft_frame *f)
{
    struct ft_say_number w;
    uint32_t not_yet = FT_INPUT_UNKNOWN;
    memcpy(&w, f->data, sizeof w);
    (void)atomic_compare_exchange_strong(&n->b->input_is, &not_yet, w.number);
}

/* 0: it may end. */
static int obey(struct node *n, const struct ft_frame *f)
{
    struct ft_say_number w;
    uint64_t out;
    switch (f->kind) {
    case FT_SAY_TAKEN:
        memcpy(&w, f->data, sizeof w);
        atomic_store(&n->b->slot[w.of / 2].output[w.of % 2].taken, w.number);
        return 1;
    case FT_SAY_OUT:
        memcpy(&out, f->data, sizeof out);
        if (out >> n->hello.self & 1)
            return 0;
        ft_failpoint(KEEPER_HEARS_OUT);
        atomic_fetch_or(&n->b->nodes.out, out);
        ring_all(n);
        return 1;
    case FT_SAY_END: end_as(n, f); return 1;
    case FT_SAY_INPUT: ft_keeper_input_came(&n->input, f->data, f->bytes); return 1;
    case FT_SAY_INPUT_IS: note_input(n, f); return 1;
    case FT_SAY_SAVES: ft_keeper_save_news(&n->save, f->data, f->bytes); return 1;
    case FT_SAY_SAVE: ft_keeper_save(&n->save, &n->frames, f->data, f->bytes); return 1;
    case FT_SAY_GRANT:
        memcpy(&out, f->data, sizeof out);
        ft_failpoint(KEEPER_GRANTED);
        return step_lease(n, (struct ft_lease_event){.kind = FT_LEASE_GRANT, .sent = out});
    default: return 0;
    }
}

static void serve(struct node *n)
{
    struct ft_keeper *k = &n->keeper;
    struct pollfd *more = k->p + k->n;
    int left = 0;
    uint64_t lease = ft_keeper_lease_ns();
    ft_lease_init(&n->lease, lease ? lease : FT_LEASE_FOREVER, GIVE_UP_NS, ft_boottime_ns());
    for (;;) {
        struct ft_frame f;
        int heard;
        more[0] = (struct pollfd){.fd = n->frames.in, .events = POLLIN};
        more[1] = (struct pollfd){.fd = n->bell, .events = POLLIN};
        more[2] = (struct pollfd){.fd = n->children, .events = POLLIN};
        more[3] = (struct pollfd){.fd = ft_frames_waiting(&n->frames) ? n->frames.out : -1,
                                  .events = POLLOUT};
        more[4] = (struct pollfd){.fd = ft_keeper_input_waits_for(&n->input), .events = POLLOUT};
        more[5] = (struct pollfd){.fd = ft_frames_waiting(&n->frames) > BACKLOG ? -1 : n->early[0], .events = POLLIN};
        (void)poll(k->p, (nfds_t)k->n + 6, left ? 1 : SHOW_MS);
        /* first: [the host slept, or the keeper was stopped, and the lease is over] */
        if (!step_lease(n, (struct ft_lease_event){.kind = FT_LEASE_TIME}))
            return;
        ft_launcher_bell_drain(n->bell);
        ft_keeper_look(k);
        ft_keeper_save_step(&n->save);
        reap(n);
        left = show(n);
        if (!left)
            say_gone(n);
        while ((heard = ft_frames_hear(&n->frames, &f)) == 1)
            if (!obey(n, &f))
                return;
        if (heard < 0)
            return;
        if (ft_keeper_input_step(&n->input))
            ft_frames_say(&n->frames, FT_SAY_WANTS, NULL, 0, NULL, 0);
    }
}

/* The parent of the keeper, which does nothing else: the child returns. When the keeper has ended,
 * however that came, it reaps all that is left of the node's processes. Only then ftrun hears that
 * the node has ended: by the guardian's exit status (FT_KEEPER_REAPED), which whatever started it
 * passes on. If the guardian is killed, the keeper dies with it, and the processes with the keeper:
 * then nobody says so, and the lease decides. */
static void be_guarded(char *dir)
{
    sigset_t all, before;
    int status = 0;
    pid_t self = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (ft_children_adopt() != 0)
        return; /* as the keeper finds out, too */
    pid_t keeper = fork();
    if (keeper < 0)
        return; /* no process can be started: the keeper says so */
    if (keeper == 0) {
        ft_keeper_depend_on(self);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return;
    }
    close(STDIN_FILENO);
    while (waitpid(keeper, &status, 0) < 0 && errno == EINTR)
        ;
    ft_children_kill_all();
    if (dir[0])
        ft_remove_tree(dir);
    _exit(FT_KEEPER_REAPED + (WIFSIGNALED(status) ? WTERMSIG(status) : 0));
}

int ft_keeper_main(void)
{
    static struct node n;
    sigset_t mask;
    n.dir = mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (n.dir == MAP_FAILED)
        return 1;
    be_guarded(n.dir);
    /* Whatever prints must not do so into the frames. */
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
        in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    ft_frames_begin(&n.frames, in, out);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    n.children = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    hear_hello(&n);
    if (n.children < 0 || ft_children_adopt() != 0)
        give_up(&n, "it cannot watch its processes: %s", strerror(errno));
    compare_identities(&n);
    make_board(&n);
    start_gateway(&n);
    start_processes(&n);
    ft_failpoint(KEEPER_BEGINS);
    serve(&n);
    ft_failpoint(KEEPER_ENDS);
    ft_children_kill_all();
    ft_remove_tree(n.dir);
    return 0;
}
