/* SPDX-License-Identifier: BSD-3-Clause
 *
 * apart.c - see apart.h. Parent and child run on a stack of their own until the child has its copy,
 * and no signal handler runs meanwhile: the child must not store anything on a page that is still
 * its parent's.
 */
#define _GNU_SOURCE
#include "transport/apart.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/private.h"
#include "transport/share.h"

enum { FORKED = 0, COPIED, NO_MEMORY }; /* the child: *said */

struct apart {
    ucontext_t back, there;
    pid_t (*libc_fork)(void);
    pid_t pid;
    int error;
    int copied;             /* in the child */
    _Atomic uint32_t *said; /* shared by the two */
    char stack[1 << 20];    /* functions of pthread_atfork run on it, too */
};

/* Also true if somebody else has reaped it. */
static int is_dead(pid_t pid)
{
    siginfo_t s = {.si_pid = 0};
    int r;
    while ((r = waitid(P_PID, (id_t)pid, &s, WEXITED | WNOHANG | WNOWAIT)) != 0 && errno == EINTR)
        ;
    return r != 0 || s.si_pid == pid;
}

/* The parent waits for the child's word. Nobody wakes it when the child dies. */
static uint32_t await(struct apart *a)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    while (atomic_load(a->said) == FORKED) {
        syscall(SYS_futex, a->said, FUTEX_WAIT, FORKED, &pause, NULL, 0);
        if (atomic_load(a->said) == FORKED && is_dead(a->pid))
            break;
    }
    return atomic_load(a->said);
}

static void say(struct apart *a, uint32_t word)
{
    atomic_store(a->said, word);
    syscall(SYS_futex, a->said, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The child's page of this variable may be its parent's: it is only read there. */
static __attribute__((tls_model("initial-exec"))) _Thread_local struct apart *under_way;

void ft_fork_child(void)
{
    struct apart *a = under_way;
    if (!a || a->copied)
        return;
    a->copied = ft_share_copy();
    say(a, a->copied ? COPIED : NO_MEMORY);
    if (!a->copied)
        syscall(SYS_exit_group, 1);
}

static void fork_there(unsigned high, unsigned low)
{
    struct apart *a = (struct apart *)(uintptr_t)((uint64_t)high << 32 | low);
    a->pid = a->libc_fork();
    a->error = errno;
    if (a->pid == 0) {
        ft_fork_child(); /* if nobody has called it yet */
    } else if (a->pid > 0 && await(a) == NO_MEMORY) {
        while (waitpid(a->pid, NULL, 0) == -1 && errno == EINTR)
            ;
        a->pid = -1;
        a->error = ENOMEM;
    }
}

static int on_own_stack(struct apart *a)
{
    uint64_t at = (uint64_t)(uintptr_t)a;
    if (getcontext(&a->there) != 0)
        return 0;
    a->there.uc_stack.ss_sp = a->stack;
    a->there.uc_stack.ss_size = sizeof a->stack;
    a->there.uc_link = &a->back;
    makecontext(&a->there, (void (*)(void))fork_there, 2, (unsigned)(at >> 32), (unsigned)at);
    return swapcontext(&a->back, &a->there) == 0;
}

pid_t ft_fork_apart(pid_t (*libc_fork)(void))
{
    if (FT_LIKELY(!ft_share_any()))
        return libc_fork();
    uint64_t page = ft_page_bytes();
    struct apart *a = ft_private_alloc(sizeof *a);
    void *said = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = -1;
    int error = ENOMEM;
    sigset_t all, was;
    if (a && said != MAP_FAILED) {
        a->said = said;
        a->libc_fork = libc_fork;
        a->copied = 0;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &was);
        struct apart *before = under_way; /* a handler of pthread_atfork that forks */
        under_way = a;
        if (on_own_stack(a)) {
            pid = a->pid;
            error = a->error;
        }
        under_way = before;
        pthread_sigmask(SIG_SETMASK, &was, NULL);
    }
    if (said != MAP_FAILED)
        munmap(said, page);
    ft_private_free(a, sizeof *a);
    errno = error;
    return pid;
}
