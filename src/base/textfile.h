/* SPDX-License-Identifier: BSD-3-Clause
 *
 * textfile.h - a small file as one piece of memory, for rooms that know no files themselves.
 */
#ifndef FT_BASE_TEXTFILE_H
#define FT_BASE_TEXTFILE_H

#include <stddef.h>

#include "base/status.h"

#define FT_TEXT_MOST ((size_t)64 << 20) /* bytes: more is no text for us */

/* All of a file, in malloc'ed memory, and a zero byte after it. FT_ERR_SYS with errno (EFBIG: too large); FT_ERR_NOMEM. */
enum ft_status ft_read_text(const char *path, char **text, size_t *len);

#endif
