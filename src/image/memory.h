/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.h - finds out which of a program's memory changes and is in no image: spans of addresses,
 * hashes of contents, and names. Pure: the caller reads the memory (runtime/memcheck.c).
 *
 *   things (symbols, heap blocks, pieces of mappings)  -  spans that are known
 *     ->  hash a thing  ->  compare with the hash before  ->  note
 */
#ifndef FT_IMAGE_MEMORY_H
#define FT_IMAGE_MEMORY_H

#include "base/base.h"
#include "base/note.h"

/* ---- spans ---- */

struct ft_span {
    uint64_t from, to;
};
/* Sorts the spans, joins those that touch or overlap, and drops empty ones. Returns how many are
 * left. */
size_t ft_spans_join(struct ft_span *s, size_t n);
/* Finds the first stretch of [at, to) that no span covers (joined spans). 0: there is none. */
int ft_spans_gap(const struct ft_span *s, size_t n, uint64_t at, uint64_t to, struct ft_span *gap);

/* ---- hashes ---- */

#define FT_MEM_PAGE 4096ull
/* What [at, at + bytes) adds to the hash of its thing; it lies in one page of FT_MEM_PAGE. Zeros
 * add nothing, so pages that were never touched need not be read. */
uint64_t ft_mem_hash(const void *p, size_t bytes, uint64_t at);

/* ---- things ---- */

enum ft_mem_kind {
    FT_MEM_STATIC,  /* static data with a name */
    FT_MEM_UNNAMED, /* static data of an object file whose symbols were stripped, in pieces */
    FT_MEM_BLOCK,   /* a block of the heap */
    FT_MEM_MAPPING, /* memory of the program's own mmap, in pieces */
};
#define FT_MEM_LEAST (64ull << 10) /* smaller blocks and mappings are not looked at */

struct ft_mem_thing {
    uint64_t addr, bytes;
    uint64_t whole, whole_bytes; /* the thing of which it is a piece; else itself */
    /* STATIC: the linker's name, and its source or object file. UNNAMED: the object file */
    const char *name, *source;
    enum ft_mem_kind kind;
    /* What is known of it; hashed 0: nothing. */
    uint64_t hash; /* of what no known span covers in [addr, addr + looked) */
    /* of the bounds of those stretches: if the bounds differ, memory is not compared */
    uint64_t shape;
    uint64_t looked;
    int hashed, changed, named;
};

/* Sorts by address. Of overlapping things the first one stays, of things with one address the
 * longest. Returns how many stay. */
size_t ft_mem_settle(struct ft_mem_thing *t, size_t n);
/* Takes over what was known of the same things (both settled). */
void ft_mem_carry(struct ft_mem_thing *now, size_t n, const struct ft_mem_thing *was, size_t m);
/* The order in which they are looked at: those of FT_MEM_LEAST or more by their entire size,
 * the largest first; then the others by address. order: [n]. */
void ft_mem_order(const struct ft_mem_thing *t, size_t n, uint32_t *order);
/* After a new look: returns 1 if the thing has changed since the previous one. */
int ft_mem_compare(struct ft_mem_thing *t, uint64_t hash, uint64_t shape, uint64_t looked);
/* The size of the pieces of mapping [from, to), such that there are at most a thousand. */
uint64_t ft_mem_piece(uint64_t bytes);

/* ---- blocks of the C library's heap ---- */

/* Reads `bytes` (at most 16) at addr. NULL: they cannot be read, or time is up. Valid until the
 * next call. */
typedef const void *ft_mem_peek(void *arg, uint64_t addr, size_t bytes);
typedef void ft_mem_block(void *arg, uint64_t addr, uint64_t bytes);
/* Goes through the chunks of [from, to) as glibc lays them out on 64-bit machines, and hands out
 * blocks in use of at least `least` bytes: the address of the program's bytes, and how many it may
 * use. FT_OK: all chunks were passed. FT_ERR_AGAIN: peek gave up; what was handed out is valid.
 * FT_ERR_RANGE: this is no such heap; what was handed out is meaningless. */
enum ft_status ft_mem_walk(uint64_t from, uint64_t to, uint64_t least, ft_mem_peek *peek,
                           ft_mem_block *each, void *arg);

/* ---- names ---- */

/* Converts a linker's name to the one in the source: "u.1" -> u, "_ZN4Heat1uE" -> Heat::u,
 * "__heat_MOD_u" -> heat::u. */
void ft_mem_tidy(const char *name, char *out, size_t size);
/* 1: a name of the linker, the compiler or this library, which no program protects. */
int ft_mem_is_internal(const char *name);
/* "80 KB". */
void ft_mem_size(uint64_t bytes, char *out, size_t size);
/* Writes the note about a thing. changed: how many of its bytes changed. owner: a static variable
 * that points to it, or NULL. site: the code that allocated it, or NULL. */
struct ft_note ft_mem_note(const struct ft_mem_thing *t, uint64_t changed, const char *owner,
                           const char *site);

#endif
