/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trace.c - writes the timeline as events of Chrome's trace format.
 *
 * A slot is a process of the trace, since viewers group asynchronous spans by process. Spans of one
 * thread ("X") must be disjoint or nested. A span that overlaps another of its slot is asynchronous
 * ("b" and "e" with an id). So are spans during which a process does other things as well.
 */
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "launch/json.h"
#include "launch/report.h"

struct trace_span {
    int slot;
    uint64_t from, to;        /* ns since the start of the job */
    const struct ft_event *e; /* NULL: the slot carries `who` */
    uint32_t who;
    int async;
};

struct trace {
    const struct ft_report *r;
    struct trace_span *span;
    size_t count;
    uint64_t *died, *assigned; /* by slot, ns since the start; UINT64_MAX: never */
    uint64_t end;
    int own; /* there are events of ftrun itself, which has the row after all slots */
    FILE *f;
    unsigned long ids;
    const char *comma;
};

static uint64_t since_start(const struct ft_report *r, uint64_t t)
{
    return t > r->b->t0_ns ? t - r->b->t0_ns : 0;
}

/* A death is seen later than it happens; its time is known if it was injected. */
static void find_turns(struct trace *t)
{
    const struct ft_report *r = t->r;
    for (int i = 0; i < r->b->nslots; i++) {
        const struct ft_board_slot *s = &r->b->slot[i];
        t->died[i] = s->last_failpoint ? since_start(r, s->failpoint_ns) : UINT64_MAX;
        t->assigned[i] = UINT64_MAX;
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        uint64_t at = since_start(r, e->t_ns);
        t->end = ft_max_u64(t->end, at);
        t->own |= r->ev[i].slot == r->b->nslots;
        if (e->a < 0 || e->a >= r->b->nslots)
            continue;
        if (e->kind == FT_EV_FAILED || e->kind == FT_EV_DETECTED)
            t->died[e->a] = ft_min_u64(t->died[e->a], at);
        if (e->kind == FT_EV_REPLACED)
            t->assigned[e->a] = ft_min_u64(t->assigned[e->a], at);
    }
    struct ft_event lost;
    for (int i = 0; i < r->b->nslots; i++)
        if (ft_report_lost_with_node(r, i, &lost))
            t->died[i] = ft_min_u64(t->died[i], since_start(r, lost.t_ns));
}

static void add_span(struct trace *t, struct trace_span s)
{
    if (s.to > s.from)
        t->span[t->count++] = s;
}

static uint32_t first_role(const struct ft_board_slot *s)
{
    return s->at_first == FT_WHO_NONE ? s->who : s->at_first;
}

static void add_roles(struct trace *t, int slot)
{
    const struct ft_board_slot *s = &t->r->b->slot[slot];
    uint64_t end = ft_min_u64(t->end, t->died[slot]), turn = ft_min_u64(t->assigned[slot], end);
    if (s->pid == 0)
        return;
    add_span(t, (struct trace_span){.slot = slot, .from = 0, .to = turn, .who = first_role(s)});
    add_span(t, (struct trace_span){.slot = slot, .from = turn, .to = end, .who = s->who});
}

/* An outer span comes before those that begin with it. */
static int by_slot_and_begin(const void *a, const void *b)
{
    const struct trace_span *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to < y->to) - (x->to > y->to);
}

static int never_alone(const struct trace_span *s)
{
    if (!s->e)
        return 0;
    return s->e->kind == FT_EV_EXPOSED || s->e->kind == FT_EV_CKPT_DONE ||
           s->e->kind == FT_EV_AGREED || s->e->kind == FT_EV_RESUMED || s->e->kind == FT_EV_ENTERED;
}

/* The ends of the spans that are open at the present one's begin are on a stack. */
static void nest(struct trace *t)
{
    uint64_t *open =
        ft_need(calloc(t->count + 1, sizeof *open), t->count * sizeof *open, "the trace");
    size_t depth = 0;
    qsort(t->span, t->count, sizeof *t->span, by_slot_and_begin);
    for (size_t i = 0; i < t->count; i++) {
        struct trace_span *s = &t->span[i];
        if (i > 0 && t->span[i - 1].slot != s->slot)
            depth = 0;
        while (depth > 0 && open[depth - 1] <= s->from)
            depth--;
        s->async = never_alone(s) || (depth > 0 && open[depth - 1] < s->to);
        if (!s->async)
            open[depth++] = s->to;
    }
    free(open);
}

/* pid: a slot's number plus 1, since a viewer takes 0 for the kernel. */
static cJSON *begin_item(int slot, const char *ph, const char *name)
{
    cJSON *o = ft_need(cJSON_CreateObject(), 0, "the trace");
    ft_json_literal(o, "ph", ph);
    ft_json_text(o, "name", name);
    ft_json_number(o, "pid", slot + 1);
    ft_json_number(o, "tid", 1);
    return o;
}

static cJSON *args_of(cJSON *item)
{
    return ft_need(cJSON_AddObjectToObject(item, "args"), 0, "the trace");
}

static void end_item(struct trace *t, cJSON *o)
{
    fputs(t->comma, t->f);
    t->comma = ",\n";
    ft_json_print(o, t->f);
    cJSON_Delete(o);
}

static void put_names(struct trace *t, int slot, const char *name, const char *thread)
{
    cJSON *o = begin_item(slot, "M", "process_name");
    ft_json_text(args_of(o), "name", name);
    end_item(t, o);
    o = begin_item(slot, "M", "process_sort_index");
    ft_json_number(args_of(o), "sort_index", slot);
    end_item(t, o);
    o = begin_item(slot, "M", "thread_name");
    ft_json_text(args_of(o), "name", thread);
    end_item(t, o);
}

static void put_slot_names(struct trace *t, int slot)
{
    const struct ft_board_slot *s = &t->r->b->slot[slot];
    char first[40], now[40], name[120 + FT_HOST_NAME];
    ft_who_format(first_role(s), first, sizeof first);
    ft_who_format(s->who, now, sizeof now);
    snprintf(name, sizeof name,
             t->assigned[slot] != UINT64_MAX ? "slot %d: %s, then %s" : "slot %d: %s", slot, first,
             now);
    if (t->r->b->nodes.n) /* slots are numbered node by node, and so are the rows */
        snprintf(name + strlen(name), sizeof name - strlen(name), " (%s)",
                 t->r->b->nodes.name[ft_board_node_of(t->r->b, slot)]);
    put_names(t, slot, name, "main and agent");
}

/* The line of an event without its time and name. */
static void put_what(const struct trace *t, cJSON *item, const struct ft_event *e)
{
    char line[300];
    ft_event_format(t->r->b, e, line, sizeof line);
    const char *what = strstr(line, ": ");
    ft_json_text(args_of(item), "what", what ? what + 2 : line);
}

static void put_span(struct trace *t, const struct trace_span *s)
{
    char name[40];
    if (s->e)
        snprintf(name, sizeof name, "%s", ft_event_table[s->e->kind].name);
    else
        ft_who_format(s->who, name, sizeof name);
    cJSON *o = begin_item(s->slot, s->async ? "b" : "X", name);
    ft_json_literal(o, "cat", s->e ? "event" : "role");
    ft_json_us(o, "ts", s->from);
    if (s->async)
        ft_json_number(o, "id", (double)++t->ids);
    else
        ft_json_us(o, "dur", s->to - s->from);
    if (s->e)
        put_what(t, o, s->e);
    end_item(t, o);
    if (!s->async)
        return;
    o = begin_item(s->slot, "e", name);
    ft_json_literal(o, "cat", "event");
    ft_json_us(o, "ts", s->to);
    ft_json_number(o, "id", (double)t->ids);
    end_item(t, o);
}

/* On the row of the process that the event is about. */
static void put_instant(struct trace *t, int slot, const struct ft_event *e)
{
    uint64_t at = since_start(t->r, e->t_ns);
    if (e->kind == FT_EV_FAILED || e->kind == FT_EV_REPLACED) {
        if (e->a < 0 || e->a >= t->r->b->nslots)
            return;
        slot = (int)e->a;
        uint64_t *turn = e->kind == FT_EV_FAILED ? &t->died[slot] : &t->assigned[slot];
        if (*turn == UINT64_MAX)
            return; /* another process has reported the same */
        at = *turn;
        *turn = UINT64_MAX;
    }
    cJSON *o = begin_item(slot, "i", ft_event_table[e->kind].name);
    ft_json_literal(o, "cat", "event");
    ft_json_us(o, "ts", at);
    ft_json_literal(o, "s", "p");
    put_what(t, o, e);
    end_item(t, o);
}

void ft_report_write_trace(const struct ft_report *r, FILE *f)
{
    size_t slots = (size_t)r->b->nslots, room = r->count + 2 * slots;
    struct trace t = {.r = r, .f = f, .comma = ""};
    t.span = ft_need(calloc(room, sizeof *t.span), room * sizeof *t.span, "the trace");
    t.died = ft_need(calloc(slots, sizeof *t.died), slots * sizeof *t.died, "the trace");
    t.assigned =
        ft_need(calloc(slots, sizeof *t.assigned), slots * sizeof *t.assigned, "the trace");
    find_turns(&t);
    fputs("[", f);
    for (int i = 0; i < r->b->nslots; i++) {
        put_slot_names(&t, i);
        add_roles(&t, i);
    }
    if (t.own)
        put_names(&t, r->b->nslots, "ftrun", "writer");
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        uint64_t to = since_start(r, e->t_ns);
        add_span(&t, (struct trace_span){.slot = r->ev[i].slot,
                                         .from = to - ft_min_u64(e->dur_ns, to),
                                         .to = to,
                                         .e = e});
    }
    nest(&t);
    for (size_t i = 0; i < t.count; i++)
        put_span(&t, &t.span[i]);
    for (size_t i = 0; i < r->count; i++)
        if (r->ev[i].ev.dur_ns == 0)
            put_instant(&t, r->ev[i].slot, &r->ev[i].ev);
    struct ft_event lost;
    for (int i = 0; i < r->b->nslots; i++)
        if (ft_report_lost_with_node(r, i, &lost))
            put_instant(&t, i, &lost); /* unless another process has reported it */
    fputs("]\n", f);
    free(t.span);
    free(t.died);
    free(t.assigned);
}
