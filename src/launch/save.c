/* SPDX-License-Identifier: BSD-3-Clause
 *
 * save.c - see save.h.
 */
#define _GNU_SOURCE 1
#include "launch/save.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "launch/children.h"
#include "launch/identity.h"
#include "launch/watch.h"

/* After a loss: how long the writer of a set may make no progress before it is given up. */
#define STILL_NS 60000000000ull
/* Of a longer pause between two looks no more than this is counted: ftrun itself was delayed. */
#define LONGEST_LOOK_NS 500000000ull

__attribute__((format(printf, 2, 3))) static void tell(void (*say)(const char *line),
                                                       const char *fmt, ...)
{
    char text[1600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say(text);
}

static void know_self(struct ft_save *s, const struct ft_options *o, const char *program,
                      const char *library, const struct ft_groups *groups)
{
    s->self = (struct ft_manifest){.nranks = o->nranks,
                                   .nchecksums = o->nchecksums,
                                   .parity = o->parity,
                                   .nspares = o->nspares,
                                   .groups = groups,
                                   .program = realpath(program, NULL),
                                   .arguments = o->program,
                                   .program_id = ft_file_identity(program),
                                   .library_id = ft_file_identity(library),
                                   .processor = ft_processor_identity()};
}

static int open_dir(struct ft_save *s, const char *dir, void (*say)(const char *line))
{
    char why[300];
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        tell(say, "--save %s: the directory cannot be made: %s", dir, strerror(errno));
        return 0;
    }
    if (!realpath(dir, s->dir)) {
        tell(say, "--save %s: %s", dir, strerror(errno));
        s->dir[0] = '\0';
        return 0;
    }
    if (strlen(s->dir) > FT_SAVED_PATH - 64) {
        tell(say, "--save %s: the name of the directory is too long", dir);
        return 0;
    }
    s->lock = ft_sets_hold(s->dir, 1, why, sizeof why);
    if (s->lock < 0) {
        tell(say, "--save %s: nothing can be saved there: %s", dir, why);
        return 0;
    }
    ft_sets_tidy(s->dir);
    s->number = s->first = ft_sets_newest(s->dir);
    return 1;
}

int ft_save_open(struct ft_save *s, const struct ft_options *o, const char *program,
                 const char *library, const struct ft_groups *groups, void (*say)(const char *line))
{
    *s = (struct ft_save){.lock = -1, .every = o->save_every};
    if (!o->save && !o->restart)
        return 1;
    know_self(s, o, program, library, groups);
    if (o->save && !open_dir(s, o->save, say))
        return 0;
    s->out = mmap(NULL, sizeof *s->out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->out == MAP_FAILED) {
        s->out = NULL;
        tell(say, "--save: there is no memory");
        return 0;
    }
    return 1;
}

static int same(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static int has_word(const char *text, const char *word, size_t len)
{
    for (const char *p = text; *p; p += strcspn(p, " ")) {
        p += strspn(p, " ");
        if (strcspn(p, " ") == len && memcmp(p, word, len) == 0)
            return 1;
    }
    return 0;
}

/* The first word of a that b does not have; NULL: there is none. */
static const char *missing(const char *a, const char *b, size_t *len)
{
    for (const char *p = a; *p; p += *len) {
        p += strspn(p, " ");
        *len = strcspn(p, " ");
        if (*len && !has_word(b, p, *len))
            return p;
    }
    return NULL;
}

static int fits(const struct ft_save *s, const struct ft_options *o, const struct ft_set *set,
                void (*say)(const char *line))
{
    const struct ft_manifest *m = &set->m;
    const char *word;
    size_t len = 0;
    if (m->nranks != o->nranks) {
        tell(say, "--restart: %s has %d ranks, and -n is %d: leave out -n, or give the same",
             set->path, m->nranks, o->nranks);
        return 0;
    }
    if (o->mixed)
        return 1;
    if (!same(m->program_id, s->self.program_id))
        tell(say,
             "--restart: %s was saved by another program (%s, %s) than this one (%s): --mixed goes "
             "on all the same",
             set->path, m->program ? m->program : "?", m->program_id ? m->program_id : "?",
             s->self.program_id ? s->self.program_id : "?");
    else if (!same(m->library_id, s->self.library_id))
        tell(say, "--restart: %s was saved by another build of ftrma: --mixed goes on all the same",
             set->path);
    else if (!same(m->processor, s->self.processor) && m->processor &&
             ((word = missing(m->processor, s->self.processor, &len)) ||
              (word = missing(s->self.processor, m->processor, &len))))
        tell(say,
             "--restart: %s was saved on another kind of processor (one of both has '%.*s'), and "
             "results may differ in "
             "their last bits: --mixed goes on all the same",
             set->path, (int)len, word);
    else
        return 1;
    return 0;
}

/* The newest of the sets above that number. 0: there is none. */
static int choose(struct ft_save *s, const char *dir, unsigned above, void (*say)(const char *line))
{
    ft_manifest_finish(&s->from.m);
    s->from.number = 0;
    if (ft_sets_choose(dir, above, &s->from, say) == FT_OK)
        return 1;
    s->from.number = 0;
    return 0;
}

int ft_save_choose(struct ft_save *s, const struct ft_options *o, const char *dir,
                   void (*say)(const char *line))
{
    char full[PATH_MAX], why[300];
    int held = -1;
    if (!realpath(dir, full)) {
        tell(say, "--restart %s: %s", dir, strerror(errno));
        return 0;
    }
    if (strcmp(full, s->dir) != 0 && (held = ft_sets_hold(full, 0, why, sizeof why)) < 0) {
        tell(say, "--restart %s: %s", dir, why);
        return 0;
    }
    int found = choose(s, full, 0, say);
    if (!found)
        tell(say, "--restart %s: no set there is complete", dir);
    else
        found = fits(s, o, &s->from, say);
    if (held >= 0 && s->lock < 0)
        s->lock = held; /* as long as the job may read there */
    return found;
}

/* Numbers only grow, so what this ftrun has written has a larger one than all that was there. The
 * directory of --restart is still held. */
int ft_save_choose_own(struct ft_save *s, const struct ft_options *o, void (*say)(const char *line))
{
    char full[PATH_MAX];
    if (choose(s, s->dir, s->first, say))
        return 1;
    if (!o->restart) {
        tell(say, "the job is not restarted: it has saved no set in %s", s->dir);
        return 0;
    }
    if (realpath(o->restart, full) && choose(s, full, 0, say))
        return fits(s, o, &s->from, say);
    tell(say, "the job is not restarted: it has saved no set in %s, and no set in %s is complete",
         s->dir, o->restart);
    return 0;
}

void ft_save_begin(struct ft_save *s, struct ft_board *b)
{
    struct ft_board_save *on = &b->save;
    ft_held_begin(&s->held, b->nranks);
    s->remote = NULL;
    s->waiting = 0;
    if (s->dir[0])
        on->every = s->every;
    if (getrandom(&on->job, sizeof on->job, 0) != (ssize_t)sizeof on->job)
        on->job = b->t0_ns ^ (uint64_t)getpid() << 40;
    s->self.job = on->job;
    s->request = s->version = 0;
    if (!s->from.number)
        return;
    snprintf(on->from, sizeof on->from, "%s", s->from.path);
    on->from_job = s->from.m.job;
    b->wtime_zero_ns = b->t0_ns - (uint64_t)(s->from.m.wtime * 1e9);
}

void ft_save_on_hosts(struct ft_save *s, struct ft_remote *remote)
{
    size_t n = (size_t)s->self.nranks;
    if (!s->dir[0])
        return;
    s->remote = remote;
    free(s->rank);
    free(s->at);
    s->rank = ft_need(calloc(n, sizeof *s->rank), n * sizeof *s->rank, "what is known of saved files");
    s->at = ft_need(calloc(n, sizeof *s->at), n * sizeof *s->at, "the hosts of saved files");
}

int ft_save_busy(const struct ft_save *s) { return s->writer != 0 || s->waiting; }

static void start_writer(struct ft_save *s, struct ft_board *b, enum ft_writing_part part)
{
    int arena[2 * b->nranks];
    ft_held_list(&s->held, arena);
    struct ft_writing w = {.part = part,
                           .arena = arena,
                           .board = b,
                           .dir = s->dir,
                           .number = s->number,
                           .request = s->request,
                           .version = s->version,
                           .m = s->self,
                           .dropped = s->dropped,
                           .out = s->out};
    w.m.rank = part == FT_WRITES_END ? s->rank : NULL;
    s->part = part;
    if (part != FT_WRITES_NOTHING) /* else it is a host's */
        s->out->error = 0;
    snprintf(s->out->why, sizeof s->out->why, "the writer ended without a word");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        ft_stdin_leave(s->input);
        ft_writer_run(&w);
    }
    if (pid > 0)
        s->writer = pid;
    else
        /* no process could be started: the next request is tried again */
        atomic_store(&b->save.over, s->request);
}

static void drop(struct ft_save *s, int k, const char *why)
{
    if (!s->dropped[0])
        snprintf(s->dropped, sizeof s->dropped, "%s: %.300s", s->remote->cfg.host[k], why);
}

/* F10. The directory of the set is there: each host writes the images of its ranks. */
static void ask_hosts(struct ft_save *s, struct ft_board *b)
{
    unsigned char mine[b->nranks];
    struct ft_say_save what = {.request = s->request,
                               .version = s->version,
                               .number = s->number,
                               .nranks = (uint32_t)b->nranks};
    s->dropped[0] = '\0';
    for (int r = 0; r < b->nranks; r++) {
        int slot = ft_watch_carrier(b, r);
        s->at[r] = ft_board_node_of(b, slot < 0 ? 0 : slot);
    }
    for (int k = 0; k < s->remote->cfg.nhosts; k++) {
        int some = 0;
        for (int r = 0; r < b->nranks; r++)
            some += mine[r] = s->at[r] == k;
        if (!some)
            continue;
        s->waiting |= 1ull << k;
        ft_remote_save(s->remote, k, &what, mine, s->dir);
    }
}

/* What host k has answered. 0: nothing yet. */
static int hear_host(struct ft_save *s, int k)
{
    struct ft_sink *t = &s->remote->node[k].saved;
    struct ft_say_saved said;
    const char *more = t->data + sizeof said, *lost = ft_remote_lost(s->remote, k);
    size_t n = (size_t)s->self.nranks, len = t->len;
    if (lost) {
        drop(s, k, "it was lost");
        return 1;
    }
    if (len <= sizeof said)
        return 0;
    t->len = 0;
    memcpy(&said, t->data, sizeof said);
    if (said.request != s->request)
        return 0;
    if (said.failed) {
        s->out->error = said.error;
        drop(s, k, t->data[len - 1] == '\0' ? more : "?");
    } else if (len != sizeof said + n * sizeof *s->rank) {
        drop(s, k, "it has said something else than what it wrote");
    } else {
        for (size_t r = 0; r < n; r++)
            if (s->at[r] == k)
                memcpy(&s->rank[r], more + r * sizeof *s->rank, sizeof *s->rank);
        atomic_fetch_add(&s->out->bytes, said.bytes);
    }
    return 1;
}

/* When all have answered, so that nobody writes there any more, the set ends in one way or the
 * other. */
static void hear_hosts(struct ft_save *s, struct ft_board *b)
{
    for (int k = 0; k < s->remote->cfg.nhosts; k++)
        if (s->waiting >> k & 1 && hear_host(s, k))
            s->waiting &= ~(1ull << k);
    if (!s->waiting)
        start_writer(s, b, s->dropped[0] ? FT_WRITES_NOTHING : FT_WRITES_END);
}

void ft_save_step(struct ft_save *s, struct ft_board *b)
{
    struct ft_board_save *on = &b->save;
    uint64_t asked = atomic_load(&on->asked);
    if (s->dir[0] && !s->remote)
        ft_held_step(&s->held, b);
    if (s->waiting)
        hear_hosts(s, b);
    if (!s->dir[0] || ft_save_busy(s) || asked == atomic_load(&on->over) ||
        atomic_load(&on->ready) != asked)
        return;
    s->number++;
    s->request = asked;
    s->version = atomic_load(&on->version);
    s->began_ns = ft_now_ns();
    s->still_ns = s->looked_ns = 0;
    atomic_store(&s->out->bytes, 0);
    start_writer(s, b, s->remote ? FT_WRITES_BEGIN : FT_WRITES_ALL);
}

/* A set of the loaded checkpoint would be the same again. */
int ft_save_last(struct ft_save *s, struct ft_board *b)
{
    struct ft_board_save *on = &b->save;
    uint64_t newest = atomic_load(&on->committed), over = atomic_load(&on->over);
    if (!s->dir[0] || ft_save_busy(s) || newest <= s->version || (s->from.number && newest == 1))
        return ft_save_busy(s);
    atomic_store(&on->version, newest);
    atomic_store(&on->asked, over + 1); /* nobody of the job is left to ask */
    atomic_store(&on->ready, over + 1);
    ft_save_step(s, b);
    return ft_save_busy(s);
}

/* It has the lowest priority, so on a busy machine it also waits long for a processor. */
int ft_save_stands_still(struct ft_save *s, uint64_t now_ns)
{
    struct ft_proc p = {0};
    uint64_t bytes = atomic_load(&s->out->bytes);
    if (s->writer)
        (void)ft_proc_look((int)s->writer, &p);
    for (int k = 0; s->waiting && k < s->remote->cfg.nhosts; k++)
        bytes += atomic_load(&s->remote->board[k]->save.written);
    s->still_ns += s->looked_ns ? ft_min_u64(now_ns - s->looked_ns, LONGEST_LOOK_NS) : 0;
    if (bytes != s->seen_bytes || p.ticks != s->seen_ticks)
        s->still_ns = 0;
    s->seen_bytes = bytes;
    s->seen_ticks = p.ticks;
    s->looked_ns = now_ns;
    return s->still_ns > STILL_NS;
}

static void remove_begun(struct ft_save *s)
{
    char path[PATH_MAX + 40];
    ft_set_path(s->dir, s->number, 1, path, sizeof path);
    ft_remove_tree(path);
}

int ft_save_reaped(struct ft_save *s, struct ft_board *b, struct ft_report *report, pid_t pid,
                   int status, void (*say)(const char *line))
{
    if (!s->writer || pid != s->writer)
        return 0;
    s->writer = 0;
    if (s->part == FT_WRITES_BEGIN && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        ask_hosts(s, b);
        return 1;
    }
    atomic_store(&b->save.over, s->request);
    struct ft_event ev = {.t_ns = ft_now_ns(),
                          .dur_ns = ft_now_ns() - s->began_ns,
                          .kind = FT_EV_SAVED,
                          .who = FT_WHO_NONE,
                          .a = (int64_t)s->version,
                          .b = (int64_t)atomic_load(&s->out->bytes),
                          .c = s->number};
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        ev.kind = FT_EV_SAVE_FAILED;
        s->failed++;
        if (WIFSIGNALED(status)) {
            snprintf(s->out->why, sizeof s->out->why, "its writer was killed by signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
            remove_begun(s);
        }
        if (!s->out->error ||
            s->said != s->out->error) /* repeated errors are only counted in the report */
            tell(say, "checkpoint %llu was not saved: %s", (unsigned long long)s->version,
                 s->out->why);
        s->said = s->out->error;
    } else {
        s->said = 0;
        s->last_number = s->number;
        s->last_version = s->version;
    }
    if (report)
        ft_report_add(report, &ev);
    return 1;
}

void ft_save_drop(struct ft_save *s)
{
    if (ft_save_busy(s))
        remove_begun(s);
    s->writer = 0;
    s->waiting = 0;
}

void ft_save_close(struct ft_save *s)
{
    ft_held_end(&s->held);
    free(s->rank);
    free(s->at);
    s->rank = NULL;
    s->at = NULL;
    if (s->lock >= 0)
        close(s->lock);
    s->lock = -1;
    ft_manifest_finish(&s->from.m);
    s->self.rank = NULL;
    ft_manifest_finish(&s->self);
    if (s->out)
        munmap(s->out, sizeof *s->out);
    s->out = NULL;
}
