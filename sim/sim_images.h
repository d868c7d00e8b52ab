/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_images.h - images that ranks take alone, and codewords over them (C8): what a main has of
 * them, what it does, and what its process has published. Model demand and model job use it. It
 * also has what must hold in a group.
 */
#ifndef FT_SIM_IMAGES_H
#define FT_SIM_IMAGES_H

#include "base/version.h"
#include "proto/carrier.h"
#include "sim.h"

#define IMAGES_MEMBERS 8 /* most ranks of a group */
#define IMAGES_CODES 2   /* most checksum processes of a group */

struct sim_codeword {
    uint64_t version;
    int32_t of, pad;
    uint64_t image; /* it was made with this image of that member, whose number is its index in the
                       group */
};
struct sim_images {
    /* What main and agent tell each other. */
    int32_t wish; /* 1 + the generation in which an image is wished; or minus the slot that main
                     copies to; or 0 */
    uint32_t taken_in;
    uint64_t taken;
    uint64_t latest;  /* published: its latest image or codeword */
    uint64_t slot[3]; /* a rank: the images in its slots; slot[0] has the committed one */
    /* A checksum process; version 0: none. */
    uint64_t tag[IMAGES_MEMBERS];       /* the image of each member in its latest codeword */
    struct sim_codeword staged, before; /* before: the one that was `latest` until the last tag */
    uint64_t rebuilt;
    uint64_t member[IMAGES_MEMBERS]; /* FT_DO_MEMBER */
    int32_t lifted_of, pad;          /* the member whose image was lifted */
    uint64_t lifted;                 /* the image that the staged codeword lacks; 0: none */
};

static inline int sim_images_has(const struct sim_images *m, uint64_t version)
{
    return m->slot[0] == version || m->slot[1] == version || m->slot[2] == version;
}
/* The images of a rank that others can read, by what it has published. */
static inline uint64_t sim_images_latest(const struct sim_images *m)
{
    return m->latest && FT_VERSION_BASE(m->latest) == m->slot[0] ? m->latest : m->slot[0];
}

/* A rank. The next image goes to a slot without an image that counts. With `stream` the only such
 * slot is that of the latest image. */
void sim_images_wish(struct sim_images *m, uint64_t value, uint32_t generation); /* FT_DO_WISH */
void sim_images_begin(struct sim_images *m, int stream); /* the old image in the slot is gone */
void sim_images_decline(struct sim_images *m);
void sim_images_copy(struct sim_images *m, uint64_t version);
int sim_images_lies_over(const struct sim_images *m,
                         int stream); /* the image being taken lies over the latest one */

/* A checksum process. `of`: the images of that member that can be read; NULL: none. Each returns
 * what main answers; 0: it could not be done. */
uint64_t sim_images_lift(struct sim_images *ch, int member, const struct sim_images *of);
uint64_t sim_images_fold(struct sim_images *ch, int member, const struct sim_images *of,
                         uint64_t version, uint64_t made);
/* The lowest version of this base and generation that none of its codewords has. It is the lowest
 * so that states do not differ by it. */
uint64_t sim_images_new_codeword(const struct sim_images *ch, uint64_t base, uint32_t generation);
/* It tags, or goes back to the codeword before, or to the committed one (0). Returns 0 if that is
 * not there. */
int sim_images_tag(struct sim_images *ch, uint64_t version);
void sim_images_say(const struct ft_demand_msg *m, char *text, int room); /* in words */
void sim_images_forget(struct sim_images *ch, uint64_t committed);        /* all but that one */

/* --- check_images.c --- */

struct sim_group_proc {
    int p, rank;
    const struct sim_images *images;
    const struct ft_carrier *c;
    int lost;    /* it is lost, or not rebuilt yet */
    int settled; /* it goes by the newest generation and by the lead's tags */
};
struct sim_group {
    int codes, members, stream, quiet; /* quiet: no ballot is open */
    struct sim_group_proc code[IMAGES_CODES], member[IMAGES_MEMBERS];
};
/* No tag names an image that is not there, and no tagged image is older than the beginning of logs.
 */
void sim_check_group(struct sim *s, const struct sim_group *g);
/* Member k of the group flips: then its image must be tagged in all codewords. */
void sim_check_flip(struct sim *s, const struct sim_group *g, int k, uint64_t version);

#endif
