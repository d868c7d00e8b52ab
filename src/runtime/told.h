/* SPDX-License-Identifier: BSD-3-Clause
 *
 * told.h - told recovery (G5), on main. Survivors keep their memory. All enter body again, and are
 * told which ranks are new.
 */
#ifndef FT_RUNTIME_TOLD_H
#define FT_RUNTIME_TOLD_H

#include "runtime/rt.h"

/* How losses are recovered from: enum of FT_SET_RECOVERY. FT_ERR_ARG with err: the program handles
 * them itself, and something else was asked for. */
enum ft_status ft_told_recovery(int *recovery, char *err, int errlen);
void ft_told_init(struct ft_rt *rt);
/* RESTORE for a survivor, or for a new rank without an image. */
struct ft_answer ft_told_keep(struct ft_rt *rt, const struct ft_command_arg *arg);
/* The rest of RESTORE, for all: memory is as it should be. Communication begins again as it was
 * when FTRMA_Run was entered. bytes: of the loaded image; since: t0. */
struct ft_answer ft_told_begin(struct ft_rt *rt, const struct ft_command_arg *arg, uint64_t bytes,
                               uint64_t t0);
/* Body is about to be entered. Sets which ranks are new from here on (FTRMA_Replaced); told 0:
 * none. */
void ft_told_who(struct ft_rt *rt, int told);

#endif
