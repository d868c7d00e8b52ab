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
 * All times have one unit, usually seconds. M is the mean time between those failures against which
 * the checkpoint protects, of the entire job and not of one process.
 */
#ifndef FT_MODEL_DALY_H
#define FT_MODEL_DALY_H

/* Returns tau: how long to work from the end of one checkpoint to the start of the next. delta >= 0
 * is the cost of a checkpoint to the program; mtbf >= 0; both finite. Near the optimum of the
 * complete model below, by a perturbation series; M if delta >= 2 M, where the series is useless; 0
 * ("at each chance") if delta or mtbf is 0. */
double ft_daly_interval(double delta, double mtbf);

/* Returns the share of wall time, 0 to 1, that is lost to checkpoints, restarts and repeated work
 * when a checkpoint follows each `interval` of work: 1 - Ts/Tw with the complete model's wall time
 * Tw = M exp(R/M) (exp((tau + delta)/M) - 1) Ts/tau, for a time to solution Ts that is much longer
 * than tau. delta, restart >= 0; mtbf, interval > 0. */
double ft_daly_lost_share(double delta, double mtbf, double restart, double interval);

#endif
