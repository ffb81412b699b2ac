// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads applications from Almanac's own TOML format, or from the tables published with Pollux.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "rules/elastic/application.h"

namespace almanac::elastic {

using Applications = std::map<std::string, Application>;  ///< By name.

/// Reads all applications of `file`, with their segments in `folder`/interpolation and their
/// measured placements and validation runs in `profiles`/NAME. Fails with not_found or invalid.
Result<Applications> read_applications(const std::string& file, const std::string& folder,
                                       const std::string& profiles);

/// Reads what `--elastic` names: a TOML file (docs/reference/formats.md, "Elastic applications"),
/// or a folder with the data that `almanac reproduce` reads. Fails with not_found or invalid; names
/// the file, the line and the nearest key.
Result<Applications> read_elastic(const std::string& path);

}  // namespace almanac::elastic
