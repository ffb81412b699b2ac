// SPDX-License-Identifier: Apache-2.0

/// \file
/// Catalogues as TOML: that of presets/perf, which the program carries, and the user's own.
/// docs/reference/formats.md, "Speed models", has the keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "perf/catalogue.h"
#include "text/preset.h"

namespace almanac::perf {

/// The files of presets/perf, sorted by name.
std::span<const text::Preset> presets();

/// Default catalogue.
inline constexpr const char* kUsualCatalogue = "public";

/// Reads a preset by name, a file by path (with a '/' or ending in ".toml"), or the measurements in
/// a ".csv" (".csv.gz"), see measured.h. Fails with `usage` for an unknown name, with `not_found`,
/// or with `invalid`: file, line, and the nearest key.
Result<Catalogue> read_catalogue(const std::string& name_or_path);

/// Reads `text`; `path` is its name in errors.
Result<Catalogue> parse_catalogue(std::string_view text, const std::string& path);

/// Writes a file for parse_catalogue(), to four digits; measurements are no more precise.
std::string to_toml(const Catalogue& catalogue);

}  // namespace almanac::perf
