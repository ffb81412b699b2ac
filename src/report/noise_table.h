// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies with worse and worse predictions as a table.
#pragma once

#include <vector>

#include "experiment/noise.h"
#include "figure/rows.h"

namespace almanac::report {

/// Returns a row for each policy, with a column for each error. Copies what it needs of `rows`.
figure::Listing noise_table(const std::vector<experiment::NoiseRow>& rows);

}  // namespace almanac::report
