// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether paired differences could as well have had the other sign: the randomisation test over
/// blocks. Days are blocks; the jobs of one are too alike to be flipped one by one.
///
/// Source   Fisher, The Design of Experiments, 1935, section 21; Holm, Scandinavian Journal of
///          Statistics 1979 (several comparisons).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"

namespace almanac::stats {

/// How likely it is that the sum of `blocks`, each with its sign drawn, is as far from 0 as theirs;
/// of all 2^n ways where these are fewer than `times`, else of so many draws, the observed one
/// among them. 1 for none. Deterministic in `rng`. O(times x blocks).
double sign_flip_p(std::span<const double> blocks, std::size_t times, Rng& rng);

/// The same values raised for being several (Holm): below 0.05, no more than one such family in 20
/// has a single one that only chance made.
std::vector<double> holm(std::span<const double> ps);

}  // namespace almanac::stats
