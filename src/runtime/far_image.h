/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_image.h - images and codewords of other nodes' processes, piece by piece, so that no second
 * copy of a whole one is ever held. The gateways bring them (transport/wanted.h). Main only.
 */
#ifndef FT_RUNTIME_FAR_IMAGE_H
#define FT_RUNTIME_FAR_IMAGE_H

#include "runtime/ckpt.h"

/* As large as a piece can be. */
#define FT_IMAGE_PIECE (FT_WANTED_BYTES / FT_CACHE_LINE * FT_CACHE_LINE)

/* The parts [at, at + bytes) of the recipe's sources, near or far, for ft_erasure_combine; bytes is
 * at most FT_IMAGE_PIECE. Asks for the parts after them, and waits for these. Pieces are taken in
 * order, from at = 0 on. 0: one of them cannot be had, since a process was lost, or there is no
 * memory; then it is over. */
int ft_far_pieces(struct ft_rt *rt, const struct ft_recipe *r, uint64_t at, uint64_t bytes,
                  const void **src, size_t *len);
/* No piece is needed any more. */
void ft_far_end(struct ft_rt *rt);

#endif
