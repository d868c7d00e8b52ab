/* SPDX-License-Identifier: BSD-3-Clause
 *
 * image.h - an image: what a checkpoint of one process holds, as one run of bytes, so that a
 * codeword over images is a codeword over bytes. Pure.
 *
 *   ft_image | regions: {address, bytes, ...} ...
 *            | messages that had arrived and were not received, the engine's state
 *            | contents of regions that are not left out, each 64-aligned
 *
 * The engine's state (windows' locks, ACC, collectives' counts, and at its end the home log's part
 * of setup) is the last engine_bytes of the message bytes.
 *
 * Beyond the end of an image its bytes count as zero, for groups with images of unequal sizes.
 */
#ifndef FT_IMAGE_IMAGE_H
#define FT_IMAGE_IMAGE_H

#include "base/base.h"

#define FT_IMAGE_MAGIC 0x66746d6167653032ull

/* unprotected: the program has said that the region's contents at safepoints are not needed.
 * left_out: not in this image. */
struct ft_region {
    void *addr;
    uint64_t bytes;
    int unprotected, left_out;
};

/* The process's own counters as of the cut. */
struct ft_image_counters {
    uint64_t safepoint; /* number of its safepoint; 0: FTRMA_Run's entry */
    uint32_t next_ctx;
    uint32_t over;        /* body had returned */
    uint32_t rank, era;   /* era: of messages, at the cut */
    uint64_t calls, wild; /* calls(p), and the number of wildcards so far */
    uint64_t home[3];     /* place of the home log: a struct ft_log_place */
    /* of the engine's state, before setup's part: the counts of collectives */
    uint64_t sched_bytes;
    uint64_t setup_bytes; /* of the engine's state, at its end: the home log's part of setup */
    uint32_t entry_ctx,
        setup_kept; /* next_ctx when FTRMA_Run was entered; whether the home log has all of setup */
    /* Rank 0 only: bytes of standard input that the program had taken (runtime/input.h). */
    uint64_t in;
    /* positions on stdout and stderr that it had printed up to, see base/streams.h */
    uint64_t out[2];
    /* As in its testament, which is lost when its node is. */
    uint64_t heap_from, arena_at, strayed;
    uint64_t freed; /* how many windows and communicators of setup body had freed */
    /* in which it was taken. An image that was called off, and the committed one of this version,
     * are of two */
    uint64_t generation;
};

struct ft_image {
    uint64_t magic, version;
    uint64_t bytes; /* of the entire image */
    uint64_t nregions, message_bytes;
    uint64_t engine_bytes; /* of the message bytes, at their end: the one-sided engine's state */
    struct ft_image_counters counters;
};

/* Returns the size of an image. */
uint64_t ft_image_measure(const struct ft_region *r, int n, uint64_t message_bytes);
/* Writes everything except the contents of regions and messages. out has room for ft_image_measure
 * bytes. */
void ft_image_begin(void *out, uint64_t version, const struct ft_region *r, int n,
                    uint64_t message_bytes, const struct ft_image_counters *c);
void *ft_image_messages(void *image);
/* Bytes before the contents of regions: all that is needed to begin as this rank. */
uint64_t ft_image_head_bytes(const void *image);
/* Where region i lies in an image, in bytes from its begin. */
uint64_t ft_image_region_at(const void *image, int i);
/* From now on the engine's state ends with this many bytes of setup, contents undefined; what
 * follows is moved. There must be room. */
void ft_image_resize_setup(void *image, uint64_t setup_bytes);
/* Copies region i into the image, or out of it to its own address. Does nothing for a region that
 * was left out. */
void ft_image_save_region(void *image, int i, const struct ft_region *r);
/* The same of [at, at + bytes) of the region. */
void ft_image_save_part(void *image, int i, const struct ft_region *r, uint64_t at, uint64_t bytes);
void ft_image_load_region(const void *image, int i, const struct ft_region *r);
/* The address of region i when the image was made. */
void *ft_image_region_address(const void *image, int i);
/* Whether region i was unprotected when the image was made. */
int ft_image_region_unprotected(const void *image, int i);
/* Whether this is an image, of this version, made from regions of these sizes. FT_ERR_RANGE: *bad
 * is the first region that differs (-1: their number differs, or it is no such image). */
enum ft_status ft_image_matches(const void *image, uint64_t version, const struct ft_region *r,
                                int n, int *bad);

#endif
