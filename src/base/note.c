/* SPDX-License-Identifier: BSD-3-Clause
 *
 * note.c - see note.h.
 */
#include "base/note.h"

#include <stdio.h>

#include "base/base.h"

int ft_note_format(const struct ft_note *n, const char *who, char *out, int size)
{
    char at[40] = "";
    FT_ASSERT(size > 0);
    if (n->at)
        snprintf(at, sizeof at, " at 0x%llx", (unsigned long long)n->at);
    int len = snprintf(out, (size_t)size,
                       "%s: %s%s changes in body and is not protected: call FTRMA_Protect%s%s%s, "
                       "or FTRMA_Unprotect if it is scratch",
                       who, n->what, at, n->args[0] ? "(" : "", n->args, n->args[0] ? ")" : "");
    return len < size ? len : size - 1;
}
