// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows as a JSON value, for a document that has more than rows.
#pragma once

#include <nlohmann/json.hpp>

#include "figure/rows.h"

namespace almanac::figure {

/// The value as files have it; nothing is null.
nlohmann::ordered_json to_value(const Cell& cell);

/// An array of objects, a member for each column of files.
nlohmann::ordered_json to_array(const Listing& rows);

}  // namespace almanac::figure
