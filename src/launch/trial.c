/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trial.c - runs one job of a rehearsal in a child.
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "launch/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/failpoint.h"
#include "launch/children.h"

#define ENDS_WITHIN_NS 15000000000ull /* a job that was told to end */

/* ---- parent ---- */

int ft_trials_begin(struct ft_trials *t)
{
    const char *base = getenv("TMPDIR");
    *t = (struct ft_trials){.signal_fd = -1, .spool_fd = -1, .input = !isatty(STDIN_FILENO)};
    t->told =
        mmap(NULL, sizeof *t->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->told == MAP_FAILED || (t->signal_fd = ft_take_over_signals(&t->caught)) < 0 ||
        ft_children_adopt() != 0)
        return 0;
    char path[sizeof t->dir + 16];
    if (snprintf(t->dir, sizeof t->dir, "%s/ftrun-XXXXXX", base && *base ? base : "/tmp") >=
        (int)sizeof t->dir) {
        t->dir[0] = '\0';
        errno = ENAMETOOLONG;
        return 0;
    }
    if (!mkdtemp(t->dir)) {
        t->dir[0] = '\0';
        return 0;
    }
    snprintf(path, sizeof path, "%s/stdin", t->dir);
    t->spool_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return t->spool_fd >= 0;
}

void ft_trials_end(struct ft_trials *t)
{
    if (t->dir[0]) {
        ft_children_kill_all();
        ft_remove_tree(t->dir);
    }
}

/* Writes what the child has not yet had of our stdin; when all was given, more is read. The pipe
 * ends with the input. */
struct spool_feed {
    int fd;   /* to the child, -1: closed */
    off_t at; /* in the spool */
};

static int spool_more(struct ft_trials *t)
{
    char data[4096];
    ssize_t n = read(STDIN_FILENO, data, sizeof data);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    off_t end = lseek(t->spool_fd, 0, SEEK_END);
    t->input = n > 0 && pwrite(t->spool_fd, data, (size_t)n, end) == n;
    return t->input;
}

static void give(struct ft_trials *t, struct spool_feed *f)
{
    char data[4096];
    ssize_t n = pread(t->spool_fd, data, sizeof data, f->at);
    ssize_t k = n > 0 ? write(f->fd, data, (size_t)n) : 0;
    if (k > 0)
        f->at += k;
    if ((n <= 0 && !t->input) || (k < 0 && errno != EAGAIN && errno != EINTR)) {
        close(f->fd);
        f->fd = -1;
    }
}

static off_t spooled(const struct ft_trials *t)
{
    struct stat sb;
    return fstat(t->spool_fd, &sb) == 0 ? sb.st_size : 0;
}

/* Returns how long all stood still. */
static uint64_t pause_all(pid_t child)
{
    uint64_t begin = ft_now_ns();
    kill(child, SIGTSTP);
    kill(getpid(), SIGSTOP);
    kill(child, SIGCONT);
    return ft_now_ns() - begin;
}

/* Returns the signal that ends all, or 0. Adds pauses to *paused_ns. */
static int take_signals(struct ft_trials *t, pid_t child, uint64_t *paused_ns)
{
    struct signalfd_siginfo info;
    int end = 0;
    while (read(t->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTSTP)
            *paused_ns += pause_all(child);
        else if (info.ssi_signo != SIGCHLD)
            end = (int)info.ssi_signo;
    }
    return end;
}

/* Waits for the child. A signal to ftrun, or the limit, ends it; if it does not end then, killing
 * it does no harm. Pauses do not count. */
static int await(struct ft_trials *t, pid_t child, struct spool_feed *f, uint64_t limit_ns)
{
    uint64_t end_ns = limit_ns ? ft_now_ns() + limit_ns : UINT64_MAX, paused_ns = 0;
    int status = 0, why = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        int more = f->fd >= 0 && f->at == spooled(t);
        struct pollfd p[] = {
            {.fd = t->signal_fd, .events = POLLIN},
            {.fd = more && t->input ? STDIN_FILENO : -1, .events = POLLIN},
            {.fd = f->fd >= 0 && (!more || !t->input) ? f->fd : -1, .events = POLLOUT}};
        poll(p, FT_COUNTOF(p), 200);
        if (p[1].revents)
            spool_more(t);
        if (p[2].revents)
            give(t, f);
        int sig = take_signals(t, child, &paused_ns), late = ft_now_ns() - paused_ns >= end_ns;
        if (!sig && !late)
            continue;
        kill(child, why ? SIGKILL : sig ? sig : SIGTERM);
        why = sig ? -3 - sig : why ? why : -1;
        end_ns = ft_now_ns() - paused_ns + ENDS_WITHIN_NS;
    }
    if (why)
        return why;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- child ---- */

static int redirect(const char *dir, const char *name, int to)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return fd >= 0 && dup2(fd, to) == to;
}

static _Noreturn void be(struct ft_trials *t, const struct ft_options *o, const char *dir,
                         const int in[2], pid_t parent, ft_trial_job *job)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    sigprocmask(SIG_UNBLOCK, &t->caught, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (getppid() != parent || dup2(in[0], STDIN_FILENO) < 0 ||
        !redirect(dir, "stdout", STDOUT_FILENO) || !redirect(dir, "words", STDERR_FILENO))
        _exit(1);
    close(in[0]);
    close(in[1]); /* otherwise the input would never end */
    close(t->spool_fd);
    close(t->signal_fd);
    setenv(ft_settings_table[FT_SET_REHEARSAL].env, dir, 1);
    exit(job(o, t->told, dir));
}

int ft_trial_run(struct ft_trials *t, const struct ft_options *o, const char *dir,
                 uint64_t limit_ns, ft_trial_job *job)
{
    int in[2];
    pid_t self = getpid();
    *t->told = (struct ft_trial){.rank = -1};
    if (mkdir(dir, 0700) != 0 || pipe2(in, O_CLOEXEC) != 0)
        return -2;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be(t, o, dir, in, self, job);
    close(in[0]);
    struct spool_feed f = {.fd = in[1]};
    fcntl(f.fd, F_SETFL, O_NONBLOCK);
    int status = child > 0 ? await(t, child, &f, limit_ns) : -2;
    if (f.fd >= 0)
        close(f.fd);
    return status;
}

static void tell_events(struct ft_trial *told, const struct ft_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *ev = &r->ev[i].ev;
        switch ((enum ft_event_kind)ev->kind) {
        case FT_EV_CKPT_DONE: told->commits++; break;
        case FT_EV_LIVE: told->live++; break;
        case FT_EV_RESUMED:
        case FT_EV_ENTERED: told->resumed++; break;
        case FT_EV_DIVERGED: told->diverged++; break;
        case FT_EV_SNAPSHOT_OFF:
        case FT_EV_CKPT_SKIPPED:
            told->called_off++;
            told->why = (int)ev->b;
            break;
        default: break;
        }
    }
}

void ft_trial_tell(struct ft_trial *told, struct ft_board *b, const struct ft_report *r,
                   const struct ft_verdict *v)
{
    uint64_t done[FT_MAX_SLOTS] = {0};
    for (int i = 0; i < b->nslots; i++) {
        struct ft_board_slot *s = &b->slot[i];
        uint32_t who = atomic_load(&s->who);
        if (who >> 24 != FT_ROLE_RANK || (int)(who & 0xffffff) >= b->nranks)
            continue;
        done[who & 0xffffff] += atomic_load(&s->safepoints);
        if (atomic_load(&s->last_failpoint)) {
            told->died = 1;
            told->rank = (int)(who & 0xffffff);
            told->milestone = (int)(atomic_load(&s->testament.position) >> 56);
            told->at = atomic_load(&s->testament.position) & 0xffffffffffffffull;
        }
    }
    told->safepoints = done[0];
    for (int i = 1; i < b->nranks; i++)
        told->safepoints = ft_min_u64(told->safepoints, done[i]);
    tell_events(told, r);
    told->lost = strcmp(v->result, "lost") == 0;
    snprintf(told->message, sizeof told->message, "%s", v->message);
    told->ended = 1;
}
