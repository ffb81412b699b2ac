// SPDX-License-Identifier: Apache-2.0

/// \file
/// Comparisons of the room inference as recipes.
#pragma once

#include <string>

#include "reproduce/recipe.h"
#include "serving/recipe/recipes.h"

namespace almanac::reproduce {

/// A recipe that lays on the bench what `compare` makes of `files`; "" = all of golden/`name`/.
Recipe served(std::string name, std::string summary, std::string paper, Kind kind,
              inference::Compare compare, std::string files = "");

}  // namespace almanac::reproduce
