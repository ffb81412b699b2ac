// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares the waits of the same jobs under two policies, job by job, with confidence.
///
/// Bootstrap and sign flips use days, not jobs, and join days that share a queue
/// (stats/joined_days.h). If too few blocks remain, there is no interval and no p.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::report {

/// Confidence of a change.
struct Sure {
  double from_s = 0;  ///< Lower end of the 95 % bootstrap interval over blocks.
  double to_s = 0;    ///< Upper end.
  double p = 0;       ///< From sign flips of blocks, corrected for several policies (Holm).
};

/// One policy against the baseline.
struct Paired {
  std::string policy{};
  std::size_t jobs = 0;      ///< Jobs that ended under both policies.
  std::size_t unpaired = 0;  ///< Jobs that ended under only one; left out.
  double avg_wait_s = 0;     ///< Mean wait of the paired jobs under this policy.
  double change_s = 0;       ///< Mean wait minus that under the baseline; below 0 is shorter.
  double shorter = 0;        ///< Fraction of the jobs that wait less.
  double longer = 0;         ///< Fraction of the jobs that wait longer.
  std::size_t blocks = 0;
  int days_a_block = 1;
  /// Nothing if blocks of any length are correlated, or fewer than stats::kFewestBlocks.
  std::optional<Sure> sure{};
};

/// A policy of a run directory, and its name in the report.
struct PairedPolicy {
  std::string name;
  std::string jobs_csv;
};

/// Compares each of `policies` with `baseline`, in order. Fails if a file is not from a run, or if
/// the policies have no job in common. O(jobs log jobs) per policy.
Result<std::vector<Paired>> paired(const PairedPolicy& baseline,
                                   const std::vector<PairedPolicy>& policies);

}  // namespace almanac::report
