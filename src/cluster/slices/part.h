// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of a GPU an instance is, where it is not known which board it is of.
#pragma once

#include <string_view>

namespace almanac::slices {

/// Of the memory slices of a board, the least of those that have such a profile: 0.125 of
/// "1g.10gb", which is twice that of the smaller A100. 1 of a name that no board has.
double least_part(std::string_view profile);

}  // namespace almanac::slices
