// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares the deciding policy with a shadow policy on the past jobs of this cluster. It changes
/// nothing.
///
/// It simulates the last days once their jobs have ended, and not the present: if the shadow starts
/// a job earlier than it really started, its end under the shadow is not known yet. The
/// deciding policy is simulated too. The more it differs from what really happened (users hold and
/// cancel jobs, processes take time to start), the less the comparison is worth.
///
/// As in a live service, the policies learn run times from earlier jobs and go on learning, and
/// count what owners used before.
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

/// Figures of the jobs that were submitted and ended in the window.
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
  Figures real{};    ///< As recorded.
  Figures played{};  ///< Under the deciding policy, simulated.
  Figures other{};   ///< Under the shadow policy, simulated.
};

/// Compares on the jobs of `past` submitted at or after `since`; policies learn from earlier jobs.
/// Both keep the quotas and the age cap (policy::age_capped()). Fails with unavailable if there is
/// no job.
Result<Comparison> compare(experiment::Past past, Time since, const cluster::Cluster& cluster,
                           const policy::Composition& policy, const policy::Composition& shadow,
                           std::uint64_t seed, const std::atomic<bool>* stop,
                           Duration age_cap = kNoDuration);

/// Repeats the comparison every ten minutes, in its own thread.
class Shadow {
 public:
  /// Returns all ended jobs, in virtual clusters of the simulated cluster.
  using Past = std::function<Result<experiment::Past>()>;

  /// Calls `past` from its thread. `age_cap` as compare(). `clock` must outlive it.
  Shadow(Past past, const cluster::Cluster& cluster, std::uint64_t seed,
         Duration age_cap = kNoDuration, const Clock& clock = machine_clock());
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// Compares these two from now on; without a shadow it does nothing.
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
