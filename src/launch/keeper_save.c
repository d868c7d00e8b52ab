/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper_save.c - see keeper_save.h.
 */
#define _GNU_SOURCE 1
#include "launch/keeper_save.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "launch/children.h"
#include "launch/report.h"

static void *shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return ft_need(p == MAP_FAILED ? NULL : p, bytes, "what is known of saved files");
}

void ft_keeper_save_begin(struct ft_keeper_save *s, struct ft_board *b,
                          const struct ft_keeper_input *input)
{
    *s = (struct ft_keeper_save){.b = b, .input = input};
    if (!b->save.every)
        return;
    size_t ranks = (size_t)b->nranks;
    ft_held_begin(&s->held, b->nranks);
    s->out = shared(sizeof *s->out);
    s->rank = shared(ranks * sizeof *s->rank);
    s->mine = ft_need(calloc(ranks, 1), ranks, "the ranks whose images are saved");
}

void ft_keeper_save_step(struct ft_keeper_save *s)
{
    if (s->held.arena)
        ft_held_step(&s->held, s->b);
}

void ft_keeper_save_news(struct ft_keeper_save *s, const char *data, size_t bytes)
{
    struct ft_say_saves news;
    struct ft_board_save *on = &s->b->save;
    if (bytes != sizeof news)
        return;
    memcpy(&news, data, sizeof news);
    if (news.asked >= atomic_load(&on->asked)) { /* another version of one number: theirs counts */
        atomic_store(&on->version, news.version);
        atomic_store(&on->asked, news.asked);
    }
    if (news.over > atomic_load(&on->over))
        atomic_store(&on->over, news.over);
    if (news.differs)
        atomic_store(&on->differs, 1);
}

static void tell(const struct ft_keeper_save *s, struct ft_frames *f, int failed, const void *more,
                 size_t bytes)
{
    struct ft_say_saved said = {.request = s->request,
                                .bytes = atomic_load(&s->out->bytes),
                                .failed = (uint32_t)failed,
                                .error = failed ? s->out->error : 0};
    ft_failpoint(KEEPER_SAVED);
    ft_frames_say(f, FT_SAY_SAVED, &said, sizeof said, more, bytes);
}

static void tell_why(const struct ft_keeper_save *s, struct ft_frames *f)
{
    tell(s, f, 1, s->out->why, strlen(s->out->why) + 1);
}

void ft_keeper_save(struct ft_keeper_save *s, struct ft_frames *f, const char *data, size_t bytes)
{
    struct ft_say_save what;
    size_t ranks = (size_t)s->b->nranks;
    if (!s->held.arena || s->writer || bytes <= sizeof what + ranks || data[bytes - 1] != '\0')
        return;
    memcpy(&what, data, sizeof what);
    memcpy(s->mine, data + sizeof what, ranks);
    free(s->dir);
    s->dir = strdup(data + sizeof what + ranks);
    s->request = what.request;
    atomic_store(&s->out->bytes, 0);
    s->out->error = 0;
    snprintf(s->out->why, sizeof s->out->why, "the writer ended without a word");
    ft_failpoint(KEEPER_SAVES);
    int arena[2 * ranks];
    ft_held_list(&s->held, arena);
    struct ft_writing w = {.part = FT_WRITES_FILES,
                           .board = s->b,
                           .dir = s->dir,
                           .number = what.number,
                           .request = what.request,
                           .version = what.version,
                           .arena = arena,
                           .mine = s->mine,
                           .m = {.job = s->b->save.job, .rank = s->rank},
                           .out = s->out};
    fflush(NULL);
    pid_t pid = s->dir ? fork() : -1;
    if (pid == 0) {
        ft_keeper_input_leave(s->input);
        ft_writer_run(&w);
    }
    s->writer = pid > 0 ? pid : 0;
    if (pid < 0) {
        snprintf(s->out->why, sizeof s->out->why, "no writer can be started");
        tell_why(s, f);
    }
}

void ft_keeper_save_reaped(struct ft_keeper_save *s, struct ft_frames *f, pid_t pid, int status)
{
    if (!s->writer || pid != s->writer)
        return;
    s->writer = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        tell(s, f, 0, s->rank, (size_t)s->b->nranks * sizeof *s->rank);
        return;
    }
    if (WIFSIGNALED(status))
        snprintf(s->out->why, sizeof s->out->why, "its writer was killed by %s",
                 ft_signal_name(WTERMSIG(status)));
    tell_why(s, f);
}
