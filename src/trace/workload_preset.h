// SPDX-License-Identifier: Apache-2.0

/// \file
/// The files of presets/, which the build puts into the program so that they are always available.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "text/preset.h"

namespace almanac::trace {

/// Returns all presets, sorted by name: workloads, and clusters named "<workload>_cluster".
std::span<const text::Preset> presets();

/// Returns the text of the preset `name`; nothing if there is none.
std::optional<std::string_view> preset(std::string_view name);

}  // namespace almanac::trace
