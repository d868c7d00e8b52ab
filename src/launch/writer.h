/* SPDX-License-Identifier: BSD-3-Clause
 *
 * writer.h - the process that writes one set (F2 to F5): a child of ftrun's with the lowest
 * priority, so that neither a rank nor ftrun ever waits for the disk. It reads images in the ranks'
 * arenas, which stay as long as it has them open.
 */
#ifndef FT_LAUNCH_WRITER_H
#define FT_LAUNCH_WRITER_H

#include "base/board.h"
#include "launch/manifest.h"

/* Shared by ftrun and the writer. */
struct ft_written {
    _Atomic uint64_t bytes; /* written so far; of all files, at the end */
    int error;              /* errno of what the disk has refused; 0: something else is why */
    char why[600]; /* why there is no set; before the writer ends with another status than 0 */
};

struct ft_writing {
    struct ft_board *board;
    const char *dir;
    unsigned number;  /* of the set */
    uint64_t request; /* number of the save on the board */
    uint64_t version;
    /* [2 * nranks]: of each rank's carrier, and of the one before; -1: none is open */
    const int *arena;
    struct ft_manifest m; /* but for the version and what is known of the files */
    struct ft_written *out;
};

/* In the child. Ends with status 0: the set is on the disk. */
_Noreturn void ft_writer_run(struct ft_writing *w);

#endif
