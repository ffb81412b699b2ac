// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that models are fitted to: all that ended while they are few, then the fewer the longer
/// ago they ended.
///
/// How far back a log still tells of the present is not known in advance, and a log of many jobs an
/// hour forgets its nights when only the latest jobs count. Each doubling of the age, counted in
/// jobs, therefore gets about as many places: where `age` jobs ended since, c / `age` of them are
/// kept, and all of the latest c. No chance is in it: a job is drawn by its number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predict/model.h"

namespace almanac::predict {

class Examples {
 public:
  /// thin() leaves `most`; there are never more than twice as many, of some 780 bytes each.
  explicit Examples(std::size_t most) : most_(most) {}

  /// A job that ended now.
  void add(const Example& example);
  /// Leaves `most`, or a few less: all when there are no more. O(n) with n that are kept.
  void thin();

  /// In order of their ends.
  std::span<const Example> all() const { return kept_; }
  /// How many ended, ever.
  std::uint64_t ended() const { return ended_; }
  /// How many of the kept ones ended after the first `before` had.
  std::size_t since(std::uint64_t before) const;

 private:
  std::size_t most_;
  std::vector<Example> kept_;
  std::vector<std::uint64_t> numbers_;  // of each of kept_: how many had ended with it
  std::uint64_t ended_ = 0;
};

}  // namespace almanac::predict
