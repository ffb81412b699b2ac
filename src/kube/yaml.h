// SPDX-License-Identifier: Apache-2.0

/// \file
/// YAML as JSON.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace almanac::kube {

/// Returns the first document; null if there is none. Anchors are followed, tags are ignored. Plain
/// scalars are text, except true, false and null. Error: no YAML, with line and column; values that
/// are nested deeper than 64, or whose alias contains itself; more than a million values.
Result<nlohmann::json> parse_yaml(std::string_view text);

}  // namespace almanac::kube
