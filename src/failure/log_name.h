// SPDX-License-Identifier: Apache-2.0

/// \file
/// The job, and the attempt, that a log's path names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::failure {

/// What a path contains: "application_1506638472019_10238/1/stdout.log", "slurm-123_4.out",
/// "train.o4711", "run/123/attempt_2/rank3.err", "container_e01_1506638472019_10238_02_000001".
struct LogName {
  /// Id of the job, if the path has the form of a known scheduler; otherwise "".
  std::string id{};
  std::vector<std::string> ids{};  ///< Other possible ids to look up, the most likely first.
  std::optional<int> attempt{};    ///< Number in the path.
  /// Path without the parts that differ between logs of one attempt (out, err, ranks).
  std::string stem{};
};

/// Reads a path below the folder of logs.
LogName read_log_name(std::string_view path);

}  // namespace almanac::failure
