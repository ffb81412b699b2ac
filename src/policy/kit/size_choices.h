// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cores and memory that each GPU of a job may be given, and how fast the job then runs
/// relative to its proportional share (`share`): what the sizes that know speeds choose from.
///
/// Asked are whole numbers of cores, and memory in thirds of that share up to twice and then whole
/// multiples of it up to four, as Synergy's tables have it; what is no faster than something
/// cheaper is left out.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "policy/contract/contract.h"
#include "policy/kit/best_mix.h"

namespace almanac::policy {

/// Of one GPU, by rising cores, all at least as fast as with the proportional share.
struct JobChoices {
  std::vector<SizeChoice> all;
  std::size_t least = 0;  ///< The cheapest that is no more than that share in anything.
  std::size_t best = 0;   ///< The cheapest of the fastest.
};

class SizeChoices {
 public:
  /// Of a GPU job. Where speeds or the cores of nodes are not known there is one choice, the
  /// proportional share. Valid as long as this. Worked out once for all jobs alike.
  const JobChoices& of(JobId job, const View& view);

 private:
  using Alike = std::tuple<SpeedModelId, int, int, VcId>;  // model, GPUs, nodes
  std::map<Alike, JobChoices> known_;
};

}  // namespace almanac::policy
