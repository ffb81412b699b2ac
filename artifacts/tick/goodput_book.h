// SPDX-License-Identifier: Apache-2.0

/// \file
/// The goodputs that jobs are believed to have, worked out once for as long as the belief lasts.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "tick/engine.h"

namespace almanac::elastic {

class GoodputBook {
 public:
  /// Best goodput of `job`, whose model is known, on `gpus` of `nodes`.
  double goodput(std::size_t job, const TickState& state, int nodes, int gpus);

 private:
  struct Page {
    StepModel model{};
    Gradient gradient{};
    std::unordered_map<int, double> known{};  // by 65,536 x nodes + GPUs
  };
  std::unordered_map<std::size_t, Page> pages_;
};

}  // namespace almanac::elastic
