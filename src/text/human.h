// SPDX-License-Identifier: Apache-2.0

/// \file
/// Formats values for sentences and terminal tables. Files have plain numbers.
#pragma once

#include <cstdint>
#include <string>

namespace almanac::text {

/// Returns "4.0s", "45s", "12m 05s", "3h 20m", "2d 04h"; "-" for NaN.
std::string human_time(double duration_s);

/// Returns 24359 as "24,359".
std::string grouped(std::int64_t value);

/// Returns "1 job", "24,359 jobs". `many` is the plural if it is not `one` and an s.
std::string counted(std::uint64_t value, const std::string& one, const std::string& many = "");

/// Returns 0.613 as "61 %", 0.042 as "4.2 %", 0.0004 as "0.04 %"; "-" for NaN.
std::string human_share(double share);

}  // namespace almanac::text
