// SPDX-License-Identifier: Apache-2.0

/// \file
/// The files of presets/, which the build puts into the program so that it finds them anywhere.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "text/preset.h"

namespace almanac::trace {

/// All of them, sorted by name: workloads, and clusters named "<workload>_cluster".
std::span<const text::Preset> presets();

/// The text of the preset `name`, if there is one.
std::optional<std::string_view> preset(std::string_view name);

}  // namespace almanac::trace
