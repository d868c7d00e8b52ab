/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process_mail.h - what one process says to another (process.h): one mail, of any of its machines.
 */
#ifndef FT_RECOVER_PROCESS_MAIL_H
#define FT_RECOVER_PROCESS_MAIL_H

#include "base/mail_kind.h"
#include "proto/agree.h"
#include "proto/demand.h"
#include "proto/order.h"

struct ft_marker { /* of a snapshot */
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
uint32_t ft_mail_bytes(const struct ft_mail *m); /* that are sent of it */
/* 1: `old`, which waits for its receiver, says nothing that m, a newer mail to the same process,
 * does not. A larger set of failed processes ends the ballot of a smaller one: the receiver would
 * drop that had it heard of the larger set from somebody else. A newer generation ends the orders
 * of an older one, as the receiver has voted for it. What is asked again is asked once. */
int ft_mail_replaces(const struct ft_mail *m, const struct ft_mail *old);

#endif
