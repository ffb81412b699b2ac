// SPDX-License-Identifier: Apache-2.0

/// \file
/// Small steps that the readers of Slurm's texts share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace almanac::cluster {

/// In lower case.
std::string in_lower_case(std::string_view text);
/// Without blanks around.
std::string_view without_blanks(std::string_view text);
/// Takes the first line off `text`.
std::string_view take_line(std::string_view& text);
/// The words between blanks.
std::vector<std::string_view> words_in(std::string_view line);
/// The parts of `list` between commas, empty ones left out.
std::vector<std::string> split_list(std::string_view list);

}  // namespace almanac::cluster
