// SPDX-License-Identifier: Apache-2.0

/// \file
/// The TOML form of a cluster; docs/reference/formats.md shows an example of every key.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/cluster.h"

namespace almanac::cluster {

/// Reads the file at `path`. Unknown keys are errors that name the nearest known one.
Result<Cluster> read_toml(const std::string& path);

/// Parses the same from text; errors name `path`.
Result<Cluster> parse_toml(std::string_view text, const std::string& path);

}  // namespace almanac::cluster
