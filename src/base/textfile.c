/* SPDX-License-Identifier: BSD-3-Clause
 *
 * textfile.c - reading a small file.
 */
#include "base/textfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum ft_status ft_read_text(const char *path, char **text, size_t *len)
{
    FILE *f = fopen(path, "re");
    char *all = NULL;
    size_t n = 0, cap = 0;
    if (!f)
        return FT_ERR_SYS;
    for (size_t got = 1; got > 0 && n <= FT_TEXT_MOST; n += got) {
        if (n + 1 >= cap) { /* room for the zero */
            char *more = realloc(all, cap = cap ? 2 * cap : 4096);
            if (!more) {
                free(all);
                fclose(f);
                return FT_ERR_NOMEM;
            }
            all = more;
        }
        got = fread(all + n, 1, cap - 1 - n, f);
    }
    int failed = ferror(f) ? errno : n > FT_TEXT_MOST ? EFBIG : 0;
    fclose(f);
    if (failed) {
        free(all);
        errno = failed;
        return FT_ERR_SYS;
    }
    all[n] = '\0';
    *text = all;
    *len = n;
    return FT_OK;
}
