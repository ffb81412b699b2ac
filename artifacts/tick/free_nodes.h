// SPDX-License-Identifier: Apache-2.0

/// \file
/// Free GPUs of nodes that are alike.
#pragma once

#include <span>
#include <vector>

#include "tick/engine.h"

namespace almanac::elastic {

class FreeNodes {
 public:
  explicit FreeNodes(const TickOptions& options);
  /// Takes what a job keeps.
  void take(const Shares& shares);
  /// Takes `gpus`, of which so many are free: again and again what is still needed of the node with
  /// the most free GPUs, of equal ones the first.
  Shares take_emptiest(int gpus);
  /// Takes as many of `gpus` as are free: whole nodes, and the rest of the node in which it leaves
  /// least. In the order of the nodes.
  Shares take_tightest(int gpus);

 private:
  int per_node_;
  std::vector<int> free_;
};

}  // namespace almanac::elastic
