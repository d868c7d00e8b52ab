/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options_given.h - private to options.c, which reads the words of the command line, and
 * options_check.c, which checks what they say.
 */
#ifndef FT_LAUNCH_OPTIONS_GIVEN_H
#define FT_LAUNCH_OPTIONS_GIVEN_H

#include "launch/options.h"

/* What reading the command line leaves for the checks. */
struct ft_options_given {
    const char *ranks;                /* the text of -n */
    const char *option[FT_SET_COUNT]; /* the option by which a setting was given */
    const char *log_limit;            /* the text of --log-limit */
    const char *rehearse;             /* of --rehearse; NULL: not given */
    int verbose;
};

#define BAD(...) (snprintf(err, (size_t)errlen, __VA_ARGS__), FT_ERR_ARG)

/* Checks all, and completes *o. */
enum ft_status ft_options_check(struct ft_options *o, struct ft_options_given *g, char *err,
                                int errlen);

#endif
