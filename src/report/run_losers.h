// SPDX-License-Identifier: Apache-2.0

/// \file
/// Groups of jobs that wait longer under one policy than under another.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/run_digest.h"

namespace almanac::report {

/// A group whose jobs wait longer on average.
struct Loser {
  std::string what{};       ///< "jobs of user ann"
  const char* figure = "";  ///< Id of the figure that shows the group.
  double before_s = 0;      ///< Mean wait under the first policy.
  double after_s = 0;       ///< Mean wait under the other one.
  double finished = 0;      ///< Finished jobs, under the policy with fewer of them.
  double lost_s() const { return after_s - before_s; }
};

/// Groups with fewer jobs are not compared by their average.
inline constexpr double kEnoughJobs = 20;

/// Groups that lose, among those with at least kEnoughJobs jobs.
struct Losers {
  std::size_t compared = 0;
  std::vector<Loser> worst{};  ///< The worst length, size, virtual cluster and user; the largest
                               ///< loss first.
};

/// Users whose mean wait grows by more than a minute and by more than 5 %, with any number of jobs.
struct LosingUsers {
  std::size_t users = 0;  ///< Users with finished jobs under both policies.
  std::size_t losing = 0;
  std::optional<Loser> worst{};  ///< The worst with kEnoughJobs jobs, or else the worst of all.
};

/// Compares policy number `after` with the first one. `policies` are in the order of the run. A
/// group loses as a user does in LosingUsers. O(groups).
Losers find_losers(const RunInput& input, const std::vector<PolicyDigest>& policies,
                   std::size_t after);
LosingUsers losing_users(const RunInput& input, const std::vector<PolicyDigest>& policies,
                         std::size_t after);

}  // namespace almanac::report
