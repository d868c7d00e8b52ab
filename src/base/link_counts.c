/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link_counts.c - the names of what is counted, in reports.
 */
#include "base/link_counts.h"

const char *const ft_link_names[FT_LINK_KINDS] = {"messages", "accesses", "images", "votes",
                                                  "orders",   "mails",    "words"};
const char *const ft_link_stage_names[FT_LINK_STAGES] = {"hand_over_ns", "wire_ns", "apply_ns",
                                                         "answer_ns"};
