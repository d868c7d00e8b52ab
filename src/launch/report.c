/* SPDX-License-Identifier: BSD-3-Clause
 *
 * report.c - the JSON report and the timeline.
 */
#include "launch/report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/settings.h"

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
    if (r->count == r->room || ev->kind >= FT_EV_COUNT || (routine && r->routine == FT_REPORT_EVENTS)) {
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

void ft_report_add(struct ft_report *r, const struct ft_event *ev) { keep(r, 0, ev); }

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

/* ---- JSON ---- */

static void put_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f) /* messages are ASCII; whatever else comes must not break the file */
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

/* Nanoseconds as microseconds with three decimals. */
static void put_us(FILE *f, uint64_t ns)
{
    fprintf(f, "%llu.%03llu", (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
}

static void put_us_since(FILE *f, uint64_t t, uint64_t since)
{
    put_us(f, t > since ? t - since : 0);
}

/* "key":microseconds from since to t, or null when t never came. */
static void put_span(FILE *f, const char *key, uint64_t since, uint64_t t)
{
    fprintf(f, ",\"%s\":", key);
    if (t)
        put_us_since(f, t, since);
    else
        fputs("null", f);
}

/* The time of the first event of a kind at or after t, about that slot only if slot >= 0 (FAILED and DETECTED name it in a); 0:
 * none. */
static uint64_t first_after(const struct ft_report *r, uint32_t kind, uint64_t t, int64_t slot)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        if (e->kind == kind && e->t_ns >= t && (slot < 0 || e->a == slot))
            return e->t_ns;
    }
    return 0;
}

/* The same of one rank: when it was live again after a local recovery. */
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
        [SIGHUP] = "SIGHUP", [SIGINT] = "SIGINT", [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
        [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS", [SIGFPE] = "SIGFPE",
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

static void put_failure(const struct ft_report *r, const struct ft_event *e, FILE *f)
{
    const struct ft_board_slot *s = &r->b->slot[e->a];
    uint64_t killed = s->last_failpoint ? s->failpoint_ns : 0;
    uint64_t detected = first_after(r, FT_EV_DETECTED, 0, e->a);
    if (!detected || detected > e->t_ns)
        detected = e->t_ns; /* nobody can say that it failed before somebody saw it */
    uint64_t from = killed ? killed : detected;
    char who[40];
    ft_who_format(e->who, who, sizeof who);
    fprintf(f, "{\"who\":\"%s\",\"slot\":%lld,\"failpoint\":", who, (long long)e->a);
    put_string(f, killed && s->last_failpoint <= FT_FP_COUNT ? ft_fp_table[s->last_failpoint - 1].name : "");
    int sig = (int)s->died_of & ~FT_CORE_DUMPED;
    fprintf(f, ",\"signal\":\"%s\",\"when_us\":", sig ? ft_signal_name(sig) : "");
    put_us_since(f, from, r->b->t0_ns);
    put_span(f, "detected_us", from, killed ? detected : 0);
    put_span(f, "agreed_us", from, first_after(r, FT_EV_AGREED, detected, -1));
    uint64_t resumed = first_after(r, FT_EV_RESUMED, detected, -1), live = live_after(r, e->who, detected);
    put_span(f, "resumed_us", from, live && (!resumed || live < resumed) ? live : resumed);
    fputc('}', f);
}

int ft_report_injected(const struct ft_board *b, int entry)
{
    uint64_t all = b->save.injected;
    for (int i = 0; i < b->nslots; i++)
        all |= b->slot[i].injected;
    return (all & FT_FP_ENTRY(entry)) != 0;
}

static void put_injections(const struct ft_report *r, FILE *f)
{
    const char *spec = ft_setting_str(FT_SET_INJECT), *entry;
    int len;
    fputs("\"injections\":[", f);
    for (int n = 0; (entry = ft_fp_entry(spec, n, &len)); n++) /* it was checked: nothing in it asks for quoting */
        fprintf(f, "%s{\"inject\":\"%.*s\",\"fired\":%s}", n ? "," : "", len, entry,
                ft_report_injected(r->b, n) ? "true" : "false");
    fputs("]", f);
}

static void put_failures(const struct ft_report *r, FILE *f)
{
    struct ft_bitset seen = {0}; /* several processes may say the same */
    const char *comma = "";
    fputs("\"failures\":[", f);
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        if (e->kind != FT_EV_FAILED || e->a < 0 || e->a >= r->b->nslots || ft_bit_get(&seen, (int)e->a))
            continue;
        ft_bit_set(&seen, (int)e->a);
        fputs(comma, f);
        put_failure(r, e, f);
        comma = ",";
    }
    fputs("]", f);
}

/* What is known of one checkpoint: of each step the slowest process. */
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
    case FT_EV_WAVE_HELD: return (struct ckpt){.version = e->a, .held = e->dur_ns};
    case FT_EV_CKPT_DONE: return (struct ckpt){.version = e->a, .bytes = e->b, .total = e->dur_ns, .done = 1};
    default: return (struct ckpt){.version = -1};
    }
}

/* One entry an event, sorted by version, equal versions merged; returns how many. */
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

static void put_checkpoints(const struct ft_report *r, FILE *f)
{
    struct ckpt *c = calloc(r->count + 1, sizeof *c);
    size_t n = c ? collect_ckpts(r, c) : 0;
    const char *comma = "";
    fputs("\"checkpoints\":[", f);
    for (size_t i = 0; i < n; i++) {
        if (!c[i].done)
            continue;
        fprintf(f, "%s{\"version\":%lld,\"bytes\":%lld,\"copy_us\":", comma, (long long)c[i].version, (long long)c[i].bytes);
        put_us(f, c[i].copy);
        fputs(",\"parity_us\":", f);
        put_us(f, c[i].parity);
        fputs(",\"pause_us\":", f);
        put_us(f, c[i].pause);
        fputs(",\"held_us\":", f);
        put_us(f, c[i].held);
        fputs(",\"total_us\":", f);
        put_us(f, c[i].total);
        fputs("}", f);
        comma = ",\n    ";
    }
    fputs("]", f);
    free(c);
}

/* The events of one recovery of one rank: from its LOCAL on, up to the rank's next. */
static void put_local(const struct ft_report *r, size_t i, FILE *f)
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
    fprintf(f, "{\"rank\":%u,\"checkpoint\":%lld", (unsigned)(local->who & 0xffffff), (long long)local->a);
    put_span(f, "restore_us", 0, restored ? restored->dur_ns : 0);
    put_span(f, "replay_us", 0, live ? live->dur_ns : 0);
    put_span(f, "live_us", local->t_ns, live ? live->t_ns : 0);
    fprintf(f, ",\"records_fetched\":%lld,\"records_replayed\":%lld,\"bytes\":%lld}", live ? (long long)live->a : 0,
            live ? (long long)live->b : 0, live ? (long long)live->c : 0);
}

static size_t count_kind(const struct ft_report *r, uint32_t kind)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->ev[i].ev.kind == kind;
    return n;
}

/* Images that were taken alone: how many were committed, and what all of them took. */
static void put_demand(const struct ft_report *r, FILE *f)
{
    long long bytes = 0;
    uint64_t ns = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->ev[i].ev.kind == FT_EV_DEMAND_COPY) {
            bytes += r->ev[i].ev.a;
            ns += r->ev[i].ev.dur_ns;
        }
    fprintf(f, "\"snapshots_called_off\":%zu,\"barriers_instead\":%zu,", count_kind(r, FT_EV_WAVE_OFF),
            count_kind(r, FT_EV_WAVE_BARRIER));
    fprintf(f, "\"demand_checkpoints\":%zu,\"demand_bytes\":%lld,\"demand_us\":", count_kind(r, FT_EV_DEMAND), bytes);
    put_us(f, ns);
}

static void put_recoveries(const struct ft_report *r, FILE *f)
{
    const char *comma = "";
    fprintf(f, "\"rollbacks\":%u,\"local_recoveries\":%zu,\n  \"rollback_reasons\":[", (unsigned)r->b->rollbacks,
            count_kind(r, FT_EV_LIVE));
    for (size_t i = 0; i < r->count; i++) {
        const struct ft_event *e = &r->ev[i].ev;
        if (e->kind != FT_EV_FALLBACK)
            continue;
        fprintf(f, "%s{\"why\":\"%s\",\"when_us\":", comma, ft_fallback_string((int)e->a));
        put_us_since(f, e->t_ns, r->b->t0_ns);
        fputs("}", f);
        comma = ",";
    }
    fputs("],\n  \"recoveries\":[", f);
    comma = "";
    for (size_t i = 0; i < r->count; i++) {
        if (r->ev[i].ev.kind != FT_EV_LOCAL)
            continue;
        fputs(comma, f);
        put_local(r, i, f);
        comma = ",\n    ";
    }
    fputs("]", f);
}

/* By all that carried the rank, those that are gone too: what a slot carries it carries to its end. */
static unsigned long long safepoints_of(const struct ft_board *b, int rank)
{
    unsigned long long sum = 0;
    for (int i = 0; i < b->nslots; i++)
        if (b->slot[i].who == FT_WHO(FT_ROLE_RANK, rank))
            sum += b->slot[i].safepoints;
    return sum;
}

/* How long a rank's logs were not whole, until a checkpoint covered it again. */
static uint64_t exposed_of(const struct ft_report *r, int rank)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->ev[i].ev.kind == FT_EV_EXPOSED && r->ev[i].ev.who == FT_WHO(FT_ROLE_RANK, rank))
            ns += r->ev[i].ev.dur_ns;
    return ns;
}

/* What it took to look for memory that was not protected: processor time, bytes, and bytes for which there was no time. */
static void put_check(const struct ft_board_slot *s, FILE *f)
{
    put_us(f, s ? s->check_ns : 0);
    fprintf(f, ",\"check_bytes\":%llu,\"check_left_bytes\":%llu}", s ? (unsigned long long)s->check_bytes : 0ull,
            s ? (unsigned long long)s->check_left : 0ull);
}

/* What changes in body and is not protected. */
static void put_notes(const struct ft_report *r, FILE *f)
{
    const char *comma = "";
    fputs("\"unprotected\":[", f);
    for (int i = 0; i < r->b->nslots; i++) {
        const struct ft_board_slot *s = &r->b->slot[i];
        uint32_t n = atomic_load_explicit(&s->notes, memory_order_acquire);
        for (uint32_t k = 0; k < n && k < FT_NOTES; k++) {
            fprintf(f, "%s{\"rank\":%u,\"what\":", comma, (unsigned)(s->who & 0xffffff));
            put_string(f, s->note[k].what);
            fputs(",\"args\":", f);
            put_string(f, s->note[k].args);
            fprintf(f, ",\"address\":%llu}", (unsigned long long)s->note[k].at);
            comma = ",\n    ";
        }
    }
    fputs("]", f);
}

static void put_ranks(const struct ft_report *r, FILE *f)
{
    fputs("\"memory\":[", f);
    for (int rank = 0; rank < r->b->nranks; rank++) {
        int i = ft_watch_carrier(r->b, rank);
        fprintf(f, "%s{\"rank\":%d,\"beyond_bytes\":%llu,\"log_limit_bytes\":%llu,\"protected_bytes\":%llu,\"check_us\":", rank ? "," : "", rank,
                i < 0 ? 0ull : (unsigned long long)r->b->slot[i].mem_bytes,
                i < 0 ? 0ull : (unsigned long long)r->b->slot[i].log_limit,
                i < 0 ? 0ull : (unsigned long long)r->b->slot[i].protected_bytes);
        put_check(i < 0 ? NULL : &r->b->slot[i], f);
    }
    fputs("],\n  \"safepoints\":[", f);
    for (int rank = 0; rank < r->b->nranks; rank++)
        fprintf(f, "%s%llu", rank ? "," : "", safepoints_of(r->b, rank));
    fputs("],\n  \"exposed_us\":[", f);
    for (int rank = 0; rank < r->b->nranks; rank++) {
        fputs(rank ? "," : "", f);
        put_us(f, exposed_of(r, rank));
    }
    fputs("]", f);
}

void ft_report_write(const struct ft_report *r, const struct ft_verdict *v, FILE *f)
{
    const struct ft_board *b = r->b;
    fprintf(f, "{\"result\":\"%s\",\"status\":%d,\"message\":", v->result, v->status);
    put_string(f, v->message);
    fprintf(f, ",\n  \"ranks\":%d,\"checksums\":%d,\"spares\":%d,\"elapsed_us\":", b->nranks, b->nchecksums, b->nspares);
    put_us_since(f, ft_now_ns(), b->t0_ns);
    fputs(",\n  ", f);
    put_failures(r, f);
    fputs(",\n  ", f);
    put_injections(r, f);
    fputs(",\n  ", f);
    put_checkpoints(r, f);
    fputs(",\n  ", f);
    put_demand(r, f);
    fputs(",\n  ", f);
    put_recoveries(r, f);
    fputs(",\n  ", f);
    put_ranks(r, f);
    fputs(",\n  ", f);
    put_notes(r, f);
    fprintf(f, ",\n  \"events_lost\":%llu}\n", (unsigned long long)r->lost);
}
