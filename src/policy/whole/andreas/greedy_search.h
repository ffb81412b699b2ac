// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets jobs choose GPU types and numbers of GPUs one after the other, again and again at random,
/// and keeps the cheapest outcome. A job may also wait.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/rng.h"
#include "policy/kit/allocator.h"

namespace almanac::policy {

class GreedySearch {
 public:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  /// One way for a job to run.
  struct Way {
    std::uint64_t type = 0;  ///< One bit; several if the placement chooses.
    int gpus = 0;            ///< 0 for what it requests.
    std::int64_t milli = 0;  ///< Thousandths of a GPU that it takes.
    double time_s = 0;       ///< Above 0.
    double cost = 0;         ///< Of its GPUs, above 0.
  };
  struct Ask {
    JobId job{};
    double due_s = kForever;  ///< From now to its deadline; may be negative.
    bool runs = false;        ///< Then it waits only if its GPUs are taken.
    std::vector<Way> ways{};
    /// Returns the time at the fastest less that to its deadline; -infinite without a deadline.
    double pressure_s() const;
  };
  /// What a way costs if it begins in `wait_s`: its GPUs, and the tardiness.
  double cost_of(const Ask& ask, const Way& way, double wait_s) const;

  /// `late_cost` is that of a second of tardiness; `draws` the random repetitions.
  GreedySearch(double late_cost, int draws) : late_cost_(late_cost), draws_(draws) {}

  /// Returns the way of each job, null if it waits. Sorts `jobs` by pressure, the highest first,
  /// and the ways of each, those in time first, by cost, then the others by their end. The first
  /// job that runs now anyway ends in `first_end_s`. At equal cost the outcome without randomness
  /// counts. O(draws x jobs x ways).
  std::vector<const Way*> choose(std::vector<Ask>& jobs, const std::vector<Stock>& left,
                                 double first_end_s, Rng& rng) const;

 private:
  struct Outcome {
    std::vector<const Way*> ways{};
    double cost = kForever;
  };
  Outcome outcome(const std::vector<Ask>& jobs, std::vector<Stock> left, double first_end_s,
                  Rng* rng) const;
  const Way* chosen(const Ask& ask, const std::vector<Stock>& left, Rng* rng) const;

  double late_cost_;
  int draws_;
};

}  // namespace almanac::policy
