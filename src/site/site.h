// SPDX-License-Identifier: Apache-2.0

/// \file
/// A Slurm site as its own files describe it: settings, machines, accounts. Plain values; the
/// readers of the files are in the other headers of this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "site/accounts.h"
#include "site/config.h"
#include "site/machines.h"
#include "site/tres.h"

namespace almanac::site {

/// Statistics of the controller's schedulers (sdiag). Times are in microseconds.
struct Diagnostics {
  Time since = kNoTime;
  Time until = kNoTime;
  std::int64_t main_cycles = 0;
  double main_mean_us = 0;
  double main_max_us = 0;
  double main_mean_depth = 0;
  std::int64_t backfill_cycles = 0;
  double backfill_mean_us = 0;
  double backfill_max_us = 0;
  double backfill_mean_depth = 0;
  double backfill_mean_try_depth = 0;
  std::int64_t backfilled_jobs = 0;
  std::int64_t queue_length = 0;  ///< Of the last main cycle.

  bool operator==(const Diagnostics&) const = default;
};

struct Site {
  Config config{};
  std::vector<Tres> tres{};  ///< kCpu ... kPages first, always.
  std::vector<Node> nodes{};
  std::vector<Partition> partitions{};      ///< In the order of slurm.conf.
  std::vector<Switch> switches{};           ///< In the order of topology.conf.
  std::vector<std::int64_t> block_sizes{};  ///< Of topology/block.
  std::vector<Reservation> reservations{};
  std::vector<License> licenses{};
  std::vector<Qos> qos{};
  /// The tree: a parent before its children, otherwise in the order of Slurm's list, which decides
  /// between exact ties. Empty: the site has no accounting.
  std::vector<Association> associations{};
  std::vector<NodeEvent> node_events{};
  std::optional<Diagnostics> diagnostics{};
  /// When the usage was read, which is when sdiag ran; kNoTime if unknown.
  Time usage_at = kNoTime;

  std::vector<std::string> notes{};  ///< What a user must know about the machines, a line each.
  /// Settings that no file has, for which Slurm's default is assumed; a line each.
  std::vector<std::string> assumed{};
  /// Settings in the files that Almanac does not know or model; a line each.
  std::vector<std::string> unknown{};

  // Cost of each: O(what it searches).
  std::optional<TresIndex> find_tres(std::string_view name) const;
  const Node* find_node(std::string_view name) const;
  const Partition* find_partition(std::string_view name) const;
  const Partition* default_partition() const;
  const Qos* find_qos(std::string_view name) const;
  /// Returns the association of the user's jobs in `partition`: the one for that partition, else
  /// the one for all. -1 if there is none.
  std::int32_t find_association(std::string_view account, std::string_view user,
                                std::string_view partition) const;
  /// Returns the amount of `tres` on all nodes of `partition`, or (null) of the cluster.
  /// Cost: O(nodes).
  std::int64_t total(TresIndex tres, const Partition* partition = nullptr) const;

  bool operator==(const Site&) const = default;
};

/// Returns the resources that every cluster has.
std::vector<Tres> standard_tres();

}  // namespace almanac::site
