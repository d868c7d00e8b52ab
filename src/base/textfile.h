/* SPDX-License-Identifier: BSD-3-Clause
 *
 * textfile.h - reads a small file into memory, for rooms that have no access to files themselves.
 */
#ifndef FT_BASE_TEXTFILE_H
#define FT_BASE_TEXTFILE_H

#include <stddef.h>

#include "base/status.h"

#define FT_TEXT_MOST ((size_t)64 << 20) /* bytes; a larger file is refused */

/* Reads the entire file into malloc'ed memory and adds a zero byte. FT_ERR_SYS with errno (EFBIG:
 * too large); FT_ERR_NOMEM. */
enum ft_status ft_read_text(const char *path, char **text, size_t *len);

#endif
