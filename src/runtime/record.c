/* SPDX-License-Identifier: BSD-3-Clause
 *
 * record.c - see record.h.
 */
#include "runtime/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fds.h"
#include "recover/action_text.h"
#include "recover/mail_words.h"
#include "runtime/agent.h"

#define LINE (1024 + 17 * FT_MAIL_WORDS)

/* The file's name, with the slot for %s; without %s the slot is appended. */
static void name_file(char *out, size_t size, const char *set, int slot)
{
    const char *mark = strstr(set, "%s");
    if (mark)
        snprintf(out, size, "%.*s%d%s", (int)(mark - set), set, slot, mark + 2);
    else
        snprintf(out, size, "%s.%d", set, slot);
}

static void write_list(char *out, size_t size, const int *of, int n)
{
    size_t at = 0;
    out[0] = '-'; /* each thing is where it is by itself */
    out[1] = '\0';
    for (int i = 0; of && i < n && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%d", i ? "," : "", of[i]);
}

static void say_where(struct ft_agent *a, const struct ft_process_cfg *cfg)
{
    const struct ft_where *w = cfg->where;
    const struct ft_domains *d = w->domains;
    char nodes[5 * FT_MAX_SLOTS], groups[5 * FT_MAX_SLOTS];
    write_list(nodes, sizeof nodes, w->node_of, cfg->nslots);
    write_list(groups, sizeof groups, w->group_of, cfg->nranks + cfg->nchecksums);
    ft_record(a, 'E', "WHERE parity %d aware %d holds %d levels %d nodes %s groups %s", w->parity,
              w->aware, w->holds, d->nlevels, nodes, groups);
    for (int k = 1; k <= d->nlevels; k++) {
        const struct ft_domain_level *l = &d->level[k];
        write_list(nodes, sizeof nodes, l->parent, l->count);
        ft_record(a, 'E', "LEVEL %s %d %s", l->name, l->count, nodes);
    }
}

static void begin(struct ft_agent *a, const struct ft_process_cfg *cfg)
{
    const struct ft_carrier_cfg *c = &cfg->carrier;
    char slots[5 * FT_MAX_SLOTS], groups[5 * FT_MAX_SLOTS];
    write_list(slots, sizeof slots, cfg->slot_of, cfg->nranks + cfg->nchecksums);
    write_list(groups, sizeof groups, cfg->groups ? cfg->groups->group_of : NULL, cfg->nranks);
    ft_record(a, 'E',
              "BEGIN slot %d of %d ranks %d checksums %d parity %d logs %d snapshot %d demand %d "
              "stream %d restart %d checkpoints %d every %d mtbf %.17g silence %d local %d why_not "
              "%d domains %d slots %s groups %s exact",
              cfg->self, cfg->nslots, cfg->nranks, cfg->nchecksums, c->parity, c->logs, c->snapshot,
              c->demand, c->stream, c->restart, c->checkpoints, c->every, c->mtbf, cfg->silence,
              cfg->local, cfg->why_not, cfg->where != NULL, slots, groups);
    if (cfg->where)
        say_where(a, cfg);
}

void ft_record_begin(struct ft_agent *a, const struct ft_process_cfg *cfg)
{
    const char *set = ft_setting_str(FT_SET_AGENT_LOG);
    char path[4200], text[4400];
    a->record = -1;
    if (!*set)
        return;
    name_file(path, sizeof path, set, a->rt->self);
    a->record = ft_fd_keep(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
    if (a->record < 0) {
        int n = snprintf(text, sizeof text,
                         "ftrma: warning: %s (FTRMA_AGENT_LOG) cannot be written: %s. There will "
                         "be no record of process %d\n",
                         path, strerror(errno), a->rt->self);
        ft_print(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
        return;
    }
    begin(a, cfg);
}

void ft_record(struct ft_agent *a, char which, const char *fmt, ...)
{
    char line[LINE];
    va_list ap;
    if (a->record < 0)
        return;
    int n = snprintf(line, sizeof line, "%c %llu ", which,
                     (unsigned long long)(ft_now_ns() - a->rt->board->t0_ns));
    va_start(ap, fmt);
    n += vsnprintf(line + n, sizeof line - (size_t)n, fmt, ap);
    va_end(ap);
    size_t bytes = ft_min_u64((uint64_t)n, sizeof line - 1);
    line[bytes] = '\n';
    (void)!write(a->record, line, bytes + 1); /* a record that cannot be written ends there */
}

/* " = " and the words, in hexadecimal digits. */
static void write_words(char *out, size_t size, const uint64_t *w, int n)
{
    size_t at = (size_t)snprintf(out, size, " =");
    for (int i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, " %llx", (unsigned long long)w[i]);
}

void ft_record_data(struct ft_agent *a, const char *what, const struct ft_agree_data *d)
{
    uint64_t w[FT_MAIL_WORDS];
    char words[17 * FT_MAIL_WORDS];
    if (a->record < 0)
        return;
    write_words(words, sizeof words, w, ft_agree_data_to_words(d, a->rt->nslots, w));
    ft_record(a, 'E', "%s%s", what, words);
}

void ft_record_mail(struct ft_agent *a, char which, int slot, const void *mail)
{
    char text[FT_ACTION_TEXT], words[17 * FT_MAIL_WORDS] = "";
    uint64_t w[FT_MAIL_WORDS];
    if (a->record < 0)
        return;
    if (which == 'E') /* all that there is to hear */
        write_words(words, sizeof words, w, ft_mail_to_words(mail, a->rt->nslots, w));
    ft_mail_text(mail, slot, a->rt->nslots, text, sizeof text);
    ft_record(a, which, "%s%s", text, words);
}

void ft_record_main(struct ft_agent *a)
{
    const struct ft_main *m = &a->main;
    ft_record(a, 'E',
              "MAIN %llu %s %llu %llu %llu | %u %u %llu %llx %llu | %u %d %u %u %llx %u %llu %u %u "
              "%u",
              (unsigned long long)m->moves, ft_place_name(m->place), (unsigned long long)m->reached,
              (unsigned long long)m->passed, (unsigned long long)m->answered, m->answer.moved,
              m->answer.reason, (unsigned long long)m->answer.bytes,
              (unsigned long long)m->answer.version, (unsigned long long)m->answer.safepoint,
              m->asks, m->longest, m->cannot, m->replaying, (unsigned long long)m->taken,
              m->taken_in, (unsigned long long)m->hold, m->over, m->no_snapshot, m->lost);
}
