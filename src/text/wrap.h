// SPDX-License-Identifier: Apache-2.0

/// \file
/// Breaks sentences into lines of a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::text {

/// Characters of UTF-8 text.
std::size_t width_of(std::string_view text);

/// Lines of at most `width` characters, broken at blanks; a longer word gets a line of its own.
/// An empty text is one empty line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace almanac::text
