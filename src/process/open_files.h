// SPDX-License-Identifier: Apache-2.0

/// \file
/// The limit of files that a process may have open at once: the soft limit of RLIMIT_NOFILE.
#pragma once

#include <cstdint>

namespace almanac::process {

std::uint64_t most_open_files();
/// Raises this process's limit to the maximum. Returns the former limit, for the programs that this
/// process starts: some close all possible descriptors, or require numbers below 1024 (select(2)).
std::uint64_t raise_open_files();
/// Sets this process's limit, at most to the maximum.
void limit_open_files(std::uint64_t most);

}  // namespace almanac::process
