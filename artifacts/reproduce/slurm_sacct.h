// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the accounting rows of a recorded scenario (sacct -a -D -X -P).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::reproduce {

/// One run of a job. Times are whole seconds; -1 = unknown.
struct SacctJob {
  std::uint32_t id = 0;     ///< JobIDRaw.
  std::uint32_t array = 0;  ///< The array that the job is a task of; its own id otherwise.
  int task = -1;
  std::string user{};
  std::string account{};
  std::string partition{};
  std::string qos{};
  std::string state{};
  std::string flags{};
  std::string node_list{};
  std::string submit_line{};
  std::int64_t priority = 0;
  std::int64_t submit = -1;
  std::int64_t eligible = -1;
  std::int64_t start = -1;
  std::int64_t end = -1;
  std::int64_t time_limit = 0;  ///< 365 days if unlimited.
  int cpus = 0;
};

Result<std::vector<SacctJob>> read_sacct(const std::string& path);

}  // namespace almanac::reproduce
