// SPDX-License-Identifier: Apache-2.0

/// \file
/// Free GPUs of nodes that are alike, taken where most are free.
#pragma once

#include <span>
#include <vector>

#include "elastic/tick/engine.h"

namespace almanac::elastic {

class FreeNodes {
 public:
  explicit FreeNodes(const TickOptions& options);
  /// Takes what a job keeps.
  void take(const Shares& shares);
  /// Takes `gpus`, of which so many are free: again and again what is still needed of the node with
  /// the most free GPUs, of equal ones the first.
  Shares take_emptiest(int gpus);

 private:
  std::vector<int> free_;
};

}  // namespace almanac::elastic
