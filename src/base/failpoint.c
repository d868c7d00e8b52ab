/* SPDX-License-Identifier: BSD-3-Clause
 *
 * failpoint.c - the table of failpoints, the grammar of FTRMA_INJECT, and acting at the chosen hit.
 *
 * Nothing here allocates or formats text before a death: the point may lie in a helper thread
 * beside the program, or in the middle of the program's own malloc.
 */
#define _GNU_SOURCE 1 /* syscall */
#include "base/failpoint.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/board.h"
#include "base/coverage.h"
#include "base/words.h"

const struct ft_fp_info ft_fp_table[FT_FP_COUNT] = {
#define FT_FAILPOINT(id, name, who, doc) [FT_FP_##id] = {name, who, doc},
#include "base/failpoint.def"
#undef FT_FAILPOINT
};

uint8_t ft_fp_armed[FT_FP_COUNT];
static _Atomic uint64_t chosen[FT_FP_COUNT]; /* the number of the hit to act at, from 1 */
static _Atomic uint64_t hits[FT_FP_COUNT];
static _Atomic uint32_t asked_by[FT_FP_COUNT]; /* the number of the entry that asks for it */
static _Atomic uint8_t of_node[FT_FP_COUNT];   /* that entry is for the entire node */
static _Atomic(struct ft_board *) node_board;
static int on_node;
static int count_all;
static _Atomic(_Atomic uint32_t *) last_hit;
static _Atomic(_Atomic uint64_t *) last_hit_ns;
static _Atomic(_Atomic uint64_t *) fired;

struct spec_text { /* a piece of the spec, not zero-terminated */
    const char *p;
    int len;
};

struct injection {
    enum ft_role role;
    int index, point;
    enum ft_fp_action action;
    uint64_t hit;
    int again;
    struct spec_text victim; /* as it was written, for messages */
};

static const char *const role_key[] = {[FT_ROLE_RANK] = "rank",
                                       [FT_ROLE_CHECKSUM] = "checksum",
                                       [FT_ROLE_SPARE] = "spare",
                                       [FT_ROLE_WRITER] = "writer",
                                       [FT_ROLE_GATEWAY] = "gateway",
                                       [FT_ROLE_KEEPER] = "keeper",
                                       [FT_ROLE_NODE] = "node",
                                       [FT_ROLE_LAUNCHER] = "launcher"};
static const char *const role_plural[] = {[FT_ROLE_RANK] = "ranks",
                                          [FT_ROLE_CHECKSUM] = "checksum processes",
                                          [FT_ROLE_SPARE] = "spares",
                                          [FT_ROLE_WRITER] = "writers",
                                          [FT_ROLE_GATEWAY] = "gateways",
                                          [FT_ROLE_KEEPER] = "keepers",
                                          [FT_ROLE_NODE] = "nodes",
                                          [FT_ROLE_LAUNCHER] = "launchers"};
static const char role_letter[] = {[FT_ROLE_RANK] = 'R',    [FT_ROLE_CHECKSUM] = 'C',
                                   [FT_ROLE_SPARE] = 'S',   [FT_ROLE_WRITER] = 'W',
                                   [FT_ROLE_GATEWAY] = 'G', [FT_ROLE_KEEPER] = 'K',
                                   [FT_ROLE_LAUNCHER] = 'L'};

static int text_is(struct spec_text t, const char *s)
{
    return (size_t)t.len == strlen(s) && memcmp(t.p, s, (size_t)t.len) == 0;
}

/* Cuts the text before the first `sep` off *rest. Returns 0 when *rest is used up (p == NULL). */
static int text_cut(struct spec_text *rest, char sep, struct spec_text *out)
{
    if (!rest->p)
        return 0;
    const char *end = memchr(rest->p, sep, (unsigned)rest->len);
    *out = *rest;
    if (end) {
        out->len = (int)(end - rest->p);
        rest->p = end + 1;
        rest->len -= out->len + 1;
    } else {
        rest->p = NULL;
        rest->len = 0;
    }
    while (out->len > 0 && *out->p == ' ') {
        out->p++;
        out->len--;
    }
    while (out->len > 0 && out->p[out->len - 1] == ' ')
        out->len--;
    return 1;
}

static int find_point(struct spec_text t)
{
    for (int i = 0; i < FT_FP_COUNT; i++)
        if (text_is(t, ft_fp_table[i].name))
            return i;
    return -1;
}

int ft_fp_find(const char *name) { return find_point((struct spec_text){name, (int)strlen(name)}); }

/* Reads decimal digits only, at most nine of them. */
static int text_number(struct spec_text t, int *out)
{
    int v = 0;
    if (t.len < 1 || t.len > 9)
        return 0;
    for (int i = 0; i < t.len; i++) {
        if (t.p[i] < '0' || t.p[i] > '9')
            return 0;
        v = v * 10 + (t.p[i] - '0');
    }
    *out = v;
    return 1;
}

static enum ft_status bad(char *err, int errlen, const char *what, struct spec_text t)
{
    if (err && errlen > 0)
        snprintf(err, (size_t)errlen, "%s: '%.*s'", what, t.len, t.p);
    return FT_ERR_ARG;
}

static enum ft_status unknown_point(struct spec_text name, char *err, int errlen)
{
    struct ft_nearest near = ft_nearest_begin(name.p, name.len);
    for (int i = 0; i < FT_FP_COUNT; i++)
        ft_nearest_try(&near, ft_fp_table[i].name, (int)strlen(ft_fp_table[i].name));
    if (err && errlen > 0)
        snprintf(err, (size_t)errlen,
                 "there is no failpoint '%.*s'%s%s%s ('ftrun --inject list' prints all names)",
                 name.len, name.p, near.found ? "; did you mean " : "",
                 near.found ? near.found : "", near.found ? "?" : "");
    return FT_ERR_ARG;
}

/* Reads one key=value of an entry. */
static enum ft_status parse_field(struct injection *e, struct spec_text field, char *err,
                                  int errlen)
{
    struct spec_text key, value = field;
    int number = 0;
    text_cut(&value, '=', &key);
    if (!value.p)
        return bad(err, errlen, "not of the form key=value", field);
    for (int role = FT_ROLE_RANK; role <= FT_ROLE_LAUNCHER; role++) {
        if (!text_is(key, role_key[role]))
            continue;
        if (e->index >= 0)
            return bad(err, errlen,
                       "a second victim in one entry (separate entries by a semicolon)", field);
        if (!text_number(value, &e->index))
            return bad(err, errlen, "not the number of a process", field);
        e->role = (enum ft_role)role;
        e->victim = field;
        return FT_OK;
    }
    if (text_is(key, "point")) {
        e->point = find_point(value);
        if (e->point < 0)
            return unknown_point(value, err, errlen);
    } else if (text_is(key, "hit")) {
        if (!text_number(value, &number) || number < 1)
            return bad(err, errlen, "not the number of a hit (1, 2, ...)", field);
        e->hit = (uint64_t)number;
    } else if (text_is(key, "action")) {
        if (!text_is(value, "kill") && !text_is(value, "stop"))
            return bad(err, errlen, "unknown action (kill or stop)", field);
        e->action = text_is(value, "kill") ? FT_FP_KILL : FT_FP_STOP;
    } else if (text_is(key, "again")) {
        if (!text_number(value, &e->again) || e->again > 1)
            return bad(err, errlen, "not 0 or 1", field);
    } else {
        return bad(err, errlen,
                   "unknown key (rank, checksum, spare, writer, node, gateway, keeper, launcher, "
                   "point, hit, action or again)",
                   field);
    }
    return FT_OK;
}

static enum ft_status parse_entry(struct spec_text text, struct injection *e, char *err, int errlen)
{
    struct spec_text field, rest = text;
    *e = (struct injection){.index = -1, .point = -1, .action = FT_FP_KILL, .hit = 1};
    while (text_cut(&rest, ',', &field)) {
        enum ft_status st = parse_field(e, field, err, errlen);
        if (st != FT_OK)
            return st;
    }
    if (e->index < 0)
        return bad(err, errlen,
                   "no victim (rank=R, checksum=I, spare=I, writer=I, node=K, gateway=K, keeper=K "
                   "or launcher=0)",
                   text);
    if (e->point < 0)
        return bad(err, errlen, "no point=NAME ('ftrun --inject list' prints all names)", text);
    return FT_OK;
}

/* Finds the next entry that is not empty; 0 at the end. */
static int next_entry(struct spec_text *rest, struct spec_text *out)
{
    while (text_cut(rest, ';', out))
        if (out->len > 0)
            return 1;
    return 0;
}

static struct spec_text whole(const char *spec)
{
    return (struct spec_text){spec, spec ? (int)strlen(spec) : 0};
}

enum ft_status ft_fp_check(const char *spec, int nranks, int nchecksums, int nspares, int nnodes,
                           char *err, int errlen)
{
    const int bound[] = {[FT_ROLE_RANK] = nranks,
                         [FT_ROLE_CHECKSUM] = nchecksums,
                         [FT_ROLE_SPARE] = nspares,
                         [FT_ROLE_WRITER] = -1,
                         [FT_ROLE_GATEWAY] = nnodes,
                         [FT_ROLE_KEEPER] = nnodes,
                         [FT_ROLE_NODE] = nnodes,
                         [FT_ROLE_LAUNCHER] = nnodes > 0};
    struct spec_text part, rest = whole(spec);
    while (next_entry(&rest, &part)) {
        struct injection e;
        char what[160];
        enum ft_status st = parse_entry(part, &e, err, errlen);
        if (st != FT_OK)
            return st;
        if (bound[e.role] >= 0 && e.index >= bound[e.role]) {
            snprintf(what, sizeof what, "no such victim (%s in the job: %d, numbered from 0)",
                     role_plural[e.role], bound[e.role]);
            return bad(err, errlen, what, e.victim);
        }
        /* A spare may take any place, so it may pass any point, and so may some process of a
         * node. */
        const char *who = ft_fp_table[e.point].who;
        if (e.role != FT_ROLE_SPARE && e.role != FT_ROLE_NODE &&
            !strchr(who, role_letter[e.role])) {
            snprintf(what, sizeof what, "failpoint %s is never passed by %s",
                     ft_fp_table[e.point].name, role_plural[e.role]);
            return bad(err, errlen, what, part);
        }
    }
    return FT_OK;
}

const char *ft_fp_entry(const char *spec, int n, int *len)
{
    struct spec_text part, rest = whole(spec);
    while (next_entry(&rest, &part))
        if (n-- == 0) {
            *len = part.len;
            return part.p;
        }
    return NULL;
}

static int concerns(const struct injection *e, enum ft_role role, int index, int incarnation,
                    int born_spare)
{
    if (e->role == FT_ROLE_SPARE)
        return e->index == born_spare;
    if (e->role == FT_ROLE_NODE)
        return atomic_load(&node_board) && e->index == on_node;
    return e->role == role && e->index == index && (incarnation == 0 || e->again);
}

enum ft_status ft_fp_arm(const char *spec, enum ft_role role, int index, int incarnation)
{
    static int born_spare = -1; /* which spare this process started as */
    uint8_t action[FT_FP_COUNT] = {0};
    uint64_t hit[FT_FP_COUNT] = {0};
    uint8_t whole_node[FT_FP_COUNT] = {0};
    uint32_t by[FT_FP_COUNT] = {0}, n = 0;
    struct spec_text part, rest = whole(spec);

    if (role == FT_ROLE_SPARE)
        born_spare = index;
    else if (incarnation == 0)
        born_spare = -1;
    for (; next_entry(&rest, &part); n++) {
        struct injection e;
        enum ft_status st = parse_entry(part, &e, NULL, 0);
        if (st != FT_OK)
            return st;
        /* Of two entries for one point the earlier hit decides: the process does not live to see
         * the later one. */
        if (concerns(&e, role, index, incarnation, born_spare) &&
            (!action[e.point] || e.hit < hit[e.point])) {
            action[e.point] = (uint8_t)e.action;
            hit[e.point] = e.hit;
            by[e.point] = n;
            whole_node[e.point] = e.role == FT_ROLE_NODE;
        }
    }
    for (int i = 0; i < FT_FP_COUNT; i++) {
        __atomic_store_n(&ft_fp_armed[i], FT_FP_NONE, __ATOMIC_RELEASE);
        atomic_store(&hits[i], 0);
        atomic_store(&chosen[i], hit[i]);
        atomic_store(&asked_by[i], by[i]);
        atomic_store(&of_node[i], whole_node[i]);
        if (!action[i] && count_all)
            action[i] = FT_FP_COUNTED; /* no hit is chosen */
        __atomic_store_n(&ft_fp_armed[i], action[i], __ATOMIC_RELEASE);
    }
    return FT_OK;
}

void ft_fp_on_node(struct ft_board *b, int node)
{
    on_node = node;
    atomic_store(&node_board, b);
}

static void signal_one(int pid, uint64_t start_time, int sig)
{
    int fd = pid ? ft_proc_pidfd(pid, start_time) : -1;
    if (fd < 0)
        return;
    syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
    close(fd);
}

/* All of the node but this process. */
static void signal_node(struct ft_board *b, int sig)
{
    int self = getpid(), service[] = {atomic_load(&b->nodes.gateway_pid), atomic_load(&b->nodes.keeper_pid)};
    for (size_t i = 0; i < FT_COUNTOF(service); i++)
        if (service[i] && service[i] != self)
            kill(service[i], sig); /* they live, or the node is lost already */
    for (int i = b->near_from; i < b->near_end; i++)
        if (atomic_load(&b->slot[i].pid) != self)
            signal_one(atomic_load(&b->slot[i].pid), atomic_load(&b->slot[i].start_time), sig);
}

void ft_fp_count_all(void) { count_all = 1; }

uint64_t ft_fp_hits(enum ft_failpoint_id id) { return atomic_load(&hits[id]); }

void ft_fp_set_last_hit(_Atomic uint32_t *word, _Atomic uint64_t *t_ns, _Atomic uint64_t *entries)
{
    atomic_store(&last_hit, word);
    atomic_store(&last_hit_ns, t_ns);
    atomic_store(&fired, entries);
}

void ft_fp_hit(enum ft_failpoint_id id)
{
    FT_ASSERT((unsigned)id < FT_FP_COUNT);
    int action = __atomic_load_n(&ft_fp_armed[id], __ATOMIC_ACQUIRE);
    if (action == FT_FP_NONE || atomic_fetch_add(&hits[id], 1) + 1 != atomic_load(&chosen[id]))
        return;

    _Atomic uint32_t *word = atomic_load(&last_hit);
    _Atomic uint64_t *t_ns = atomic_load(&last_hit_ns), *entries = atomic_load(&fired);
    if (entries)
        atomic_fetch_or(entries, FT_FP_ENTRY(atomic_load(&asked_by[id])));
    if (t_ns)
        atomic_store(t_ns, ft_now_ns());
    if (word)
        atomic_store(word, (uint32_t)id + 1);
    struct ft_board *b = atomic_load(&node_board);
    if (b && atomic_load(&of_node[id]))
        signal_node(b, action == FT_FP_STOP ? SIGSTOP : SIGKILL);
    if (action == FT_FP_STOP) {
        kill(getpid(), SIGSTOP);
        return;
    }
    ft_coverage_dump();
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}
