// SPDX-License-Identifier: Apache-2.0

/// \file
/// The canary: levers act on the jobs of a few partitions only. All changes are undone if jobs
/// there wait longer, or fail more often, than expected.
///
/// The expectation comes from the jobs of the last weeks: their waits in a simulation under the
/// policy, and their share of failures. Both are averages over a window. The limit is the 99th
/// percentile over windows, times a slack; one minute more, or 5 % more failures, are always
/// allowed. Waits count all jobs that started within the window, and all that still wait.
#pragma once

#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "experiment/past.h"
#include "policy/composition.h"
#include "service/manager.h"
#include "steer/decision.h"
#include "steer/mirror.h"
#include "steer/settings.h"
#include "store/store.h"

namespace almanac::steer {

/// The course of one job.
struct Course {
  Time since{};          ///< Start of the wait.
  Time start = kNoTime;  ///< kNoTime if it waits.
  Time end = kNoTime;    ///< kNoTime if it has not ended.
  bool failed = false;
};

/// Averages over one window.
struct Averages {
  std::int64_t waits = 0, ended = 0;  ///< Numbers of jobs.
  double wait_s = 0;
  double failed = 0;  ///< Share of the ended jobs.
};

/// The averages over (until - window, until].
Averages averages(const std::vector<Course>& jobs, Time until, Duration window);

/// Upper limits of the expectation.
struct Band {
  double wait_s = 0;
  double failed = 0;
};

/// "canary v100: mean wait 4.0 min, at most 12 min expected; 3 % failed, at most 9 % expected"
std::string in_words(const service::CanaryView& seen);

/// Simulates the jobs of `past` submitted within `settings.history` before its end, within its
/// quotas, under `policy` with the age cap of lever `order` (policy::age_capped()). The policy
/// learns from earlier jobs, and counts what their owners used. Only jobs of the virtual clusters
/// `vcs` count. Fails with unavailable if they are too few.
Result<Band> expect(experiment::Past past, const std::set<std::string>& vcs,
                    const cluster::Cluster& cluster, const policy::Composition& policy,
                    const CanarySettings& settings, Duration age_cap, std::uint64_t seed,
                    const std::atomic<bool>* stop);

/// Not thread-safe. The simulation runs in its own thread.
class Canary {
 public:
  /// Without partitions it does nothing.
  Canary(CanarySettings settings, Duration age_cap, const store::Store& store, std::uint64_t seed);
  ~Canary();
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  void note_ended(const std::vector<manager::Job>& ended, const World& world);

  struct Verdict {
    std::string rests{};    ///< Why levers must not act yet; "" if they may.
    std::string retreat{};  ///< Why all changes must be undone; "" if they need not.
  };
  /// Call once per round.
  Verdict look(const Mirror& mirror, const Decision& decision, const policy::Composition& policy);
  /// The figures of the last look, with the limits; nothing without partitions.
  const std::optional<service::CanaryView>& seen() const { return seen_; }

 private:
  std::set<std::string> vcs(const World& world) const;
  void begin_to_play(const Mirror& mirror, const Decision& decision,
                     const policy::Composition& policy);
  Averages present(const Mirror& mirror, const Decision& decision) const;
  /// Why the limits are not known; "" if they are.
  std::string waits_for_band(const Mirror& mirror, const Decision& decision,
                             const policy::Composition& policy);

  CanarySettings settings_;
  Duration age_cap_;  // of lever `order`
  const store::Store& store_;
  std::uint64_t seed_;
  std::deque<Course> ended_;
  std::string policy_;  // that the band is of
  std::shared_ptr<const World> world_;
  std::optional<Band> band_;
  std::string trouble_;
  Time played_ = kNoTime;  // when it began last
  Time out_since_ = kNoTime;
  std::optional<service::CanaryView> seen_;
  std::atomic<bool> stop_ = false;
  std::future<Result<Band>> play_;
};

}  // namespace almanac::steer
