/* SPDX-License-Identifier: BSD-3-Clause
 *
 * doze.c - a gateway's sleep, and the bell that ends it.
 */
#define _GNU_SOURCE 1 /* ppoll */
#include "gate/doze.h"

#include <poll.h>
#include <time.h>

#include "transport/wait.h"

static void rung(int sig) { (void)sig; }

/* The signal comes in ft_doze_sleep alone. */
void ft_doze_begin(struct ft_doze *d, struct ft_board *b)
{
    struct sigaction act = {.sa_handler = rung};
    sigset_t bell;
    *d = (struct ft_doze){.b = b};
    sigemptyset(&bell);
    sigaddset(&bell, SIGURG);
    sigprocmask(SIG_BLOCK, &bell, &d->asleep);
    sigdelset(&d->asleep, SIGURG);
    sigaction(SIGURG, &act, NULL);
}

void ft_doze_say(struct ft_doze *d, void (*say)(void *arg, uint32_t dozing), void *arg)
{
    d->dozing = 1;
    say(arg, 1);
    atomic_store(&d->b->nodes.dozing, 1);
    ft_wait_fence();
}

int ft_doze_sleep(struct ft_doze *d, int wire_fd, int64_t ns)
{
    struct pollfd p = {.fd = wire_fd, .events = POLLIN};
    struct timespec limit = {.tv_nsec = ns};
    return ppoll(&p, 1, &limit, &d->asleep) != 0; /* below 0: rung */
}

void ft_doze_end(struct ft_doze *d, void (*say)(void *arg, uint32_t dozing), void *arg)
{
    if (!d->dozing)
        return;
    d->dozing = 0;
    atomic_store(&d->b->nodes.dozing, 0);
    say(arg, 0);
}
