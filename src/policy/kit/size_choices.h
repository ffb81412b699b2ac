// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cores and memory that each GPU of a job may get, and the job's speed with them relative to
/// its proportional share (`share`). Sizes that know speeds choose among these.
///
/// Considers whole numbers of cores, and memory in thirds of that share up to twice the share, then
/// three and four times the share, as in Synergy's tables. A choice that is no faster than a
/// cheaper one is left out.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "policy/contract/contract.h"
#include "policy/kit/best_mix.h"

namespace almanac::policy {

/// Choices per GPU, by cores, all at least as fast as the proportional share.
struct JobChoices {
  std::vector<SizeChoice> all;
  std::size_t least = 0;  ///< The cheapest within that share.
  std::size_t best = 0;   ///< The cheapest of the fastest.
};

class SizeChoices {
 public:
  /// Returns the choices of a GPU job. If speeds or the cores of nodes are unknown, there is one
  /// choice, the proportional share. Valid as long as this object. Computed once for equal jobs.
  const JobChoices& of(JobId job, const View& view);

 private:
  using Alike = std::tuple<SpeedModelId, int, int, VcId>;  // model, GPUs, nodes
  std::map<Alike, JobChoices> known_;
};

}  // namespace almanac::policy
