/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fault.c - a provider that wraps another one. It maps no window, so each access goes through put
 * and get, and there is a failpoint in the middle of each. Otherwise it guarantees what the wrapped
 * provider guarantees.
 */
#include "base/failpoint.h"
#include "transport/transport.h"

static enum ft_status fault_attach(struct ft_tp *tp, int slot)
{
    return tp->below->ops->attach(tp->below, slot);
}

static void *fault_map(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, enum ft_tp_what what)
{
    if (what == FT_TP_WINDOW)
        return NULL;
    return tp->below->ops->map(tp->below, slot, off, len, what);
}

static void fault_unmap(struct ft_tp *tp, int slot, uint64_t off, void *p, uint64_t len)
{
    tp->below->ops->unmap(tp->below, slot, off, p, len);
}

static enum ft_status fault_keep(struct ft_tp *tp, int rank, uint64_t off, uint64_t len, void *at)
{
    return tp->below->ops->keep(tp->below, rank, off, len, at);
}

static enum ft_status fault_place(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, void *at)
{
    return tp->below->ops->place(tp->below, slot, off, len, at);
}

static enum ft_status fault_put(struct ft_tp *tp, int slot, uint64_t off, const void *src,
                                uint64_t len)
{
    uint64_t half = len / 2;
    enum ft_status st = tp->below->ops->put(tp->below, slot, off, src, half);
    ft_failpoint(TP_PUT);
    return st != FT_OK ? st
                       : tp->below->ops->put(tp->below, slot, off + half, (const char *)src + half,
                                             len - half);
}

static enum ft_status fault_get(struct ft_tp *tp, int slot, uint64_t off, void *dst, uint64_t len)
{
    uint64_t half = len / 2;
    enum ft_status st = tp->below->ops->get(tp->below, slot, off, dst, half);
    ft_failpoint(TP_GET);
    return st != FT_OK
               ? st
               : tp->below->ops->get(tp->below, slot, off + half, (char *)dst + half, len - half);
}

static void fault_ring(struct ft_tp *tp, int slot) { tp->below->ops->ring(tp->below, slot); }

static enum ft_status fault_mail(struct ft_tp *tp, int slot, const void *mail, uint32_t len)
{
    return tp->below->ops->mail(tp->below, slot, mail, len);
}

static int fault_post(struct ft_tp *tp) { return tp->below->ops->post(tp->below); }

static void fault_recall(struct ft_tp *tp, int slot, ft_mail_test *is_old, const void *newer)
{
    tp->below->ops->recall(tp->below, slot, is_old, newer);
}

static void fault_drop_mails(struct ft_tp *tp, int slot)
{
    tp->below->ops->drop_mails(tp->below, slot);
}

static uint32_t fault_take(struct ft_tp *tp, int slot, void *buf)
{
    return tp->below->ops->take(tp->below, slot, buf);
}

static void fault_forget(struct ft_tp *tp, int slot) { tp->below->ops->forget(tp->below, slot); }
static void fault_release(struct ft_tp *tp) { tp->below->ops->release(tp->below); }

const struct ft_tp_ops ft_tp_fault_ops = {
    .name = "fault",
    .attach = fault_attach,
    .map = fault_map,
    .unmap = fault_unmap,
    .keep = fault_keep,
    .place = fault_place,
    .forget = fault_forget,
    .release = fault_release,
    .put = fault_put,
    .get = fault_get,
    .ring = fault_ring,
    .mail = fault_mail,
    .take = fault_take,
    .post = fault_post,
    .recall = fault_recall,
    .drop_mails = fault_drop_mails,
};
