/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unkept.h - the reasons why a replacement cannot repeat what happened outside of FTRMA_Run.
 */
#ifndef FT_ALOG_UNKEPT_H
#define FT_ALOG_UNKEPT_H

/* Bits of struct ft_testament.unkept. */
enum ft_unkept {
    FT_UNKEPT_LIMIT = 1,   /* a log reached its limit */
    FT_UNKEPT_ROOM = 2,    /* there was no memory for a log */
    FT_UNKEPT_THREADS = 4, /* a call came from another thread than main */
    FT_UNKEPT_FILE = 8,    /* several ranks have opened a file together */
    FT_UNKEPT_GETS = 16,   /* gets are not logged */
    FT_UNKEPT_LONG = 32,   /* an epoch had more actions than a record can hold */
    FT_UNKEPT_UNDONE = 64, /* an undone operation is not the last of its log */
    FT_UNKEPT_NODES = 128, /* an access to a window of another node */
};
#define FT_UNKEPT_ALL 255

#endif
