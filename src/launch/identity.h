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
/* The kind of processor, the size of its pages and its features. malloc'ed; never NULL. */
char *ft_processor_identity(void);

/* What must be the same on all hosts of a job, if a rank that is replaced elsewhere is to give the
 * same bits. libc is ftrun's own, libm lies beside it. */
enum ft_identity { FT_ID_PROGRAM, FT_ID_LIBRARY, FT_ID_LIBC, FT_ID_LIBM, FT_ID_PROCESSOR, FT_IDS };
extern const char *const ft_identity_name[FT_IDS]; /* "its libc" */
/* Paths of the first two. Each is malloc'ed; empty if it cannot be read. */
void ft_identities(const char *program, const char *library, char *out[FT_IDS]);

#endif
