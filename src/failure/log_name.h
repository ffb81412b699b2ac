// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which job, and which attempt at it, a log's path speaks of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::failure {

/// What a path says. "application_1506638472019_10238/1/stdout.log", "slurm-123_4.out",
/// "train.o4711", "run/123/attempt_2/rank3.err", "container_e01_1506638472019_10238_02_000001".
struct LogName {
  std::string id{};  ///< The job's id, where the path is in a form that schedulers write; else "".
  std::vector<std::string> ids{};  ///< What else may be it, to be looked up; the likeliest first.
  std::optional<int> attempt{};    ///< As the path numbers them.
  /// Path without what tells logs of one attempt apart (out, err, ranks): the same for all of them.
  std::string stem{};
};

/// Reads a path below the folder of logs.
LogName read_log_name(std::string_view path);

}  // namespace almanac::failure
