// SPDX-License-Identifier: Apache-2.0

/// \file
/// Figures as JSON values; private to this room, for its header is heavy.
#pragma once

#include <nlohmann/json.hpp>

#include "figure/figure.h"

namespace almanac::figure {

/// The figure as an object of the report document.
nlohmann::ordered_json to_object(const Figure& figure);

/// The text of a JSON value; text that is not UTF-8 is mended.
std::string dumped(const nlohmann::ordered_json& json, int indent);

}  // namespace almanac::figure
