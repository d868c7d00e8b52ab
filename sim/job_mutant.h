/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_mutant.h - the mutants of the models of jobs.
 */
#ifndef FT_SIM_JOB_MUTANT_H
#define FT_SIM_JOB_MUTANT_H

enum job_mutant {
    M_NONE,
#define JOB_MUTANT(id, name, broken) M_##id,
#include "job_mutant.def"
#undef JOB_MUTANT
};

#endif
