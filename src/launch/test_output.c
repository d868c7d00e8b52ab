/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_output.c - positions, jumps and lines; then complete sets of files, written as ranks would
 * write them.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/prng.h"
#include "launch/output.h"

#define MS 1000000ull

static void sink_is(struct ft_sink *s, const char *text)
{
    assert_int_equal(s->len, strlen(text));
    assert_memory_equal(s->data, text, s->len);
}

static void lines_come_whole(void **state)
{
    (void)state;
    struct ft_line l = {0};
    struct ft_sink out = {0};
    ft_line_feed(&l, 0, "one\ntw", 6, 0, &out);
    sink_is(&out, "one\n");
    ft_line_flush(&l, 29 * MS, 30 * MS, &out);
    sink_is(&out, "one\n");
    ft_line_feed(&l, 6, "o", 1, 20 * MS, &out);
    ft_line_flush(&l, 49 * MS, 30 * MS, &out); /* counted from the last byte */
    sink_is(&out, "one\n");
    ft_line_feed(&l, 7, "\nth", 3, 50 * MS, &out);
    sink_is(&out, "one\ntwo\n");
    ft_line_flush(&l, 80 * MS, 30 * MS, &out);
    sink_is(&out, "one\ntwo\nth");
    ft_line_feed(&l, 10, "ree\n", 4, 90 * MS, &out);
    sink_is(&out, "one\ntwo\nthree\n");
    free(l.held.data);
    free(out.data);
}

static void what_was_taken_is_dropped(void **state)
{
    (void)state;
    struct ft_line l = {0};
    struct ft_sink out = {0};
    ft_line_feed(&l, 0, "abc\nde", 6, 0, &out);
    ft_line_feed(&l, 0, "abc\n", 4, 0, &out); /* a replacement: shown, */
    ft_line_feed(&l, 4, "def", 3, 0, &out);   /* held, and new */
    ft_line_feed(&l, 2, "c\n", 2, 0, &out);   /* back again */
    ft_line_feed(&l, 4, "def\ng\n", 6, 0, &out);
    sink_is(&out, "abc\ndef\ng\n");
    assert_int_equal(l.taken, 10);
    ft_line_feed(&l, 20, "h\n", 2, 0, &out); /* a gap cannot be filled */
    sink_is(&out, "abc\ndef\ng\nh\n");
    assert_int_equal(l.taken, 22);
    free(l.held.data);
    free(out.data);
}

static void a_long_line_goes_out_in_pieces(void **state)
{
    (void)state;
    struct ft_line l = {0};
    struct ft_sink out = {0};
    char piece[1000];
    memset(piece, 'x', sizeof piece);
    for (uint64_t pos = 0; pos < 4 * FT_LINE_MAX; pos += sizeof piece) {
        ft_line_feed(&l, pos, piece, sizeof piece, 0, &out);
        assert_true(l.held.len < FT_LINE_MAX);
    }
    assert_true(out.len + l.held.len >= 4 * FT_LINE_MAX);
    free(l.held.data);
    free(out.data);
}

static void jumps_lie_ahead(void **state)
{
    (void)state;
    struct ft_reading p = {0};
    uint64_t pos;
    assert_int_equal(ft_reading_run(&p, 10, &pos), 10);
    assert_int_equal(pos, 0);
    ft_reading_jump(&p, 4, 100);
    ft_reading_jump(&p, 8, 2);
    ft_reading_jump(&p, 8, 3); /* the later one wins */
    assert_int_equal(ft_reading_run(&p, 10, &pos), 4);
    p.at = 2;
    assert_int_equal(ft_reading_run(&p, 10, &pos), 2);
    assert_int_equal(pos, 2);
    p.at = 4;
    assert_int_equal(ft_reading_run(&p, 5, &pos), 1);
    assert_int_equal(pos, 100);
    p.at = 7;
    assert_int_equal(ft_reading_run(&p, 10, &pos), 1);
    assert_int_equal(pos, 103);
    p.at = 8;
    assert_int_equal(ft_reading_run(&p, 8, &pos), 0);
    assert_int_equal(ft_reading_run(&p, 10, &pos), 2);
    assert_int_equal(pos, 3);
    free(p.jump);
}

/* ---- with descriptors ---- */

static struct ft_board *b;
static struct ft_outputs *o;
static int board_fd, in[2],
    out[2]; /* the pipes' ends: what is shown on stream k is read from in[k] */

static int make(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    for (int k = 0; k < 2; k++) {
        int p[2];
        if (pipe2(p, O_CLOEXEC) != 0)
            return -1;
        in[k] = p[0];
        out[k] = p[1];
    }
    return ft_board_create(2, 1, 3, (int)getpid(), &b, &board_fd) == FT_OK &&
                   ft_outputs_create(b, out, &o) == FT_OK
               ? 0
               : -1;
}

static int drop(void **state)
{
    (void)state;
    ft_outputs_destroy(o);
    munmap(b, ft_board_bytes(b->nslots));
    close(board_fd);
    for (int k = 0; k < 2; k++) {
        close(in[k]);
        close(out[k]);
    }
    return 0;
}

static void carry(int slot, int rank, uint32_t incarnation)
{
    b->slot[slot].who = FT_WHO(FT_ROLE_RANK, rank);
    b->slot[slot].incarnation = incarnation;
}

static void prints(int slot, int k, const char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)b->slot[slot].output[k].fd);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), bytes);
    close(fd);
}

static uint64_t end_of(int slot, int k)
{
    struct stat sb;
    assert_int_equal(fstat(b->slot[slot].output[k].fd, &sb), 0);
    return (uint64_t)sb.st_size;
}

static void jumps(int slot, int k, uint64_t pos)
{
    struct ft_board_output *s = &b->slot[slot].output[k];
    uint32_t n = s->jumps;
    assert_true(n - s->taken < FT_JUMP_RING);
    s->jump[n % FT_JUMP_RING].at = end_of(slot, k);
    s->jump[n % FT_JUMP_RING].pos = pos;
    s->jumps = n + 1;
}

/* All that can be read of stream k now. */
static size_t shown(int k, char *text, size_t size)
{
    size_t n = 0;
    struct pollfd p = {.fd = in[k], .events = POLLIN};
    while (n < size - 1 && poll(&p, 1, 0) == 1 && p.revents & POLLIN) {
        ssize_t got = read(in[k], text + n, size - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    text[n] = '\0';
    return n;
}

static void is_shown(int k, const char *text)
{
    char got[1000];
    shown(k, got, sizeof got);
    assert_string_equal(got, text);
}

static void streams_do_not_mix(void **state)
{
    (void)state;
    prints(0, 0, "not yet anybody's\n", 18);
    assert_int_equal(ft_outputs_step(o, 0, 0), 0);
    is_shown(0, "");
    carry(0, 0, 0);
    carry(1, 1, 0);
    prints(1, 0, "a\nb", 3);
    prints(1, 1, "c\n", 2);
    ft_outputs_step(o, 0, 0);
    is_shown(0, "not yet anybody's\na\n");
    is_shown(1, "c\n");
    prints(0, 0, "d\n", 2);
    ft_outputs_step(o, 10 * MS, 0);
    is_shown(0, "d\n");
    ft_outputs_step(o, 11 * MS, 1); /* the last */
    is_shown(0, "b");
}

/* The former carrier's last bytes are seen only when the later one's are there too, which stands
 * before it in the table. */
static void former_carriers_first(void **state)
{
    (void)state;
    carry(1, 0, 0);
    carry(0, 0, 1);
    carry(4, 0, 2);
    prints(1, 0, "one\ntwo\nthr", 11);
    jumps(0, 0, 8);
    prints(0, 0, "three\nfour\n", 11);
    jumps(4, 0, 14);
    prints(4, 0, "four\nfive\n", 10);
    ft_outputs_step(o, 0, 0);
    is_shown(0, "one\ntwo\nthree\nfour\nfive\n");
}

static void a_slow_reader_and_none(void **state)
{
    (void)state;
    char *line = malloc(1 << 20), *got = malloc(9 << 20);
    size_t n = 0, k;
    for (int i = 0; i < 1 << 20; i++)
        line[i] = i % 64 == 63 ? '\n' : (char)('a' + i % 26);
    carry(0, 0, 0);
    for (int i = 0; i < 8; i++)
        prints(0, 0, line, 1 << 20);
    while (ft_outputs_step(o, 0, 1)) {
        assert_int_equal(ft_outputs_waits_for(o, 0), out[0]);
        assert_int_equal(ft_outputs_waits_for(o, 1), -1);
        k = shown(0, got + n, (9 << 20) - n);
        assert_true(k > 0);
        n += k;
    }
    n += shown(0, got + n, (9 << 20) - n);
    assert_int_equal(n, 8 << 20);
    for (int i = 0; i < 8; i++)
        assert_memory_equal(got + ((size_t)i << 20), line, 1 << 20);
    struct stat sb;
    assert_int_equal(fstat(b->slot[0].output[0].fd, &sb), 0);
    assert_true(sb.st_blocks * 512 <= 2 << 20); /* the rest was given back */
    close(in[0]);
    in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    prints(0, 0, line, 1 << 20);
    assert_int_equal(ft_outputs_step(o, 0, 1), 0);
    free(line);
    free(got);
}

/* Byte k of what a rank prints, on stream s. */
static char byte_of(int rank, int s, uint64_t k)
{
    return (k + (uint64_t)rank) % 13 == 0 ? '\n' : (char)('a' + 6 * rank + 3 * s + (int)(k % 3));
}

struct actor {
    int slot;
    uint64_t pos[2], cut[2]; /* of the next byte; as in the last image */
};

static void act(struct actor *a, int rank, struct ft_prng *rng, int *spare)
{
    char text[100];
    int k = (int)(ft_prng_next(rng) % 2), what = (int)(ft_prng_next(rng) % 100);
    if (what < 80) {
        uint64_t n = ft_prng_next(rng) % sizeof text;
        for (uint64_t i = 0; i < n; i++)
            text[i] = byte_of(rank, k, a->pos[k] + i);
        prints(a->slot, k, text, n);
        a->pos[k] += n;
    } else if (what < 90) {
        memcpy(a->cut, a->pos, sizeof a->cut);
    } else if (what < 97) { /* back to the image; often enough twice without a byte between */
        for (int s = 0; s < 2; s++)
            jumps(a->slot, s, a->cut[s]);
        memcpy(a->pos, a->cut, sizeof a->pos);
    } else if (*spare < b->nslots) { /* dies; its replacement begins at 0 and may restore */
        carry(*spare, rank, b->slot[a->slot].incarnation + 1);
        a->slot = (*spare)++;
        a->pos[0] = a->pos[1] = 0;
    }
}

/* Letters say whose they are; newlines do not, but there must be as many as there were. */
static void check_stream(int s, const char *got, size_t n, uint64_t most[2][2])
{
    uint64_t next[2] = {0}, lines = 0, want = 0;
    for (size_t i = 0; i < n; i++) {
        lines += got[i] == '\n';
        if (got[i] == '\n')
            continue;
        int rank = got[i] - 'a' >= 6;
        while (byte_of(rank, s, next[rank]) == '\n')
            next[rank]++;
        assert_int_equal(got[i], byte_of(rank, s, next[rank]));
        next[rank]++;
    }
    for (int rank = 0; rank < 2; rank++) {
        while (next[rank] < most[rank][s] && byte_of(rank, s, next[rank]) == '\n')
            next[rank]++;
        assert_int_equal(next[rank], most[rank][s]);
        for (uint64_t k = 0; k < most[rank][s]; k++)
            want += byte_of(rank, s, k) == '\n';
    }
    assert_int_equal(lines, want);
}

static void any_history_is_shown_once(void **state)
{
    const char *text = getenv("FTRMA_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : ft_now_ns();
    static char got[2][1 << 20];
    print_message("FTRMA_TEST_SEED=%llu\n", (unsigned long long)seed);
    struct ft_prng rng = {seed};
    for (int run = 0; run < 200; run++) {
        struct actor a[2] = {{.slot = 0}, {.slot = 1}};
        uint64_t most[2][2] = {{0}};
        size_t n[2] = {0};
        int spare = 3;
        assert_int_equal(make(state), 0);
        carry(0, 0, 0);
        carry(1, 1, 0);
        for (int i = 0; i < 150; i++) {
            int rank = (int)(ft_prng_next(&rng) % 2);
            act(&a[rank], rank, &rng, &spare);
            for (int k = 0; k < 2; k++)
                most[rank][k] = ft_max_u64(most[rank][k], a[rank].pos[k]);
            if (ft_prng_next(&rng) % 8 == 0 || i == 149) {
                ft_outputs_step(o, (uint64_t)i * MS, i == 149);
                for (int k = 0; k < 2; k++)
                    n[k] += shown(k, got[k] + n[k], sizeof got[k] - n[k]);
            }
        }
        for (int k = 0; k < 2; k++)
            check_stream(k, got[k], n[k], most);
        drop(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_whole),
        cmocka_unit_test(what_was_taken_is_dropped),
        cmocka_unit_test(a_long_line_goes_out_in_pieces),
        cmocka_unit_test(jumps_lie_ahead),
        cmocka_unit_test_setup_teardown(streams_do_not_mix, make, drop),
        cmocka_unit_test_setup_teardown(former_carriers_first, make, drop),
        cmocka_unit_test_setup_teardown(a_slow_reader_and_none, make, drop),
        cmocka_unit_test(any_history_is_shown_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
