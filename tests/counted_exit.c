/* SPDX-License-Identifier: BSD-3-Clause
 *
 * counted_exit.c - _exit of unit tests that measure coverage (make coverage): first writes the
 * counters. Linked with --wrap=_exit.
 */
#include "base/coverage.h"

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status)
{
    ft_coverage_dump();
    __real__exit(status);
}
