/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model.h - ftrma-model: what its commands share. Each prints to stdout a table, or JSON, and ends
 * the process when it cannot.
 */
#ifndef FT_TOOLS_MODEL_H
#define FT_TOOLS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "model/pcf.h"
#include "topology/domains.h"

#define DAY 86400.0 /* s */
#define NO_SEED UINT64_MAX

struct options {
    const char *domains, *checksums, *aware, *placement, *places;
    int json, as_options, ranks, parity, images, processes;
    double delta, mtbf, restart, bytes, loss, work, copy_rate, parity_rate; /* < 0: not given */
    uint64_t trials, seed; /* seed: NO_SEED if not given */
};
extern struct options opt;

__attribute__((format(printf, 1, 2))) _Noreturn void fail(const char *fmt, ...);

/* --domains: reads, parses and checks the file. Ends the process with the reason if there is no
 * file, or the machine is invalid. */
void load_machine(struct ft_domains *d, struct ft_machine *mc);
int level_by_name(const struct ft_domains *d, const char *name); /* "none": 0 */
const char *aware_name(const struct ft_machine *mc, int aware);
void print_machine(const struct ft_machine *mc); /* "1408 node, 352 psu, ..." */
/* Prints a text in JSON's syntax, a number or null. */
void json_text(const char *text);
void json_number(double v);

/* Parses an entry of --checksums: "200", or "5%" of the ranks; rounded up to a multiple of
 * --parity. */
int parse_checksums(const char *text);
double percent_of_ranks(int checksums);

void command_daly(void);
void command_pcf(void);
void command_plan(void);
void command_montecarlo(void);

#endif
