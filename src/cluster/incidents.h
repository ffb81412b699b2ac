// SPDX-License-Identifier: Apache-2.0

/// \file
/// What happens to a cluster whatever its scheduler does: nodes that fail, that are announced to
/// go and that come back, and signals, such as the price of power, that change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"

namespace almanac::cluster {

struct Incident {
  enum class Kind : std::uint8_t { down, up, notice, signal };
  Time at{};
  Kind kind{};
  std::uint32_t subject = 0;  ///< NodeId, or a position in Incidents::signals.
  double value = 0;           ///< Of a signal; of a notice in how many seconds the node will go.
};

struct Incidents {
  std::vector<Incident> all;         ///< In order of time, then of the file.
  std::vector<std::string> signals;  ///< Their names, in the order in which they appear.
};

/// Reads the CSV file `path` with the columns time, event, subject and value:
///
///     time,event,subject,value
///     2020-06-03 04:00:00,notice,n12,120
///     2020-06-03 04:02:00,down,n12,
///     2020-06-03 09:30:00,up,n12,
///     2020-06-03 10:00:00,signal,price,0.31
///
/// A time is a date or seconds since the epoch; a node is called as Cluster::node_label() says.
/// Fails with invalid, naming the line, for an event or a node that is not known, a value that is
/// no number or lacks, and where the cluster's own file changes its capacity: which nodes come and
/// go can be said in one place only.
Result<Incidents> read_incidents(const std::string& path, const Cluster& cluster);

}  // namespace almanac::cluster
