// SPDX-License-Identifier: Apache-2.0

/// \file
/// The block bootstrap: how uncertain a statistic is. Days or users are blocks, because the jobs of
/// one depend on each other and cannot be drawn one by one.
///
/// Source   Efron, Annals of Statistics 1979; Kuensch, Annals of Statistics 1989 (blocks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace almanac::stats {

/// Draws `blocks` blocks with replacement, `times` times. Calls `use` with how often each block was
/// drawn. Deterministic in `rng`. Cost: O(times x blocks), and the calls.
void bootstrap(std::size_t blocks, std::size_t times, Rng& rng,
               const std::function<void(std::span<const std::uint32_t>)>& use);

/// Returns the middle 95 % of `draws` without NaN; NaN if there are none. Reorders `draws`.
std::pair<double, double> middle_95(std::vector<double>& draws);

}  // namespace almanac::stats
