// SPDX-License-Identifier: Apache-2.0

/// \file
/// Processors as the kernel lists them: "0-3,8".
///
/// Source   Linux, cpuset(7), "List format".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::agent {

/// Returns the processors in ascending order, without duplicates; nothing if the text is not such a
/// list. Empty for "".
std::optional<std::vector<int>> read_cpus(std::string_view list);
/// Formats ascending `cpus` as the kernel does.
std::string to_list(const std::vector<int>& cpus);

}  // namespace almanac::agent
