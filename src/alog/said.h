/* SPDX-License-Identifier: BSD-3-Clause
 *
 * said.h - summarises what a process has sent to another one in setup, in a few words that can be
 * compared (F7). They are computed from the log that keeps setup's messages, so messages cost
 * nothing more.
 */
#ifndef FT_ALOG_SAID_H
#define FT_ALOG_SAID_H

#include "alog/chan.h"

struct ft_said {
    uint64_t messages; /* UINT64_MAX: not known, since the log has not kept all messages */
    /* hash of contexts, tags and lengths, independent of their order: nonblocking collectives mix
     * their messages with others by chance */
    uint64_t envelopes;
    uint64_t data; /* hash of the data, likewise */
};

/* Main only, while the channel is still in setup's era. */
struct ft_said ft_said_in_setup(const struct ft_chan_writer *w, struct ft_tp *tp);

#endif
