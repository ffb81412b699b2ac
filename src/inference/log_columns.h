// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the column map of a request log: TOML that assigns a meaning to columns of a table, or to
/// keys of JSON lines (docs/guide/inference.md).
#pragma once

#include <string>

#include "base/result.h"
#include "inference/request_log.h"

namespace almanac::inference {

/// Fails with `not_found`, or with `invalid` naming the line.
Result<LogColumns> load_log_columns(const std::string& path);

}  // namespace almanac::inference
