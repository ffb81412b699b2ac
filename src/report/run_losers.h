// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who waits longer under one policy than under another.
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
  const char* figure = "";  ///< Id of the figure that shows it.
  double before_s = 0;
  double after_s = 0;
  double finished = 0;  ///< Jobs.
  double lost_s() const { return after_s - before_s; }
};

/// Fewer jobs than this make no average worth comparing.
inline constexpr double kEnoughJobs = 20;

/// Groups of kEnoughJobs jobs or more that were compared, and those of them that lose.
struct Losers {
  std::size_t compared = 0;
  std::vector<Loser> worst{};  ///< One for each of length, size, virtual cluster and user; the
                               ///< largest loss first.
};

/// Users whose mean wait grows by more than a minute and 5 %, whatever their number of jobs.
struct LosingUsers {
  std::size_t users = 0;  ///< With finished jobs under both policies.
  std::size_t losing = 0;
  std::optional<Loser> worst{};  ///< Of those with kEnoughJobs jobs, else of all.
};

/// `policies` in the order of the run; `after` is set against the first. O(groups).
Losers find_losers(const RunInput& input, const std::vector<PolicyDigest>& policies,
                   std::size_t after);
LosingUsers losing_users(const RunInput& input, const std::vector<PolicyDigest>& policies,
                         std::size_t after);

}  // namespace almanac::report
