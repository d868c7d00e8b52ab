/* SPDX-License-Identifier: BSD-3-Clause
 *
 * identity.h - what a program is made of, and what it runs on: two jobs come to the same bits only
 * where both are equal (F6).
 */
#ifndef FT_LAUNCH_IDENTITY_H
#define FT_LAUNCH_IDENTITY_H

#include <stddef.h>

/* "build-id:..." of a file that has one, else "xxh3:..." of what is in it. malloc'ed; NULL: it
 * cannot be read (errno).
 */
char *ft_file_identity(const char *path);
/* The kind of processor and what it can do. malloc'ed; never NULL. */
char *ft_processor_identity(void);

#endif
