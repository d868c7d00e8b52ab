/* SPDX-License-Identifier: BSD-3-Clause
 *
 * identity.h - identifies a program and the processor that it runs on. Two jobs give the same bits
 * only if both are equal (F6).
 */
#ifndef FT_LAUNCH_IDENTITY_H
#define FT_LAUNCH_IDENTITY_H

#include <stddef.h>

/* "build-id:..." of a file that has one, else "xxh3:..." of its contents. malloc'ed; NULL with
 * errno: it cannot be read. */
char *ft_file_identity(const char *path);
/* The kind of processor and its features. malloc'ed; never NULL. */
char *ft_processor_identity(void);

#endif
