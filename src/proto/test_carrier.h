/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_carrier.h - one carrier for unit tests, fed by hand: what its main says goes in, and what it
 * said in the last step is asked for.
 */
#ifndef FT_PROTO_TEST_CARRIER_H
#define FT_PROTO_TEST_CARRIER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/board.h"
#include "base/version.h"
#include "proto/carrier.h"

#define NOW 1000000000ull

static struct ft_carrier_cfg cfg;
static struct ft_carrier c;
static struct ft_main m;
static struct ft_actions out;
/* Takes each action of a step, as another machine of the process would; NULL: nobody does. */
static void (*taken_by)(const struct ft_action *a);

/* The index of the first action of this kind; -1: none. */
static inline int find(enum ft_do kind)
{
    for (int i = 0; i < out.n; i++)
        if (out.a[i].kind == kind)
            return i;
    return -1;
}

static inline const struct ft_action *did(enum ft_do kind)
{
    return find(kind) >= 0 ? &out.a[find(kind)] : NULL;
}

static inline enum ft_command told(void)
{
    return did(FT_DO_COMMAND) ? did(FT_DO_COMMAND)->command : FT_CMD_NONE;
}

static inline int answered(void) { return did(FT_DO_READY) != NULL; }

/* What was published last; UINT64_MAX: nothing. */
static inline uint64_t published(enum ft_word word)
{
    for (int i = out.n - 1; i >= 0; i--)
        if (out.a[i].kind == FT_DO_PUBLISH && out.a[i].word == word)
            return out.a[i].value;
    return UINT64_MAX;
}

/* The end of a step, until nothing more follows. */
static inline void choose(void)
{
    for (int heard = out.n, n = -1; n != out.n;) {
        n = out.n;
        ft_carrier_choose(&c, &cfg, NOW, &out);
        for (; heard < out.n; heard++)
            if (taken_by)
                taken_by(&out.a[heard]);
    }
    ft_carrier_check(&c, &cfg);
}

/* Main is copied. What it said, it says no more. */
static inline void look(void)
{
    out.n = 0;
    ft_carrier_main(&c, &cfg, NOW, &m, &out);
    m.asks = 0;
    m.taken = 0;
    choose();
}

static inline void at(enum ft_place place)
{
    m.place = place;
    m.moves++;
    look();
}

/* Main carries the command out, and stands there then. */
static inline void obeys(enum ft_place place, uint64_t version)
{
    m.answered = c.cmd.number;
    m.answer = (struct ft_answer){.version = version, .bytes = 8, .safepoint = m.reached};
    at(place);
}

#endif
