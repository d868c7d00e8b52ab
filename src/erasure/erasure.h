/* SPDX-License-Identifier: BSD-3-Clause
 *
 * erasure.h - codewords over plain buffers (protocol 7, Parity). One codeword a group, m = 1: the XOR of the members' images.
 *
 *   image 0   |---------------------|           lens[0]
 *   image 1   |-----------------------------|   lens[1]
 *   image 2   |-------------|                   lens[2]    a shorter image counts as zero beyond its end
 *   parity    |-----------------------------|   as long as the longest
 *                 ^off ... off+len^             one call works on one piece, so that a large image can travel in pieces
 *
 * A lost image is rebuilt by ft_erasure_xor_encode: the sources are the images that are left and the parity; what comes out
 * beyond the end of the lost image is zero.
 *
 * Any alignment and any length will do. It is fast (ISA-L) when parity and all srcs[i] + off have the same address modulo 32:
 * begin images on multiples of 32 and cut pieces on multiples of 32.
 * The caller owns all memory; nothing is allocated or kept, nothing fails. Calls on different memory may run at the same time.
 * The parity is ordered before whatever the caller stores next, as with plain stores: it may be published by a release store.
 */
#ifndef FT_ERASURE_ERASURE_H
#define FT_ERASURE_ERASURE_H

#include <stddef.h>

/* parity[0..len) = XOR over i < n of srcs[i][off..off+len), where source i is zero from lens[i] on. n = 0 gives zeros.
 * srcs[i] may be NULL when lens[i] is 0. parity may be srcs[0] + off itself ("xor the others into it"); it overlaps no source
 * in any other way. */
void ft_erasure_xor_encode(void *parity, const void *const *srcs, const size_t *lens, int n, size_t off, size_t len);

/* parity ^= old_img ^ new_img, over len bytes: one member's image has changed from old to new. No overlaps with parity. */
void ft_erasure_xor_update(void *parity, const void *old_img, const void *new_img, size_t len);

/* The same in plain C, a byte at a time: what the two above are tested against. */
void ft_erasure_xor_encode_ref(void *parity, const void *const *srcs, const size_t *lens, int n, size_t off, size_t len);
void ft_erasure_xor_update_ref(void *parity, const void *old_img, const void *new_img, size_t len);

#endif
