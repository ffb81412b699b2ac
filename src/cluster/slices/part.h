// SPDX-License-Identifier: Apache-2.0

/// \file
/// The size of an instance relative to a GPU, if the board is unknown.
#pragma once

#include <string_view>

namespace almanac::slices {

/// Returns the smallest fraction of memory slices that a profile of this name takes on any board:
/// 0.125 for "1g.10gb", although it is twice that on the smaller A100. 1 if no board has the name.
double least_part(std::string_view profile);

}  // namespace almanac::slices
