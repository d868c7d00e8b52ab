/* SPDX-License-Identifier: BSD-3-Clause
 *
 * load.c - the library is loaded into a process, and the process ends. Under ftrun both are
 * recorded on the board, so that nobody waits for a program that ends before MPI_Init, and an exit
 * status is not taken for a death.
 *
 * Every way to end that a program can choose comes here: exit through on_exit, the others because
 * this file replaces libc's functions. A process that dies of a signal records nothing, and that
 * shows how it ended.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/board.h"
#include "base/coverage.h"
#include "base/settings.h"
#include "runtime/input.h"
#include "runtime/names.h"
#include "runtime/rt.h"
#include "runtime/start.h"

static struct ft_board *board;
static struct ft_board_slot *mine;
/* Does not change after the load, so that no clock jumps in MPI_Init. */
static uint64_t clock_zero_ns;
static int quick_status;

/* From now on the slot belongs to this process. Before, it may have belonged to a shell that
 * started this process. The pid of one and the start time of the other must never stand there
 * together: that would mean a death. */
static void claim(enum ft_slot_phase phase)
{
    uint64_t start = ft_proc_start_time(getpid());
    atomic_store(&mine->start_time, atomic_load(&mine->pid) ? 0 : start);
    atomic_store(&mine->pid, getpid());
    atomic_store(&mine->start_time, start);
    atomic_store(&mine->phase, phase);
}

double ft_runtime_clock(void) { return (double)(ft_now_ns() - clock_zero_ns) * 1e-9; }

int ft_runtime_clock_is_global(void) { return !board || !board->nodes.hosts; }

void ft_runtime_entering(void)
{
    ft_host_fds_before();
    if (mine)
        claim(FT_PHASE_ENTERED);
    ft_runtime_before_init();
    ft_names_host();
}

void ft_runtime_host_is_up(void) { ft_names_program(); }

static void ended(int status)
{
    ft_runtime_exiting(status);
    if (!mine || atomic_load(&mine->pid) != getpid() ||
        atomic_load(&mine->phase) == FT_PHASE_EXITED)
        return; /* a child of the program, or all is recorded */
    atomic_store(&mine->exit_status, status);
    atomic_store(&mine->phase, FT_PHASE_EXITED);
    ft_board_ring_launcher(board);
}

static void by_exit(int status, void *arg)
{
    (void)arg;
    fflush(NULL); /* exit would do so next, but this function may not return */
    ended(status);
}

static void by_quick_exit(void) { ended(quick_status); }

/* Records what mpirun gave us, before anybody redirects it: ftrun replaces only that (output.c). */
static void remember_streams(void)
{
    for (int i = 0; i < 2; i++) {
        struct stat sb;
        if (fstat(STDOUT_FILENO + i, &sb) != 0)
            continue;
        atomic_store(&mine->output[i].dev, sb.st_dev);
        atomic_store(&mine->output[i].ino, sb.st_ino);
    }
}

/* If the program was started without a standard stream, its number must not become another
 * descriptor: what the program prints there would go to the host's own pipes. [`2>&-`, and the host
 * aborts at a random time.] */
static void fill_closed_streams(void)
{
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDWR);
    if (fd >= 0)
        close(fd);
}

/* ftrun passes its node's name beside the board, only for the first process in each slot: a process
 * that this one starts may live in a container with another name. */
static void end_if_elsewhere(const char *where)
{
    char here[256] = "", line[400];
    const char *node = strchr(where, '@');
    if (!node || gethostname(here, sizeof here - 1) != 0 || strcmp(node + 1, here) == 0)
        return;
    int n = snprintf(line, sizeof line, FT_BOARD_ELSEWHERE "%s\n", here);
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* the host will notice */
    _exit(FT_EXIT_LOST);
}

static void forget_node(const char *where)
{
    char text[2048];
    snprintf(text, sizeof text, "%.*s", (int)ft_min_u64(strcspn(where, "@"), sizeof text - 1),
             where);
    setenv(ft_settings_table[FT_SET_BOARD].env, text, 1);
}

__attribute__((constructor)) static void loaded(void)
{
    const char *where = ft_setting_str(FT_SET_BOARD);
    int slot = ft_names_slot();
    /* what is registered first is called last: the program's own functions may call MPI_Finalize */
    on_exit(by_exit, NULL);
    at_quick_exit(by_quick_exit);
    if (slot >= 0)
        fill_closed_streams();
    if (!*where || slot < 0)
        return;
    if (ft_board_open(where, slot, &board) != FT_OK) {
        end_if_elsewhere(where);
        return;
    }
    if (strchr(where, '@'))
        forget_node(where);
    clock_zero_ns = board->wtime_zero_ns;
    if (slot >= board->nslots)
        return;
    ft_names_loaded(board, slot);
    mine = &board->slot[slot];
    /* The process that mpirun started comes first, and may become another program by exec.
     * Processes that it starts do not concern the job until they call MPI_Init. */
    int pid = atomic_load(&mine->pid);
    if (pid == 0) {
        remember_streams();
        ft_input_loaded(board, slot);
    }
    if (pid == 0 || pid == getpid())
        claim(FT_PHASE_LOADED);
}

static _Noreturn void leave(int status)
{
    ended(status);
    ft_coverage_dump();
    for (;;)
        syscall(SYS_exit_group, status);
}

FT_EXPORT _Noreturn void _exit(int status) { leave(status); }
FT_EXPORT _Noreturn void _Exit(int status) { leave(status); }

FT_EXPORT _Noreturn void quick_exit(int status)
{
    void (*libc)(int) = (void (*)(int))dlsym(RTLD_NEXT, "quick_exit");
    quick_status = status;
    if (libc)
        libc(status);
    leave(status);
}
