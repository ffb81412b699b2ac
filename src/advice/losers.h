// SPDX-License-Identifier: Apache-2.0

/// \file
/// Users and classes of jobs that would wait longer.
#pragma once

#include <span>
#include <vector>

#include "advice/advise.h"

namespace almanac::advice {

/// A job that counts: its wait before and after.
struct Waited {
  const trace::Request* request = nullptr;
  double before_s = 0;
  double after_s = 0;
};

/// Users first, then classes: sizes, virtual clusters, and users by how many of the jobs are
/// theirs; of each kind, those that lose most job-seconds first.
std::vector<Loser> losers_of(std::span<const Waited> jobs, const Names& names);

}  // namespace almanac::advice
