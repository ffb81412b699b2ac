// SPDX-License-Identifier: Apache-2.0

/// \file
/// Figures as JSON values. Private to this room, because the JSON header is slow to compile.
#pragma once

#include <nlohmann/json.hpp>

#include "figure/figure.h"

namespace almanac::figure {

/// Returns the figure as an object of the report document.
nlohmann::ordered_json to_object(const Figure& figure);

/// Returns a JSON value as text. Bytes that are not UTF-8 are replaced.
std::string dumped(const nlohmann::ordered_json& json, int indent);

}  // namespace almanac::figure
