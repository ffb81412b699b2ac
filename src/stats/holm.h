// SPDX-License-Identifier: Apache-2.0

/// \file
/// Holm's correction for several tests.
#pragma once

#include <span>
#include <vector>

namespace almanac::stats {

/// Returns each p-value, adjusted for the number of tests and at most 1. Rejecting all hypotheses
/// whose adjusted value is below a threshold falsely rejects any of them with at most that
/// probability, however the tests depend on each other. Cost: O(n log n).
///
/// Source   Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scand. J. Statist. 1979.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace almanac::stats
