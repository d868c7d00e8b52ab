/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrun.c - starts a job by the host's launcher with libftrma.so preloaded, watches its board, and
 * leaves nothing behind.
 *
 *   options -> checks -> board, directory -> mpirun -> loop (signals, bells, output) -> verdict ->
 * kill what is left -> report
 *
 * Nothing is started before all that can be checked was checked. From then on there is one exit,
 * whatever happens: every descendant is killed and the directory removed.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "launch/checks.h"
#include "launch/children.h"
#include "launch/identity.h"
#include "launch/keeper.h"
#include "launch/mpirun.h"
#include "launch/nodes.h"
#include "launch/noise.h"
#include "launch/notes.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/rehearse.h"
#include "launch/remote.h"
#include "launch/report.h"
#include "launch/save.h"
#include "launch/stdin.h"
#include "launch/survival.h"
#include "launch/tell.h"
#include "launch/watch.h"
#include "topology/layout.h"
#include "transport/arena.h"

#define EXIT_USAGE 2
#define EXIT_UNWRITTEN 1
#define LOOK_MS 200   /* how often the board is looked at without being called */
#define SHOW_MS 20    /* how often the ranks' output is looked at */
#define PARTIAL_MS 30 /* how long the beginning of a line is held back */
/* How long a rank's note waits for others that report the same. */
#define NOTES_NS 1000000000ull
#define LAST_SHOW_NS 1000000000ull /* after a signal: how long a reader may keep us waiting */

struct run {
    struct ft_options o;
    struct ft_trial *told; /* a run of a rehearsal: its results, */
    const char *kept;      /* and the directory for its output; NULL: no rehearsal */
    struct ft_host_launcher host;
    struct ft_board *b;
    struct ft_report *report;
    struct ft_notes *notes;
    struct ft_tell *tell;
    struct ft_tell_sum losses; /* of all runs, with --restarts */
    FILE *report_file, *trace_file;
    char preload[PATH_MAX], dir[PATH_MAX];
    char why[1000]; /* why it cannot be started */
    char **argv;
    pid_t mpirun_pid;
    struct ft_mpirun mpirun;
    struct ft_watch watch;
    struct ft_noise noise;
    struct ft_outputs *outputs; /* NULL: all output comes by mpirun */
    struct ft_stdin *input;     /* NULL: mpirun reads our standard input */
    struct ft_save save;
    struct ft_nodes nodes;    /* --virtual-nodes, --host */
    struct ft_remote *remote; /* NULL: mpirun starts the processes */
    int restarts;             /* of this job so far */
    int interrupted;          /* by this signal to us; 0: no */
    char named[FT_MAX_SLOTS]; /* the cause of death of this slot's process was printed */
    int unwritten;            /* something could not be written, which was reported */
    int placed; /* it is known before the start what each slot carries at first: layout */
    struct ft_job_layout layout;
    int board_fd, signal_fd, bell_fd, err_fd;
};

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
    char text[2000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "ftrun: %s\n", text);
}

static void say_line(void *unused, const char *line)
{
    (void)unused;
    say("%s", line);
}

/* ---- before anything is started ---- */

static int open_output(const char *option, const char *path, FILE **f)
{
    if (!path || (*f = fopen(path, "we")))
        return 1;
    say("%s %s: cannot be written: %s", option, path, strerror(errno));
    return 0;
}

static void say_word(const char *line) { say("%s", line); }

/* Why a run cannot be started, also for the report. */
__attribute__((format(printf, 2, 3))) static int cannot(struct run *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, ap);
    va_end(ap);
    say("%s", r->why);
    return 0;
}

/* What is saved, and what the job goes on from. */
static int check_files(struct run *r, const char *program)
{
    if (!ft_save_open(&r->save, &r->o, program, r->preload, r->placed ? &r->layout.groups : NULL,
                      say_word))
        return 0;
    return !r->o.restart || ft_save_choose(&r->save, &r->o, r->o.restart, say_word);
}

static int check(struct run *r)
{
    char path[PATH_MAX], err[600];
    int nprocs = r->o.nranks + r->o.nchecksums + r->o.nspares;
    ft_check_names(say_word);
    if (ft_find_program(r->o.program[0], path, sizeof path) != FT_OK) {
        say("program '%s' was not found or cannot be executed", r->o.program[0]);
        return 0;
    }
    if (ft_host_find(&r->host, err, sizeof err) != FT_OK) {
        say("%s", err);
        return 0;
    }
    if (!ft_find_library(r->preload, sizeof r->preload)) {
        say("libftrma.so is not in ../lib/ftrma beside the directory of ftrun. Install ftrma "
            "again");
        return 0;
    }
    if (strpbrk(r->preload, ": ")) {
        say("'%s' cannot be preloaded, since its path has a blank or a colon. Install ftrma "
            "elsewhere",
            r->preload);
        return 0;
    }
    if (ft_host_arguments(&r->host, &r->o, nprocs, r->preload, &r->argv, err, sizeof err) !=
        FT_OK) {
        say("%s", err);
        return 0;
    }
    if (!ft_check_layout(&r->o, &r->layout, &r->placed, say_word) ||
        (!r->o.nhosts && !ft_check_room(nprocs, say_word)) || !ft_check_space(nprocs, say_word) ||
        !check_files(r, path) || !open_output("--report", r->o.report, &r->report_file) ||
        !open_output("--trace", r->o.trace, &r->trace_file))
        return 0;
    ft_survival_say(&r->o, path, say_word);
    return 1;
}

/* From here on there is something to remove, so the loop handles signals. */
static int make_directory(struct run *r)
{
    const char *base = getenv("TMPDIR");
    base = base && *base ? base : "/tmp";
    if (snprintf(r->dir, sizeof r->dir, "%s/ftrun-XXXXXX", base) >= (int)sizeof r->dir)
        errno = ENAMETOOLONG;
    else if (mkdtemp(r->dir))
        return 1;
    r->dir[0] = '\0';
    say("no directory can be made in %.300s: %s. Set TMPDIR to a directory that you can write to",
        base, strerror(errno));
    return 0;
}

/* Tells a process what it will carry before MPI_Init can. */
static void tell_roles(struct run *r)
{
    for (int i = 0; r->placed && i < r->b->nslots; i++) {
        int index;
        enum ft_role role =
            ft_job_layout_role(&r->layout, r->b->nranks, r->b->nchecksums, i, &index);
        r->b->slot[i].at_first = FT_WHO(role, index);
    }
}

/* Output from before the saved set from which the job goes on is not shown again, nor what this
 * ftrun has shown before a restart. */
static void go_on_with_outputs(struct run *r, const struct ft_outputs *before)
{
    const struct ft_set *from = &r->save.from;
    for (int i = 0; r->outputs && from->number && i < 2 * r->b->nranks; i++) {
        uint64_t saved = from->m.rank[i / 2].printed[i % 2];
        ft_outputs_begin_at(r->outputs, i / 2, i % 2,
                            before ? ft_max_u64(saved, ft_outputs_taken(before, i / 2, i % 2))
                                   : saved);
    }
}

/* The ranks' output comes directly to ftrun. If mpirun has options about output, it keeps it. On
 * several hosts there is no mpirun that could. */
static int take_outputs(struct run *r, const struct ft_outputs *before)
{
    const int fd[2] = {STDOUT_FILENO, STDERR_FILENO};
    if (ft_host_handles_output(&r->o))
        return 1;
    if (ft_outputs_create(r->b, fd, &r->outputs) != FT_OK && r->remote)
        return cannot(r, "cannot keep the output of the ranks: %s", strerror(errno));
    if (!r->outputs)
        say("warning: the output of the ranks cannot be kept (%s): after a failure lines may be "
            "printed twice",
            strerror(errno));
    else if (r->kept && ft_outputs_split(r->outputs, r->kept) != FT_OK)
        say("warning: the output of the ranks cannot be kept apart: %s", strerror(errno));
    go_on_with_outputs(r, before);
    return 1;
}

static enum ft_status serve_input(struct run *r)
{
    return r->remote ? ft_remote_input(r->remote, r->input) : ft_stdin_serve(r->input, r->b);
}

/* Our standard input goes directly to rank 0, and mpirun reads nothing. If mpirun has options about
 * input, it keeps it. */
static void take_input(struct run *r)
{
    int in = -1, nothing = -1;
    if (ft_host_handles_input(&r->o))
        return;
    if (r->restarts) { /* it has our standard input already */
        if (r->input && serve_input(r) != FT_OK)
            say("warning: standard input cannot be kept for a replacement of rank 0: %s",
                strerror(errno));
        return;
    }
    if ((in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) >= 0 &&
        (nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 &&
        ft_stdin_create(in, r->dir, &r->input) == FT_OK &&
        serve_input(r) == FT_OK) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
        return;
    }
    say("warning: standard input cannot be kept (%s): %s", strerror(errno),
        r->remote ? "rank 0 reads nothing"
                  : "mpirun hands it on, and a replacement of rank 0 would read nothing");
    ft_stdin_destroy(r->input);
    r->input = NULL;
    if (in >= 0)
        close(in);
    if (nothing >= 0)
        close(nothing);
}

static void hear(void *tell, const struct ft_event *e) { ft_tell_hear(tell, e); }

/* The hosts of a job on several; NULL: it is on this one. */
static struct ft_remote *far_nodes(const struct run *r)
{
    static struct ft_remote remote;
    static char *identity[FT_IDS];
    char path[PATH_MAX];
    if (!r->o.nhosts)
        return NULL;
    if (!identity[0])
        ft_identities(ft_find_program(r->o.program[0], path, sizeof path) == FT_OK ? path : NULL,
                      r->preload, identity);
    struct ft_remote_config cfg = {.nhosts = r->o.nhosts,
                                   .host = r->o.host,
                                   .rsh = r->o.rsh ? r->o.rsh : "ssh -q",
                                   .preload = r->preload,
                                   .program = r->o.program,
                                   .identity = identity,
                                   .mixed = r->o.mixed,
                                   .start_ms = ft_keeper_start_ms(),
                                   .lease_ns = ft_keeper_lease_ns()};
    ft_remote_init(&remote, &cfg);
    return &remote;
}

static int prepare(struct run *r)
{
    struct ft_outputs *before = r->outputs;
    r->outputs = NULL;
    if (ft_board_create(r->o.nranks, r->o.nchecksums, r->o.nspares, (int)getpid(), &r->b,
                        &r->board_fd) != FT_OK ||
        !ft_arena_homelogs(r->b, ft_setting_str(FT_SET_ARENA_DIR)) ||
        (r->bell_fd = ft_launcher_bell(r->b)) < 0 || ft_children_adopt() != 0 ||
        ft_report_create(r->b, &r->report) != FT_OK || ft_notes_create(r->b, &r->notes) != FT_OK ||
        ft_tell_create(r->b, r->o.verbose, r->o.quiet, say_line, NULL, &r->losses, &r->tell) !=
            FT_OK)
        return cannot(r, "cannot set up the job: %s", strerror(errno));
    FT_ASSERT(r->report);
    r->report->command = r->o.command;
    r->report->restarts = r->restarts;
    r->report->hear = hear;
    r->report->hear_arg = r->tell;
    r->watch =
        (struct ft_watch){.b = r->b, .program = r->o.program[0], .elsewhere = r->noise.elsewhere};
    gethostname(r->watch.node, sizeof r->watch.node - 1);
    ft_save_begin(&r->save, r->b);
    tell_roles(r);
    struct ft_spread_ask cut = ft_survival_spread(&r->o);
    r->remote = far_nodes(r);
    if (r->remote)
        ft_save_on_hosts(&r->save, r->remote);
    if (!ft_nodes_make(&r->nodes, &cut, r->b, r->remote))
        return cannot(r, "cannot set up %d nodes: %s", r->o.virtual_nodes, strerror(errno));
    for (int k = 0; k < r->nodes.n; k++)
        r->report->on[k] = r->nodes.node[k].board;
    if (r->nodes.n) {
        ft_fp_set_last_hit(NULL, NULL, &r->b->nodes.injected);
        (void)ft_fp_arm(ft_setting_str(FT_SET_INJECT), FT_ROLE_LAUNCHER, 0, 0); /* it was checked */
    }
    if (r->remote)
        r->watch.gone = r->remote->gone;
    else
        ft_nodes_name(&r->nodes, r->board_fd, r->watch.node);
    if (!take_outputs(r, before))
        return 0;
    ft_outputs_destroy(before);
    take_input(r);
    if (r->o.verbose && !getenv(FT_HASH_SEED))
        fprintf(stderr, "[ftrma   0.000000] environment: " FT_HASH_SEED
                        "=0, so that a replacement in Python hashes as the lost process did\n");
    ft_host_environment(&r->host, r->dir);
    ft_noise_init(&r->noise, STDERR_FILENO, r->o.verbose >= 2);
    return 1;
}

static int start(struct run *r)
{
    int randomised = 0;
    char why[1000];
    FT_ASSERT(r->argv); /* the check made sure of that */
    if (r->o.verbose >= 2 && !r->remote)
        for (char **a = r->argv; *a; a++)
            fprintf(stderr, "%s%s", *a, a[1] ? " " : "\n");
    r->save.input = r->input;
    if (!ft_nodes_start(&r->nodes, r->b, r->input, why, sizeof why)) /* all goes through them */
        return cannot(r, "%s", why);
    if (r->remote)
        return 1;
    r->mpirun_pid = ft_children_start(r->argv, &r->err_fd, &randomised);
    if (r->mpirun_pid < 0)
        return cannot(r, "cannot start %s: %s", r->host.path, strerror(errno));
    if (randomised)
        say("warning: address randomisation cannot be switched off here (does a container forbid "
            "it?): pointers in protected memory will be wrong in a replacement");
    return 1;
}

/* ---- while it runs ---- */

/* For deaths that no line about a loss names. SIGKILL comes from outside and gets no line; other
 * signals are caused by the program. */
static void name_deaths(struct run *r, int lost)
{
    char who[40];
    for (int i = 0; i < r->b->nslots; i++) {
        int how = (int)atomic_load(&r->b->slot[i].died_of), sig = how & ~FT_CORE_DUMPED;
        if (sig == 0 || r->named[i] || ft_tell_names(r->tell, i) || (sig == SIGKILL && !lost))
            continue;
        r->named[i] = 1;
        ft_who_format(atomic_load(&r->b->slot[i].who), who, sizeof who);
        say("%s (pid %d) died of %s (%s)%s", who, (int)atomic_load(&r->b->slot[i].pid),
            ft_signal_name(sig), strsignal(sig), how & FT_CORE_DUMPED ? ", core dumped" : "");
    }
}

/* Reads everything that mpirun's stderr has now. */
static void forward(struct run *r)
{
    char data[8192];
    while (r->err_fd >= 0) {
        struct pollfd p = {.fd = r->err_fd, .events = POLLIN};
        if (poll(&p, 1, 0) != 1)
            return;
        ssize_t n = read(r->err_fd, data, sizeof data);
        if (n > 0) {
            ft_noise_feed(&r->noise, data, (int)n);
        } else if (n == 0 || errno != EINTR) {
            close(r->err_fd);
            r->err_fd = -1;
        }
    }
}

/* What the nodes on other hosts show. */
static void look_far(struct run *r)
{
    if (!r->remote)
        return;
    ft_remote_step(r->remote, r->outputs);
    r->mpirun.gone = ft_remote_left(r->remote) == 0;
    r->mpirun.status = W_EXITCODE(r->remote->worst, 0);
}

/* Reaps children that have ended: mpirun, or orphans that became ours. */
static void reap(struct run *r)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == r->mpirun_pid) {
            r->mpirun.gone = 1;
            r->mpirun.status = status;
        } else if (!(r->remote && ft_remote_reaped(r->remote, pid, status)) &&
                   !ft_nodes_reaped(&r->nodes, r->b, pid, r->o.quiet ? NULL : say_word)) {
            (void)ft_save_reaped(&r->save, r->b, r->report, pid, status, say_word);
        }
}

/* Returns the signal that ends the job, or 0. */
static int take_signals(struct run *r)
{
    struct signalfd_siginfo info;
    int end = 0;
    while (read(r->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            reap(r);
        else if (info.ssi_signo == SIGTSTP)
            ft_children_pause();
        else
            end = (int)info.ssi_signo;
    }
    return end;
}

static void ended_by(struct run *r, struct ft_verdict *v, int sig)
{
    r->interrupted = sig;
    *v = (struct ft_verdict){.result = "failed", .status = 128 + sig};
    snprintf(v->message, sizeof v->message, "ended by signal %d (%s)", sig, strsignal(sig));
}

/* 1: a signal has ended the job. */
static int take_end(struct run *r, struct ft_verdict *v)
{
    int sig = take_signals(r);
    if (sig)
        ended_by(r, v, sig);
    return sig != 0;
}

/* Shows what the ranks have printed; returns 1 if something is left. A write error is reported when
 * it happens, as the job may run for days. */
static int show(struct run *r, int last)
{
    static const char *const stream[] = {"standard output", "standard error"};
    if (!r->outputs)
        return 0;
    int left = ft_outputs_step(r->outputs, ft_now_ns(), last);
    for (int k = 0; k < 2; k++) {
        int e = ft_outputs_error(r->outputs, k);
        if (e && e != EPIPE) { /* a reader that has gone has read enough */
            r->unwritten = 1;
            say("%s cannot be written: %s. Further output of the ranks there is lost", stream[k],
                strerror(e));
        }
    }
    return left;
}

/* Everything is over, and all output is there: waits for a slow reader, unless a signal comes. */
static void show_rest(struct run *r, struct ft_verdict *v, uint64_t give_up_ns)
{
    while (show(r, 1)) {
        struct pollfd p[] = {{.fd = r->signal_fd, .events = POLLIN},
                             {.fd = ft_outputs_waits_for(r->outputs, 0), .events = POLLOUT},
                             {.fd = ft_outputs_waits_for(r->outputs, 1), .events = POLLOUT}};
        poll(p, FT_COUNTOF(p), LOOK_MS);
        if (take_end(r, v))
            return;
        if (give_up_ns && ft_now_ns() > give_up_ns)
            return;
    }
}

/* Reads the new events, and prints what is to be printed of them. */
static void follow_events(struct run *r)
{
    uint64_t now = ft_now_ns(), horizon_ns = ft_tell_horizon(r->tell, now);
    if (r->remote) /* what other hosts record is seen a little later */
        horizon_ns = ft_min_u64(horizon_ns, now - FT_REMOTE_LATE_NS);
    ft_report_drain(r->report);
    ft_tell_step(r->tell, horizon_ns);
}

#define FIXED_POLLS 5

static void watch_job(struct run *r, struct ft_verdict *v)
{
    uint64_t heard_ns = 0, looked_ns = 0;
    for (;;) {
        struct pollfd p[FIXED_POLLS + FT_REMOTE_POLLS] = {
            {.fd = r->signal_fd, .events = POLLIN},
            {.fd = r->bell_fd, .events = POLLIN},
            {.fd = r->err_fd, .events = POLLIN},
            {.fd = ft_outputs_waits_for(r->outputs, 0), .events = POLLOUT},
            {.fd = ft_outputs_waits_for(r->outputs, 1), .events = POLLOUT}};
        int far = r->remote ? ft_remote_polls(r->remote, p + FIXED_POLLS) : 0;
        poll(p, (nfds_t)(FIXED_POLLS + far),
             r->outputs || r->o.verbose    ? SHOW_MS
             : ft_noise_pending(&r->noise) ? PARTIAL_MS
                                           : LOOK_MS);
        uint64_t now = ft_now_ns();
        if (p[2].revents)
            heard_ns = now;
        ft_launcher_bell_drain(r->bell_fd);
        forward(r);
        look_far(r);
        if (now - heard_ns >= PARTIAL_MS * 1000000ull)
            ft_noise_flush(&r->noise);
        show(r, 0);
        ft_save_step(&r->save, r->b);
        if (r->o.verbose)
            follow_events(r);
        if (!p[0].revents && !p[1].revents && !p[2].revents &&
            now - looked_ns < LOOK_MS * 1000000ull)
            continue;
        looked_ns = now;
        follow_events(r);
        ft_notes_step(r->notes, now, NOTES_NS, say_line, NULL);
        if (take_end(r, v))
            return;
        r->mpirun.descendants = -1;
        if (!r->remote && ft_watch_wants_descendants(&r->watch)) {
            (void)ft_proc_look((int)r->mpirun_pid,
                               &r->mpirun.itself); /* first: what it does until then will be seen */
            r->mpirun.descendants = ft_children_signal(0, r->mpirun_pid) - 2 * r->nodes.n;
        }
        ft_nodes_step(&r->nodes, r->b, r->o.quiet ? NULL : say_word);
        if (ft_watch_step(&r->watch, ft_now_ns(), &r->mpirun, v))
            return;
    }
}

/* All is lost except the set that is being written: waits for it as long as the disk accepts
 * data. */
static void await_save(struct run *r, struct ft_verdict *v)
{
    ft_save_step(&r->save, r->b);
    while (ft_save_busy(&r->save) ||
           (strcmp(v->result, "lost") == 0 && ft_save_last(&r->save, r->b))) {
        struct pollfd p = {.fd = r->signal_fd, .events = POLLIN};
        if (ft_save_stands_still(&r->save, ft_now_ns())) {
            say("checkpoint %llu was not saved: nothing could be written for a minute",
                (unsigned long long)r->save.version);
            return;
        }
        poll(&p, 1, SHOW_MS);
        look_far(r);
        if (take_end(r, v))
            return;
        ft_nodes_step(&r->nodes, r->b, NULL);
        ft_save_step(&r->save, r->b);
    }
}

/* What a user who relies on sets must know. */
static void look_at_save(struct run *r, struct ft_verdict *v)
{
    if (r->save.from.number && !atomic_load(&r->b->save.gone_on) && strcmp(v->result, "ok") == 0) {
        ft_verdict_lost(v, SET_UNUSED, r->save.from.path);
    } else if (r->save.dir[0] && !r->interrupted && atomic_load(&r->b->save.asked) == 0) {
        say("warning: nothing was saved: %s",
            r->save.every > 1
                ? "there were fewer checkpoints than the K of every=K"
                : "the program took no checkpoint (it has no FTRMA_Run, or ended before)");
    }
}

/* ---- the one way out ---- */

static void finish(struct run *r)
{
    if (r->remote)
        ft_remote_bye(r->remote, r->outputs);
    int stuck = ft_children_kill_all();
    if (stuck)
        say("%d process%s cannot be killed: the kernel does not let go of %s", stuck,
            stuck == 1 ? "" : "es", stuck == 1 ? "it" : "them");
    ft_save_drop(&r->save);
    if (r->dir[0])
        ft_remove_tree(r->dir);
    if (r->bell_fd >= 0)
        close(r->bell_fd);
    r->bell_fd = -1;
}

static void close_output(struct run *r, const char *option, const char *path, FILE *f)
{
    int bad = ferror(f);
    if (fclose(f) == 0 && !bad)
        return;
    r->unwritten = 1;
    say("%s %s: could not be written completely: %s", option, path, strerror(errno));
}

/* The report comes last: its status says whether all else could be written. */
static void write_reports(struct run *r, struct ft_verdict *v)
{
    ft_report_drain(r->report);
    ft_report_sort(r->report);
    if (r->trace_file) {
        ft_report_write_trace(r->report, r->trace_file);
        close_output(r, "--trace", r->o.trace, r->trace_file);
    }
    if (r->report_file) {
        if (v->status == 0 && r->unwritten)
            v->status = EXIT_UNWRITTEN;
        ft_report_write(r->report, v, r->report_file);
        close_output(r, "--report", r->o.report, r->report_file);
    }
}

/* A test whose failure did not happen has shown nothing. What a host that is lost has passed last
 * is not known. */
static void look_at_injections(const struct run *r)
{
    if (r->remote && atomic_load(&r->b->nodes.out))
        return;
    const char *entry;
    int len;
    for (int n = 0; (entry = ft_fp_entry(ft_setting_str(FT_SET_INJECT), n, &len)); n++)
        if (!ft_report_injected(r->b, n))
            say("warning: --inject %.*s never fired: the process did not pass the failpoint that "
                "many times",
                len, entry);
}

/* A restart that fails changes nothing: the job is lost as it was. */
static void not_started(struct run *r, struct ft_verdict *v)
{
    if (r->restarts == 0)
        snprintf(v->message, sizeof v->message, "%s", r->why);
    take_end(r, v);
    finish(r);
}

/* One run of the job, from its board to the last process's end. 0: it could not be started. */
static int run_once(struct run *r, struct ft_verdict *v)
{
    if (!prepare(r) || !start(r)) {
        not_started(r, v);
        return 0;
    }
    watch_job(r, v);
    uint64_t over_ns = ft_now_ns();
    if (!r->interrupted && strcmp(v->result, "ok") != 0)
        await_save(r, v);
    look_at_save(r, v);
    finish(r);
    forward(r); /* last words of the dead */
    ft_noise_flush(&r->noise);
    show_rest(r, v, r->interrupted ? ft_now_ns() + LAST_SHOW_NS : 0);
    ft_notes_step(r->notes, ft_now_ns(), 0, say_line, NULL);
    ft_report_drain(r->report);
    ft_tell_end(r->tell, over_ns, r->interrupted || strcmp(v->result, "lost") == 0);
    if (!r->interrupted) {
        name_deaths(r, strcmp(v->result, "ok") != 0 && v->status == FT_EXIT_LOST);
        if (r->restarts == 0) /* after a restart they may not pass the points again */
            look_at_injections(r);
    }
    if (r->o.verbose >= 2)
        ft_report_write_links(r->report, stderr);
    if (v->reason)
        say("job lost: %s [%s]", v->message, ft_reason_table[v->reason].name);
    else if (v->message[0])
        say("%s", v->message);
    return 1;
}

/* Releases what belongs to the run that is over. */
static void forget_run(struct run *r)
{
    ft_report_destroy(r->report);
    ft_notes_destroy(r->notes);
    ft_tell_destroy(r->tell);
    r->report = NULL;
    r->notes = NULL;
    r->tell = NULL;
}

/* --restarts: the job was lost, and there is a set to go on from. */
static int begins_again(struct run *r, const struct ft_verdict *v)
{
    if (r->interrupted || strcmp(v->result, "lost") != 0 || r->restarts >= r->o.restarts ||
        !ft_save_choose_own(&r->save, &r->o, say_word))
        return 0;
    if (mkdir(r->dir, 0700) != 0) { /* it was removed with the previous run */
        say("the job is not restarted: %s: %s", r->dir, strerror(errno));
        return 0;
    }
    r->restarts++;
    say("restart %d of %d: all ranks go on from checkpoint %llu (%s)", r->restarts, r->o.restarts,
        (unsigned long long)r->save.from.m.version, r->save.from.path);
    ft_stdin_stop(r->input);
    forget_run(r);
    close(r->b->homelogs_fd);
    close(r->board_fd);
    r->mpirun = (struct ft_mpirun){0};
    memset(r->named, 0, sizeof r->named);
    if (r->err_fd >= 0)
        close(r->err_fd);
    r->err_fd = -1;
    return 1;
}

/* The job is lost, and not started again: what the user can do. */
static void say_how_to_go_on(const struct run *r, const struct ft_verdict *v)
{
    const struct ft_save *s = &r->save;
    if (s->dir[0] && s->last_version && !r->interrupted && strcmp(v->result, "lost") == 0)
        say("checkpoint %llu is saved in %s/set.%u: 'ftrun --restart %s %s ...' goes on from it",
            (unsigned long long)s->last_version, s->dir, s->last_number, r->o.save,
            r->o.program[0]);
}

static int launch(struct run *r)
{
    struct ft_verdict v = {.result = "failed", .status = EXIT_USAGE}; /* until it runs */
    sigset_t mask;
    if (!check(r))
        return EXIT_USAGE;
    if ((r->signal_fd = ft_take_over_signals(&mask)) < 0)
        say("cannot set up the job: %s", strerror(errno));
    if (r->signal_fd < 0 || !make_directory(r))
        return EXIT_USAGE;
    while (run_once(r, &v) && begins_again(r, &v))
        ;
    say_how_to_go_on(r, &v);
    if (r->report)
        write_reports(r, &v);
    if (r->report && r->told)
        ft_trial_tell(r->told, r->b, r->report, &v);
    forget_run(r);
    ft_outputs_destroy(r->outputs);
    ft_stdin_destroy(r->input);
    ft_save_close(&r->save);
    if (r->placed)
        ft_job_layout_finish(&r->layout);
    ft_host_free_arguments(r->argv);
    return v.status == 0 && r->unwritten ? EXIT_UNWRITTEN : v.status;
}

static int print(enum ft_ftrun_task task)
{
    if (ft_print_task(task))
        return 0;
    say("standard output cannot be written: %s", strerror(errno));
    return EXIT_UNWRITTEN;
}

static int run_job(const struct ft_options *o, struct ft_trial *told, const char *kept)
{
    static struct run r = {.board_fd = -1, .signal_fd = -1, .bell_fd = -1, .err_fd = -1};
    r.o = *o;
    r.told = told;
    r.kept = kept;
    int status = launch(&r);
    if (r.interrupted && !told)
        ft_end_by(r.interrupted);
    return status;
}

int main(int argc, char **argv)
{
    static struct ft_options o;
    char err[1000];
    if (!ft_have_standard_streams())
        return EXIT_USAGE;
    if (argc == 2 && strcmp(argv[1], "--keeper") == 0)
        return ft_keeper_main();
    if (ft_options_parse(argc, argv, &o, err, sizeof err) != FT_OK) {
        say("%s", err);
        return EXIT_USAGE;
    }
    if (o.task != FT_TASK_RUN)
        return print(o.task);
    return o.rehearse ? ft_rehearse(&o, run_job) : run_job(&o, NULL, NULL);
}
