// SPDX-License-Identifier: Apache-2.0

/// \file
/// Events that happen to a cluster whatever its scheduler does: nodes fail, are announced to leave,
/// or return; signals such as the price of power change.
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
  double value = 0;           ///< Value of a signal; for a notice, seconds until the node leaves.
};

struct Incidents {
  std::vector<Incident> all;         ///< In order of time, then of appearance in the file.
  std::vector<std::string> signals;  ///< Names in order of first appearance.
};

/// Reads the CSV file `path` with the columns time, event, subject and value:
///
///     time,event,subject,value
///     2020-06-03 04:00:00,notice,n12,120
///     2020-06-03 04:02:00,down,n12,
///     2020-06-03 09:30:00,up,n12,
///     2020-06-03 10:00:00,signal,price,0.31
///
/// A time is a date or seconds since the epoch. A node has the name that Cluster::node_label()
/// gives.
///
/// Fails with `invalid`, naming the line, if an event or node is unknown, or if a value is missing
/// or not a number. Also fails if the cluster file changes capacity: only one file may say which
/// nodes come and go.
Result<Incidents> read_incidents(const std::string& path, const Cluster& cluster);

/// Adds signals from CSV files with the columns time and value, each named as in "carbon=FILE".
/// Times are as in incidents, and ascend.
///
/// Fails with `usage` for text without a name or file, for a signal that exists already, and for
/// the price of a GPU type that the cluster lacks; with `invalid`, naming the line, for a file
/// without values, times that do not ascend, values beyond 1e9, and negative carbon; otherwise as
/// read_incidents().
Result<void> add_signals(const std::vector<std::string>& named_files, const Cluster& cluster,
                         Incidents& incidents);

}  // namespace almanac::cluster
