// SPDX-License-Identifier: Apache-2.0

/// \file
/// Breaks text into lines of limited width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::text {

/// Returns the number of characters of UTF-8 text.
std::size_t width_of(std::string_view text);

/// Returns lines of at most `width` characters, broken at blanks, but not between a number and
/// its unit ("95 %") or within a duration. A longer word has its own line. An empty text is one
/// empty line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace almanac::text
