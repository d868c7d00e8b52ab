/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_images.c - what a main does that takes images alone, or computes codewords over them. It does
 * the same as runtime/latest.c and runtime/mailbox.c.
 */
#include "sim_images.h"

/* --- a rank --- */

void sim_images_wish(struct sim_images *m, uint64_t value, uint32_t generation)
{
    if (value == 1 && !m->wish) {
        m->wish = 1 + (int32_t)generation;
    } else if (value == 0 && m->wish > 0) {
        m->wish = 0;
    } else if (value == FT_WISH_FORGET) {
        m->wish = 0;
        m->taken = 0;
    }
}

static int next_slot(const struct sim_images *m, int stream)
{
    if (stream)
        return 1;
    return m->slot[1] && m->slot[1] == m->latest ? 2 : 1;
}

void sim_images_begin(struct sim_images *m, int stream)
{
    m->taken_in = (uint32_t)m->wish - 1;
    m->wish = -next_slot(m, stream);
    m->slot[-m->wish] = 0;
}

static void answers(struct sim_images *m, uint64_t version)
{
    m->taken = version;
    m->wish = 0;
}

void sim_images_decline(struct sim_images *m)
{
    m->taken_in = (uint32_t)m->wish - 1;
    answers(m, FT_TAKEN_NOT);
}

void sim_images_copy(struct sim_images *m, uint64_t version)
{
    m->slot[-m->wish] = version;
    answers(m, version);
}

int sim_images_lies_over(const struct sim_images *m, int stream)
{
    return stream && m->latest && !sim_images_has(m, sim_images_latest(m));
}

/* --- a checksum process --- */

uint64_t sim_images_lift(struct sim_images *ch, int member, const struct sim_images *of)
{
    ch->rebuilt = ch->lifted = 0;
    memset(&ch->before, 0, sizeof ch->before);
    ch->staged.version = 0;
    if (!of || !sim_images_has(of, ch->tag[member]))
        return 0;
    ch->lifted_of = member;
    ch->lifted = ch->tag[member];
    return 1;
}

uint64_t sim_images_fold(struct sim_images *ch, int member, const struct sim_images *of,
                         uint64_t version, uint64_t made)
{
    uint64_t old = ch->tag[member];
    int over = ch->lifted && ch->lifted == old && ch->lifted_of == member;
    ch->rebuilt = 0;
    memset(&ch->before, 0, sizeof ch->before);
    if (ch->staged.version && ch->staged.of == member && ch->staged.image == version)
        return ch->staged.version; /* in the generation before */
    if (!of || !sim_images_has(of, version) || (!over && !sim_images_has(of, old)))
        return 0;
    ch->staged = (struct sim_codeword){.version = made, .of = member, .image = version};
    return made;
}

uint64_t sim_images_new_codeword(const struct sim_images *ch, uint64_t base, uint32_t generation)
{
    uint64_t n = 1, v = FT_VERSION_MAKE(base, generation, n);
    while (v == ch->latest || v == ch->before.version || v == ch->staged.version ||
           v == ch->rebuilt)
        v = FT_VERSION_MAKE(base, generation, ++n);
    return v;
}

void sim_images_forget(struct sim_images *ch, uint64_t committed)
{
    for (int i = 0; i < IMAGES_MEMBERS; i++)
        ch->tag[i] = ch->tag[i] ? committed : 0;
    memset(&ch->staged, 0, sizeof ch->staged);
    memset(&ch->before, 0, sizeof ch->before);
    ch->lifted = ch->rebuilt = ch->latest = 0;
}

int sim_images_tag(struct sim_images *ch, uint64_t version)
{
    if (version == ch->latest)
        return 1;
    if (version && version == ch->staged.version) {
        uint64_t *tag = &ch->tag[ch->staged.of];
        ch->before =
            (struct sim_codeword){.version = ch->latest, .of = ch->staged.of, .image = *tag};
        *tag = ch->staged.image;
    } else if (ch->before.image && version == ch->before.version) {
        ch->tag[ch->before.of] = ch->before.image;
    } else if (version != ch->rebuilt) {
        return 0;
    }
    ch->latest = version;
    return 1;
}

void sim_images_say(const struct ft_demand_msg *m, char *text, int room)
{
    static const char *const kind[] = {"",       "ASK",       "TAKE",     "TAKEN",  "COMMITTED",
                                       "ACK",    "LIFT_IT",   "FOLD_IT",  "TAG_IT", "DONE",
                                       "TAG_IS", "TAG_HEARD", "LATEST_IS"};
    snprintf(text, (size_t)room, "%s of generation %u, rank %d, image %" PRIu64, kind[m->kind],
             m->generation, m->rank, (uint64_t)FT_VERSION_NUMBER(m->version));
}
