// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows as a JSON value, for documents that contain more than rows.
#pragma once

#include <nlohmann/json.hpp>

#include "figure/rows.h"

namespace almanac::figure {

/// Returns the value of a cell as in files; a missing value is null.
nlohmann::ordered_json to_value(const Cell& cell);

/// Returns an array of objects, with one member for each column of files.
nlohmann::ordered_json to_array(const Listing& rows);

}  // namespace almanac::figure
