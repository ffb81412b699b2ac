// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads applications: TOML of our own, and the tables published with Pollux.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "rules/elastic/application.h"

namespace almanac::elastic {

using Applications = std::map<std::string, Application>;  ///< By name.

/// All applications of `file` by name, with the segments of `folder`/interpolation and, of
/// `profiles`/NAME, the measured placements and validation runs. Fails with not_found or invalid.
Result<Applications> read_applications(const std::string& file, const std::string& folder,
                                       const std::string& profiles);

/// What `--elastic` names: a TOML file (docs/reference/formats.md, "Elastic applications"), or a
/// folder of the data that `almanac reproduce` reads. Fails with not_found or invalid: file, line,
/// nearest key.
Result<Applications> read_elastic(const std::string& path);

}  // namespace almanac::elastic
