/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_image.h - the part of a recipe that lies on other nodes: its sum comes piece by piece, so
 * that no second copy of a whole image is ever held. The gateways make it (transport/wanted.h).
 * Main only.
 */
#ifndef FT_RUNTIME_FAR_IMAGE_H
#define FT_RUNTIME_FAR_IMAGE_H

#include "runtime/combine.h"

/* As large as a piece can be. */
#define FT_IMAGE_PIECE (FT_WANTED_BYTES / FT_CACHE_LINE * FT_CACHE_LINE)

/* The next pieces are of this recipe; they begin in this generation. */
void ft_far_begin(struct ft_rt *rt);
/* [at, at + *bytes) of the sum of the recipe's far blocks, which is zero after that. Pieces are
 * taken in order, from at = 0 on. Asks for those after it, and waits for this one. FT_SKIP_NOMEM;
 * FT_SKIP_FAILURE: it cannot be had, since a process was lost, or the blocks are not those of the
 * recipe. Then it is over. */
enum ft_skip_reason ft_far_piece(struct ft_rt *rt, const struct ft_recipe *r, uint64_t at,
                                 const void **piece, size_t *bytes);
/* No piece is needed any more. */
void ft_far_end(struct ft_rt *rt);

#endif
