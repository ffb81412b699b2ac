// SPDX-License-Identifier: Apache-2.0

/// \file
/// Aborts the program with details if an invariant of the code does not hold.
#pragma once

#include <string>

#include <fmt/format.h>

namespace almanac {

/// Prints the broken condition, its place and `evidence`, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& evidence);

}  // namespace almanac

/// Checked in every build. The values after the condition are formatted only if it fails.
#define ALMANAC_CHECK(condition, ...)                                                      \
  do {                                                                                     \
    if (!(condition)) [[unlikely]] {                                                       \
      ::almanac::check_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
    }                                                                                      \
  } while (false)
