/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mail_kind.h - what a mail between agents is about: its first word (recover/process_mail.h).
 */
#ifndef FT_BASE_MAIL_KIND_H
#define FT_BASE_MAIL_KIND_H

enum ft_mail_kind {
    FT_MAIL_AGREE = 1,
    FT_MAIL_ORDER,
    FT_MAIL_PING,
    FT_MAIL_PONG,
    FT_MAIL_DUE,      /* number: the safepoint that a checkpoint is due at; 0: any */
    FT_MAIL_ROLLBACK, /* a replay diverged */
    FT_MAIL_DEMAND,
    FT_MAIL_MARKER,
    FT_MAIL_SNAPSHOT_OFF, /* marker: the snapshot; its kind: why */
    FT_MAIL_ASKS_LEFT,    /* number: the slot of a lost process. What has it left? */
    FT_MAIL_LEFT          /* left: the answer */
};

#endif
