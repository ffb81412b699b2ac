// SPDX-License-Identifier: Apache-2.0

/// \file
/// Power models as TOML: those of presets/power, which the program carries, and the user's own.
/// docs/guide/energy.md describes the keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "energy/power.h"
#include "text/preset.h"

namespace almanac::energy {

/// The files of presets/power, sorted by name.
std::span<const text::Preset> presets();

/// Reads a preset by name ("dgx1"), or a file by path (with a '/' or ending in ".toml"). A file may
/// extend a preset. Fails with `usage` for an unknown name, with `not_found`, or with `invalid`:
/// file, line, and the nearest known key.
Result<PowerModel> read_power(const std::string& name_or_path);

/// Reads `text`; `path` is its name in errors and the model's, without folder and ".toml".
Result<PowerModel> parse_power(std::string_view text, const std::string& path);

/// Formats a file that parse_power() reads back.
std::string to_toml(const PowerModel& model);

/// The table [gpu] of such a file.
std::string gpu_to_toml(const PowerModel& model);

}  // namespace almanac::energy
