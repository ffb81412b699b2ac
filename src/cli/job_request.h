// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads what a job asks, as a user writes it on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::cli {

/// "32G", "512M", "1.5T" in GB. A bare number is refused: Slurm would mean MB, most others GB.
Result<double> parse_memory(const std::string& option, const std::string& text);

struct Indices {
  std::vector<std::int32_t> list{};
  std::int32_t at_once = 0;
};
/// "0-9", "1,3,5-7", "0-20:5", each with "%2" at the end for two at once.
Result<Indices> parse_indices(const std::string& text);

}  // namespace almanac::cli
