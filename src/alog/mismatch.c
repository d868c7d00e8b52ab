/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mismatch.c - describes the difference between two executions in words.
 */
#include "alog/mismatch.h"
#include "alog/said.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

/* bytes of data that are shown, and the characters that they need */
enum { SHOWN = 8, HEX = 2 * SHOWN + 3 };

/* Appends to a text of `size` bytes at `at`. Returns the new end, or `at` if it does not fit; then
 * nothing is appended. */
__attribute__((format(printf, 4, 5))) static size_t add(char *out, size_t size, size_t at,
                                                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + at, size - at, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < size - at)
        return at + (size_t)n;
    out[at] = '\0';
    return at;
}

/* Formats at most SHOWN bytes of data as a number. */
static const char *hex(char out[HEX], const void *data, size_t n)
{
    uint64_t word = 0;
    n = n < SHOWN ? n : SHOWN;
    if (n == 0)
        return "nothing";
    memcpy(&word, data, n);
    snprintf(out, HEX, "0x%0*" PRIx64, (int)(2 * n), word);
    return out;
}

void ft_mismatch_number(struct ft_mismatch *b, const char *what, int64_t is, int64_t was)
{
    if (is != was)
        b->n = add(b->text, sizeof b->text, b->n,
                   "; %s: now %" PRId64 ", in the lost process %" PRId64, what, is, was);
}

void ft_mismatch_hash(struct ft_mismatch *b, const char *what, uint64_t is, uint64_t was)
{
    if (is != was)
        b->n = add(b->text, sizeof b->text, b->n,
                   "; %s: now 0x%016" PRIx64 ", in the lost process 0x%016" PRIx64, what, is, was);
}

void ft_mismatch_data(struct ft_mismatch *b, const char *what, const void *is, size_t nis,
                      const void *was, size_t nwas)
{
    char now[HEX], then[HEX], where[40] = "";
    size_t both = nis < nwas ? nis : nwas, at = 0;
    while (at < both && ((const char *)is)[at] == ((const char *)was)[at])
        at++;
    if (both > 0 && nis != nwas) { /* 0: one of them is "nothing" below */
        char of[80];
        snprintf(of, sizeof of, "bytes of %s", what);
        ft_mismatch_number(b, of, (int64_t)nis, (int64_t)nwas);
    }
    if (at == both && (both > 0 || nis == nwas))
        return;
    if (both <= SHOWN)
        at = 0; /* all of it */
    else
        snprintf(where, sizeof where, " from byte %zu on", at);
    b->n = add(b->text, sizeof b->text, b->n, "; %s%s: now %s, in the lost process %s", what, where,
               hex(now, (const char *)is + at, nis - at),
               hex(then, (const char *)was + at, nwas - at));
}

static const char *target(char out[24], int where)
{
    if (where < 0)
        return "all targets";
    snprintf(out, 24, "target %d", where);
    return out;
}

void ft_step_words(char *out, size_t size, enum ft_act_kind kind, uint32_t win, int where,
                   uint64_t off, int64_t bytes)
{
    static const char *const accesses[] = {
        [FT_ACT_PUT] = "a put", [FT_ACT_GET] = "a get", [FT_ACT_ATOMIC] = "an atomic"};
    char of[32] = "", to[24];
    out[0] = '\0';
    switch (kind) {
    case FT_ACT_PUT:
    case FT_ACT_GET:
    case FT_ACT_ATOMIC:
        if (bytes >= 0)
            snprintf(of, sizeof of, " of %" PRId64 " bytes", bytes);
        add(out, size, 0, "%s%s (window %u, %s, displacement %" PRIu64 ")", accesses[kind], of, win,
            target(to, where), off);
        return;
    case FT_ACT_LOCK:
        add(out, size, 0, "%s lock (window %u, %s)", off ? "an exclusive" : "a shared", win,
            target(to, where));
        return;
    case FT_ACT_UNLOCK:
        add(out, size, 0, "an unlock (window %u, %s)", win, target(to, where));
        return;
    case FT_ACT_CLOSE:
        add(out, size, 0, "the end of an epoch (window %u, %s)", win, target(to, where));
        return;
    case FT_ACT_ADVANCE:
        add(out, size, 0, "a step of a nonblocking collective (context %u, number %d)", win, where);
        return;
    case FT_ACT_ATTACH:
        add(out, size, 0, "%s (window %u, address 0x%" PRIx64 ")",
            where ? "a call of MPI_Win_attach" : "a call of MPI_Win_detach", win, off);
        return;
    case FT_ACT_WILD: add(out, size, 0, "a wildcard receive"); return;
    case FT_ACT_OUTCOME: add(out, size, 0, "the result of a test, wait, probe or cancel"); return;
    case FT_ACT_TIME: add(out, size, 0, "a call of MPI_Wtime"); return;
    case FT_ACT_REACHED: add(out, size, 0, "the match of a synchronous message"); return;
    case FT_ACT_MADE:
        add(out, size, 0, "the making of a communicator or window (the next context is %u)", win);
        return;
    case FT_ACT_SAID: add(out, size, 0, "the messages to rank %d", where); return;
    case FT_ACT_NONE:
    case FT_ACT_LINK: break;
    }
    add(out, size, 0, "nothing");
}

/* The result and the value left behind, as far as they are recorded. */
static void atomic_words(char *out, size_t size, const struct ft_act *a)
{
    char h[HEX];
    uint32_t lo = a->flags & FT_ACT_LEFT ? (uint32_t)sizeof(uint64_t) : 0;
    uint32_t each = (a->bytes - lo) / ((a->flags & FT_ACT_RESULT) && lo ? 2 : 1);
    size_t n = strlen(out);
    if (a->flags & FT_ACT_RESULT)
        n = add(out, size, n, " that found %s", hex(h, a->data, each));
    if (lo)
        add(out, size, n, "%s left %s", a->flags & FT_ACT_RESULT ? " and" : " that",
            hex(h, a->data + a->bytes - each, each));
    else
        add(out, size, n, "%s changed nothing", a->flags & FT_ACT_RESULT ? " and" : " that");
}

static void outcome_words(char *out, size_t size, const struct ft_act *a)
{
    int words[4];
    uint32_t n = a->bytes / (uint32_t)sizeof *words,
             shown = n < FT_COUNTOF(words) ? n : FT_COUNTOF(words);
    size_t at = strlen(out);
    memcpy(words, a->data, shown * sizeof *words);
    for (uint32_t i = 0; i < shown; i++)
        at = add(out, size, at, "%s%d", i ? ", " : ": ", words[i]);
    if (shown < n)
        add(out, size, at, ", ...");
}

static void said_words(char *out, size_t size, const struct ft_act *a)
{
    struct ft_said s;
    memcpy(&s, a->data, sizeof s);
    add(out, size, strlen(out),
        " (%" PRIu64 ", whose lengths, tags and contexts have the hash %016" PRIx64 ")", s.messages,
        s.envelopes);
}

void ft_act_format(char *out, size_t size, const struct ft_act *a)
{
    char h[HEX];
    double time;
    ft_step_words(out, size, (enum ft_act_kind)a->kind, a->win, a->where, a->off,
                  a->kind == FT_ACT_GET ? (int64_t)a->bytes : -1);
    if (a->kind == FT_ACT_GET)
        add(out, size, strlen(out), " that gave %s%s", hex(h, a->data, a->bytes),
            a->bytes > SHOWN ? " ..." : "");
    else if (a->kind == FT_ACT_ATOMIC)
        atomic_words(out, size, a);
    else if (a->kind == FT_ACT_SAID)
        said_words(out, size, a);
    else if (a->kind == FT_ACT_OUTCOME)
        outcome_words(out, size, a);
    else if (a->kind == FT_ACT_TIME && a->bytes == sizeof time) {
        memcpy(&time, a->data, sizeof time);
        add(out, size, strlen(out), " that returned %.9g", time);
    }
}
