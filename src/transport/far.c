/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far.c - reads the private memory of another process through the kernel, in one copy, where the
 * kernel allows it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/uio.h>

#include "base/near.h"
#include "transport/transport.h"

enum { UNKNOWN, YES, NO };
FT_STATIC(__typeof__(uint8_t[FT_MAX_SLOTS]), reads); /* by slot; main only */
#define reads FT_MY(reads)

enum ft_status ft_tp_read_far(const struct ft_tp *tp, int slot, uint64_t addr, void *to, size_t len)
{
    pid_t pid = atomic_load_explicit(&tp->board->slot[slot].pid, memory_order_relaxed);
    for (size_t at = 0; at < len;) {
        struct iovec here = {(char *)to + at, len - at},
                     there = {(void *)(uintptr_t)(addr + at), len - at};
        ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (n <= 0)
            return n < 0 && errno == ESRCH ? FT_ERR_DEAD : FT_ERR_SYS;
        at += (size_t)n;
    }
    return FT_OK;
}

int ft_tp_reads_far(const struct ft_tp *tp, int slot)
{
    char byte;
    if (!ft_board_near(tp->board, slot))
        return 0;
    if (reads[slot] == UNKNOWN) {
        enum ft_status st = ft_tp_read_far(tp, slot, 0, &byte,
                                           /* nothing lies at this address; the kernel checks
                                            * permission before it looks at the address */
                                           1);
        if (st == FT_ERR_DEAD)
            return 0;
        reads[slot] = st == FT_ERR_SYS && errno == EFAULT ? YES : NO;
    }
    return reads[slot] == YES;
}
