// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decisions that are carried out once they are on the disk.
#pragma once

#include <set>
#include <vector>

#include "base/ids.h"
#include "store/job.h"

namespace almanac::machine {

/// Decisions of the round and of users.
struct Deeds {
  std::vector<store::JobNumber> start{};   ///< Jobs, in the order of the policy.
  std::vector<store::JobNumber> stop{};    ///< Jobs whose process must end.
  std::vector<store::JobNumber> kill{};    ///< Jobs whose process holds too much GPU memory.
  std::vector<store::JobNumber> resize{};  ///< Jobs that hold other processors or memory.
  std::set<store::JobNumber> tell{};  ///< Jobs whose process must hear of other GPUs or another
                                      ///< batch.
  std::vector<JobId> pin{};           ///< Jobs that the round has started or resized.
};

}  // namespace almanac::machine
