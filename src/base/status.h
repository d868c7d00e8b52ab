/* SPDX-License-Identifier: BSD-3-Clause
 *
 * status.h - status codes for what the environment can do to us. Bugs assert; everything else is
 * one of these.
 */
#ifndef FT_BASE_STATUS_H
#define FT_BASE_STATUS_H

enum ft_status {
    FT_OK = 0,
    FT_ERR_NOMEM, /* no room in the arena, in /dev/shm or in memory */
    FT_ERR_ARG,   /* an impossible setting or argument */
    FT_ERR_SYS,   /* a system call failed; errno says why */
    FT_ERR_DEAD,  /* the peer is dead */
    FT_ERR_RANGE, /* outside of the registered memory */
    FT_ERR_TRUNC, /* a message is longer than its buffer */
    FT_ERR_AGAIN, /* not now */
};

#define FT_EXIT_LOST 75 /* the job was lost: A1 */

const char *ft_status_string(enum ft_status st);

#endif
