/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelogs.c - finds and holds the file of all home logs.
 */
#include "base/homelogs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void ft_homelogs_made(struct ft_board *b, int fd)
{
    FT_ASSERT(fd >= 0 && b->homelogs_pid == 0);
    b->homelogs_file = ft_fd_file_of(fd);
    b->homelogs_fd = fd;
    b->homelogs_pid = (int32_t)getpid();
}

int ft_homelogs_open(const struct ft_board *b, int flags)
{
    int fd = -1;
    if (b->homelogs_pid)
        fd = ft_fd_open_of(b->homelogs_pid, 0, b->homelogs_fd, flags, b->homelogs_file);
    /* The maker may be lost. */
    for (int i = 0; fd < 0 && b->homelogs_pid && i < b->nslots; i++) {
        const struct ft_board_slot *s = &b->slot[i];
        int theirs = atomic_load_explicit(&s->homelogs_fd, memory_order_acquire);
        if (theirs >= 0)
            fd = ft_fd_open_of(atomic_load(&s->pid), atomic_load(&s->table), theirs, flags,
                               b->homelogs_file);
    }
    if (fd < 0 && (!b->homelogs_pid || errno == ENOENT || errno == EBADF))
        errno = ESRCH;
    return fd;
}

int ft_homelogs_hold(struct ft_board *b, int slot)
{
    int fd = b->homelogs_pid == (int32_t)getpid() ? b->homelogs_fd
                                                  : ft_fd_keep(ft_homelogs_open(b, O_RDWR));
    if (fd < 0)
        return 0;
    atomic_store_explicit(&b->slot[slot].homelogs_fd, fd, memory_order_release);
    return 1;
}
