/* SPDX-License-Identifier: BSD-3-Clause
 *
 * event.h - events, as processes write them down and ftrun shows them: kinds, who is meant,
 * reasons, and the rings on the board that hold a process's last events.
 */
#ifndef FT_BASE_EVENT_H
#define FT_BASE_EVENT_H

#include "base/base.h"

enum ft_event_kind {
#define FT_EVENT(id, name, fmt, tell, routine) FT_EV_##id,
#include "base/event.def"
#undef FT_EVENT
    FT_EV_COUNT
};

struct ft_event_info {
    const char *name, *fmt;
    int tell, routine;
};
extern const struct ft_event_info ft_event_table[FT_EV_COUNT];

/* Names whom an event is about: the role in the high byte, the index in the low ones. FT_WHO_NONE:
 * nobody in particular. */
#define FT_WHO(role, index) (((uint32_t)(role) << 24) | ((uint32_t)(index)&0xffffff))
#define FT_WHO_NONE 0xffffffffu

struct ft_event {
    /* CLOCK_MONOTONIC when it was recorded: its end, if it has a duration. Of events on
     * other hosts ftrun sees times of its own clock: the keepers convert them */
    uint64_t t_ns;
    uint64_t dur_ns; /* 0: an instant */
    uint32_t kind;   /* enum ft_event_kind */
    uint32_t who;    /* FT_WHO */
    /* meanings as in the format; INJECTED: a = failpoint id; CKPT_SKIPPED: b = enum ft_skip_reason;
     * FALLBACK: a = enum ft_fallback */
    int64_t a, b, c;
};

enum ft_skip_reason {
    FT_SKIP_NONE = 0,
    FT_SKIP_REQUESTS,
    FT_SKIP_LOCKS,
    FT_SKIP_OBJECTS,
    FT_SKIP_WAITING,
    FT_SKIP_FAILURE,
    FT_SKIP_NOMEM,
    FT_SKIP_DIVERGED, /* the largest: all go back, whatever reasons others have */
};
const char *ft_skip_reason_string(int reason);

/* Reasons why all ranks go back although only some were lost. */
#define FT_FALLBACKS(X)                \
    X(EXPOSED, "exposed")              \
    X(SEVERAL, "several ranks lost")   \
    X(DIVERGED, "replay diverged")     \
    X(ASKED, "--recovery global")      \
    X(NO_LOGS, "no logs")              \
    X(UNDER_WAY, "rollback under way") \
    X(SHARED, "a shared window")       \
    X(NODE, "a node lost")             \
    X(PROGRAM, "--recovery program")
enum ft_fallback {
    FT_FALLBACK_NONE = 0,
#define FT_FALLBACK_ID(id, text) FT_FALLBACK_##id,
    FT_FALLBACKS(FT_FALLBACK_ID)
#undef FT_FALLBACK_ID
};
const char *ft_fallback_string(int reason);

/* A slot's last events. Routine events have a ring of their own. There is one writer at a time (the
 * process's threads take turns, see ft_board_event) and any number of readers. A reader copies ev[i
 * % FT_EVENT_RING] for i < head, then checks that head < i + FT_EVENT_RING; if not, the copy may be
 * of a later event. */
#define FT_EVENT_RING 512
struct ft_event_ring {
    FT_ALIGNED_LINE _Atomic uint64_t head; /* events ever recorded */
    struct ft_event ev[FT_EVENT_RING];
};
struct ft_event_place { /* how far a reader has come in each ring */
    uint64_t next[2];
};

struct ft_board;
/* Writes the line of an event without the newline, such as "[ftrma 1.234567] failure: rank 2 failed
 * (slot 2, pid 123)". Returns its length. */
int ft_event_format(const struct ft_board *b, const struct ft_event *ev, char *out, int size);
/* Writes "rank 2", "checksum process 0", "spare 1" or "nobody". Returns its length. */
int ft_who_format(uint32_t who, char *out, int size);

#endif
