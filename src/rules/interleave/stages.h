// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast jobs run that take turns on the same GPUs, each in another stage of its iteration.
///
/// Source   Zhao et al., SIGCOMM'22 (Muri), section 4, and the simulator published with it.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace almanac::interleave {

inline constexpr std::size_t kMaxGroup = 4;

/// What an iteration spends where, in seconds. Loading occupies storage and the processor.
struct Stages {
  double load = 0;
  double compute = 0;
  double network = 0;

  double sum() const { return load + compute + network; }
};

/// Which job stands at each place of the cycle in which a group takes turns; -1 = none.
using Order = std::array<int, kMaxGroup>;

/// The time after which all jobs have done an iteration in this order; seconds.
double period_of(const Order& order, std::span<const Stages> jobs);
/// The same for two jobs of which one loads while the other computes and sends.
double opposite_period(const Stages& one, const Stages& other);

/// The time after which all jobs of a group have done an iteration, over the orders in which they
/// can take turns; seconds.
struct Period {
  double best = 0;
  double worst = 0;
};

/// Of one to four jobs. Cost: 24 orders.
Period period(std::span<const Stages> jobs);

/// Seconds an iteration of each job of a group takes; `period` is stretched as measured for groups
/// of that size. Of two to four jobs.
double group_iteration_s(double period, std::size_t jobs);

/// The share of four resources that a group uses: the weight of an edge between two groups.
double used_ratio(std::span<const Stages> jobs, double iteration_s);

}  // namespace almanac::interleave
