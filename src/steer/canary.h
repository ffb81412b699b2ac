// SPDX-License-Identifier: Apache-2.0

/// \file
/// The canary: levers act on the jobs of a few partitions only, and are taken back when jobs wait
/// longer, or fail more often, than was to be expected there.
///
/// What is to be expected is learned from the last weeks' own jobs: how long they would have waited
/// under the policy, played again, and how many of them failed. Both are averages over a window;
/// what 99 of 100 windows stayed below, and some slack, is the most that is expected (a minute
/// more, or five jobs of a hundred more, are no reason). Waits count all jobs that started within
/// the window, and all that wait still.
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

/// Of one job, as far as it matters here.
struct Course {
  Time since{};          ///< When it began to wait.
  Time start = kNoTime;  ///< Missing = it waits.
  Time end = kNoTime;    ///< Missing = it has not ended.
  bool failed = false;
};

/// Averages over one window.
struct Averages {
  std::int64_t waits = 0, ended = 0;  ///< So many jobs.
  double wait_s = 0;
  double failed = 0;  ///< Share of those that ended.
};

/// The averages over (until - window, until].
Averages averages(const std::vector<Course>& jobs, Time until, Duration window);

/// The most that is expected.
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

/// Not thread-safe, but for the play, which is made in a thread of its own.
class Canary {
 public:
  /// Without partitions it never says anything.
  Canary(CanarySettings settings, Duration age_cap, const store::Store& store, std::uint64_t seed);
  ~Canary();
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  void note_ended(const std::vector<slurm::Job>& ended, const World& world);

  struct Verdict {
    std::string rests{};    ///< Why no lever may act yet; "" = they may.
    std::string retreat{};  ///< Why all is to be taken back.
  };
  /// Once a round.
  Verdict look(const Mirror& mirror, const Decision& decision, const policy::Composition& policy);
  /// What was seen when it was looked at last, beside what is expected; nothing without partitions.
  const std::optional<service::CanaryView>& seen() const { return seen_; }

 private:
  std::set<std::string> vcs(const World& world) const;
  void begin_to_play(const Mirror& mirror, const Decision& decision,
                     const policy::Composition& policy);
  Averages present(const Mirror& mirror, const Decision& decision) const;
  /// Why it is not known what is expected; "" = it is.
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
