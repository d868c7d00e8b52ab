/* SPDX-License-Identifier: BSD-3-Clause
 *
 * report.c - collects events, and makes the report of them (ftrma-report(5)).
 */
#include "launch/report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "base/settings.h"
#include "launch/json.h"

enum ft_status ft_report_create(struct ft_board *b, struct ft_report **out)
{
    struct ft_report *r = calloc(1, sizeof *r);
    if (r)
        r->next = calloc((size_t)b->nslots, sizeof *r->next);
    if (!r || !r->next) {
        free(r);
        return FT_ERR_NOMEM;
    }
    r->b = b;
    *out = r;
    return FT_OK;
}

void ft_report_destroy(struct ft_report *r)
{
    if (!r)
        return;
    free(r->next);
    free(r->ev);
    free(r);
}

static void keep(struct ft_report *r, int slot, const struct ft_event *ev)
{
    int routine = ev->kind < FT_EV_COUNT && ft_event_table[ev->kind].routine;
    if (r->hear && ev->kind < FT_EV_COUNT)
        r->hear(r->hear_arg, ev);
    if (r->count == r->room && r->room < 2 * FT_REPORT_EVENTS) {
        size_t room = r->room ? 2 * r->room : 1024;
        struct ft_report_event *more = realloc(r->ev, room * sizeof *more);
        if (more) {
            r->ev = more;
            r->room = room;
        }
    }
    if (r->count == r->room || ev->kind >= FT_EV_COUNT ||
        (routine && r->routine == FT_REPORT_EVENTS)) {
        r->lost++;
        return;
    }
    r->routine += (size_t)routine;
    r->ev[r->count++] = (struct ft_report_event){slot, *ev};
}

void ft_report_drain(struct ft_report *r)
{
    struct ft_event ev;
    for (int i = 0; i < r->b->nslots; i++)
        while (ft_board_read_event(&r->b->slot[i], &r->next[i], &ev, &r->lost))
            keep(r, i, &ev);
}

void ft_report_add(struct ft_report *r, const struct ft_event *ev) { keep(r, r->b->nslots, ev); }

static int by_time(const void *a, const void *b)
{
    const struct ft_report_event *x = a, *y = b;
    if (x->ev.t_ns != y->ev.t_ns)
        return x->ev.t_ns < y->ev.t_ns ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

void ft_report_sort(struct ft_report *r)
{
    if (r->count)
        qsort(r->ev, r->count, sizeof *r->ev, by_time);
}

/* ---- the report ---- */

/* The time of the first event of a kind at or after t; only about that slot if slot >= 0 (FAILED
 * and DETECTED have it in a). 0: there is none. */
static uint64_t first_after(const struct ft_report *r, uint32_t kind, uint64_t t, int64_t slot)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        if (e->kind == kind && e->t_ns >= t && (slot < 0 || e->a == slot))
            return e->t_ns;
    }
    return 0;
}

/* The same for one rank: when it was live again after a local recovery. */
static uint64_t live_after(const struct ft_report *r, uint32_t who, uint64_t t)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->ev[i].ev.kind == FT_EV_LIVE && r->ev[i].ev.who == who && r->ev[i].ev.t_ns >= t)
            return r->ev[i].ev.t_ns;
    return 0;
}

const char *ft_signal_name(int sig)
{
    static const char *const names[] = {
        [SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
        [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
        [SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
        [SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM", [SIGXCPU] = "SIGXCPU",
        [SIGXFSZ] = "SIGXFSZ", [SIGSYS] = "SIGSYS",
    };
    static char text[16];
    if (sig > 0 && sig < (int)FT_COUNTOF(names) && names[sig])
        return names[sig];
    snprintf(text, sizeof text, "signal %d", sig);
    return text;
}

static void add_who(cJSON *o, uint32_t who)
{
    char text[40];
    ft_who_format(who, text, sizeof text);
    ft_json_text(o, "who", text);
}

int ft_report_death(const struct ft_board_slot *s)
{
    int how = (int)atomic_load(&s->died_of);
    return how || !s->last_failpoint ? how : SIGKILL;
}

static void add_failure(const struct ft_report *r, const struct ft_event *e, cJSON *o)
{
    const struct ft_board_slot *s = &r->b->slot[e->a];
    uint64_t killed = s->last_failpoint ? s->failpoint_ns : 0;
    uint64_t detected = first_after(r, FT_EV_DETECTED, 0, e->a);
    if (!detected || detected > e->t_ns)
        detected = e->t_ns; /* a failure is known only when a process has seen it */
    uint64_t from = killed ? killed : detected;
    int sig = ft_report_death(s) & ~FT_CORE_DUMPED;
    add_who(o, e->who);
    ft_json_number(o, "slot", (double)e->a);
    ft_json_text(o, "node",
                 r->b->nodes.n ? r->b->nodes.name[ft_board_node_of(r->b, (int)e->a)] : "");
    ft_json_number(o, "pid", (double)e->b);
    ft_json_text(
        o, "failpoint",
        killed && s->last_failpoint <= FT_FP_COUNT ? ft_fp_table[s->last_failpoint - 1].name : "");
    ft_json_text(o, "signal", sig ? ft_signal_name(sig) : "");
    ft_json_span(o, "when_us", r->b->t0_ns, from);
    ft_json_span(o, "detected_us", from, killed ? detected : 0);
    ft_json_span(o, "agreed_us", from, first_after(r, FT_EV_AGREED, detected, -1));
    uint64_t resumed = first_after(r, FT_EV_RESUMED, detected, -1),
             entered = first_after(r, FT_EV_ENTERED, detected, -1),
             live = live_after(r, e->who, detected);
    if (entered && (!resumed || entered < resumed))
        resumed = entered;
    ft_json_span(o, "resumed_us", from, live && (!resumed || live < resumed) ? live : resumed);
}

int ft_report_injected(const struct ft_board *b, int entry)
{
    uint64_t all = b->save.injected | b->nodes.injected;
    for (int i = 0; i < b->nslots; i++)
        all |= b->slot[i].injected;
    return (all & FT_FP_ENTRY(entry)) != 0;
}

static void add_injections(const struct ft_report *r, cJSON *o)
{
    const char *spec = ft_setting_str(FT_SET_INJECT), *entry;
    cJSON *all = ft_json_array(o, "injections");
    int len;
    for (int n = 0; (entry = ft_fp_entry(spec, n, &len)); n++) {
        char text[300];
        cJSON *one = ft_json_object(all);
        snprintf(text, sizeof text, "%.*s", len, entry);
        ft_json_text(one, "inject", text);
        ft_json_flag(one, "fired", ft_report_injected(r->b, n));
    }
}

int ft_report_lost_with_node(const struct ft_report *r, int slot, struct ft_event *e)
{
    const struct ft_board_nodes *n = &r->b->nodes;
    const struct ft_board_slot *s = &r->b->slot[slot];
    uint64_t out = atomic_load(&n->out);
    int k = out ? ft_board_node_of(r->b, slot) : 0;
    if (!(out >> k & 1) || atomic_load(&s->phase) == FT_PHASE_EXITED)
        return 0;
    *e = (struct ft_event){.kind = FT_EV_FAILED,
                           .t_ns = n->out_ns[k],
                           .who = atomic_load(&s->who),
                           .a = slot,
                           .b = atomic_load(&s->pid)};
    return 1;
}

/* The processes of nodes that were lost up to t. */
static void add_of_nodes(const struct ft_report *r, struct ft_bitset *seen, uint64_t t, cJSON *all)
{
    struct ft_event e;
    for (int i = 0; i < r->b->nslots; i++) {
        if (ft_bit_get(seen, i) || !ft_report_lost_with_node(r, i, &e) || e.t_ns > t)
            continue;
        ft_bit_set(seen, i);
        add_failure(r, &e, ft_json_object(all));
    }
}

static void add_failures(const struct ft_report *r, cJSON *o)
{
    struct ft_bitset seen = {0}; /* several processes may report the same */
    cJSON *all = ft_json_array(o, "failures");
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        if (e->kind == FT_EV_FAILED)
            add_of_nodes(r, &seen, e->t_ns, all);
        if (e->kind != FT_EV_FAILED || e->a < 0 || e->a >= r->b->nslots ||
            ft_bit_get(&seen, (int)e->a))
            continue;
        ft_bit_set(&seen, (int)e->a);
        add_failure(r, e, ft_json_object(all));
    }
    add_of_nodes(r, &seen, UINT64_MAX, all);
}

/* What is known of one checkpoint: the slowest process in each step. */
struct ckpt {
    int64_t version, bytes;
    uint64_t copy, parity, pause, held, total;
    int done;
};

static int by_version(const void *a, const void *b)
{
    int64_t x = ((const struct ckpt *)a)->version, y = ((const struct ckpt *)b)->version;
    return (x > y) - (x < y);
}

static struct ckpt as_ckpt(const struct ft_event *e)
{
    switch (e->kind) {
    case FT_EV_CKPT_COPY: return (struct ckpt){.version = e->b, .copy = e->dur_ns};
    case FT_EV_CKPT_PARITY: return (struct ckpt){.version = e->b, .parity = e->dur_ns};
    case FT_EV_CKPT_PAUSE: return (struct ckpt){.version = e->a, .pause = e->dur_ns};
    case FT_EV_SNAPSHOT_HELD: return (struct ckpt){.version = e->a, .held = e->dur_ns};
    case FT_EV_CKPT_DONE:
        return (struct ckpt){.version = e->a, .bytes = e->b, .total = e->dur_ns, .done = 1};
    default: return (struct ckpt){.version = -1};
    }
}

/* Makes an entry for each event, sorts by version, merges equal versions; returns how many there
 * are. */
static size_t collect_ckpts(const struct ft_report *r, struct ckpt *c)
{
    size_t n = 0, m = 0;
    for (size_t i = 0; i < r->count; i++) {
        c[n] = as_ckpt(&r->ev[i].ev);
        n += c[n].version >= 0;
    }
    if (n)
        qsort(c, n, sizeof *c, by_version);
    for (size_t i = 0; i < n; i++) {
        if (m == 0 || c[m - 1].version != c[i].version) {
            c[m++] = c[i];
            continue;
        }
        struct ckpt *to = &c[m - 1];
        to->bytes = c[i].done ? c[i].bytes : to->bytes;
        to->done |= c[i].done;
        to->copy = ft_max_u64(to->copy, c[i].copy);
        to->parity = ft_max_u64(to->parity, c[i].parity);
        to->pause = ft_max_u64(to->pause, c[i].pause);
        to->held = ft_max_u64(to->held, c[i].held);
        to->total = ft_max_u64(to->total, c[i].total);
    }
    return m;
}

static void add_checkpoints(const struct ft_report *r, cJSON *o)
{
    struct ckpt *c = ft_need(calloc(r->count + 1, sizeof *c), r->count * sizeof *c, "the report");
    size_t n = collect_ckpts(r, c);
    cJSON *all = ft_json_array(o, "checkpoints");
    for (size_t i = 0; i < n; i++) {
        if (!c[i].done)
            continue;
        cJSON *one = ft_json_object(all);
        ft_json_number(one, "version", (double)c[i].version);
        ft_json_number(one, "bytes", (double)c[i].bytes);
        ft_json_us(one, "copy_us", c[i].copy);
        ft_json_us(one, "parity_us", c[i].parity);
        ft_json_us(one, "pause_us", c[i].pause);
        ft_json_us(one, "held_us", c[i].held);
        ft_json_us(one, "total_us", c[i].total);
    }
    free(c);
}

/* The events of one recovery of one rank: from its LOCAL on, up to the rank's next. */
static void add_local(const struct ft_report *r, size_t i, cJSON *o)
{
    const struct ft_event *local = &r->ev[i].ev, *restored = NULL, *live = NULL;
    for (size_t k = i + 1; k < r->count && !live; k++) {
        const struct ft_event *e = &r->ev[k].ev;
        if (e->who != local->who)
            continue;
        if (e->kind == FT_EV_LOCAL)
            break;
        if (e->kind == FT_EV_RESTORED && !restored)
            restored = e;
        if (e->kind == FT_EV_LIVE)
            live = e;
    }
    ft_json_number(o, "rank", local->who & 0xffffff);
    ft_json_number(o, "checkpoint", (double)local->a);
    ft_json_span(o, "restore_us", 0, restored ? restored->dur_ns : 0);
    ft_json_span(o, "replay_us", 0, live ? live->dur_ns : 0);
    ft_json_span(o, "live_us", local->t_ns, live ? live->t_ns : 0);
    ft_json_number(o, "records_fetched", live ? (double)live->a : 0);
    ft_json_number(o, "records_replayed", live ? (double)live->b : 0);
    ft_json_number(o, "bytes", live ? (double)live->c : 0);
}

static size_t count_kind(const struct ft_report *r, uint32_t kind)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->ev[i].ev.kind == kind;
    return n;
}

/* Images that were taken alone: the number of committed ones, and their total cost. */
static void add_demand(const struct ft_report *r, cJSON *o)
{
    double bytes = 0;
    uint64_t ns = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->ev[i].ev.kind == FT_EV_DEMAND_COPY) {
            bytes += (double)r->ev[i].ev.a;
            ns += r->ev[i].ev.dur_ns;
        }
    ft_json_number(o, "snapshots_called_off", (double)count_kind(r, FT_EV_SNAPSHOT_OFF));
    ft_json_number(o, "barriers_instead", (double)count_kind(r, FT_EV_SNAPSHOT_BARRIER));
    ft_json_number(o, "demand_checkpoints", (double)count_kind(r, FT_EV_DEMAND));
    ft_json_number(o, "demand_bytes", bytes);
    ft_json_us(o, "demand_us", ns);
}

/* Sets: those that were written, and those that were not. */
static void add_saves(const struct ft_report *r, cJSON *o)
{
    cJSON *all = ft_json_array(o, "saves");
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        if (e->kind != FT_EV_SAVED)
            continue;
        cJSON *one = ft_json_object(all);
        ft_json_number(one, "set", (double)e->c);
        ft_json_number(one, "checkpoint", (double)e->a);
        ft_json_number(one, "bytes", (double)e->b);
        ft_json_us(one, "write_us", e->dur_ns);
        ft_json_number(one, "bytes_per_s",
                       e->dur_ns ? (double)e->b / ((double)e->dur_ns * 1e-9) : 0);
    }
    ft_json_number(o, "saves_passed_over", (double)count_kind(r, FT_EV_SAVE_PASSED));
    ft_json_number(o, "saves_failed", (double)count_kind(r, FT_EV_SAVE_FAILED));
    ft_json_number(o, "restarts", (double)r->restarts);
    ft_json_text(o, "restarted_from", r->b->save.from);
}

static void add_recoveries(const struct ft_report *r, cJSON *o)
{
    ft_json_number(o, "rollbacks", (double)r->b->rollbacks);
    ft_json_number(o, "told_recoveries", (double)count_kind(r, FT_EV_ENTERED));
    ft_json_number(o, "local_recoveries", (double)count_kind(r, FT_EV_LIVE));
    cJSON *reasons = ft_json_array(o, "rollback_reasons"), *all = ft_json_array(o, "recoveries");
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        if (e->kind == FT_EV_FALLBACK) {
            cJSON *one = ft_json_object(reasons);
            ft_json_text(one, "why", ft_fallback_string((int)e->a));
            ft_json_span(one, "when_us", r->b->t0_ns, e->t_ns);
        }
        if (e->kind == FT_EV_LOCAL)
            add_local(r, i, ft_json_object(all));
    }
}

/* Summed over all carriers of the rank, also lost ones: what a slot carries it carries to its
 * end. */
static unsigned long long safepoints_of(const struct ft_board *b, int rank)
{
    unsigned long long sum = 0;
    for (int i = 0; i < b->nslots; i++)
        if (b->slot[i].who == FT_WHO(FT_ROLE_RANK, rank))
            sum += b->slot[i].safepoints;
    return sum;
}

/* For how long a rank's logs were incomplete, until a checkpoint covered it again. */
static uint64_t exposed_of(const struct ft_report *r, int rank)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->ev[i].ev.kind == FT_EV_EXPOSED && r->ev[i].ev.who == FT_WHO(FT_ROLE_RANK, rank))
            ns += r->ev[i].ev.dur_ns;
    return ns;
}

/* Memory that changes in body and is not protected. */
static void add_notes(const struct ft_report *r, cJSON *o)
{
    cJSON *all = ft_json_array(o, "unprotected");
    for (int i = 0; i < r->b->nslots; i++) {
        const struct ft_board_slot *s = &r->b->slot[i];
        uint32_t n = atomic_load_explicit(&s->notes, memory_order_acquire);
        for (uint32_t k = 0; k < n && k < FT_NOTES; k++) {
            cJSON *one = ft_json_object(all);
            ft_json_number(one, "rank", s->who & 0xffffff);
            ft_json_text(one, "what", s->note[k].what);
            ft_json_text(one, "args", s->note[k].args);
            ft_json_number(one, "address", (double)s->note[k].at);
        }
    }
}

static void add_memory(const struct ft_report *r, int rank, cJSON *o)
{
    static const struct ft_board_slot nobody;
    int i = ft_watch_carrier(r->b, rank);
    const struct ft_board_slot *s = i < 0 ? &nobody : &r->b->slot[i];
    ft_json_number(o, "rank", rank);
    ft_json_number(o, "beyond_bytes", (double)s->mem_bytes);
    ft_json_number(o, "log_limit_bytes", (double)s->log_limit);
    ft_json_number(o, "protected_bytes", (double)s->protected_bytes);
    /* The cost of looking for memory that was not protected: processor time, bytes, and bytes for
     * which there was no time. */
    ft_json_us(o, "check_us", s->check_ns);
    ft_json_number(o, "check_bytes", (double)s->check_bytes);
    ft_json_number(o, "check_left_bytes", (double)s->check_left);
}

static void add_ranks(const struct ft_report *r, cJSON *o)
{
    cJSON *memory = ft_json_array(o, "memory"), *safepoints = ft_json_array(o, "safepoints"),
          *exposed = ft_json_array(o, "exposed_us");
    for (int rank = 0; rank < r->b->nranks; rank++) {
        add_memory(r, rank, ft_json_object(memory));
        cJSON_AddItemToArray(safepoints, cJSON_CreateNumber((double)safepoints_of(r->b, rank)));
        cJSON_AddItemToArray(exposed, cJSON_CreateNumber((double)exposed_of(r, rank) / 1000));
    }
}

/* ---- what was run, and where ---- */

/* Settings of the job, except for those that ftrun and the library set for each other. */
static void add_settings(cJSON *o)
{
    cJSON *all = ft_need(cJSON_AddObjectToObject(o, "settings"), 0, "the report");
    for (int i = 0; i < FT_SET_COUNT; i++)
        if (strncmp(ft_settings_table[i].doc, "internal", 8) != 0)
            ft_json_text(all, ft_settings_table[i].env, ft_setting_str((enum ft_setting_id)i));
}

/* The hosts of all processes, each name once, in the order of the slots. */
static void add_hosts(const struct ft_report *r, cJSON *o)
{
    cJSON *all = ft_json_array(o, "hosts"), *e;
    char here[256] = "";
    gethostname(here, sizeof here - 1);
    for (int i = 0; i < r->b->nslots; i++) {
        const struct ft_board_slot *s = &r->b->slot[i];
        cJSON *name = ft_json_string(
            atomic_load_explicit(&s->node_known, memory_order_acquire) ? s->node : here);
        int known = 0;
        cJSON_ArrayForEach(e, all) known |= strcmp(e->valuestring, name->valuestring) == 0;
        if (known)
            cJSON_Delete(name);
        else
            cJSON_AddItemToArray(all, name);
    }
}

/* Of a job on several nodes. */
static void add_nodes(const struct ft_report *r, cJSON *o)
{
    const struct ft_board_nodes *n = &r->b->nodes;
    uint64_t out = atomic_load(&n->out);
    ft_json_number(o, "node_losses", __builtin_popcountll(out));
    cJSON *all = ft_json_array(o, "nodes");
    for (int k = 0; k < n->n; k++) {
        cJSON *node = ft_json_object(all);
        ft_json_text(node, "name", n->name[k]);
        ft_json_number(node, "first_slot", ft_board_node_from(r->b, k));
        ft_json_number(node, "slots", n->end[k] - ft_board_node_from(r->b, k));
        ft_json_flag(node, "lost", (int)(out >> k & 1));
        ft_json_us(node, "lost_us", out >> k & 1 ? n->out_ns[k] - r->b->t0_ns : 0);
    }
}

/* What the gateway of each node has sent to each other one. */
static void add_links(const struct ft_report *r, cJSON *o)
{
    const struct ft_board_nodes *n = &r->b->nodes;
    cJSON *all = ft_json_array(o, "links");
    for (int from = 0; from < n->n; from++)
        for (int to = 0; to < n->n; to++) {
            if (from == to || !r->on[from])
                continue;
            const struct ft_link_counts *c = &r->on[from]->link[to];
            cJSON *link = ft_json_object(all);
            ft_json_text(link, "from", n->name[from]);
            ft_json_text(link, "to", n->name[to]);
            ft_json_number(link, "frames", (double)atomic_load(&c->frames));
            for (int k = 0; k < FT_LINK_KINDS; k++) {
                cJSON *of =
                    ft_need(cJSON_AddObjectToObject(link, ft_link_names[k]), 0, "the report");
                ft_json_number(of, "items", (double)atomic_load(&c->of[k].items));
                ft_json_number(of, "bytes", (double)atomic_load(&c->of[k].bytes));
            }
            cJSON *timed = ft_need(cJSON_AddObjectToObject(link, "timed"), 0, "the report");
            ft_json_number(timed, "accesses", (double)atomic_load(&c->timed));
            for (int k = 0; k < FT_LINK_STAGES; k++)
                ft_json_number(timed, ft_link_stage_names[k], (double)atomic_load(&c->stage_ns[k]));
        }
}

void ft_report_write_links(const struct ft_report *r, FILE *f)
{
    const struct ft_board_nodes *n = &r->b->nodes;
    for (int from = 0; from < n->n; from++)
        for (int to = 0; to < n->n; to++) {
            if (from == to || !r->on[from])
                continue;
            const struct ft_link_counts *c = &r->on[from]->link[to];
            fprintf(f, "[ftrma] %s to %s: %llu frames", n->name[from], n->name[to],
                    (unsigned long long)atomic_load(&c->frames));
            for (int k = 0; k < FT_LINK_KINDS; k++)
                fprintf(f, "; %s: %llu, %llu bytes", ft_link_names[k],
                        (unsigned long long)atomic_load(&c->of[k].items),
                        (unsigned long long)atomic_load(&c->of[k].bytes));
            fputc('\n', f);
        }
}

/* The board's clock knows no date. */
static void add_times(const struct ft_report *r, cJSON *o)
{
    struct timespec now;
    struct tm tm;
    char text[60];
    uint64_t elapsed = ft_now_ns() - r->b->t0_ns;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t began = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - elapsed;
    time_t second = (time_t)(began / 1000000000);
    size_t n = gmtime_r(&second, &tm) ? strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm) : 0;
    snprintf(text + n, sizeof text - n, ".%03dZ", (int)(began / 1000000 % 1000));
    ft_json_text(o, "started", text);
    ft_json_us(o, "elapsed_us", elapsed);
}

static void add_run(const struct ft_report *r, cJSON *o)
{
    ft_json_number(o, "ranks", r->b->nranks);
    ft_json_number(o, "checksums", r->b->nchecksums);
    ft_json_number(o, "spares", r->b->nspares);
    add_times(r, o);
    add_hosts(r, o);
    add_nodes(r, o);
    add_links(r, o);
    cJSON *command = ft_json_array(o, "command");
    for (char **a = r->command; a && *a; a++)
        cJSON_AddItemToArray(command, ft_json_string(*a));
    add_settings(o);
}

/* Prints a line for each key, and for each element of an array of objects. */
static void print(const cJSON *o, FILE *f)
{
    const cJSON *e, *k;
    cJSON_ArrayForEach(e, o)
    {
        fprintf(f, "%s\"%s\":", e == o->child ? "{" : ",\n ", e->string);
        if (!cJSON_IsArray(e) || !cJSON_IsObject(e->child)) {
            ft_json_print(e, f);
            continue;
        }
        cJSON_ArrayForEach(k, e)
        {
            fputs(k == e->child ? "[" : ",\n  ", f);
            ft_json_print(k, f);
        }
        fputs("]", f);
    }
    fputs("}\n", f);
}

void ft_report_write(const struct ft_report *r, const struct ft_verdict *v, FILE *f)
{
    cJSON *o = ft_need(cJSON_CreateObject(), 0, "the report");
    ft_json_number(o, "schema", FT_REPORT_SCHEMA);
    ft_json_text(o, "ftrma", FTRMA_VERSION);
    ft_json_text(o, "result", v->result);
    ft_json_number(o, "status", v->status);
    ft_json_text(o, "message", v->message);
    ft_json_text(o, "reason", ft_reason_table[v->reason].name);
    add_run(r, o);
    add_failures(r, o);
    add_injections(r, o);
    add_checkpoints(r, o);
    add_demand(r, o);
    add_saves(r, o);
    add_recoveries(r, o);
    add_ranks(r, o);
    add_notes(r, o);
    ft_json_number(o, "events_lost", (double)r->lost);
    print(o, f);
    cJSON_Delete(o);
}
