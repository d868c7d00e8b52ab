/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wanted.h - pieces of images of other nodes' processes. Main writes what it wants into entries of
 * its control block, and the gateway of its node has it brought to where main wants it.
 *
 *   main: FREE, then WANTED -> gateway: TAKEN, then HERE or GONE -> main: FREE
 *
 * An entry and its memory are not used for anything else before it is HERE or GONE, also when main
 * no longer wants the piece. [It comes late, and overwrites what the memory is used for by then.]
 * When the other node is out, its entries are GONE.
 */
#ifndef FT_TRANSPORT_WANTED_H
#define FT_TRANSPORT_WANTED_H

#include <stdint.h>

#include "base/base.h"

#define FT_WANTED 256                       /* entries */
#define FT_WANTED_BYTES ((64u << 10) - 256) /* of a piece, at most: it fits into a frame */

enum ft_wanted_state {
    FT_WANTED_FREE,
    FT_WANTED_ASKED,
    FT_WANTED_TAKEN,
    FT_WANTED_HERE,
    FT_WANTED_GONE
};

struct ft_wanted {
    _Atomic uint32_t state;
    int32_t slot; /* whose image */
    uint64_t version, at, bytes;
    uint64_t to; /* offset in the own arena */
};

#endif
