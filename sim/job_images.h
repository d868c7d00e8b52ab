/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_images.h - images that ranks of a simulated job take alone (--demand): what shells and mains
 * of model job do about them, and what must hold.
 */
#ifndef FT_SIM_JOB_IMAGES_H
#define FT_SIM_JOB_IMAGES_H

#include "model_job.h"
#include "sim_images.h"

#define JOB_ALONE 8 /* how many images of a rank are remembered, the last that it took alone */

/* Of a rank, whoever carries it. */
struct job_rank_images {
    uint64_t flipped;       /* the newest image that others go by */
    uint64_t missing[2];    /* the newest image that misses what a lost process had left; [0]: that
                             * process went back to a coordinated image, [1]: to one taken alone */
    uint64_t at[JOB_ALONE]; /* the safepoints of its last images */
};
/* Of a process. It comes after its struct ft_process in memory. */
struct job_images {
    struct sim_images im;
    uint64_t left; /* the latest image in its testament */
    uint64_t next; /* the number of its next image */
    uint64_t group_seen;
    int32_t live;           /* published; a rank that repeats nothing is live, too */
    int32_t longest;        /* the rank whose image it asks for */
    int32_t went_back, pad; /* a replacement: enum */
    struct job_rank_images of_rank;
};
enum { BACK_TO_COMMITTED = 1, BACK_TO_ALONE };

struct job_images *job_images(const struct sim *s, int p); /* NULL: nobody takes images alone */
static inline struct job_rank_images *job_rank_images(const struct sim *s, int rank)
{
    return &job_images(s, rank)->of_rank;
}
void job_images_start(struct sim *s, int p);

/* What the shell does. */
int job_images_all_live(const struct sim *s, int p);
uint64_t job_images_group(const struct sim *s, int p); /* FT_LOOK_GROUP */
void job_images_carry_out(struct sim *s, int p, const struct ft_action *a);
void job_images_publish(struct sim *s, int p, const struct ft_action *a);
void job_images_testify(const struct sim *s, int p, int dead, struct ft_testimony *t);
void job_images_of_main(const struct sim *s, int p, struct ft_main *out);

/* Main. */
int job_images_can_take(const struct sim *s, int p);
void job_images_begin(struct sim *s, int p);
void job_images_copy(struct sim *s, int p);
void job_images_decline(struct sim *s, int p);
void job_images_ask(struct sim *s, int p, int rank);
/* LIFT, FOLD; REBUILD of images alone. */
void job_images_obey(struct sim *s, int p, int how);
void job_images_made(struct sim *s, int p); /* a coordinated image or codeword was made */
uint64_t job_images_safepoint(const struct sim *s, int p, uint64_t version);

/* What may happen next, and what happens. */
void job_images_can(const struct sim *s, int p, struct sim_choices *out);
void job_images_happen(struct sim *s, int p, int what, int q);

/* check_job_images.c: after a step of p; p goes back to an image; p is live again. */
void job_images_check(struct sim *s, int p);
void job_images_restored(struct sim *s, int p);
void job_images_live(struct sim *s, int p);
/* The group for sim_check_group. Returns 0 if it cannot be checked now: before the first
 * checkpoint, in a rollback, or while some have committed and others have not. */
int job_images_view(const struct sim *s, int group, struct sim_group *g);

#endif
