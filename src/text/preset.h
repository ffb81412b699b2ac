// SPDX-License-Identifier: Apache-2.0

/// \file
/// A file of presets/, which the build puts into the program so that it is always available
/// (cmake/Presets.cmake).
#pragma once

#include <string_view>

namespace almanac::text {

struct Preset {
  std::string_view name;  ///< The file's name without ".toml".
  std::string_view text;
};

}  // namespace almanac::text
