// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cases of published figures that a file has as lines of JSON.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "serving/recipe/comparison.h"

namespace almanac::inference {

/// Calls `work` for each line of a file. A line that is no JSON, or of which `work` throws, is told
/// to `made` with its number and left out. Fails where the file cannot be read.
Result<void> each_json(const std::string& path, Comparison& made,
                       const std::function<void(const nlohmann::json&)>& work);

/// Throws where a case cannot be played, for each_json() to tell.
void require(bool holds, const std::string& what);

}  // namespace almanac::inference
