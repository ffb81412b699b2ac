// SPDX-License-Identifier: Apache-2.0

/// \file
/// Helpers shared by the readers of Slurm's formats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace almanac::cluster {

/// Converts to lower case.
std::string in_lower_case(std::string_view text);
/// Removes leading and trailing blanks.
std::string_view without_blanks(std::string_view text);
/// Removes the first line from `text` and returns it.
std::string_view take_line(std::string_view& text);
/// Returns the words between blanks.
std::vector<std::string_view> words_in(std::string_view line);
/// Returns the parts of `list` between commas, without empty ones.
std::vector<std::string> split_list(std::string_view list);

}  // namespace almanac::cluster
