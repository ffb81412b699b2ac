// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many ranks lever `order` may write: each write costs the API server and Kueue some work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace almanac::kueue {

/// kPerEnd writes for each workload that ends, and kPerQueue for each queue at first. StrictFIFO
/// queues take no part: without a rank a small workload waits there behind the head while GPUs are
/// free.
class WriteBudget {
 public:
  static constexpr std::int64_t kPerEnd = 3;
  static constexpr std::int64_t kPerQueue = 20;
  static constexpr std::int64_t kMostPerQueue = 60;

  /// `queues` are those that may get ranks now, and `ended` workloads have ended since the last
  /// call.
  void look(const std::vector<std::string>& queues, std::int64_t ended) {
    for (const std::string& queue : queues) {
      if (std::find(known_.begin(), known_.end(), queue) != known_.end()) continue;
      known_.push_back(queue);
      left_ += kPerQueue;
    }
    left_ =
        std::min(left_ + kPerEnd * ended, kMostPerQueue * static_cast<std::int64_t>(queues.size()));
  }
  bool has_left() const { return left_ > 0; }
  void spend() { --left_; }
  /// A write was undone by Kueue.
  void refund() { ++left_; }

 private:
  std::int64_t left_ = 0;
  std::vector<std::string> known_{};  ///< Those that have been given their first budget.
};

}  // namespace almanac::kueue
