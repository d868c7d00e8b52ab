/* SPDX-License-Identifier: BSD-3-Clause
 *
 * action_text.h - an action as text: a line of a record (runtime/record.h) without its letter and
 * time. The recorder writes it, and `ftrma-sim --replay-agent` compares it.
 */
#ifndef FT_RECOVER_ACTION_TEXT_H
#define FT_RECOVER_ACTION_TEXT_H

#include "recover/process.h"

#define FT_ACTION_TEXT 1024 /* enough bytes for a line */

/* Return the length. */
int ft_mail_text(const struct ft_mail *m, int slot, int nslots, char *out, int size);
int ft_command_text(enum ft_command c, uint64_t number, const struct ft_command_arg *arg, char *out,
                    int size);
/* Action number i of a step; 0: records do not have this action. */
int ft_action_text(const struct ft_process_actions *step, int i, int nslots, char *out, int size);

#endif
