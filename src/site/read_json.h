// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads scontrol show --json into the records that its text has, so that one reader serves both.
///
/// Source   src/plugins/openapi/v0.0.38 and src/plugins/data_parser/v0.0.39 .. v0.0.44 of Slurm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/kinds.h"
#include "site/values.h"

namespace almanac::site {

/// Returns the records of `kind`: nodes, partitions, reservations or licenses. Fails with `corrupt`
/// for text that is not JSON, `invalid` for JSON that is not Slurm's.
Result<std::vector<Record>> json_records(const std::string& path, std::string_view text, Kind kind);

}  // namespace almanac::site
