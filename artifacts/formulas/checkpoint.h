// SPDX-License-Identifier: Apache-2.0

/// \file
/// How often a job that fails now and then should write checkpoints, and what that leaves of its
/// time. All times are in one unit, whichever; they must be above 0 where nothing else is said.
///
/// Source   Young, CACM 1974; Daly, FGCS 2006, equations 20 and 37; Kokolis et al., HPCA'25,
///          section on effective training time.
#pragma once

namespace almanac::failure {

/// When a job fails and what a checkpoint costs it. Failures come at exponential times.
struct Failing {
  double mean_time_to_failure = 0;  ///< Of the job as a whole.
  double write = 0;                 ///< No progress is made while a checkpoint is written.
};

/// The mean time to failure of a job on `nodes` nodes with `faults_a_node` each in a unit of time.
double mean_time_to_failure(double nodes, double faults_a_node);

/// Time between the end of one checkpoint and the beginning of the next, first order.
double young_interval(const Failing& job);
/// The same less the time of writing.
double daly_first_order_interval(const Failing& job);
/// Daly's higher order: the mean time to failure where a checkpoint takes twice as long or longer.
double daly_interval(const Failing& job);
/// The interval of the least slowdown, to the last digit.
double best_interval(const Failing& job);

/// Wall time for each unit of progress with checkpoints after `interval` of progress. A restart
/// takes `restart` (0 = none), and may fail too.
double slowdown(const Failing& job, double interval, double restart = 0);

/// The expected ratio of effective training time: productive time by wall time, of a job that needs
/// `restart` to go on after a failure and loses half an interval then. Linear in the rate of
/// failures: it is out of its range where they leave less than half, and goes below 0.
double effective_time(const Failing& job, double interval, double restart);

}  // namespace almanac::failure
