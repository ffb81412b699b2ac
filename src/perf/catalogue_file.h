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

/// What is taken when nothing else is said.
inline constexpr const char* kUsualCatalogue = "public";

/// Reads a preset by its name, or a file by its path: what has a '/' or ends in ".toml"; or takes
/// the measurements of a ".csv" (".csv.gz") as they are, see measured.h. Fails with usage for a
/// name that is none, with not_found, or with invalid: file, line, and the nearest key.
Result<Catalogue> read_catalogue(const std::string& name_or_path);

/// Reads `text`; `path` is its name in errors.
Result<Catalogue> parse_catalogue(std::string_view text, const std::string& path);

/// As a file that parse_catalogue() reads back, to four digits: more the measurements do not hold.
std::string to_toml(const Catalogue& catalogue);

}  // namespace almanac::perf
