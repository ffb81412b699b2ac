// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which of several jobs is worth the next GPU most.
///
/// Source   Hwang et al., NSDI'21 (AFS-L): a job that would end sooner is worth more, unless the
///          other one gains more by a GPU.
#pragma once

#include <cstddef>
#include <span>

namespace almanac::policy {

/// A job that could have one more step of GPUs.
struct Contender {
  double work = 0;        ///< Left, as time at speed 1.
  double speed = 0;       ///< With the GPUs that it has so far; 0 = it has none.
  double next_speed = 0;  ///< With one step more.
};

/// The position of the winner of `contenders`, in the order in which the jobs came; there must be
/// one. The champion so far meets each of the others in turn. Where neither has a GPU, the shorter
/// wins; else the one that would end later at its present speed wins if what a step adds to its
/// speed, beside its speed with it, is more than what a step adds to the other's, beside its speed
/// without it. O(contenders).
std::size_t win_step(std::span<const Contender> contenders);

}  // namespace almanac::policy
