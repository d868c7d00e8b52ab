/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fork.c - replaces libc's fork for the program (transport/apart.h).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

#include "base/base.h"
#include "transport/apart.h"

static pid_t (*_Atomic libc_fork)(void); /* NULL: not looked up yet */

__attribute__((constructor(101))) static void look_up(void)
{
    void *f = dlsym(RTLD_NEXT, "fork");
    pid_t (*next)(void);
    __builtin_memcpy(&next, &f, sizeof next);
    atomic_store(&libc_fork, next);
}

FT_EXPORT pid_t fork(void)
{
    if (!atomic_load(&libc_fork)) /* another constructor forks */
        look_up();
    return ft_fork_apart(atomic_load(&libc_fork));
}
