// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says when the jobs that wait will start, and all will end, from a thread of its own: whenever
/// something has changed, or a job has run beyond what was expected, it plays futures of the
/// present under the policy that decides.
///
/// It learns run times from every job that ends (predict::make_learned), whatever the policy itself
/// believes.
///
/// Who asks about a job also hears what would be with other numbers of GPUs, where the scaling of
/// the job's model is known: for a few jobs, as long as somebody asks.
///
/// Cost     a fifth of a core at most: after a forecast it rests four times as long as that took.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "forecast/futures.h"
#include "perf/speed_models.h"
#include "policy/composition.h"
#include "predict/estimator.h"
#include "schedule/round.h"
#include "service/expected.h"
#include "store/job.h"
#include "store/store.h"
#include "trace/trace.h"

namespace almanac::service {

/// What the use of a tenant counts now, without those below it, or that of a user of none.
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
  };
  /// Of more, who is behind them in line is told nothing: it would be long in coming, and of little
  /// worth by then.
  static constexpr std::size_t kMostWaiting = 10'000;

  std::uint64_t revision = 0;
  Time at{};
  policy::Composition composition{};
  std::vector<One> jobs{};  ///< That the policy knows, in the order of its queue; of those that
                            ///< wait at most kMostWaiting.
  /// Those that wait stand in the order of `jobs`, whenever they were submitted.
  bool in_line = false;
  std::vector<NodeId> drained{};
  policy::Quotas quotas{};          ///< What `jobs` claim, by their places.
  std::vector<store::Job> ended{};  ///< Since the last outlook.
  std::vector<OwnUse> used{};       ///< Of a policy that goes by use.
  Duration age_cap = kNoDuration;   ///< As policy::age_capped() takes it.
};

class Foresight {
 public:
  /// The jobs that have ended, as many as are worth learning from.
  using Recall = std::function<Result<trace::Trace>()>;
  /// Where it looks; may wait for a lock.
  using Look = std::function<Outlook()>;
  using Revision = std::function<std::uint64_t()>;
  /// Is told what a job expects that is new, and never had a forecast before.
  using Tell = std::function<void(std::vector<store::Told>)>;

  /// `recall` tells what it learns from to begin with; `cluster` must outlive it. It works until it
  /// is destroyed.
  /// `speeds` null = it is not known how jobs scale.
  Foresight(const cluster::Cluster& cluster, std::shared_ptr<const perf::Catalogue> speeds,
            Recall recall, int futures, std::uint64_t seed, Look look, Revision revision,
            Tell tell);
  ~Foresight();
  Foresight(const Foresight&) = delete;
  Foresight& operator=(const Foresight&) = delete;

  std::optional<Expected> of(store::JobNumber number) const;
  /// With other numbers of GPUs; waits for that at most so long.
  std::optional<Expected> ask(store::JobNumber number, Duration patience);
  /// What a job that asks this could expect if it came now; nothing = that is being worked out, ask
  /// again. A job that could never start here expects to start never. It counts for no quota. Fails
  /// as submission::validate() does.
  Result<std::optional<Expected>> would(const store::Submission& asked);

 private:
  /// A present, ready to be played on: the jobs of an outlook, each under its place there.
  struct Scene {
    trace::Trace trace{};
    sim::Present present{};
    forecast::Beliefs beliefs{};
    std::unordered_set<JobId> kept{};
  };
  /// What a job that nobody has submitted could expect.
  struct Question {
    store::Submission asked{};
    std::chrono::steady_clock::time_point when{};  ///< Somebody asked last.
    std::optional<Expected> answer{};
  };
  /// A job as the estimators were asked about it.
  struct Lesson {
    JobId id{};
    trace::Request request{};
  };
  using Clock = std::chrono::steady_clock;

  void work();
  /// Whether somebody has asked who has not heard.
  bool somebody_waits() const;
  /// Whether it got to the end.
  bool foresee(Outlook outlook);
  void learn(const std::vector<store::Job>& ended);
  /// From what is kept, and lets go of what was learned from until now.
  void learn_anew(const policy::Composition& composition);
  const Lesson& lesson_of(const store::Job& job);
  forecast::Belief& belief_of(const store::Job& job);
  /// Borrows the beliefs.
  Scene scene_of(const Outlook& outlook);
  forecast::Setting setting(const Outlook& outlook, const Scene& scene) const;
  void publish(const Outlook& outlook, const Scene& scene,
               const std::vector<forecast::Forecast>& made);
  bool knows_scaling(const store::Job& job);
  void count_ended(const trace::Request& request);
  /// Whether anything says when it ends: its limit, or jobs of its user that have ended. Otherwise
  /// it is believed to run as long as jobs do that have nothing to do with it.
  bool knows_end(const store::Job& job);
  void answer(const Outlook& outlook, const Scene& scene);
  void answer_questions(const Outlook& outlook, Scene& scene);
  Expected try_out(const store::Submission& asked, const Outlook& outlook, Scene& scene);

  const cluster::Cluster& cluster_;
  std::shared_ptr<const perf::Catalogue> speeds_;
  std::optional<perf::SpeedModels> models_;  // of speeds_, to look up names
  Recall recall_;
  trace::Trace lessons_;  // whose names are the estimators', and whose jobs are gone
  std::map<store::JobNumber, Lesson> seen_;
  std::uint32_t num_lessons_ = 0;  // since it began to learn anew
  /// How many jobs of a user and a name have ended; of kNoName, of the user in all.
  std::map<std::pair<NameId, NameId>, int> ended_of_;
  int futures_;
  std::uint64_t seed_;
  Look look_;
  Revision revision_;
  Tell tell_;
  std::unique_ptr<predict::Estimator> likely_;
  std::unique_ptr<predict::Estimator> own_;  // of the policy
  policy::Choice estimate_;                  // that it was made for
  std::map<store::JobNumber, forecast::Belief> beliefs_;

  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  std::map<store::JobNumber, Expected> expected_;
  std::map<store::JobNumber, Clock::time_point> asked_;  // of whom, and when last
  std::vector<Question> questions_;                      // the oldest first
  Duration holds_for_{};  // from the last look on, until a job may have run beyond its stretch
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // the last: all else is there when it begins
};

}  // namespace almanac::service
