// SPDX-License-Identifier: Apache-2.0

/// \file
/// Speed of jobs that take turns on the same GPUs, each in another stage of its iteration.
///
/// Source   Zhao et al., SIGCOMM'22 (Muri), section 4, and the simulator published with it.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace almanac::interleave {

inline constexpr std::size_t kMaxGroup = 4;

/// Seconds that an iteration spends on each resource. Loading uses storage and the CPU.
struct Stages {
  double load = 0;
  double compute = 0;
  double network = 0;

  double sum() const { return load + compute + network; }
};

/// The job at each place of the cycle in which a group takes turns; -1 for none.
using Order = std::array<int, kMaxGroup>;

/// Returns the seconds after which all jobs have done one iteration in this order.
double period_of(const Order& order, std::span<const Stages> jobs);
/// Returns the same for two jobs of which one loads while the other computes and sends.
double opposite_period(const Stages& one, const Stages& other);

/// Seconds after which all jobs of a group have done one iteration, for the best and the worst
/// order of turns.
struct Period {
  double best = 0;
  double worst = 0;
};

/// Returns the period of one to four jobs. Tries up to 24 orders.
Period period(std::span<const Stages> jobs);

/// Returns the seconds of an iteration of each job in a group of two to four jobs: `period`,
/// stretched by what was measured for groups of that size.
double group_iteration_s(double period, std::size_t jobs);

/// Returns the fraction of four resources that a group uses; the weight of an edge between two
/// groups.
double used_ratio(std::span<const Stages> jobs, double iteration_s);

}  // namespace almanac::interleave
