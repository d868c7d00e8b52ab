/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log_budget.h - how much memory the logs of a process may take.
 */
#ifndef FT_ALOG_LOG_BUDGET_H
#define FT_ALOG_LOG_BUDGET_H

#include "alog/chan_record.h"
#include "alog/unkept.h"
#include "base/engine.h"

/* Log memory of the entire process, over all channels. `limit` bytes must not be exceeded, except
 * by two chunks for each channel whose records are not kept, and by those that its reader has read
 * and cannot release; without these it could not go on.
 * `kept` counts chunks that are never reused. */
struct ft_log_memory {
    uint64_t used, limit, kept;
};
extern FT_STATE(struct ft_log_memory, ft_log_budget);
#define ft_log_budget FT_MY(ft_log_budget)
/* Returns why a chunk was refused. */
static inline enum ft_unkept ft_log_refused(void)
{
    int full = ft_log_budget.used + FT_CHAN_CHUNK > ft_log_budget.limit;
    return full ? FT_UNKEPT_LIMIT : FT_UNKEPT_ROOM;
}
/* The newest committed version. The agent sets it. It is looked at when a chunk is wanted, so that
 * a commit itself costs nothing. */
extern FT_STATE(_Atomic uint64_t, ft_msg_committed);
#define ft_msg_committed FT_MY(ft_msg_committed)

#endif
