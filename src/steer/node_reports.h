// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the agents of nodes last reported, and whether it still describes what runs there.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/wire.h"
#include "base/time.h"

namespace almanac::steer {

/// Not thread-safe.
class NodeReports {
 public:
  void take(const std::string& node, const agent::Report& report, Time now);
  /// Notes that a job began, ended or got other cores on `node`.
  void note_change(const std::string& node, Time now);
  /// The last report of a node; null if there is none of the last 30 s.
  const agent::Report* fresh(const std::string& node, Time now) const;
  /// GB/s of memory that the node uses, measured since its last change; nothing if not measured.
  std::optional<double> bandwidth_gbs(const std::string& node, Time now) const;

 private:
  struct Timed {
    agent::Report report{};
    Time at{};
  };
  std::map<std::string, Timed> last_;    // by node
  std::map<std::string, Time> changed_;  // by node
};

}  // namespace almanac::steer
