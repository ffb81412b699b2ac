// SPDX-License-Identifier: Apache-2.0

/// \file
/// A set of jobs that is cleared and queried often.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace almanac::policy {

/// Cost     O(1) per call, clear() included; 8 bytes per job up to the highest number
class JobMarks {
 public:
  void clear() { ++round_; }
  void add(JobId job) {
    if (index(job) >= marked_.size()) marked_.resize(2 * index(job) + 64);
    marked_[index(job)] = round_;
  }
  /// Returns whether the job was in the set.
  bool remove(JobId job) {
    if (!has(job)) return false;
    marked_[index(job)] = 0;
    return true;
  }
  bool has(JobId job) const { return index(job) < marked_.size() && marked_[index(job)] == round_; }

 private:
  std::uint64_t round_ = 1;
  std::vector<std::uint64_t> marked_;  // round in which it was added, by job
};

}  // namespace almanac::policy
