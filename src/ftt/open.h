/* SPDX-License-Identifier: BSD-3-Clause
 *
 * open.h - the begin and the end of an endpoint.
 */
#ifndef FT_FTT_OPEN_H
#define FT_FTT_OPEN_H

#include "ftt/progress.h"

#define FT_CLOSE_LABEL "\001close" /* the label of the agreement to close; programs have others */
enum { FT_CLOSE_NO = 0, FT_CLOSE_ASKED, FT_CLOSE_AGREED, FT_CLOSE_AGAIN };

int ft_endpoint_close(FTT_Transport *t);
int ft_endpoint_progress(FTT_Transport *t, int on);
/* FTT_Calls.collective */
int ft_collective(FTT_Transport *t, int which, const char *label, int root, int op, int type,
                  const void *data, size_t bytes);
extern const struct ft_round_to ft_endpoint_rounds;

#endif
