/* SPDX-License-Identifier: BSD-3-Clause
 *
 * erasure.c - codewords against memcpy, and how long a placement of a million processes takes. No
 * job: run it by itself.
 *
 *   bench_erasure [SECONDS]     about so long for each figure (default 0.5)
 *
 * A figure is bytes of image a second, as a share of what memcpy does with the same bytes from and
 * to buffers of the same kind: `update` adds a member's difference to codewords, as it arrives;
 * `encode` makes codewords from 8 images and counts the bytes of all; `rebuild` makes a lost image
 * from the other blocks and counts the bytes of the lost one. Two working sets: pieces of 256 KiB
 * over and over (they stay in a cache), and pieces out of 64 MiB buffers (memory).
 */
#define _GNU_SOURCE

#include "erasure/erasure.h"
#include "base/prng.h"
#include "bench.h"
#include "topology/placement.h"

#define PIECE ((size_t)256 << 10)
#define BIG ((size_t)64 << 20)
#define MEMBERS 8
#define MOST 4 /* codewords */

static uint8_t *image[MEMBERS], *code[MOST];
static size_t bytes; /* of a working set */
static int parity;

static void copy(size_t at) { memcpy(code[0] + at, image[0] + at, PIECE); }

static void update(size_t at)
{
    static const int row[MOST] = {0, 1, 2, 3};
    void *to[MOST];
    for (int r = 0; r < parity; r++)
        to[r] = code[r] + at;
    ft_erasure_update(to, row, parity, 3, image[0] + at, PIECE);
}

static void encode(size_t at)
{
    size_t len[MEMBERS];
    uint8_t coef[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        len[i] = bytes;
    for (int r = 0; r < parity; r++) {
        for (int i = 0; i < MEMBERS; i++)
            coef[i] = ft_erasure_coefficient(r, i);
        ft_erasure_combine(code[r] + at, (const void *const *)image, len, coef, MEMBERS, at, PIECE);
    }
}

/* The last `parity` members are lost, and one of them comes back: in place of code[0], which is the
 * worst as no codeword is XOR's. */
static void rebuild(size_t at)
{
    uint8_t have[MEMBERS + MOST + 1] = {0}, coef[MEMBERS];
    int source[MEMBERS];
    const void *src[MEMBERS];
    size_t len[MEMBERS];
    memset(have, 1, sizeof have);
    for (int i = 0; i < parity; i++)
        have[MEMBERS - 1 - i] = 0;
    if (ft_erasure_solve(MEMBERS, parity, have, MEMBERS - 1, source, coef) != FT_OK)
        exit(1);
    for (int i = 0; i < MEMBERS; i++) {
        src[i] = source[i] < MEMBERS ? image[source[i]] : code[source[i] - MEMBERS];
        len[i] = bytes;
    }
    ft_erasure_combine(image[MEMBERS - 1] + at, src, len, coef, MEMBERS, at, PIECE);
}

/* Bytes of image a second, the best of some rounds: others on this machine only take away. */
static double speed(void (*step)(size_t at), double seconds, size_t each)
{
    double best = 0, end = bench_now() + seconds;
    for (int rounds = 0; rounds < 3 || bench_now() < end; rounds++) {
        size_t done = 0;
        double t0 = bench_now();
        while (done < BIG / 4)
            for (size_t at = 0; at < bytes; at += PIECE, done += PIECE)
                step(at);
        double v = (double)done / PIECE * (double)each / (bench_now() - t0);
        best = v > best ? v : best;
    }
    return best;
}

static void codes(double seconds)
{
    static const char *const names[] = {"xor", "xor", "rs2", "rs3", "rs4"};
    for (int i = 0; i < MEMBERS; i++)
        image[i] = bench_alloc(BIG);
    for (int r = 0; r < MOST; r++)
        code[r] = bench_alloc(BIG);
    for (int big = 0; big < 2; big++) {
        bytes = big ? BIG : PIECE;
        double base = speed(copy, seconds, PIECE);
        printf("bench: memcpy %zu %.3g GB/s\n", bytes, base / 1e9);
        for (parity = 1; parity <= MOST; parity++) {
            printf("bench: %s-update %zu %.3g of memcpy%s\n", names[parity], bytes,
                   speed(update, seconds, PIECE) / base,
                   parity == 1   ? " (target 0.7)"
                   : parity == 2 ? " (target 0.35)"
                                 : "");
            printf("bench: %s-encode-8 %zu %.3g of memcpy\n", names[parity], bytes,
                   speed(encode, seconds, MEMBERS * PIECE) / base);
            printf("bench: %s-rebuild-8 %zu %.3g of memcpy\n", names[parity], bytes,
                   speed(rebuild, seconds, PIECE) / base);
        }
    }
}

static void placement(void)
{
    static const char text[] = "level node in psu count 250000\nlevel psu in switch count 50000\n"
                               "level switch in rack count 10000\nlevel rack count 5000\n";
    struct ft_prng p = {1};
    struct ft_domains d;
    struct ft_placement out;
    char why[512];
    int n = 1000000, *node_of = bench_alloc((size_t)n * sizeof *node_of);
    struct ft_place_ask a = {.nranks = 900000, .nchecksums = 90000, .parity = 3, .aware = 4};
    double t0 = bench_now();
    if (ft_domains_parse("bench", text, strlen(text), &d, why, sizeof why) != FT_OK)
        exit(1);
    printf("bench: domains 250000 %.3g s\n", bench_now() - t0);
    ft_domains_spread(&d, n, node_of);
    for (int i = n - 1; i > 0; i--) { /* in no order */
        int k = (int)ft_prng_below(&p, (uint64_t)i + 1), t = node_of[i];
        node_of[i] = node_of[k];
        node_of[k] = t;
    }
    t0 = bench_now();
    if (ft_place(&d, node_of, n, &a, &out, why, sizeof why) != FT_OK)
        exit(1);
    printf("bench: placement %d %.3g s\n", n, bench_now() - t0);
    ft_placement_finish(&out);
    ft_domains_finish(&d);
    free(node_of);
}

int main(int argc, char **argv)
{
    char cpu[128];
    bench_cpu(cpu, sizeof cpu);
    printf("config: erasure codes and placement; 1 process on %ld cores; %s; compiler %s; pieces "
           "of %zu bytes\n",
           sysconf(_SC_NPROCESSORS_ONLN), cpu, __VERSION__, PIECE);
    codes(argc > 1 ? atof(argv[1]) : 0.5);
    placement();
    return 0;
}
