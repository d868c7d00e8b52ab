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
#include "runtime/agent.h"

/* The file's name, with the slot for %s; without %s the slot follows the name. */
static void name_file(char *out, size_t size, const char *set, int slot)
{
    const char *mark = strstr(set, "%s");
    if (mark)
        snprintf(out, size, "%.*s%d%s", (int)(mark - set), set, slot, mark + 2);
    else
        snprintf(out, size, "%s.%d", set, slot);
}

void ft_record_begin(struct ft_agent *a)
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
    const struct ft_rt *rt = a->rt;
    ft_record(a, 'E',
              "BEGIN slot %d of %d ranks %d checksums %d parity %d logs %d snapshot %d demand "
              "%d stream %d restart %d",
              rt->self, rt->nslots, rt->board->nranks, rt->board->nchecksums, rt->groups.parity,
              rt->logs, rt->snapshot_alg, rt->demand, rt->stream, a->restarting);
}

void ft_record(struct ft_agent *a, char which, const char *fmt, ...)
{
    char line[1024];
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

static void write_set(char *out, size_t size, const struct ft_bitset *set, int nslots)
{
    size_t n = 0;
    out[0] = '-';
    out[1] = '\0';
    for (int i = 0; i < nslots && n < size; i++)
        if (ft_bit_get(set, i))
            n += (size_t)snprintf(out + n, size - n, "%s%d", n ? "," : "", i);
}

void ft_record_mail(struct ft_agent *a, char which, int slot, const void *mail)
{
    static const char *const order[] = {"NONE",    "PROPOSE", "TARGET", "CUT",
                                        "LEAVE",   "COMMIT",  "CANCEL", "RECOVER",
                                        "RESTORE", "RESUME",  "REJOIN", "DONE"};
    static const char *const number[] = {[FT_MAIL_PING] = "PING",
                                         [FT_MAIL_PONG] = "PONG",
                                         [FT_MAIL_DUE] = "DUE",
                                         [FT_MAIL_ROLLBACK] = "ROLLBACK",
                                         [FT_MAIL_SNAPSHOT_OFF] = "SNAPSHOT_OFF"};
    const struct ft_mail *m = mail;
    char set[400];
    if (a->record < 0)
        return;
    switch (m->kind) {
    case FT_MAIL_AGREE: {
        static const char *const kind[] = {"", "ANNOUNCE", "VOTE", "DECIDE"};
        const struct ft_agree_msg *g = &m->u.agree;
        const struct ft_agree_data *d = g->kind == FT_AGREE_VOTE ? &g->data : &g->last.data;
        write_set(set, sizeof set, &g->failed, a->rt->nslots);
        ft_record(a, which, "MAIL %d AGREE %s %u %s %llx %llu generation %u", slot, kind[g->kind],
                  g->oldest, set, (unsigned long long)d->flags, (unsigned long long)d->committed,
                  g->last.generation);
        break;
    }
    case FT_MAIL_ORDER: {
        const struct ft_order_msg *o = &m->u.order;
        const char *what = o->kind == FT_OM_MILESTONE ? "MILESTONE"
                           : o->kind == FT_OM_READY   ? "READY"
                                                      : order[o->order];
        ft_record(a, which, "MAIL %d ORDER %s %u %u %u %llu %u %llu %llu %u %u %u %u", slot, what,
                  o->generation, o->seq, o->kind == FT_OM_MILESTONE ? o->order : 0,
                  (unsigned long long)o->arg, o->flags, (unsigned long long)o->ready.max,
                  (unsigned long long)o->ready.bytes, o->ready.not_ok, o->ready.stuck,
                  o->ready.running, o->ready.no_snapshot);
        break;
    }
    case FT_MAIL_DEMAND:
        ft_record(a, which, "MAIL %d DEMAND %u %u %d %u %llx", slot, m->u.demand.kind,
                  m->u.demand.generation, m->u.demand.rank, m->u.demand.ch,
                  (unsigned long long)m->u.demand.version);
        break;
    case FT_MAIL_MARKER:
        ft_record(a, which, "MAIL %d MARKER %llx %d %u", slot,
                  (unsigned long long)m->u.marker.snapshot, m->u.marker.rank, m->u.marker.kind);
        break;
    case FT_MAIL_DUE:
    case FT_MAIL_SNAPSHOT_OFF:
        ft_record(a, which, "MAIL %d %s %llu", slot, number[m->kind],
                  (unsigned long long)m->u.number);
        break;
    default: ft_record(a, which, "MAIL %d %s", slot, number[m->kind]); break;
    }
}

void ft_record_main(struct ft_agent *a)
{
    const struct ft_main *m = &a->main, *was = &a->recorded;
    uint64_t hold = atomic_load(&a->rt->box.hold);
    if (a->record < 0)
        return;
    /* safepoints that nobody asks for are not worth a line each */
    if (m->moves == was->moves && m->answered == was->answered && !m->asks &&
        m->taken == was->taken && m->replaying == was->replaying &&
        (hold == FT_HOLD_NONE || m->reached == was->reached))
        return;
    a->recorded = *m;
    ft_record(a, 'E',
              "MAIN %llu %s %llu %llu %llu | %u %u %llu %llx %llu | %u %d %u %u %llx %u %llu",
              (unsigned long long)m->moves, ft_place_name(m->place), (unsigned long long)m->reached,
              (unsigned long long)m->passed, (unsigned long long)m->answered, m->answer.moved,
              m->answer.reason, (unsigned long long)m->answer.bytes,
              (unsigned long long)m->answer.version, (unsigned long long)m->answer.safepoint,
              m->asks, m->longest, m->cannot, m->replaying, (unsigned long long)m->taken,
              m->taken_in, (unsigned long long)hold);
}
