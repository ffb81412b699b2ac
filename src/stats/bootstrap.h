// SPDX-License-Identifier: Apache-2.0

/// \file
/// How far a figure may be off: the bootstrap over blocks. Days and users are blocks; the jobs of
/// one are too alike to be drawn one by one.
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

/// Draws `blocks` blocks with replacement, `times` times, and tells `use` how often each block was
/// drawn. Deterministic in `rng`. O(times x blocks) and the calls.
void bootstrap(std::size_t blocks, std::size_t times, Rng& rng,
               const std::function<void(std::span<const std::uint32_t>)>& use);

/// The middle 95 % of `draws`, NaN left out; NaN for none. Reorders `draws`.
std::pair<double, double> middle_95(std::vector<double>& draws);

}  // namespace almanac::stats
