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
#include "launch/children.h"
#include "launch/identity.h"

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
    s->held = ft_sets_hold(s->dir, 1, why, sizeof why);
    if (s->held < 0) {
        tell(say, "--save %s: nothing can be saved there: %s", dir, why);
        return 0;
    }
    ft_sets_tidy(s->dir);
    s->number = ft_sets_newest(s->dir);
    return 1;
}

int ft_save_open(struct ft_save *s, const struct ft_options *o, const char *program,
                 const char *library, const struct ft_groups *groups, void (*say)(const char *line))
{
    *s = (struct ft_save){.held = -1, .every = o->save_every};
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

int ft_save_choose(struct ft_save *s, const struct ft_options *o, const char *dir,
                   void (*say)(const char *line))
{
    char full[PATH_MAX], why[300];
    int held = -1;
    ft_manifest_finish(&s->from.m);
    s->from.number = 0;
    if (!realpath(dir, full)) {
        tell(say, "--restart %s: %s", dir, strerror(errno));
        return 0;
    }
    if (strcmp(full, s->dir) != 0 && (held = ft_sets_hold(full, 0, why, sizeof why)) < 0) {
        tell(say, "--restart %s: %s", dir, why);
        return 0;
    }
    int found = ft_sets_choose(full, &s->from, say) == FT_OK;
    if (!found) {
        s->from.number = 0;
        tell(say, "--restart %s: no set there is complete", dir);
    } else if (!fits(s, o, &s->from, say)) {
        found = 0;
    }
    if (held >= 0 && s->held < 0)
        s->held = held; /* as long as the job may read there */
    return found;
}

static void drop_before(struct ft_arena_of *a)
{
    if (a->before >= 0)
        close(a->before);
    a->before = -1;
}

static void close_arenas(struct ft_save *s)
{
    for (int r = 0; s->arena && r < s->self.nranks; r++) {
        drop_before(&s->arena[r]);
        if (s->arena[r].fd >= 0)
            close(s->arena[r].fd);
    }
    free(s->arena);
    s->arena = NULL;
}

/* Keeps the memory of a rank's carrier until the next carrier has an image of its own, so that no
 * death destroys an image that is to be saved. [q' has taken q's place, has not yet rebuilt its
 * image, and all is lost.] */
static void hold_arenas(struct ft_save *s, struct ft_board *b)
{
    uint64_t committed = atomic_load(&b->save.committed);
    for (int i = 0; i < b->nslots; i++) {
        uint32_t who = atomic_load(&b->slot[i].who), r = who & 0xffffff;
        int64_t incarnation = atomic_load(&b->slot[i].incarnation);
        if (who >> 24 != FT_ROLE_RANK || r >= (uint32_t)b->nranks ||
            incarnation < s->arena[r].incarnation)
            continue;
        struct ft_arena_of *a = &s->arena[r];
        if (incarnation == a->incarnation && committed > a->committed)
            drop_before(a);
        errno = 0;
        int fd = incarnation > a->incarnation ? ft_board_open_arena(&b->slot[i], O_RDONLY) : -1;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE))
            atomic_store(&b->save.held, 1); /* never: nobody needs to wait for that */
        if (fd < 0)
            continue;
        drop_before(a);
        *a = (struct ft_arena_of){incarnation, fd, a->fd, committed};
    }
    int all = 1;
    for (int r = 0; r < b->nranks && !atomic_load(&b->save.held); r++)
        all = all && s->arena[r].fd >= 0;
    if (all)
        atomic_store(&b->save.held, 1);
}

void ft_save_begin(struct ft_save *s, struct ft_board *b)
{
    struct ft_board_save *on = &b->save;
    close_arenas(s);
    s->arena = ft_need(calloc((size_t)b->nranks, sizeof *s->arena),
                       (size_t)b->nranks * sizeof *s->arena, "the ranks' arenas");
    for (int r = 0; r < b->nranks; r++)
        s->arena[r] = (struct ft_arena_of){-1, -1, -1, 0};
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

void ft_save_step(struct ft_save *s, struct ft_board *b)
{
    struct ft_board_save *on = &b->save;
    uint64_t asked = atomic_load(&on->asked);
    if (s->dir[0])
        hold_arenas(s, b);
    if (!s->dir[0] || s->writer || asked == atomic_load(&on->over) ||
        atomic_load(&on->ready) != asked)
        return;
    int arena[2 * b->nranks];
    for (int r = 0; r < b->nranks; r++) {
        arena[2 * r] = s->arena[r].fd;
        arena[2 * r + 1] = s->arena[r].before;
    }
    struct ft_writing w = {.arena = arena,
                           .board = b,
                           .dir = s->dir,
                           .number = ++s->number,
                           .request = asked,
                           .version = atomic_load(&on->version),
                           .m = s->self,
                           .out = s->out};
    s->request = asked;
    s->version = w.version;
    s->began_ns = ft_now_ns();
    s->still_ns = s->looked_ns = 0;
    atomic_store(&s->out->bytes, 0);
    s->out->error = 0;
    snprintf(s->out->why, sizeof s->out->why, "the writer ended without a word");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        ft_writer_run(&w);
    if (pid > 0)
        s->writer = pid;
    else
        /* no process could be started: the next request is tried again */
        atomic_store(&on->over, asked);
}

/* A set of the loaded checkpoint would be the same again. */
int ft_save_last(struct ft_save *s, struct ft_board *b)
{
    struct ft_board_save *on = &b->save;
    uint64_t newest = atomic_load(&on->committed), over = atomic_load(&on->over);
    if (!s->dir[0] || s->writer || newest <= s->version || (s->from.number && newest == 1))
        return s->writer != 0;
    atomic_store(&on->version, newest);
    atomic_store(&on->asked, over + 1); /* nobody of the job is left to ask */
    atomic_store(&on->ready, over + 1);
    ft_save_step(s, b);
    return s->writer != 0;
}

/* It has the lowest priority, so on a busy machine it also waits long for a processor. */
int ft_save_stands_still(struct ft_save *s, uint64_t now_ns)
{
    struct ft_proc p = {0};
    uint64_t bytes = atomic_load(&s->out->bytes);
    (void)ft_proc_look((int)s->writer, &p);
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
    if (s->writer)
        remove_begun(s);
    s->writer = 0;
}

void ft_save_close(struct ft_save *s)
{
    close_arenas(s);
    if (s->held >= 0)
        close(s->held);
    s->held = -1;
    ft_manifest_finish(&s->from.m);
    s->self.rank = NULL;
    ft_manifest_finish(&s->self);
    if (s->out)
        munmap(s->out, sizeof *s->out);
    s->out = NULL;
}
