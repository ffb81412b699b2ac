// SPDX-License-Identifier: Apache-2.0

/// \file
/// The logs that recipes generate, and how much of them they play: all, or a sample.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string>

#include "trace/workload.h"

namespace almanac::reproduce {

/// While one lives, recipes play samples of what they generate. For tests of whether recipes run:
/// the figures of a sample mean nothing. Not for two threads.
class Samples {
 public:
  Samples();
  ~Samples();
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;
};

bool plays_samples();

/// The workload of the preset `name`; in a sample its first 400 jobs or so, at the same rate.
trace::Workload generated(const std::string& name);

/// All of `values`; in a sample the first.
template <typename Values>
auto to_play(const Values& values) {
  return std::span(values).first(plays_samples() ? std::size_t{1} : std::size(values));
}

}  // namespace almanac::reproduce
