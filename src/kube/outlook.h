// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why workloads wait, and when they are expected to start: Kueue's own rules (room kueue) run
/// forward from a picture, with run times drawn from the past.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "kube/picture.h"
#include "kueue/shortage.h"
#include "kueue/world.h"
#include "trace/trace.h"

namespace almanac::kube {

/// Whether a workload serves, and so holds its quota until it is deleted.
bool never_ends(const Workload& workload);

/// How long workloads run, from those that have ended.
class Lifetimes {
 public:
  /// Adds the jobs of a log that ended after they had run.
  void learn(const trace::Trace& log);
  bool is_empty() const { return all_.empty(); }

  /// Draws how long a workload runs that has run for `age`: one of the runs longer than that of
  /// workloads with the same account and name (without its number), if there are at least
  /// kFewest, else of the account, else of all. Without such a run, or if none is known at all, its
  /// limit. kNoDuration if there is none either. kForever for a kind that never ends, such as a
  /// Deployment.
  Duration draw(const Workload& workload, Duration age, Rng& rng) const;

  static constexpr std::size_t kFewest = 5;
  static constexpr Duration kForever = Duration::max();

 private:
  /// The runs longer than `age` that count for a workload.
  std::span<const Duration> runs_like(const Workload& workload, Duration age) const;

  std::map<std::string, std::vector<Duration>> of_;  ///< By account, or by account and name;
                                                     ///< sorted.
  std::vector<Duration> all_{};
};

/// Of a workload that waits.
struct Outlook {
  std::size_t workload = 0;     ///< Index into Picture::workloads.
  std::string cluster_queue{};  ///< "" = none.
  /// What keeps it out that no end of another workload changes: "its queue is stopped"; "" = none.
  std::string obstacle{};
  std::vector<kueue::Shortage> shortages{};
  bool never_starts = false;  ///< Under these quotas, whatever ends.
  /// The workload that a StrictFIFO queue tries first, "a/big"; "" = this one, or another strategy.
  std::string blocker{};
  /// The start in half and in nine tenths of the futures; kNever = not within 30 days, kNoTime =
  /// unknown.
  Time start_half = kNoTime;
  Time start_by = kNoTime;
  /// The bounds that nine tenths of the futures are between, likewise.
  Time start_from = kNoTime;
  Time start_to = kNoTime;
};

/// Returns what keeps a workload out that no end of another workload changes: "its queue is
/// stopped"; "" = nothing.
std::string obstacle_of(const Picture& picture, const Workload& workload);

/// Returns the workloads that hold no quota, by ClusterQueue and then in Kueue's order. `shares` =
/// Kueue's fair sharing is on. Cost: `futures` simulations of all workloads.
std::vector<Outlook> outlook_of(const Picture& picture, const Lifetimes& lifetimes,
                                bool shares = false, int futures = 20);

/// Returns a workload in the terms of Kueue's rules; its name is the uid.
kueue::Submission submission_of(const Picture& picture, const Workload& workload);

/// Returns the one flavor that the pods may use for their GPUs; "" if there are several.
std::string flavor_of(kueue::World& world, const Picture& picture, const Workload& workload);

/// Returns the quota that a workload holds.
kueue::Wants held_quota(const kueue::World& world, const Picture& picture,
                        const Workload& workload);

/// Returns the quotas with what holds them in `picture`. Requires that `setup` outlives it.
kueue::World world_of(const Picture& picture, const kueue::Setup& setup);

}  // namespace almanac::kube
