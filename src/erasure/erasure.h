/* SPDX-License-Identifier: BSD-3-Clause
 *
 * erasure.h - codewords over plain buffers (C5): m = 1 to 8 codewords over the images of a group of
 * up to 128 members. Any m lost blocks, images and codewords together, can be rebuilt.
 *
 *   image 0   |---------------------|           lens[0]
 *   image 1   |-----------------------------|   lens[1]
 *   image 2   |-------------|                   lens[2]    a shorter image counts as zero beyond
 * its end parity    |-----------------------------|   as long as the longest ^off ... off+len^ one
 * call works on one piece, so that a large image can travel in pieces
 *
 * A lost image is a sum of what is left (ft_erasure_solve says which), as long as the longest
 * image. Beyond the end of the lost image the sum is zero.
 *
 * Any alignment and any length is allowed. It is fast (ISA-L) when parity and all srcs[i] + off
 * have the same address modulo 32, so begin images and cut pieces at multiples of 32. The caller
 * owns all memory; nothing is allocated or kept, and nothing fails. Calls on different memory may
 * run at the same time. Stores to parity are ordered before the caller's next store, as plain
 * stores are, so a release store may publish it.
 */
#ifndef FT_ERASURE_ERASURE_H
#define FT_ERASURE_ERASURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* parity[0..len) = XOR over i < n of srcs[i][off..off+len), where source i is zero from lens[i] on.
 * n = 0 gives zeros. srcs[i] may be NULL if lens[i] is 0. parity may be srcs[0] + off itself ("xor
 * the others into it"); otherwise it overlaps no source. */
void ft_erasure_xor_encode(void *parity, const void *const *srcs, const size_t *lens, int n,
                           size_t off, size_t len);

/* parity ^= old_img ^ new_img, over len bytes: one member's image has changed from old to new.
 * Nothing overlaps parity. */
void ft_erasure_xor_update(void *parity, const void *old_img, const void *new_img, size_t len);

/* The same in plain C, byte by byte: the baseline for tests. */
void ft_erasure_xor_encode_ref(void *parity, const void *const *srcs, const size_t *lens, int n,
                               size_t off, size_t len);
void ft_erasure_xor_update_ref(void *parity, const void *old_img, const void *new_img, size_t len);

/* ---- m codewords ----
 *
 * Codeword r (r = 0 ... m - 1) is the sum over members j of C(r, j) * image j, byte by byte in
 * GF(2^8) modulo x^8+x^4+x^3+x^2+1, ISA-L's field. C(r, j) = (128 ^ j) / ((128 + r) ^ j): a Cauchy
 * matrix 1 / (x_r ^ y_j), as all x_r = 128 + r and y_j = j are different, with each column
 * multiplied by a number that makes row 0 all ones. Every square part of a Cauchy matrix is
 * invertible, and multiplied columns leave it so: thus any m losses can be undone. Codeword 0 is
 * the XOR; m = 1 is no other code than m = 8, and a codeword does not depend on how many others
 * there are, nor on the size of the group.
 *
 * A group's *blocks*: members are 0 ... k - 1, codeword r is k + r. */
#define FT_ERASURE_MAX_MEMBERS 128
#define FT_ERASURE_MAX_PARITY 8
#define FT_ERASURE_MAX_BLOCKS (FT_ERASURE_MAX_MEMBERS + FT_ERASURE_MAX_PARITY)

uint8_t ft_erasure_coefficient(int codeword, int member);

/* How to make one block of a group from k others: block `wanted` = sum over i < k of coef[i] *
 * block source[i]. Fills both, preferring members to codewords. have[k + m]: the blocks that exist;
 * that of `wanted` is not looked at. FT_ERR_RANGE: not enough blocks. */
enum ft_status ft_erasure_solve(int k, int m, const uint8_t *have, int wanted, int *source,
                                uint8_t *coef);

/* out[0..len) = sum over i < n of coef[i] * srcs[i][off..off+len), where source i is zero from
 * lens[i] on. If all of coef are 1 this is ft_erasure_xor_encode, except that n <= 128, and out
 * overlaps no source. */
void ft_erasure_combine(void *out, const void *const *srcs, const size_t *lens, const uint8_t *coef,
                        int n, size_t off, size_t len);

/* Update by differences, piece by piece, in any order, independently for each member: diff = old ^
 * new, computed where the images are; then codewords[i] ^= C(row[i], member) * diff for i < n, n <=
 * 8, where the codewords are. Buffers of a call do not overlap, but diff may be old_img or
 * new_img. */
void ft_erasure_diff(void *diff, const void *old_img, const void *new_img, size_t len);
void ft_erasure_update(void *const *codewords, const int *row, int n, int member, const void *diff,
                       size_t len);

/* The same in plain C, with multiplication by its definition. */
uint8_t ft_erasure_mul_ref(uint8_t a, uint8_t b);
uint8_t ft_erasure_coefficient_ref(int codeword, int member);
void ft_erasure_combine_ref(void *out, const void *const *srcs, const size_t *lens,
                            const uint8_t *coef, int n, size_t off, size_t len);
void ft_erasure_update_ref(void *const *codewords, const int *row, int n, int member,
                           const void *diff, size_t len);

#endif
