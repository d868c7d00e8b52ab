/* SPDX-License-Identifier: BSD-3-Clause
 *
 * daly.h - how often to take a coordinated checkpoint.
 *
 * Source: J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart
 * dumps", Future Generation Computer Systems 22 (2006) 303-312. Failures are Poisson with mean M
 * and may also strike during a checkpoint or a restart:
 *
 *   |<------- tau ------->|<- delta ->|<------- tau ------->|<- delta ->|<-- tau --X  failure
 *     work                  checkpoint
 *
 * and then restart (R), and on from the last checkpoint.
 *
 * All times are in one unit, seconds by custom. M is the mean time between those failures that the
 * checkpoint is for, of the job as a whole, not of one process.
 */
#ifndef FT_MODEL_DALY_H
#define FT_MODEL_DALY_H

/* tau: how long to work from the end of one checkpoint to the start of the next. delta >= 0 is what
 * a checkpoint costs the program, mtbf >= 0, both finite. Near the optimum of the complete model
 * below, by a perturbation series; M for delta >= 2 M, where the series is of no use. 0 ("at each
 * chance") when delta or mtbf is 0. */
double ft_daly_interval(double delta, double mtbf);

/* The share of wall time that is lost, 0 to 1, to checkpoints, restarts and work done twice, when a
 * checkpoint follows each `interval` of work: 1 - Ts/Tw with the complete model's wall time Tw = M
 * exp(R/M) (exp((tau + delta)/M) - 1) Ts/tau, for a time to solution Ts that is long against tau.
 * delta, restart >= 0; mtbf, interval > 0. */
double ft_daly_lost_share(double delta, double mtbf, double restart, double interval);

#endif
