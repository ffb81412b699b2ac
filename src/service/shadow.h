// SPDX-License-Identifier: Apache-2.0

/// \file
/// What another policy would have done with the jobs of this machine, beside what was done: decides
/// on the same jobs, touches nothing.
///
/// It plays the last days again as soon as their truth is known, and not the present as it comes:
/// a policy that starts a job earlier than it was started would have to know now when it would have
/// ended, which cannot be known before it has. The policy that decides is played too. Where that
/// differs from what really happened, the comparison is worth as much less: users hold and cancel,
/// processes take time to start.
///
/// What the policies believe of run times they have learned from earlier jobs and learn as the days
/// go by, as live; what owners used before those days they are told.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "experiment/past.h"
#include "policy/composition.h"
#include "service/clock.h"

namespace almanac::service {

/// Of the jobs that were submitted and ended in the window.
struct Figures {
  std::int64_t jobs = 0;
  double avg_wait_s = 0;
  double p99_wait_s = 0;
  double avg_jct_s = 0;
  double p99_jct_s = 0;
  std::int64_t preemptions = 0;
  std::optional<double> guarantee{};  ///< Share of deadlines met, if there are any.
};

struct Comparison {
  Time at{};
  Time since{};
  std::string policy{};
  std::string shadow{};
  Figures real{};    ///< What happened.
  Figures played{};  ///< What the policy that decides would have done, played.
  Figures other{};   ///< What the shadow would have done.
};

/// Compares over the jobs of `past` submitted at or after `since`; earlier ones are learned from.
/// Both policies keep its quotas, and an age cap (policy::age_capped()). Fails with unavailable
/// where there is no job. `past` is used up.
Result<Comparison> compare(experiment::Past past, Time since, const cluster::Cluster& cluster,
                           const policy::Composition& policy, const policy::Composition& shadow,
                           std::uint64_t seed, const std::atomic<bool>* stop,
                           Duration age_cap = kNoDuration);

/// Compares again every ten minutes, from a thread of its own.
class Shadow {
 public:
  /// All jobs that have ended, in virtual clusters of the one that they are played on.
  using Past = std::function<Result<experiment::Past>()>;

  /// Calls `past` from its thread. `age_cap` as compare(). `clock` must outlive it.
  Shadow(Past past, const cluster::Cluster& cluster, std::uint64_t seed,
         Duration age_cap = kNoDuration, const Clock& clock = machine_clock());
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// From now on these two; without a second it rests.
  void watch(const policy::Composition& policy, std::optional<policy::Composition> shadow);
  std::optional<Comparison> last() const;

 private:
  void work();

  Past past_;
  const cluster::Cluster& cluster_;
  std::uint64_t seed_;
  Duration age_cap_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  policy::Composition policy_;
  std::optional<policy::Composition> shadow_;
  bool changed_ = false;
  std::optional<Comparison> last_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // the last: all else is there when it begins
};

}  // namespace almanac::service
