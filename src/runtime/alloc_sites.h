/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alloc_sites.h - which code has allocated a block of memory. libftrma_sites.so knows: a second
 * preloaded library, which ftrun adds only where memory is looked at closely (--rehearse,
 * --check-memory always). It replaces malloc, calloc, realloc, aligned_alloc, posix_memalign, C++'s
 * new and mmap, and records the caller of each that asks for FT_ALLOC_LEAST bytes or more.
 */
#ifndef FT_RUNTIME_ALLOC_SITES_H
#define FT_RUNTIME_ALLOC_SITES_H

#include <stddef.h>
#include <stdint.h>

#define FT_ALLOC_LEAST ((size_t)64 << 10)
#define FT_ALLOC_SITE "ftrma_alloc_site"

/* Writes "place (heat+0x1234)", or "heat+0x1234" if the object names no function there: the code
 * that allocated the newest block that begins in [addr, addr + bytes), or else that holds addr.
 * addr2line -e heat 0x1234 names the line. Returns 0 if it is not known. */
typedef int ft_alloc_site_fn(uint64_t addr, uint64_t bytes, char *out, size_t size);

#endif
