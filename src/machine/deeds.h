// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decisions to carry out once they are on disk.
#pragma once

#include <set>
#include <vector>

#include "base/ids.h"
#include "store/job.h"

namespace almanac::machine {

/// Decisions of the round and of users.
struct Deeds {
  std::vector<store::JobNumber> start{};   ///< In the order of the policy.
  std::vector<store::JobNumber> stop{};    ///< Jobs whose process must end.
  std::vector<store::JobNumber> kill{};    ///< Jobs whose process uses too much GPU memory.
  std::vector<store::JobNumber> resize{};  ///< Jobs whose processors or memory changed.
  /// Jobs whose process must be notified of new GPUs or a new batch size.
  std::set<store::JobNumber> tell{};
  std::vector<JobId> pin{};  ///< Jobs that the round has started or resized.
};

}  // namespace almanac::machine
