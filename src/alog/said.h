/* SPDX-License-Identifier: BSD-3-Clause
 *
 * said.h - what a process has sent to another one in setup, as a few words that can be compared
 * (F7). They come from the log that keeps setup's messages, so no message costs more for them.
 */
#ifndef FT_ALOG_SAID_H
#define FT_ALOG_SAID_H

#include "alog/chan.h"

struct ft_said {
    uint64_t messages;  /* UINT64_MAX: unknown, since the log has not kept all of them */
    uint64_t envelopes; /* contexts, tags and lengths, in any order: nonblocking collectives mix
                           their messages with others by chance */
    uint64_t data;      /* likewise */
};

/* Main thread, while the channel is still in setup's era. */
struct ft_said ft_said_in_setup(const struct ft_chan_writer *w, struct ft_tp *tp);

#endif
