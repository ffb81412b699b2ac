// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether one policy lets the same jobs wait less than another: job by job, and how sure that is.
///
/// Days are drawn and flipped, not jobs, and joined where a queue lasts (stats/joined_days.h).
/// Neither an interval nor a p is given where that leaves too few.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::report {

/// How sure a change is.
struct Sure {
  double from_s = 0;  ///< 95 % of the bootstraps over blocks give a change from here ...
  double to_s = 0;    ///< ... to here.
  double p = 0;       ///< Sign flips of blocks, raised for several policies (Holm).
};

/// One policy against the baseline.
struct Paired {
  std::string policy{};
  std::size_t jobs = 0;      ///< That ended under both.
  std::size_t unpaired = 0;  ///< That ended under one of them only, and are left out.
  double avg_wait_s = 0;     ///< Of these jobs, under this policy.
  double change_s = 0;       ///< Of it: less than 0 = they wait less than under the baseline.
  double shorter = 0;        ///< Part of the jobs that wait less.
  double longer = 0;         ///< Part of the jobs that wait longer.
  std::size_t blocks = 0;
  int days_a_block = 1;
  /// Nothing where blocks of any length hang together, or are fewer than stats::kFewestBlocks.
  std::optional<Sure> sure{};
};

/// A policy of a run directory, and what it is called.
struct PairedPolicy {
  std::string name;
  std::string jobs_csv;
};

/// Each of `policies` against `baseline`, in their order. Fails where a file is none of a run, or
/// they have no job in common. O(jobs log jobs) a policy.
Result<std::vector<Paired>> paired(const PairedPolicy& baseline,
                                   const std::vector<PairedPolicy>& policies);

}  // namespace almanac::report
