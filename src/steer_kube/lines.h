// SPDX-License-Identifier: Apache-2.0

/// \file
/// The order in which Almanac would start the waiting workloads of each queue: within their
/// priority, those with the least expected GPU time first (kueue/order.h).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/outlook.h"
#include "kube/picture.h"
#include "kueue/ranks.h"
#include "steer_kube/order_journal.h"
#include "steer_kube/run_times.h"
#include "steer_kube/settings.h"

namespace almanac::steer_kube {

static_assert(kueue::kHighestRank <= kube::kMostRank);

/// A workload in a line.
struct Place {
  std::size_t workload = 0;  ///< Index into Picture::workloads.
  std::int64_t base = 0;     ///< Priority without Almanac's rank.
  std::int64_t rank = 0;     ///< In force.
  double gpu_time_s = 0;     ///< Expected; infinite if unknown.
};

struct Line {
  std::string queue{};     ///< ClusterQueue.
  std::string obstacle{};  ///< Why no rank may be given here; "" if it may.
  std::vector<Place> places{};
  /// Where the bands of ranks end: those of a StrictFIFO queue are the workloads that start now,
  /// and the one that it waits for.
  std::vector<std::size_t> bands{kueue::kBandEnds.begin(), kueue::kBandEnds.end()};
  bool is_strict = false;  ///< Its order is one of backfill mode.
};

/// The number that lever `order` writes, and what it would be without Almanac.
struct Number {
  std::int64_t now = 0;
  std::int64_t base = 0;
  bool is_foreign = false;  ///< Another wrote the field: it is never overwritten.
};
/// Returns what the claim says. If there is none, or if its number has been replaced, the mark of
/// the workload counts: another Almanac may have written a newer rank.
Number number_of(const kube::Workload& workload, Field field, const Claim* claim);
/// Returns the claim that the mark of the workload stands for; nothing if it has none, or if
/// another has written the number since.
std::optional<Claim> marked_claim(const kube::Workload& workload);

/// Returns a line for each ClusterQueue, in the order of the setup. Workloads that nothing lets
/// start, exempt ones and those whose number another wrote are in no line. `foreign` are uids of
/// the last kind. In a StrictFIFO queue of backfill mode, those that can never start stay in
/// line, and keep their place behind the head.
std::vector<Line> lines_of(const kube::Picture& picture, const RunTimes& run_times,
                           const std::map<std::string, Claim>& claims,
                           const std::set<std::string>& foreign, const Settings& settings);

}  // namespace almanac::steer_kube
