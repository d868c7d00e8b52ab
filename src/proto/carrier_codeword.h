/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_codeword.h - what the two files about images that ranks take alone share
 * (carrier_demand.h).
 */
#ifndef FT_PROTO_CARRIER_CODEWORD_H
#define FT_PROTO_CARRIER_CODEWORD_H

#include "proto/carrier_parts.h"

/* carrier_demand.c */
int ft_carry_demand_frozen(const struct ft_carry *x); /* nothing is tagged, flipped or wished */
void ft_carry_demand_say(const struct ft_carry *x, int to, struct ft_demand_msg msg);
void ft_carry_demand_publish(const struct ft_carry *x, uint64_t version); /* as the latest one */

/* carrier_codeword.c: a checksum process. */
uint32_t ft_carry_codeword_group(const struct ft_carry *x); /* bits of all of a group */
void ft_carry_codeword_hears(const struct ft_carry *x, const struct ft_demand_msg *msg);
void ft_carry_codeword_goes_on(const struct ft_carry *x); /* at the end of a step */
int ft_carry_codeword_looks(const struct ft_carry *x);    /* it has to see its group */
/* A new generation: the lead adopts it; TAG_IS has come; a helper goes by the tag; a rank has said
 * which image is its latest one. */
void ft_carry_codeword_leads(const struct ft_carry *x);
void ft_carry_codeword_settles(const struct ft_carry *x, const struct ft_demand_msg *m);
void ft_carry_codeword_tag_heard(const struct ft_carry *x, const struct ft_demand_msg *m);
void ft_carry_codeword_latest_is(const struct ft_carry *x, const struct ft_demand_msg *m);

#endif
