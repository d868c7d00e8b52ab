/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.h - which of a program's memory changes and belongs to no image: spans of addresses,
 * hashes of what lies there, and names. Pure: the caller reads the memory (runtime/memcheck.c).
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
/* Sorts; joins those that touch or overlap; drops empty ones. Returns how many are left. */
size_t ft_spans_join(struct ft_span *s, size_t n);
/* The first stretch of [at, to) that no span covers (joined spans). 0: there is none. */
int ft_spans_gap(const struct ft_span *s, size_t n, uint64_t at, uint64_t to, struct ft_span *gap);

/* ---- hashes ---- */

#define FT_MEM_PAGE 4096ull
/* What [at, at + bytes) adds to the hash of the thing that it lies in; it lies in one page of
 * FT_MEM_PAGE. Zeros add nothing, so that pages that were never touched need not be read. */
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
    uint64_t whole, whole_bytes; /* what it is a piece of; else itself */
    const char *name, *source;   /* STATIC: as the linker knows it, and its source or object file.
                                    UNNAMED: the object file */
    enum ft_mem_kind kind;
    /* what is known of it; hashed 0: nothing */
    uint64_t hash;  /* of what no known span covers in [addr, addr + looked) */
    uint64_t shape; /* of the bounds of those stretches: other bounds are no change of the memory */
    uint64_t looked;
    int hashed, changed, named;
};

/* Sorted by address; of things that overlap the first, and of those that begin at one place the
 * longest, stays. Returns how many. */
size_t ft_mem_settle(struct ft_mem_thing *t, size_t n);
/* What was known of the same things (both settled) goes on to be known. */
void ft_mem_carry(struct ft_mem_thing *now, size_t n, const struct ft_mem_thing *was, size_t m);
/* In which order they are looked at: those of FT_MEM_LEAST or more by the size of the whole, the
 * largest first; then the others by address. order: [n]. */
void ft_mem_order(const struct ft_mem_thing *t, size_t n, uint32_t *order);
/* A new look: returns 1 when the thing has changed since the one before. */
int ft_mem_compare(struct ft_mem_thing *t, uint64_t hash, uint64_t shape, uint64_t looked);
/* [mapping from, to) in pieces, large enough that there are no more than a thousand of them: bytes
 * of one. */
uint64_t ft_mem_piece(uint64_t bytes);

/* ---- blocks of the C library's heap ---- */

/* Reads `bytes` (at most 16) at addr; NULL: not to be had, or out of time. Valid until the next
 * call. */
typedef const void *ft_mem_peek(void *arg, uint64_t addr, size_t bytes);
typedef void ft_mem_block(void *arg, uint64_t addr, uint64_t bytes);
/* Goes through the chunks of [from, to) as glibc lays them out on 64-bit machines and hands out
 * blocks in use of `least` bytes or more: where the program's bytes begin and how many it may use.
 * FT_OK: all chunks were passed. FT_ERR_AGAIN: peek gave up, what was handed out holds.
 * FT_ERR_RANGE: this is no such heap, what was handed out means nothing. */
enum ft_status ft_mem_walk(uint64_t from, uint64_t to, uint64_t least, ft_mem_peek *peek,
                           ft_mem_block *each, void *arg);

/* ---- names ---- */

/* A linker's name as the program wrote it: "u.1" -> u, "_ZN4Heat1uE" -> Heat::u, "__heat_MOD_u" ->
 * heat::u. */
void ft_mem_tidy(const char *name, char *out, size_t size);
/* 1: the linker's, the compiler's or this library's own, which no program protects. */
int ft_mem_is_internal(const char *name);
/* "80 KB". */
void ft_mem_size(uint64_t bytes, char *out, size_t size);
/* What is to be said of a thing. changed: how many bytes of the whole. owner: a static that points
 * to it, or NULL. site: the code that has taken it, or NULL. */
struct ft_note ft_mem_note(const struct ft_mem_thing *t, uint64_t changed, const char *owner,
                           const char *site);

#endif
