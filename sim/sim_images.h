/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_images.h - images that a rank takes alone, and the codewords over them (C8): what a main has
 * of them, what it does, what its process has published. For groups alone (model demand) and for
 * jobs. And what must hold in a group, whoever runs it.
 */
#ifndef FT_SIM_IMAGES_H
#define FT_SIM_IMAGES_H

#include "base/version.h"
#include "proto/carrier.h"
#include "sim.h"

#define IMAGES_MEMBERS 8 /* of a group, at most */
#define IMAGES_CODES 2   /* checksum processes of a group, at most */

struct sim_codeword {
    uint64_t version;
    int32_t of, pad;
    uint64_t image; /* it was made with this image of that member; members are numbered by group */
};
struct sim_images {
    /* what main and agent tell each other */
    int32_t wish; /* 1 + the generation that an image is wished in; - the slot that main copies to;
                   * 0: none is */
    uint32_t taken_in;
    uint64_t taken;
    uint64_t latest;  /* published: of a rank, or of a checksum process */
    uint64_t slot[3]; /* a rank: what is in its slots; slot[0]: the committed image */
    /* a checksum process; version 0: none */
    uint64_t tag[IMAGES_MEMBERS];       /* of each member's image, in its latest codeword */
    struct sim_codeword staged, before; /* before: that which is not `latest` any more */
    uint64_t rebuilt;
    uint64_t member[IMAGES_MEMBERS]; /* FT_DO_MEMBER */
    int32_t lifted_of, pad;          /* the member whose image `lifted` it is */
    uint64_t lifted;                 /* that the staged codeword is without; 0: none */
};

static inline int sim_images_has(const struct sim_images *m, uint64_t version)
{
    return m->slot[0] == version || m->slot[1] == version || m->slot[2] == version;
}
/* Of a rank: as others see it, by what it has published. */
static inline uint64_t sim_images_latest(const struct sim_images *m)
{
    return m->latest && FT_VERSION_BASE(m->latest) == m->slot[0] ? m->latest : m->slot[0];
}

/* A rank. The next image goes to a slot where nothing lies that counts; with `stream` there is none
 * but the latest one's. */
void sim_images_wish(struct sim_images *m, uint64_t value, uint32_t generation); /* FT_DO_WISH */
void sim_images_begin(struct sim_images *m, int stream); /* what lay in the slot is gone */
void sim_images_decline(struct sim_images *m);
void sim_images_copy(struct sim_images *m, uint64_t version);
int sim_images_lies_over(const struct sim_images *m, int stream); /* ... the latest one */

/* A checksum process. `of`: the images of that member as they can be read; NULL: not at all. Each
 * returns what main answers: 0: it could not be. */
uint64_t sim_images_lift(struct sim_images *ch, int member, const struct sim_images *of);
uint64_t sim_images_fold(struct sim_images *ch, int member, const struct sim_images *of,
                         uint64_t version, uint64_t made);
/* A version that none of its codewords has: the lowest one of this base and generation, so that
 * states do not differ by that. */
uint64_t sim_images_new_codeword(const struct sim_images *ch, uint64_t base, uint32_t generation);
/* It tags, goes back to the codeword before, or, 0, to the committed one. 0: it is not there. */
int sim_images_tag(struct sim_images *ch, uint64_t version);
void sim_images_say(const struct ft_demand_msg *m, char *text, int room); /* in words */
void sim_images_forget(struct sim_images *ch, uint64_t committed); /* but for that one */

/* --- check_images.c --- */

struct sim_group_proc {
    int p, rank;
    const struct sim_images *images;
    const struct ft_carrier *c;
    int lost;    /* what it has is gone, or not yet rebuilt */
    int settled; /* it goes by the newest generation, and by the lead's tags */
};
struct sim_group {
    int codes, members, stream, quiet; /* quiet: no ballot is open */
    struct sim_group_proc code[IMAGES_CODES], member[IMAGES_MEMBERS];
};
/* No tag names an image that is not there, and none is older than what logs begin at. */
void sim_check_group(struct sim *s, const struct sim_group *g);
/* Rank k of the group flips: its image is tagged in all codewords. */
void sim_check_flip(struct sim *s, const struct sim_group *g, int k, uint64_t version);

#endif
