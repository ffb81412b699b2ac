// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decompresses gzip in memory, for files that are part of the program.
#pragma once

#include <string>
#include <string_view>

namespace almanac::table {

/// Returns what `member`, one whole gzip member of less than 4 GiB, holds. Aborts if it is damaged.
///
/// Source   RFC 1952, section 2.3.1 (a member ends with the size of what it holds).
std::string gunzip(std::string_view member);

}  // namespace almanac::table
