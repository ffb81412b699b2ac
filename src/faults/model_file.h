// SPDX-License-Identifier: Apache-2.0

/// \file
/// Failure models as TOML: those of presets/faults, which the program carries, and the user's own.
/// docs/guide/failures.md describes the keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "faults/model.h"
#include "text/preset.h"

namespace almanac::faults {

/// Returns the files of presets/faults, sorted by name.
std::span<const text::Preset> presets();

/// Reads a preset by name ("llama3"), or a file by path (with a '/' or ending in ".toml"). Fails
/// with `usage` for an unknown name, with `not_found`, or with `invalid`: file, line, and the
/// nearest known key.
Result<Model> read_model(const std::string& name_or_path);

/// Reads `text`; `path` is its name in errors and the model's, without folder and ".toml".
Result<Model> parse_model(std::string_view text, const std::string& path);

}  // namespace almanac::faults
