// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that models are fitted to: all ended jobs while they are few, then fewer the longer ago
/// they ended.
///
/// It is not known in advance how far back a log resembles the present, and a log with many jobs
/// per hour would forget its nights if only the latest jobs counted. So each doubling of the age,
/// counted in jobs, gets about the same number of places: if `age` jobs have ended since, c / `age`
/// of the jobs are kept, and all of the latest c. The choice is not random: it follows from a job's
/// number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predict/model.h"

namespace almanac::predict {

class Examples {
 public:
  /// thin() keeps `most`. There are never more than twice as many, about 780 bytes each.
  explicit Examples(std::size_t most) : most_(most) {}

  /// Adds a job that ended now.
  void add(const Example& example);
  /// Keeps `most` or a few less, or all if there are no more. O(n) with n kept jobs.
  void thin();

  /// Returns the kept jobs in order of their ends.
  std::span<const Example> all() const { return kept_; }
  /// Returns how many jobs have ended in total.
  std::uint64_t ended() const { return ended_; }
  /// Returns how many of the kept jobs ended after the first `before` jobs.
  std::size_t since(std::uint64_t before) const;

 private:
  std::size_t most_;
  std::vector<Example> kept_;
  std::vector<std::uint64_t> numbers_;  // position in order of ends of each of kept_
  std::uint64_t ended_ = 0;
};

}  // namespace almanac::predict
