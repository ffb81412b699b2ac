// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the policy would have a Slurm do now.
///
/// Each decision is a new round of a new policy: it takes over what runs, is told of all that waits
/// and decides once. Slurm is what is true, so nothing here can drift from it, and it does not
/// matter what happened since the last decision, or whether there was one
/// (docs/decisions/0010-a-new-round-each-time.md). Only what is believed of run times is kept.
///
/// Cost: 10,000 waiting and 2,000 running jobs take some tens of milliseconds.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perf/catalogue.h"
#include "policy/contract/contract.h"
#include "schedule/round.h"
#include "steer/aside.h"
#include "steer/beliefs.h"
#include "steer/freedom.h"
#include "steer/policies.h"
#include "steer/quotas.h"
#include "steer/shards.h"
#include "steer/suitable.h"
#include "steer/world.h"
#include "trace/trace.h"

namespace almanac::steer {

/// What a job that is stopped loses is known to Slurm's users, not to us.
inline constexpr schedule::RestartCost kNoRestartCost{
    .one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};

struct Decision {
  /// The waiting jobs of one virtual cluster, each record once: first those that would start now,
  /// then the others in the order in which the policy looks at them.
  struct Line {
    VcId vc{};
    std::vector<slurm::JobNumber> jobs{};
    /// And between them those that the policy does not see because they are at a limit that ends
    /// when other jobs do: then they are to be in order.
    std::vector<slurm::JobNumber> ranked{};
  };
  struct Start {
    slurm::JobNumber job{};
    std::vector<cluster::Grant> held{};
  };
  /// Running jobs on one GPU, one of which is slower beside the others than the policy allows.
  struct Clash {
    std::string node{};
    int gpu = 0;
    std::vector<slurm::JobNumber> jobs{};  ///< In the order in which they came.
    double speed = 0;  ///< Of the slowest, of its speed alone; NaN where one asked a whole GPU.
  };

  Time at = kNoTime;                     ///< By the controller's clock.
  std::shared_ptr<const World> world{};  ///< Whose numbers the nodes below are.
  std::vector<Line> lines{};             ///< By virtual cluster, all of them.
  std::vector<Start> starts{};           ///< In order; an array may be there several times.
  /// Since which decision each of them was to start at every one; those that the policy is not
  /// shown because Slurm did not start them keep it.
  std::map<slurm::JobNumber, Time> to_start_since{};
  std::vector<slurm::JobNumber> stops{};      ///< Running jobs that are to make room.
  std::vector<slurm::Job> announced{};        ///< Waiting jobs that the mirror did not know yet.
  std::vector<Clash> clashes{};               ///< Of a policy that lets jobs share GPUs.
  bool knows_speeds = false;                  ///< And so how jobs would slow each other.
  std::map<slurm::JobNumber, Aside> aside{};  ///< Waiting jobs that the policy does not see.
  std::map<slurm::JobNumber, std::string> quotas{};  ///< What quota each `at_quota` of them is at.
  std::map<slurm::JobNumber, policy::Reason> never{};  ///< That can never start here.
  Time wake = kNever;                                  ///< When to decide again if nothing happens.

  /// A job of one of the lines, as the mirror has it, or as it was announced; null = it is gone.
  const slurm::Job* find(slurm::JobNumber job, const Mirror& mirror) const;
};

/// Not thread-safe.
class Decider final : public schedule::Actuator {
 public:
  /// `lessons` are ended jobs of this cluster to learn run times from; `speeds` tells how jobs slow
  /// each other on a GPU, null = that is not known.
  Decider(Chosen policy, trace::Trace lessons, std::uint64_t seed,
          std::shared_ptr<const perf::Catalogue> speeds = nullptr);

  /// Decides at an instant of the controller's clock. A policy of leases decides at the first call
  /// in each lease, as of when that began; in between its last decision stands. `announced` are
  /// waiting jobs that the mirror does not know yet, by made-up numbers, which the decision then
  /// has too; the policy does not see those `in_vain` (lever.h), nor what Slurm would not start on
  /// the nodes that suit it.
  const Decision& decide(const Mirror& mirror, std::shared_ptr<const World> world,
                         const Exempt& exempt, std::span<const slurm::Job> announced = {},
                         const std::set<slurm::JobNumber>& in_vain = {});
  const Decision& last() const { return decision_; }
  const Chosen& policy() const { return chosen_; }
  /// Why a job in one of the lines waits. Nothing where it was in none, or was to start.
  std::optional<policy::Reason> why(slurm::JobNumber job);
  /// The number that Reason::other stands for.
  slurm::JobNumber number(JobId job) const { return numbers_[index(job)]; }
  /// The waiting jobs that the policy was shown, in order of submission; an array is there once for
  /// each task of it. Those too that are at a quota, and that were announced, by their made-up
  /// numbers.
  std::span<const slurm::JobNumber> shown() const {
    return std::span(numbers_).subspan(num_running_, num_shown_ - num_running_);
  }
  /// Where a job stands in its line, from 1, and how many stand there; 0 of 0 = it is in none.
  struct Place {
    std::int64_t number = 0;
    std::int64_t of = 0;
  };
  Place place(slurm::JobNumber job) const;
  /// The line in which a job would stand that is only about to be submitted, and that is told by
  /// its number, never used before; it counts as waiting until the next decision. Empty = it would
  /// stand in none.
  std::vector<slurm::JobNumber> line_with(const slurm::Job& newcomer);
  Duration believed(const slurm::Job& job, const World& world);
  void learn(const slurm::Job& ended, const World& world);
  /// The number of jobs that it has learned of since it was made; the more, the more it keeps of
  /// the past.
  std::size_t learned() const { return learned_; }
  /// One that was announced is known by another number now, or is gone.
  void forget(slurm::JobNumber job) { beliefs_.forget(job); }

 private:
  struct Taken {
    const slurm::Job* job;
    policy::Event event;
  };

  /// The instant that a decision at `now` is of; nothing = the last one stands.
  std::optional<Time> instant(Time now) const;
  void begin(Time at, std::shared_ptr<const World> world);
  /// Which of them were to start at the last decision too.
  void note_starts(const std::map<slurm::JobNumber, Time>& before);
  void take_nodes(const Mirror& mirror);
  void take_running(const Mirror& mirror, const Exempt& exempt);
  void take_waiting(const Mirror& mirror, const Exempt& exempt,
                    const std::set<slurm::JobNumber>& in_vain);
  void take_announced(std::span<const slurm::Job> announced);
  JobId add(const slurm::Job& job);
  /// Says what a running job loses that is moved, to a policy that goes by it.
  void say_loss(const slurm::Job& job, const Exempt& exempt);
  bool lets_share() const;
  trace::Request request_of(const slurm::Job& job, const World& world);
  /// Of one that waits, or runs, since `since`.
  schedule::Past past_of(const slurm::Job& job, Time since) const;
  /// What was used so far: by Slurm's word where it keeps fair share, else by what was learned of
  /// and what runs.
  std::shared_ptr<const std::vector<policy::PastUse>> past_use(const Mirror& mirror,
                                                               const World& world);

  // decision_nodes.cpp: jobs that ask for nodes, or leave some out.
  bool can_be_placed(const slurm::Job& job);
  /// Takes over the jobs that are to start where the policy did not plan them.
  void take_pinned(const Mirror& mirror);
  /// Finds other nodes for jobs that Slurm would not start where they are planned, or puts them
  /// aside. True = all is to be planned again with that.
  bool move_misplaced(const Mirror& mirror, bool is_last);

  // decision_limits.cpp: quotas, and jobs that are at a limit.
  /// Notes which jobs were shown and are at a quota now, and at which.
  void note_quotas(const Mirror& mirror);
  void rank_limited(const Mirror& mirror);

  /// How many tasks of a record may as well run at once.
  std::int64_t tasks_to_show(const slurm::Job& job, const trace::Request& request,
                             const Mirror& mirror) const;
  void run();
  void read_plan();

  // decision_sharing.cpp: jobs that may share GPUs.
  void look_who_may_share(const Mirror& mirror, const Exempt& exempt);
  bool may_share(JobId host, JobId guest) const;
  void find_clashes();
  double relative_speed(JobId job, const std::vector<JobId>& beside) const;

  void start(JobId job) override;
  void stop(JobId job) override;
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId) override {}

  Chosen chosen_;
  std::uint64_t seed_;
  trace::Trace trace_;  // its jobs are those of the round
  Beliefs beliefs_;
  std::size_t learned_ = 0;
  std::shared_ptr<predict::TypeSpeeds> type_speeds_ = std::make_shared<predict::TypeSpeeds>();
  std::vector<policy::PastUse> learned_use_;  // of the jobs that it has learned of
  Decision decision_;
  std::shared_ptr<const perf::Catalogue> catalogue_;
  // While one decision is made.
  std::optional<Suitable> suitable_;
  std::optional<Freedom> freedom_;  // where the policy moves jobs by what that costs
  std::shared_ptr<const std::vector<policy::PastUse>> past_use_;
  std::vector<std::pair<slurm::JobNumber, std::vector<cluster::Grant>>> pinned_;
  std::set<slurm::JobNumber> elsewhere_;
  // Of the last decision.
  std::vector<slurm::JobNumber> numbers_;  // by JobId
  std::size_t num_running_ = 0;            // the first so many of them
  std::size_t num_shown_ = 0;              // these, and all that the policy was shown
  std::optional<Quotas> quotas_;
  std::vector<policy::Event> events_;
  std::map<std::string, SharedNode> shared_;
  /// What a job may be, by JobId.
  struct Company {
    int half = 0;             // shards that a guest may have; 0 = it may be no host
    bool is_certain = false;  // a guest comes here, or to a GPU of its own
    int asks = 0;             // shards; 0 = it may be no guest
    bool is_careful = false;  // it must not come to another host by chance
  };
  std::vector<Company> company_;
  std::unique_ptr<const policy::Speeds> speeds_;
  std::unique_ptr<policy::Policy> policy_;
  std::unique_ptr<schedule::Round> round_;
  std::vector<JobId> started_;
  std::set<NodeId> off_;  // that sleep or boot, to the policy as good as on
  std::unordered_map<slurm::JobNumber, JobId> shown_;  // the first task of each record that waits
  struct Spot {
    VcId vc{};
    std::int64_t number = 0;
  };
  std::unordered_map<slurm::JobNumber, Spot> places_;
};

}  // namespace almanac::steer
