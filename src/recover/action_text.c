/* SPDX-License-Identifier: BSD-3-Clause
 *
 * action_text.c - see action_text.h.
 */
#include "recover/action_text.h"

#include <stdio.h>

typedef unsigned long long ull;

static void set_text(const struct ft_bitset *set, int nslots, char *out, size_t size)
{
    size_t n = 0;
    snprintf(out, size, "-");
    for (int i = 0; i < nslots && n < size; i++)
        if (ft_bit_get(set, i))
            n += (size_t)snprintf(out + n, size - n, "%s%d", n ? "," : "", i);
}

static int agree_text(const struct ft_agree_msg *g, int slot, int nslots, char *out, int size)
{
    static const char *const kind[] = {"", "ANNOUNCE", "VOTE", "DECIDE"};
    const struct ft_agree_data *d = g->kind == FT_AGREE_VOTE ? &g->data : &g->last.data;
    char set[400];
    set_text(&g->failed, nslots, set, sizeof set);
    return snprintf(out, (size_t)size, "MAIL %d AGREE %s %u %s %llx %llu generation %u", slot,
                    kind[g->kind & 3], g->oldest, set, (ull)d->flags, (ull)d->committed,
                    g->last.generation);
}

static int order_text(const struct ft_order_msg *o, int slot, char *out, int size)
{
    static const char *const order[] = {"NONE",    "PROPOSE", "TARGET", "CUT",
                                        "LEAVE",   "COMMIT",  "CANCEL", "RECOVER",
                                        "RESTORE", "RESUME",  "REJOIN", "DONE"};
    const char *what = o->kind == FT_OM_MILESTONE             ? "MILESTONE"
                       : o->kind == FT_OM_READY               ? "READY"
                       : (size_t)o->order < FT_COUNTOF(order) ? order[o->order]
                                                              : "?";
    return snprintf(out, (size_t)size, "MAIL %d ORDER %s %u %u %u %llu %u %llu %llu %u %u %u %u",
                    slot, what, o->generation, o->seq, o->kind == FT_OM_MILESTONE ? o->order : 0,
                    (ull)o->arg, o->flags, (ull)o->ready.max, (ull)o->ready.bytes, o->ready.not_ok,
                    o->ready.came, o->ready.running, o->ready.no_snapshot);
}

int ft_mail_text(const struct ft_mail *m, int slot, int nslots, char *out, int size)
{
    const struct ft_demand_msg *d = &m->u.demand;
    switch (m->kind) {
    case FT_MAIL_AGREE: return agree_text(&m->u.agree, slot, nslots, out, size);
    case FT_MAIL_ORDER: return order_text(&m->u.order, slot, out, size);
    case FT_MAIL_DEMAND:
        return snprintf(out, (size_t)size, "MAIL %d DEMAND %u %u %d %u %llx", slot, d->kind,
                        d->generation, d->rank, d->ch, (ull)d->version);
    case FT_MAIL_MARKER:
        return snprintf(out, (size_t)size, "MAIL %d MARKER %llx %d %u", slot, (ull)m->u.marker.snapshot,
                        m->u.marker.rank, m->u.marker.kind);
    case FT_MAIL_DUE:
    case FT_MAIL_ASKS_LEFT:
    case FT_MAIL_SNAPSHOT_OFF:
        return snprintf(out, (size_t)size, "MAIL %d %s %llu", slot,
                        m->kind == FT_MAIL_DUE         ? "DUE"
                        : m->kind == FT_MAIL_ASKS_LEFT ? "ASKS_LEFT"
                                                       : "SNAPSHOT_OFF",
                        (ull)m->u.number);
    case FT_MAIL_LEFT:
        return snprintf(out, (size_t)size, "MAIL %d LEFT %d %llu", slot, m->u.left.slot,
                        (ull)m->u.left.calls);
    default:
        return snprintf(out, (size_t)size, "MAIL %d %s", slot,
                        m->kind == FT_MAIL_PING       ? "PING"
                        : m->kind == FT_MAIL_PONG     ? "PONG"
                        : m->kind == FT_MAIL_ROLLBACK ? "ROLLBACK"
                                                      : "?");
    }
}

int ft_command_text(enum ft_command c, uint64_t number, const struct ft_command_arg *arg, char *out,
                    int size)
{
    return snprintf(out, (size_t)size, "COMMAND %s %llu %llx %llx %u %u %d %u %u %u%s",
                    ft_command_name(c), (ull)number, (ull)arg->version, (ull)arg->snapshot,
                    arg->generation, arg->era, arg->rank, arg->alone, arg->aside, arg->why,
                    arg->head                    ? " HEAD"
                    : arg->told == FT_TOLD_NEW   ? " NEW"
                    : arg->told == FT_TOLD_KEEPS ? " KEEPS"
                                                 : "");
}

static int publish_text(const struct ft_action *a, char *out, size_t size)
{
    static const char *const word[] = {[FT_WORD_REJOINED] = "REJOINED",
                                       [FT_WORD_LIVE] = "LIVE",
                                       [FT_WORD_LATEST] = "LATEST",
                                       [FT_WORD_GIVEN_UP] = "GIVEN_UP",
                                       [FT_WORD_SNAPSHOT_ENTERED] = "ENTERED",
                                       [FT_WORD_COMMITTED] = "COMMITTED",
                                       [FT_WORD_COMPLETE] = "COMPLETE",
                                       [FT_WORD_GENERATION] = "GENERATION",
                                       [FT_WORD_REPLAYING] = "REPLAYING",
                                       [FT_WORD_FLAGS] = "FLAGS"};
    const char *fmt = a->word == FT_WORD_LATEST || a->word == FT_WORD_GIVEN_UP ||
                              a->word == FT_WORD_SNAPSHOT_ENTERED
                          ? "PUBLISH %s %llx"
                          : "PUBLISH %s %llu";
    return snprintf(out, size, fmt, word[a->word], (ull)a->value);
}

int ft_action_text(const struct ft_process_actions *step, int i, int nslots, char *out, int size)
{
    const struct ft_action *a = &step->act.a[i];
    const char *name = ft_do_name(a->kind);
    size_t n = (size_t)size;
    switch (a->kind) {
    case FT_DO_MAIL: return ft_mail_text(&step->mail[a->mail], a->to, nslots, out, size);
    case FT_DO_COMMAND: return ft_command_text(a->command, a->number, &a->arg, out, size);
    case FT_DO_PUBLISH: return publish_text(a, out, n);
    case FT_DO_HOLD:
    case FT_DO_WISH:
    case FT_DO_ATTENTION: return snprintf(out, n, "%s %llu", name, (ull)a->value);
    case FT_DO_MEMBER: return snprintf(out, n, "%s %d %llx", name, a->to, (ull)a->value);
    case FT_DO_GATE: return snprintf(out, n, "%s %llx", name, (ull)a->value);
    case FT_DO_TOOK:
    case FT_DO_JOB_DONE: return snprintf(out, n, "%s", name);
    case FT_DO_REPAIR:
        return snprintf(out, n, "%s %d", name, ft_bitset_count(&step->decision.failed));
    case FT_DO_INHERIT: return snprintf(out, n, "%s %d", name, step->left.slot);
    case FT_DO_SAY_LEFT: return snprintf(out, n, "%s %d %llu", name, a->to, (ull)a->value);
    case FT_DO_BIND: return snprintf(out, n, "%s %u", name, step->decision.generation);
    case FT_DO_WATCH:
    case FT_DO_KILL: return snprintf(out, n, "%s %d", name, a->to);
    case FT_DO_EVENT:
        return snprintf(out, n, "%s %u %x %lld %lld 0", name, a->event, a->who, (long long)a->a,
                        (long long)a->b);
    case FT_DO_LOST: return snprintf(out, n, "%s %d", name, (int)step->plan.reason);
    default: return 0;
    }
}

const char *ft_do_name(enum ft_do kind)
{
    static const char *const name[] = {
        "NOTHING", "MAIL", "COMMAND", "HOLD", "WISH", "TOOK", "ATTENTION", "AWAIT", "PUBLISH",
        "SAY_TAGS", "MEMBER", "GATE", "STILL_THERE", "FORGET", "WITNESS", "REPAIR", "BIND",
        "INHERIT", "SAY_LEFT", "WATCH", "KILL", "EVENT", "SAY", "SAVE", "GONE_ON", "JOB_DONE",
        "LOST", "READY", "STUCK", "ROOT", "MARKER", "DEMAND", "SNAPSHOT"};
    return (size_t)kind < FT_COUNTOF(name) ? name[kind] : "?";
}

const char *ft_process_event_name(enum ft_process_event_kind kind)
{
    static const char *const name[] = {"?",    "MAIN",     "MAIL",      "EXITED", "ALIVE", "TICK",
                                       "TIME", "JOB_OVER", "WITNESSED", "SEEN",   "FAILED"};
    return (size_t)kind < FT_COUNTOF(name) ? name[kind] : "?";
}
