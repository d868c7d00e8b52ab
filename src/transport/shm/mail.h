/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mail.h - mails between agents. A mail waits in private memory until there is a place for it in a
 * mailbox. Mailboxes lie in the sender's arena, and the receiver reads them. All memory is taken at
 * start: sending a mail allocates nothing, and no sender waits.
 *
 *   mail -> queue to q -> one of a few mailboxes, q's for as long as it has untaken mails -> q
 * takes it and says so
 *
 * A process has fewer mailboxes than processes that it may mail to. When all mails of a mailbox are
 * taken, the mailbox can be used for another process.
 */
#ifndef FT_TRANSPORT_SHM_MAIL_H
#define FT_TRANSPORT_SHM_MAIL_H

#include "transport/transport.h"

struct ft_post;

/* Returns NULL if there is no memory, or no room in the own arena. */
struct ft_post *ft_post_open(struct ft_tp *tp);
void ft_post_close(struct ft_post *p);
/* As in struct ft_tp_ops. */
enum ft_status ft_post_mail(struct ft_tp *tp, struct ft_post *p, int slot, const void *text,
                            uint32_t len);
int ft_post_flush(struct ft_tp *tp, struct ft_post *p);
void ft_post_recall(struct ft_post *p, int slot, ft_mail_test *is_old, const void *newer);
void ft_post_forget(struct ft_post *p, int slot);
uint32_t ft_post_take(struct ft_tp *tp, struct ft_post *p, int slot, void *buf);

#endif
