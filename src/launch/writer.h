/* SPDX-License-Identifier: BSD-3-Clause
 *
 * writer.h - the process that writes one set (F2 to F5): a child of ftrun with the lowest priority,
 * so that neither a rank nor ftrun ever waits for the disk. It reads images in the ranks' arenas,
 * which exist as long as it has them open.
 */
#ifndef FT_LAUNCH_WRITER_H
#define FT_LAUNCH_WRITER_H

#include "base/board.h"
#include "launch/manifest.h"

/* What a writer does. Of a job on one node it does all. Of a job on several hosts ftrun's writer
 * BEGINS the set, one on each host writes the FILES of the ranks there, and ftrun's ENDS it; or
 * NOTHING of it stays, as a host could not write. */
enum ft_writing_part {
    FT_WRITES_ALL = 0,
    FT_WRITES_BEGIN,
    FT_WRITES_FILES,
    FT_WRITES_END,
    FT_WRITES_NOTHING
};

/* Shared by ftrun, or a keeper, and the writer. */
struct ft_written {
    _Atomic uint64_t bytes; /* written so far; at the end the total of all files */
    int error;              /* errno of the disk's error; 0: there is another reason */
    /* why there is no set; written before the writer ends with another status than 0 */
    char why[600];
};

struct ft_writing {
    enum ft_writing_part part;
    struct ft_board *board;
    const char *dir;
    unsigned number;  /* of the set */
    uint64_t request; /* number of the save on the board */
    uint64_t version;
    /* [2 * nranks]: descriptors of each rank's present carrier, and of the previous one; -1: not
     * open. */
    const int *arena;
    const char *dropped;       /* NOTHING: why */
    const unsigned char *mine; /* FILES: [nranks], whether this rank's is written here */
    struct ft_manifest m; /* without the version and, unless m.rank is there, what is known of the
                           * files. FILES: m.rank is shared with the keeper */
    struct ft_written *out;
};

/* In the child. Ends with status 0 when the set is on the disk. */
_Noreturn void ft_writer_run(struct ft_writing *w);

#endif
