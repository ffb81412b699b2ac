// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads and writes the parameters of a workload as TOML.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/workload.h"

namespace almanac::trace {

/// Reads the file at `path`. Missing values keep their defaults.
///
/// Fails with not_found, or with invalid and the place of the first mistake: an unknown key, a
/// wrong type, a value out of range, or parameters that contradict each other.
Result<Workload> load_workload(const std::string& path);

/// Parses the same from text; `name` is used in errors.
Result<Workload> parse_workload(std::string_view text, const std::string& name);

/// All parameters, with a comment on each.
std::string to_toml(const Workload& workload);

/// The cluster that the workload is for, as `almanac simulate --cluster` reads it.
std::string to_cluster_toml(const Workload& workload);

/// Writes to_toml(workload) to `path`.
Result<void> save_workload(const Workload& workload, const std::string& path);

}  // namespace almanac::trace
