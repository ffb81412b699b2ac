// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decompresses gzip in memory, for files that are part of the program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace almanac::table {

/// Returns what `member`, one whole gzip member of less than 4 GiB, holds. Aborts if it is damaged.
///
std::string gunzip(std::string_view member);

/// Returns the size of what `member` holds, in bytes. Reads only the end of the member.
///
/// Source   RFC 1952, section 2.3.1 (ISIZE).
std::size_t gunzipped_size(std::string_view member);

}  // namespace almanac::table
