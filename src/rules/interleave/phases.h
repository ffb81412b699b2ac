// SPDX-License-Identifier: Apache-2.0

/// \file
/// Speed of reinforcement-learning jobs that share two groups of GPUs, one that generates rollouts
/// and one that trains.
///
/// An iteration generates rollouts on the first group, then trains on the second, and the next
/// iteration needs the trained weights. Alone, a job leaves each group idle during its other phase.
/// Jobs that share both groups use them one after another, always in the same order (round robin).
///
/// Source   the idea is that of RollMux (arXiv 2512.11306), from general knowledge of it. The
///          period is derived here: phases_test.cpp compares it with a simulation.
/// Differs  the phases of all iterations last equally long. A long tail of rollouts is in their
/// mean.
#pragma once

#include <span>

namespace almanac::interleave {

/// Seconds of an iteration.
struct Phases {
  double rollout = 0;
  double training = 0;
  /// To load a job's state onto the GPUs of a phase after another job used them, at each phase.
  double switching = 0;

  double sum() const { return rollout + training; }
};

/// Returns the seconds after which each of the jobs has done one iteration in round robin: the
/// longest of the sum of all rollouts, the sum of all trainings, and the iteration of one job. No
/// schedule is shorter. `jobs` must not be empty; one job does not switch.
double round_robin_period(std::span<const Phases> jobs);

/// Returns the fraction of its speed alone that `guest` reaches in what `hosts` leave idle, at
/// most 1. Assumes that the guest pauses at no cost when a host needs its GPUs.
double part_in_idle_phases(const Phases& guest, std::span<const Phases> hosts);

}  // namespace almanac::interleave
