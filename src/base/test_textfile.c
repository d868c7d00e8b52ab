/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_textfile.c - a file of any size is read completely, and a zero byte follows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/textfile.h"

static void a_file_of_any_size_is_read(void **state)
{
    static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 100000};
    char path[] = "/tmp/test_textfile.XXXXXX", *text, *want = malloc(100000);
    size_t len;
    (void)state;
    close(mkstemp(path));
    mallopt(M_PERTURB, 0x55); /* what malloc gives is not zero */
    memset(want, 'x', 100000);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        FILE *f = fopen(path, "w");
        assert_int_equal(fwrite(want, 1, sizes[i], f), sizes[i]);
        fclose(f);
        assert_int_equal(ft_read_text(path, &text, &len), FT_OK);
        assert_int_equal(len, sizes[i]);
        assert_memory_equal(text, want, len);
        assert_int_equal(text[len], 0);
        free(text);
    }
    unlink(path);
    assert_int_equal(ft_read_text(path, &text, &len), FT_ERR_SYS);
    assert_int_equal(errno, ENOENT);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_of_any_size_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
