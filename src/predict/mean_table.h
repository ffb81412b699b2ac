// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decaying means by key.
#pragma once

#include "predict/key_table.h"

namespace almanac::predict {

/// A mean in which each value has `decay` times the weight of the next one.
class DecayingMean {
 public:
  void add(double value, double decay) {
    sum_ = sum_ * decay + value;
    weight_ = weight_ * decay + 1;
  }
  bool empty() const { return weight_ == 0; }
  double value() const { return sum_ / weight_; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

using MeanTable = KeyTable<DecayingMean>;

}  // namespace almanac::predict
