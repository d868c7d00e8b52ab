/* SPDX-License-Identifier: BSD-3-Clause
 *
 * image.h - what a checkpoint of one process holds, as one run of bytes: so that a codeword over
 * images is a codeword over bytes. Pure.
 *
 *   ft_image | regions: {address, bytes, ...} ...
 *            | messages that had arrived and were not received, the engine's state
 *            | contents of regions that are not left out, each 64-aligned
 *
 * The engine's state (windows' locks, ACC, collectives' counts, and at its end what the home log
 * has of setup) is the last engine_bytes of the message bytes.
 *
 * An image ends with its last byte; beyond it counts as zero (unequal sizes in a group).
 */
#ifndef FT_IMAGE_IMAGE_H
#define FT_IMAGE_IMAGE_H

#include "base/base.h"

#define FT_IMAGE_MAGIC 0x66746d6167653031ull

/* unprotected: the program has said that what it holds at safepoints is not needed. left_out: of
 * this image. */
struct ft_region {
    void *addr;
    uint64_t bytes;
    int unprotected, left_out;
};

/* The process's own counters as of the cut. */
struct ft_image_counters {
    uint64_t safepoint; /* number of the safepoint it stands at; 0: FTRMA_Run's entry */
    uint32_t next_ctx;
    uint32_t over;        /* body had returned */
    uint32_t rank, era;   /* era: of messages, at the cut */
    uint64_t calls, wild; /* calls(p), wildcards so far */
    uint64_t home[3];     /* where the home log stands: a struct ft_log_place */
    uint64_t sched_bytes; /* of the engine's state, before setup's: what collectives have counted */
    uint64_t setup_bytes; /* of the engine's state, at its end: what the home log has of setup */
    uint32_t entry_ctx,
        setup_kept; /* next_ctx when FTRMA_Run was entered; whether the home log has all of setup */
    /* rank 0's: bytes of standard input that the program had taken (runtime/input.h) */
    uint64_t in;
    uint64_t out[2]; /* what it has printed on stdout and stderr: positions, see base/streams.h */
};

struct ft_image {
    uint64_t magic, version;
    uint64_t bytes; /* of all of it */
    uint64_t nregions, message_bytes;
    uint64_t engine_bytes; /* of the message bytes, at their end: the one-sided engine's state */
    struct ft_image_counters counters;
};

/* Bytes that an image takes. */
uint64_t ft_image_measure(const struct ft_region *r, int n, uint64_t message_bytes);
/* Writes everything but the contents of regions and messages; out has room for ft_image_measure
 * bytes. */
void ft_image_begin(void *out, uint64_t version, const struct ft_region *r, int n,
                    uint64_t message_bytes, const struct ft_image_counters *c);
void *ft_image_messages(void *image);
/* Where region i lies in an image, bytes from its begin. */
uint64_t ft_image_region_at(const void *image, int i);
/* The engine's state ends with so many bytes of setup from now on, of any contents; what lies after
 * it is moved. There is room. */
void ft_image_resize_setup(void *image, uint64_t setup_bytes);
/* Copies region i into the image / out of it to its (own) address; nothing for one that was left
 * out. */
void ft_image_save_region(void *image, int i, const struct ft_region *r);
/* The same of [at, at + bytes) of the region. */
void ft_image_save_part(void *image, int i, const struct ft_region *r, uint64_t at, uint64_t bytes);
void ft_image_load_region(const void *image, int i, const struct ft_region *r);
/* Where region i lay when the image was made. */
void *ft_image_region_address(const void *image, int i);
/* Region i was unprotected when the image was made. */
int ft_image_region_unprotected(const void *image, int i);
/* Whether the image is one, of this version, and was made from regions of these sizes; FT_ERR_RANGE
 * and *bad = the first region that differs
 * (-1: their number, or it is no such image). */
enum ft_status ft_image_matches(const void *image, uint64_t version, const struct ft_region *r,
                                int n, int *bad);

#endif
