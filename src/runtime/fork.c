/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fork.c - replaces libc's fork for the program (transport/apart.h).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
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
    if (atomic_exchange(&libc_fork, next) == NULL)
        pthread_atfork(NULL, NULL, ft_fork_child);
}

FT_EXPORT pid_t fork(void)
{
    if (!atomic_load(&libc_fork)) /* another constructor forks */
        look_up();
    return ft_fork_apart(atomic_load(&libc_fork));
}
