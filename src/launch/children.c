/* SPDX-License-Identifier: BSD-3-Clause
 *
 * children.c - starts mpirun; signals and kills complete process trees.
 */
#define _GNU_SOURCE 1 /* pipe2, nftw */
#include "launch/children.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/board.h"

int ft_take_over_signals(sigset_t *mask)
{
    static const int others[] = {SIGCONT, SIGURG, SIGWINCH, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ};
    struct sigaction hup;
    sigfillset(mask);
    for (size_t i = 0; i < FT_COUNTOF(others); i++)
        sigdelset(mask, others[i]);
    if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler == SIG_IGN)
        sigdelset(mask, SIGHUP); /* nohup */
    sigprocmask(SIG_BLOCK, mask, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return signalfd(-1, mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

int ft_children_adopt(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

_Noreturn static void become(char **argv, int err_fd, int tell_fd)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    /* Pointers in protected memory keep their meaning in a replacement only if its address space is
     * laid out in the same way. */
    int now = personality(0xffffffff);
    char randomised = now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0;
    dup2(err_fd, STDERR_FILENO);
    ssize_t told = write(tell_fd, &randomised, 1);
    (void)told;
    execv(argv[0], argv);
    int e = errno;
    told = write(tell_fd, &e, sizeof e);
    (void)told;
    _exit(127);
}

/* Reads first the word about randomisation, then an errno, or nothing if exec has closed the
 * pipe. */
static int hear(int fd, int *randomised)
{
    char text[1 + sizeof(int)];
    int n = 0;
    while (n < (int)sizeof text) {
        ssize_t k = read(fd, text + n, sizeof text - (size_t)n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            break;
        n += (int)k;
    }
    *randomised = n > 0 && text[0];
    int e = 0;
    if (n == (int)sizeof text)
        memcpy(&e, text + 1, sizeof e);
    return e;
}

pid_t ft_children_start(char **argv, int *err_fd, int *randomised)
{
    int err[2], tell[2];
    if (pipe2(err, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(tell, O_CLOEXEC) != 0) {
        close(err[0]);
        close(err[1]);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        become(argv, err[1], tell[1]);
    int e = pid < 0 ? errno : 0;
    close(err[1]);
    close(tell[1]);
    if (pid > 0)
        e = hear(tell[0], randomised);
    close(tell[0]);
    if (e) {
        close(err[0]);
        errno = e;
        return -1;
    }
    *err_fd = err[0];
    return pid;
}

struct proc {
    pid_t pid, parent;
    int ours;
};

static pid_t parent_of(pid_t pid)
{
    struct ft_proc p;
    return ft_proc_look((int)pid, &p) > 0 ? (pid_t)p.parent : 0;
}

/* Lists all visible processes. A zombie has no living children: they became ours when it died. */
static struct proc *list(int *count)
{
    struct proc *all = NULL;
    int n = 0, room = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        if (n == room) {
            room = room ? 2 * room : 256;
            all = ft_need(reallocarray(all, (size_t)room, sizeof *all), (size_t)room * sizeof *all,
                          "the list of processes");
        }
        pid_t pid = (pid_t)atoi(e->d_name);
        all[n] = (struct proc){.pid = pid, .parent = parent_of(pid)};
        n += all[n].parent > 0;
    }
    if (d)
        closedir(d);
    *count = n;
    return all;
}

int ft_children_signal(int sig, pid_t except)
{
    int n, hit = 0, grew;
    pid_t self = getpid();
    struct proc *all = list(&n);
    /* A parent may come after its child in the list: repeat until nobody is added (as often as the
     * tree is deep). */
    do {
        grew = 0;
        for (int i = 0; i < n; i++) {
            if (all[i].ours)
                continue;
            int ours = all[i].parent == self;
            for (int k = 0; k < n && !ours; k++)
                ours = all[k].ours && all[k].pid == all[i].parent;
            all[i].ours = ours;
            grew |= ours;
        }
    } while (grew);
    for (int i = 0; i < n; i++)
        if (all[i].ours && all[i].pid != except) {
            hit++;
            kill(all[i].pid, sig);
        }
    free(all);
    return hit;
}

void ft_children_pause(void)
{
    ft_children_signal(SIGSTOP, 0);
    kill(getpid(), SIGSTOP);
    ft_children_signal(SIGCONT, 0);
}

int ft_children_kill_all(void)
{
    const uint64_t give_up = ft_now_ns() + 10ull * 1000000000;
    for (;;) {
        int left = ft_children_signal(SIGKILL, 0);
        pid_t reaped;
        while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        /* no child, hence no descendant: the kernel's answer, while a list may mix two moments */
        if (reaped < 0)
            return 0;
        if (ft_now_ns() > give_up)
            return left ? left : 1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *where)
{
    (void)sb, (void)type, (void)where;
    remove(path);
    return 0;
}

void ft_remove_tree(const char *dir)
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void ft_end_by(int sig)
{
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, sig);
    prctl(PR_SET_DUMPABLE, 0); /* a core dump would be of ftrun, which is useless */
    signal(sig, SIG_DFL);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

int ft_have_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    return fd >= 0 && close(fd) == 0;
}
