/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wanted.h - pieces of a sum of images (and codewords) of other nodes' processes (C5b). Main writes
 * what it wants into entries of its control block. The request goes from node to node; each gateway
 * adds the images that are there, times their coefficients, and the last one sends the sum to where
 * main wants it.
 *
 *   main: ASKED -> gateway: TAKEN, then HERE or GONE -> main: ASKED again
 *
 * An entry and its memory are not used for anything else before it is HERE or GONE, also when main
 * no longer wants the piece. [It comes late, and overwrites what the memory is used for by then.]
 * When one of the nodes is out, the entry is GONE; the piece may still come from the node after
 * that one, so each request has a number of its own.
 */
#ifndef FT_TRANSPORT_WANTED_H
#define FT_TRANSPORT_WANTED_H

#include <stdint.h>

#include "base/base.h"

#define FT_WANTED 16                /* entries */
#define FT_WANTED_TERMS 128         /* of a sum, at most */
#define FT_WANTED_BYTES (63u << 10) /* of a piece, at most: it fits into a frame, with its terms */

enum ft_wanted_state {
    FT_WANTED_FREE,
    FT_WANTED_ASKED,
    FT_WANTED_TAKEN,
    FT_WANTED_HERE,
    FT_WANTED_GONE
};

struct ft_term { /* this factor times the image of this slot */
    uint16_t slot;
    uint8_t coef, pad;
};

struct ft_wanted {
    _Atomic uint32_t state;
    uint32_t nterms;
    uint64_t serial; /* of the request: never used before by this process */
    uint64_t version, at, bytes; /* an image counts as zero beyond its end */
    uint64_t to;                 /* offset in the own arena */
    uint64_t longest;            /* HERE: bytes of the longest of these images */
    struct ft_term term[FT_WANTED_TERMS]; /* those of one node are neighbours */
};

#endif
