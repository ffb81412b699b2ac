// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sees to it that a log of Slurm is of one cluster. `sacct -L` prints the jobs of all clusters of
/// an accounting, whose ids and names of nodes have nothing to do with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"

namespace almanac::trace {

class OneCluster {
 public:
  /// Returns the error for a row of another cluster than the rows before it, otherwise nothing.
  /// `cluster` "" means that the row does not say.
  std::optional<Error> check(std::string_view cluster, Where where) {
    if (cluster.empty() || cluster == first_) return std::nullopt;
    if (first_.empty()) {
      first_ = cluster;
      line_ = where.line;
      return std::nullopt;
    }
    constexpr std::size_t kShown = 60;
    return Error{
        Code::invalid,
        fmt::format("a log must be of one cluster: \"{}\" here, \"{}\" in line {}",
                    cluster.substr(0, kShown), first_.substr(0, kShown), line_),
        std::move(where),
        fmt::format("sacct -M {} prints one cluster; --lenient drops the rows of the others",
                    first_.substr(0, kShown))};
  }

 private:
  std::string first_;
  std::int64_t line_ = 0;
};

}  // namespace almanac::trace
