// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether one policy lets the same jobs wait less than another: job by job, and how sure that is.
///
/// The jobs of a day wait together, so days are drawn and flipped, not jobs. Where a queue lasts
/// for days, differences of neighbouring days are alike too: days are joined to longer blocks until
/// they are not, and no p is given where that leaves too few.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::report {

/// One policy against the baseline.
struct Paired {
  std::string policy{};
  std::size_t jobs = 0;      ///< That ended under both.
  std::size_t unpaired = 0;  ///< That ended under one of them only, and are left out.
  double avg_wait_s = 0;     ///< Of these jobs, under this policy.
  double change_s = 0;       ///< Of it: less than 0 = they wait less than under the baseline.
  double from_s = 0;         ///< 95 % of the bootstraps over blocks give a change from here ...
  double to_s = 0;           ///< ... to here.
  double shorter = 0;        ///< Part of the jobs that wait less.
  double longer = 0;         ///< Part of the jobs that wait longer.
  std::size_t blocks = 0;
  int days_a_block = 1;
  double p = 0;  ///< Sign flips of blocks, raised for several policies (Holm); NaN = blocks of any
                 ///< length hang together, or are fewer than 6.
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
