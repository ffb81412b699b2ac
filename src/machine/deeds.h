// SPDX-License-Identifier: Apache-2.0

/// \file
/// What may be done once it is on the disk.
#pragma once

#include <set>
#include <vector>

#include "base/ids.h"
#include "store/job.h"

namespace almanac::machine {

/// What the round and users have decided, to be done once it is on the disk.
struct Deeds {
  std::vector<store::JobNumber> start{};  ///< In the order of the policy.
  std::vector<store::JobNumber> stop{};   ///< Whose process is to end.
  std::vector<store::JobNumber> kill{};   ///< Whose process holds too much of a GPU.
  std::vector<store::JobNumber> resize{};
  std::set<store::JobNumber> tell{};  ///< Of other GPUs, or another batch.
  std::vector<JobId> pin{};           ///< That the round has started or resized.
};

}  // namespace almanac::machine
