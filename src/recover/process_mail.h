/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process_mail.h - mails: what the machines of one process say to those of another (process.h).
 */
#ifndef FT_RECOVER_PROCESS_MAIL_H
#define FT_RECOVER_PROCESS_MAIL_H

#include "base/mail_kind.h"
#include "proto/agree.h"
#include "proto/demand.h"
#include "proto/order.h"

struct ft_marker { /* a marker of a snapshot */
    uint64_t snapshot;
    int32_t rank;  /* from */
    uint32_t kind; /* enum ft_snap_marker. SNAPSHOT_OFF: enum ft_skip_reason, or 0 */
};
struct ft_mail {
    uint32_t kind, pad; /* enum ft_mail_kind */
    union {
        struct ft_agree_msg agree;
        struct ft_order_msg order;
        struct ft_demand_msg demand;
        struct ft_marker marker;
        struct ft_testimony left;
        uint64_t number;
    } u;
};
uint32_t ft_mail_bytes(const struct ft_mail *m); /* how many bytes of it are sent */
/* 1: `old` still waits for its receiver, and m, a newer mail to the same process, makes it
 * superfluous. A larger failed set ends the ballot of a smaller one: the receiver would drop the
 * old vote if it had heard of the larger set from another process. A newer generation ends the
 * orders of an older one, since the receiver has voted for it. If the same is asked again, one mail
 * is enough. */
int ft_mail_replaces(const struct ft_mail *m, const struct ft_mail *old);

#endif
