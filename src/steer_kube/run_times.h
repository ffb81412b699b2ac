// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long workloads are expected to run, by the predictor with which policy
/// `kueue:order=almanac+proven` simulates the lever. Each workload is estimated once, when it is
/// first seen, and learned from when it ends. Names and runs are kept until another one takes over,
/// so that nothing grows over the months.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/names.h"
#include "base/time.h"
#include "kube/picture.h"
#include "predict/estimator.h"
#include "steer_kube/records.h"
#include "store/job.h"

namespace almanac::steer_kube {

/// Makes an estimator for requests with these names, which outlive it.
using MakeEstimator = std::function<std::unique_ptr<predict::Estimator>(const Names&)>;

/// Not thread-safe.
class RunTimes {
 public:
  /// Number of jobs, each with its names, after which another one takes over.
  static constexpr std::uint32_t kMostJobs = 50'000;

  explicit RunTimes(const MakeEstimator& make);

  /// Learns from jobs of the store, before the first look.
  void learn(const std::vector<store::Job>& past);
  /// Takes over the workloads that `former` has seen, with what is expected of them. Learns first
  /// from those of `recent` that learn() did not get, which may have ended while it ran. Call after
  /// learn(), before the first look.
  void take_over(const RunTimes& former, const Records& records,
                 const std::vector<store::Job>& recent);
  /// Whether it has seen kMostJobs since learn(), so that another one should take over.
  bool is_worn() const { return next_ - begin_ >= kMostJobs; }
  /// Takes in a picture, whose workloads `records` knows, and the jobs that have ended since the
  /// last one.
  void look(const kube::Picture& picture, const Records& records,
            const std::vector<store::Job>& ended);

  /// The whole run of a workload. kNoDuration if it has not been seen, Lifetimes::kForever for a
  /// kind that never ends.
  Duration expect(const kube::Workload& workload) const;
  /// The same, as reservations assume it: at least as long.
  Duration bound(const kube::Workload& workload) const;

 private:
  struct Seen {
    JobId number{};
    trace::Request request{};
    Duration run{};
    Duration bound{};
  };

  void learn_unseen(const store::Job& job);

  std::unique_ptr<Names> names_;
  std::unique_ptr<predict::Estimator> estimator_;
  std::unordered_map<std::string, Seen> seen_{};    ///< By uid, until they end.
  std::unordered_set<store::JobNumber> learned_{};  ///< By learn(), until take_over().
  std::uint32_t next_ = 0;
  std::uint32_t begin_ = 0;  ///< next_ before the first look.
};

}  // namespace almanac::steer_kube
