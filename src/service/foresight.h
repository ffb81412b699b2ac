// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts when waiting jobs will start and all jobs will end, in a thread of its own. Simulates
/// futures of the present under the deciding policy whenever something has changed, or a job has
/// run longer than expected.
///
/// Requests about a job also get forecasts with other numbers of GPUs, if the scaling of the job's
/// model is known: for a few jobs, as long as requests come.
///
/// Cost: at most a fifth of a core. After a forecast the thread rests four times as long as the
/// forecast took.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "cluster/cluster.h"
#include "forecast/futures.h"
#include "perf/speed_models.h"
#include "policy/composition.h"
#include "schedule/round.h"
#include "service/answers.h"
#include "service/clock.h"
#include "service/expected.h"
#include "service/run_time_beliefs.h"
#include "service/window.h"
#include "store/job.h"
#include "store/store.h"
#include "trace/trace.h"

namespace almanac::service {

/// Decayed usage of a tenant, without the tenants below it, or of a user who has no tenant.
struct OwnUse {
  TenantId tenant = kNoTenant;
  std::string user{};
  double gpu_s = 0;
};

/// The present as a forecast needs it.
struct Outlook {
  struct One {
    store::Job job;
    schedule::Past past{};
    bool runs = false;
    bool awaits_window = false;  ///< Waits for the end of a window; the policy does not know it.
    bool throttled = false;      ///< Waits for room in its array, and not in the queue.
    std::int32_t priority_tier = 0;  ///< Of the job itself; 0 = as the cluster says.
  };
  /// Jobs further back in the queue get no forecast: it would take long and be worth little.
  static constexpr std::size_t kMostWaiting = 10'000;

  std::uint64_t revision = 0;
  Time at{};
  policy::Composition composition{};
  std::vector<One> jobs{};  ///< Jobs that the policy knows, in the order of its queue, and tasks
                            ///< that wait for room in their arrays; at most kMostWaiting that do
                            ///< not run.
  /// Waiting jobs stand in the order of `jobs`, whenever they were submitted.
  bool in_line = false;
  std::vector<NodeId> drained{};
  policy::Quotas quotas{};          ///< Claims of `jobs`, by their positions.
  std::vector<store::Job> ended{};  ///< Jobs that ended since the last outlook.
  std::vector<OwnUse> used{};       ///< For a policy that orders by past use.
  Duration age_cap = kNoDuration;   ///< As policy::age_capped() takes it.
  std::vector<Window> windows{};    ///< In which no job may run, in order of time. Jobs that wait
                                    ///< for the end of one are among `jobs`.
  std::vector<sim::Closure> closed_nodes{};  ///< Nodes on which nothing starts for a while.
};

class Foresight {
 public:
  using Recall = RunTimeBeliefs::Recall;
  /// Returns the present; may wait for a lock.
  using Look = std::function<Outlook()>;
  using Revision = std::function<std::uint64_t()>;
  /// Gets the first forecast of each new job.
  using Tell = std::function<void(std::vector<store::Told>)>;

  /// Works until it is destroyed. `cluster` and `clock` must outlive it. `speeds` is null if it is
  /// not known how jobs scale.
  Foresight(const cluster::Cluster& cluster, std::shared_ptr<const perf::Catalogue> speeds,
            Recall recall, int futures, std::uint64_t seed, Look look, Revision revision, Tell tell,
            const Clock& clock = machine_clock());
  ~Foresight();
  Foresight(const Foresight&) = delete;
  Foresight& operator=(const Foresight&) = delete;

  std::optional<Expected> of(store::JobNumber number) const { return answers_.of(number); }
  /// With other numbers of GPUs; waits for that for at most `patience`.
  std::optional<Expected> ask(store::JobNumber number, Duration patience) {
    return answers_.ask(number, patience);
  }
  /// What such a job could expect if it were submitted now; nothing if that is still being worked
  /// out: ask again. A job that could never start here is expected to start never. The job counts
  /// for no quota. Fails as submission::validate() does.
  Result<std::optional<Expected>> would(const store::Submission& asked);
  /// What forecasts would become after these changes (forecast::parse_change()); nothing if that is
  /// still being worked out: ask again. Fails as forecast::compare() does.
  Result<std::optional<ChangedForecasts>> would(const std::vector<std::string>& changes);
  /// The changes, or pairs of changes, that would start a waiting job now; likewise. Fails with
  /// not_found for a job that does not wait for GPUs.
  Result<std::optional<StartsIf>> starts_if(store::JobNumber number);

 private:
  /// A present, ready for simulation: the jobs of an outlook, by their positions there.
  struct Scene {
    trace::Trace trace{};
    sim::Present present{};
    forecast::Beliefs beliefs{};
    std::unordered_set<JobId> kept{};
  };

  void work();
  /// False if it was interrupted.
  bool foresee(Outlook outlook);
  /// Borrows the beliefs.
  Scene scene_of(const Outlook& outlook);
  forecast::Setting setting(const Outlook& outlook, const Scene& scene) const;
  void publish(const Outlook& outlook, const Scene& scene,
               const std::vector<forecast::Forecast>& made);
  bool knows_scaling(const store::Job& job);
  void try_other_gpus(const Outlook& outlook, const Scene& scene);
  void answer_questions(const Outlook& outlook, Scene& scene);
  Expected try_out(const store::Submission& asked, const Outlook& outlook, Scene& scene);
  Result<ChangedForecasts> try_out(const Answers::Changes& changes, const Outlook& outlook,
                                   Scene& scene);
  Result<StartsIf> find_changes(store::JobNumber number, const Outlook& outlook, Scene& scene);

  const cluster::Cluster& cluster_;
  std::shared_ptr<const perf::Catalogue> speeds_;
  std::optional<perf::SpeedModels> models_;  // of speeds_, to look up names
  int futures_;
  std::uint64_t seed_;
  Look look_;
  Revision revision_;
  Tell tell_;
  const Clock& clock_;
  Recall recall_;
  RunTimeBeliefs beliefs_;
  Answers answers_;
  Duration holds_for_{};  // from the last look until a job may have run longer than expected
  std::thread thread_;    // the last: all else is there when it begins
};

}  // namespace almanac::service
