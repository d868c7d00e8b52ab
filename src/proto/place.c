/* SPDX-License-Identifier: BSD-3-Clause
 *
 * place.c - the commands that are valid at each place, and the milestone of a place.
 */
#include "proto/place.h"

#define BIT(c) (1u << (c))

static const struct {
    const char *name;
    int stands;
    uint32_t takes; /* valid commands; others were meant for a place that main has left */
} place[FT_PLACES] = {
    [FT_AT_INIT] = {"INIT", 1,
                    BIT(FT_CMD_ROLE) | BIT(FT_CMD_RESERVE) | BIT(FT_CMD_PARITY) | BIT(FT_CMD_LIFT) |
                        BIT(FT_CMD_FOLD) | BIT(FT_CMD_REBUILD) | BIT(FT_CMD_DONE)},
    [FT_AT_SETUP] = {"SETUP", 0, 0},
    [FT_AT_ENTRY] = {"ENTRY", 1,
                     BIT(FT_CMD_COPY) | BIT(FT_CMD_BODY) | BIT(FT_CMD_OUT) | BIT(FT_CMD_REBUILD) |
                         BIT(FT_CMD_RESTORE) | BIT(FT_CMD_FAIL)},
    [FT_AT_BODY] = {"BODY", 0, 0},
    [FT_AT_HELD] = {"HELD", 1, BIT(FT_CMD_COPY) | BIT(FT_CMD_RELEASE)},
    [FT_AT_OVER] = {"OVER", 1, BIT(FT_CMD_COPY) | BIT(FT_CMD_OUT) | BIT(FT_CMD_RESTORE)},
    [FT_AT_PARKED] = {"PARKED", 1, BIT(FT_CMD_RESTORE)},
    [FT_AT_RESTORED] = {"RESTORED", 1,
                        BIT(FT_CMD_REBUILD) | BIT(FT_CMD_RESTORE) | BIT(FT_CMD_RESUME) |
                            BIT(FT_CMD_OUT)},
    [FT_AT_AFTER] = {"AFTER", 0, 0},
    [FT_AT_FINALIZE] = {"FINALIZE", 1, BIT(FT_CMD_DONE)},
    [FT_AT_GONE] = {"GONE", 0, 0},
};

int ft_place_stands(enum ft_place p) { return place[p].stands; }

int ft_place_takes(enum ft_place p, enum ft_command c) { return (int)(place[p].takes >> c & 1); }

int ft_command_leaves(enum ft_command c)
{
    return (BIT(c) & (BIT(FT_CMD_ROLE) | BIT(FT_CMD_RELEASE) | BIT(FT_CMD_BODY) | BIT(FT_CMD_OUT) |
                      BIT(FT_CMD_RESUME) | BIT(FT_CMD_DONE) | BIT(FT_CMD_FAIL))) != 0;
}

enum ft_milestone ft_place_milestone(enum ft_place p, int rank)
{
    if (!rank)
        return FT_MILE_NONE;
    switch (p) {
    case FT_AT_INIT:
    case FT_AT_SETUP: return FT_MILE_SETUP;
    case FT_AT_OVER:
    case FT_AT_AFTER: return FT_MILE_OVER;
    case FT_AT_FINALIZE:
    case FT_AT_GONE: return FT_MILE_FINALIZE;
    default: return FT_MILE_RUN;
    }
}

const char *ft_place_name(enum ft_place p) { return p < FT_PLACES ? place[p].name : "?"; }

const char *ft_command_name(enum ft_command c)
{
    static const char *const name[FT_COMMANDS] = {
        "NONE",    "ROLE",    "COPY",   "RELEASE", "BODY", "OUT",  "RESERVE", "PARITY",
        "REBUILD", "RESTORE", "RESUME", "LIFT",    "FOLD", "FAIL", "DONE"};
    return c < FT_COMMANDS ? name[c] : "?";
}
