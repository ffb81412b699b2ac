// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of Philly's utilization files: a time, a machine, numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace almanac::study {

struct UtilizationRow {
  Time at{};  ///< As written, whatever its zone.
  std::string_view machine;
  std::span<const double> values;  ///< NaN = "NA", empty or absent.
};

/// Calls `take` for each row of the CSV at `path`, whose header must have at least `columns`
/// columns after time and machine. "2017-10-03 00:01:00 PDT" is a valid time; an empty last column
/// is ignored. About 0.2 us per row.
Result<void> read_utilization(const std::string& path, std::size_t columns,
                              const std::function<void(const UtilizationRow&)>& take);

}  // namespace almanac::study
