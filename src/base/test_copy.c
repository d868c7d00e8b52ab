/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/copy.h"

#define ROOM 700

/* Every alignment of each of the three operands, and every length around full lines: all bytes are
 * copied, and none beside them. */
static void every_alignment(void **state)
{
    (void)state;
    static char src[ROOM], past[ROOM], dst[ROOM], want_past[ROOM], want_dst[ROOM];
    for (size_t i = 0; i < ROOM; i++)
        src[i] = (char)(i * 7 + 1);
    for (size_t p = 0; p < 64; p += 3)
        for (size_t d = 0; d < 64; d += 13)
            for (size_t n = 0; n <= 300; n += n % 64 > 60 || n % 64 < 3 ? 1 : 29) {
                size_t s = (p + d) % 32;
                memset(past, 0x55, ROOM);
                memset(dst, 0x55, ROOM);
                memset(want_past, 0x55, ROOM);
                memset(want_dst, 0x55, ROOM);
                memcpy(want_past + p, src + s, n);
                ft_copy_past(past + p, src + s, n);
                assert_memory_equal(past, want_past, ROOM);
                memcpy(want_dst + d, src + s, n);
                memset(past, 0x55, ROOM);
                ft_copy_past_and_to(past + p, dst + d, src + s, n);
                assert_memory_equal(past, want_past, ROOM);
                assert_memory_equal(dst, want_dst, ROOM);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_alignment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
