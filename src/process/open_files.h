// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many files a process may have open at once: the soft limit of RLIMIT_NOFILE.
#pragma once

#include <cstdint>

namespace almanac::process {

std::uint64_t most_open_files();
/// Raises ours to the most that we may have; gives what it was, for what we start: some programs
/// close all that there could be, or count on numbers below 1024 (select(2)).
std::uint64_t raise_open_files();
/// Sets ours, at most to what we may have.
void limit_open_files(std::uint64_t most);

}  // namespace almanac::process
