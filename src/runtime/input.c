/* SPDX-License-Identifier: BSD-3-Clause
 *
 * input.c - see input.h.
 */
#define _GNU_SOURCE
#include "runtime/input.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/rt.h"

#define TRIES 10000 /* of 0.1 ms: ftrun is writing, or was killed while it did */

static int is_used;          /* this process carries rank 0, and reads from the pipe */
static uint64_t before_body; /* bytes that it had read when body was entered first */

struct pipe_name {
    char path[64]; /* "": ftrun feeds this slot nothing */
};

static struct pipe_name name_of(const struct ft_board *b, int slot)
{
    struct pipe_name p = {""};
    int theirs = atomic_load(&b->slot[slot].input.fd);
    if (theirs >= 0)
        snprintf(p.path, sizeof p.path, "/proc/%d/fd/%d", (int)b->launcher_pid, theirs);
    return p;
}

/* Opens the pipe again: the program might close a descriptor that is kept. */
static int open_pipe(const struct ft_board *b, int slot)
{
    struct pipe_name p = name_of(b, slot);
    /* O_NONBLOCK: otherwise the open waits for a writer, and ftrun may have written all. */
    return p.path[0] ? open(p.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
}

/* Needs no descriptor. */
static int is_standard_input(const struct ft_board *b, int slot)
{
    struct pipe_name p = name_of(b, slot);
    struct stat theirs, ours;
    return stat(p.path, &theirs) == 0 && fstat(STDIN_FILENO, &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static int is_as_given(const struct ft_board_input *in)
{
    struct stat sb;
    return fstat(STDIN_FILENO, &sb) == 0 && sb.st_dev == atomic_load(&in->dev) &&
           sb.st_ino == atomic_load(&in->ino);
}

/* Makes the pipe standard input, unless it already is. */
static void take(const struct ft_board *b, int slot)
{
    int fd = is_as_given(&b->slot[slot].input) ? open_pipe(b, slot) : -1;
    if (fd < 0)
        return;
    fcntl(fd, F_SETFL, 0);
    dup2(fd, STDIN_FILENO);
    close(fd);
}

void ft_input_loaded(const struct ft_board *b, int slot)
{
    struct ft_board_slot *s = (struct ft_board_slot *)(uintptr_t)&b->slot[slot];
    struct stat sb;
    if (atomic_load(&s->input.fd) < 0 || fstat(STDIN_FILENO, &sb) != 0)
        return;
    atomic_store(&s->input.dev, sb.st_dev);
    atomic_store(&s->input.ino, sb.st_ino);
    if (s->at_first != FT_WHO_NONE)
        take(b, slot);
}

/* Bytes that were taken out of the pipe. */
static uint64_t taken(const struct ft_board_input *in, int fd)
{
    for (int i = 0;; i++) {
        int left = 0;
        uint64_t fed = atomic_load(&in->fed);
        if (ioctl(fd, FIONREAD, &left) != 0)
            return 0;
        if (atomic_load(&in->begun) == fed || i == TRIES)
            return fed > (uint64_t)left ? fed - (uint64_t)left : 0;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

/* Bytes that stdio has read ahead of the program. */
static uint64_t ahead(void)
{
#if defined(__GLIBC__)
    if (fileno(stdin) == STDIN_FILENO && stdin->_IO_read_end > stdin->_IO_read_ptr)
        return (uint64_t)(stdin->_IO_read_end - stdin->_IO_read_ptr);
#endif
    return 0;
}

static int by_stdio(void)
{
#if defined(__GLIBC__)
    return stdin->_IO_read_base != NULL;
#else
    return 0;
#endif
}

/* unseen: a reader other than stdio may have taken lines ahead of the program, since they came in
 * large pieces. */
static uint64_t position(struct ft_rt *rt, int *unseen)
{
    static uint64_t last; /* stands for what cannot be looked at */
    int is_stdin = is_used && is_standard_input(rt->board, rt->self);
    int fd = is_stdin ? STDIN_FILENO : is_used ? open_pipe(rt->board, rt->self) : -1;
    *unseen = 0;
    if (fd < 0)
        return last;
    uint64_t n = taken(&rt->me->input, fd), not_yet = is_stdin ? ahead() : 0;
    *unseen = n > FT_INPUT_BY_LINE && !by_stdio();
    if (!is_stdin)
        close(fd);
    last = n > not_yet ? n - not_yet : 0;
    return last;
}

static void say_read_early(int rank)
{
    char text[300];
    int n = snprintf(text, sizeof text,
                     "ftrma: note: a replacement has read standard input before MPI_Init, when it "
                     "did not yet know its rank. It is "
                     "now rank %d, for which standard input is empty. Read standard input after "
                     "MPI_Init, on rank 0\n",
                     rank);
    ft_print(text, (size_t)n);
}

/* Standard input as mpirun gives it to all ranks but 0. */
static void take_nothing(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        dup2(fd, STDIN_FILENO);
        close(fd);
    }
}

/* [A wrapper has redirected it for the process that it took for rank 0's, and a spare was not such
 * a process.] */
static void compare(struct ft_rt *rt)
{
    uint32_t now = is_used ? FT_INPUT_OURS : FT_INPUT_OTHER, was = FT_INPUT_UNKNOWN;
    if (!atomic_compare_exchange_strong(&rt->board->input_is, &was, now) && was != now)
        ft_give_up(INPUT_REDIRECTED);
}

void ft_input_begin(struct ft_rt *rt)
{
    int rank = atomic_load(&rt->pos), fd = open_pipe(rt->board, rt->self);
    if (fd < 0)
        return;
    if (rank == 0) {
        take(rt->board, rt->self);
        is_used = is_standard_input(rt->board, rt->self);
        compare(rt);
    } else if (is_standard_input(rt->board, rt->self)) {
        if (taken(&rt->me->input, fd) > 0)
            say_read_early(rank);
        take_nothing();
    }
    close(fd);
}

uint64_t ft_input_mark(struct ft_rt *rt)
{
    static const char note[] = "ftrma: note: rank 0 reads standard input in the body of FTRMA_Run. "
                               "That cannot be repeated: if rank 0 "
                               "has to go back to a checkpoint before it, the job ends. Read "
                               "standard input before FTRMA_Run\n";
    static const char blind[] = "ftrma: note: rank 0 has read much from standard input, and not by "
                                "C's stdio. If its language keeps "
                                "lines in a buffer and body reads them, a replacement will not "
                                "find them. Read all of standard "
                                "input before FTRMA_Run\n";
    int unseen;
    uint64_t now = position(rt, &unseen);
    int in_setup = ft_main_at(rt) < FT_AT_BODY;
    if (in_setup)
        before_body = now;
    if ((now != before_body || unseen) && atomic_exchange(&rt->board->read_in_body, 1) == 0)
        ft_print(in_setup ? blind : note, in_setup ? sizeof blind - 1 : sizeof note - 1);
    return now;
}

void ft_input_check(struct ft_rt *rt, uint64_t at)
{
    int unseen;
    uint64_t now = position(rt, &unseen);
    if (!rt->restored)
        before_body = now;
    if (now == at || unseen) /* unseen: how much is read ahead depends on timing */
        return;
    ft_give_up(INPUT_READ, (unsigned long long)at, (unsigned long long)now);
}
