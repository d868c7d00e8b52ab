/* SPDX-License-Identifier: BSD-3-Clause
 *
 * helper.c - see helper.h.
 */
#include <pthread.h>
#include <signal.h>

#include "runtime/helper.h"

int ft_helper_start(void *(*body)(void *), void *arg)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, body, arg);
    if (!error)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
