// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the job for which the next GPU is worth most.
///
/// Source   Hwang et al., NSDI'21 (AFS-L): a job that would end sooner is worth more, unless the
///          other one gains more from a GPU.
#pragma once

#include <cstddef>
#include <span>

namespace almanac::policy {

/// A job that could get one more step of GPUs.
struct Contender {
  double work = 0;        ///< Remaining work, as time at speed 1.
  double speed = 0;       ///< With its GPUs so far; 0 without any.
  double next_speed = 0;  ///< With one more step.
};

/// Returns the position of the winner of `contenders`, at least one, in order of arrival. The
/// champion so far meets each of the others in turn. If neither has a GPU, the shorter job wins.
/// Otherwise the job that would end later at its current speed wins if its gain in speed from a
/// step, relative to its speed with the step, exceeds the other job's gain, relative to its speed
/// without it. O(contenders).
std::size_t win_step(std::span<const Contender> contenders);

}  // namespace almanac::policy
