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

/// Rising, each once; nothing = it is no such list. Of "" none.
std::optional<std::vector<int>> read_cpus(std::string_view list);
/// As the kernel would write it. `cpus` rise.
std::string to_list(const std::vector<int>& cpus);

}  // namespace almanac::agent
