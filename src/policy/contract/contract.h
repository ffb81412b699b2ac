// SPDX-License-Identifier: Apache-2.0

/// \file
/// The contract between a policy and its host: events in, a plan out.
///
/// A policy touches no file, no clock, no thread and no random number but the view's. It cannot
/// tell whether its host is the simulator or a live cluster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "inference/load.h"
#include "policy/contract/quotas.h"
#include "policy/contract/reason.h"
#include "policy/contract/restart_cost.h"
#include "policy/contract/speeds.h"
#include "rules/elastic/step_fit.h"
#include "trace/job.h"

namespace almanac::policy {

/// In the order in which events of one instant are told. A job is withdrawn that waits and shall no
/// longer: its user has cancelled or held it. A job is adopted that runs already when a policy is
/// new: a service that starts again, a forecast. A host that cannot tell an event never does;
/// policies live without.
enum class EventKind : std::uint8_t {
  job_ended,
  job_failed,  ///< It lost its nodes or its processes, and waits to go on from its checkpoint.
  job_withdrawn,
  job_adopted,
  job_arrived,
  job_released,  ///< It waits, and the time until which it was held has come.
  job_reported,  ///< View::training says something new of a job; `value` is the metric that it
                 ///< reports now, NaN where it is something else.
  node_down,     ///< A node is out of service; what ran there was told job_failed.
  node_up,
  node_notice,  ///< A node will go; `value` is in how many seconds.
  capacity_changed,
  signal_changed,  ///< `value` is what View::signals says now.
  timer
};

struct Event {
  EventKind kind{};
  std::uint32_t subject = 0;  ///< JobId, NodeId, VcId or SignalId; nothing for a timer.
  double value = 0;
};

/// A job that was declined never ran; one that was cut off ended because the policy said so.
enum class Phase : std::uint8_t {
  unknown,
  waiting,
  running,
  ended,
  withdrawn,
  never,
  declined,
  cut_off
};

/// When a job on several nodes begins to send over their links (rules/links/contention.h).
enum class Sending : std::uint8_t {
  at_once,
  in_turn,  ///< Where no other does, or the rule of turns lets it begin beside one.
  shifted,  ///< Its steps begin Config::shift_ms later than those of others that are shifted.
};

/// How a job is to run, beside where. What is 0 is as the job has it.
struct Config {
  std::int32_t batch = 0;    ///< Samples of a step, over all its GPUs.
  std::int32_t variant = 0;  ///< Which of its variants, from 1 on.
  /// The power limit of each of its GPUs, in watts. Where the node's own is lower, that counts; a
  /// board takes none below its least. Only policies that say so set one (Trait::limits_power).
  std::int32_t power_w = 0;
  /// Whether it runs only in what the jobs beside it on its GPUs leave of them: these are as fast
  /// as without it (perf/sharing.h). Only policies that say so set it (Trait::yields_gpus).
  bool yields = false;
  /// How it shares what it has not to itself; only policies that say so set it
  /// (Trait::paces_traffic).
  Sending sending = Sending::at_once;
  float shift_ms = 0;    ///< Of its steps, where `sending` is `shifted`.
  float cache_gb = 0;    ///< Of its data set to be cached; of several jobs' words the most.
  float remote_gbs = 0;  ///< GB/s that it reads of its data set from afar, at most.

  bool operator==(const Config&) const = default;
};

/// What a job is to hold and how it is to run. No grants = it does not run.
struct Target {
  std::span<const cluster::Grant> grants{};
  Config config{};
};

/// A demand that will do for a job.
struct Acceptable {
  DemandId demand{};
  float rate = 1;  ///< The job's speed there, beside that on what it asks.
};

/// What every policy may know and no job is about: the price of power, carbon, any named series.
struct Signal {
  std::string name;
  double value = 0;
  Time since{};
};

enum class ServiceId : std::uint32_t {};  ///< Position in View::services.

/// A service that answers requests with replicas. Each is a job without end, that only the host
/// knows as one; more of them arrive, or some end, as Plan::scale says.
struct Service {
  std::string name;
  int least = 0;         ///< Replicas, while requests come.
  int most = 0;          ///< Replicas.
  int wanted = 0;        ///< As the last scale() said.
  inference::Load load;  ///< At View::now.
};

/// Where a job stands. Kept by the host; one cache line.
struct alignas(64) Progress {
  Time since{};          ///< When the present run, or wait, began; ahead while its nodes boot.
  Time start = kNoTime;  ///< Of the first run.
  Time end = kNoTime;
  Duration attained{};  ///< Time run before the present run.
  Duration charged{};   ///< Work added by restarts so far.
  VcId vc = kNoVc;
  DemandId demand{};
  std::uint32_t preemptions = 0;
  std::uint32_t first_grant = 0;
  std::uint16_t num_grants = 0;
  std::uint16_t max_grants = 0;  ///< Of which there is room from first_grant on.
  TenantId tenant = kNoTenant;   ///< Of Cluster::tenants; kNoTenant = none that is declared.
  Phase phase = Phase::unknown;
};

/// What a job that trains tells of itself: its total and limits from its submission on, all else as
/// it runs.
struct Training {
  double total = 0;     ///< Progress at which it ends; 0 = it does not tell.
  double progress = 0;  ///< In steps; where the batch may change, in steps at the initial one.
  elastic::BatchLimits batches{};
  std::optional<elastic::Gradient> gradient{};   ///< How noisy it is now; nothing = not measured.
  std::span<const elastic::Observation> seen{};  ///< How long its steps took, each way once.
  std::optional<double> metric{};                ///< As last reported; the larger the better.
  double metric_at = 0;                          ///< The progress that it was reported at.
};

/// What is measured while jobs run, with what they hold now. Nothing = not known: no host tells it,
/// or it is too early after a start or a resize.
class Telemetry {
 public:
  virtual ~Telemetry() = default;
  /// The part of its time in which a running job's GPUs compute.
  virtual std::optional<double> gpu_use(JobId job) const = 0;
  /// Whether that will be known of a job once it has run for a while.
  virtual bool will_know_gpu_use(JobId job) const = 0;
  /// What it draws of its nodes' memory bandwidth, in GB/s.
  virtual std::optional<double> bandwidth_gbs(JobId job) const = 0;
  /// What all jobs of a node draw.
  virtual std::optional<double> bandwidth_gbs(NodeId node) const = 0;
  /// How often something new is told while no job starts, ends or is resized; kNoDuration = never.
  virtual Duration renewed_every() const = 0;
  /// Work that a job has done until `now`, as time at the speed at which its run time is given.
  virtual std::optional<Duration> worked(JobId job, Time now) const = 0;
  /// What a job tells of its training; nothing = it tells nothing, or no host asks.
  virtual std::optional<Training> training(JobId job, Time now) const {
    static_cast<void>(job);
    static_cast<void>(now);
    return std::nullopt;
  }
};

/// What a policy may know at `now`: no outcome of a job that has not ended.
class View {
 public:
  /// The host's own records, which may grow while the view lasts. Null = the host has none.
  struct Records {
    const std::vector<trace::Job>& jobs;
    const std::vector<Progress>& progress;
    const std::vector<cluster::Demand>& demands;
    const std::vector<cluster::Grant>& grants;
    const std::unordered_map<JobId, Config>* configs = nullptr;
    const std::unordered_map<JobId, Time>* holds = nullptr;
    const std::unordered_map<JobId, std::vector<Acceptable>>* acceptable = nullptr;
    const std::unordered_map<NameId, std::vector<JobId>>* groups = nullptr;
  };

  View(const cluster::Cluster& machines, Rng& random, const Records& records)
      : cluster(machines), rng(random), records_(records) {}

  Time now{};
  const cluster::Cluster& cluster;
  Rng& rng;
  const Speeds* speeds = nullptr;        ///< How fast jobs run with what, as profiled; null = all
                                         ///< run as recorded.
  RestartCost restart{};                 ///< What it costs a job to be stopped or moved.
  std::span<const Signal> signals{};     ///< By SignalId; none = the host knows none.
  std::span<const Service> services{};   ///< By ServiceId; none = the host runs none.
  const Telemetry* telemetry = nullptr;  ///< Null = nothing is ever measured.

  const trace::Request& request(JobId job) const { return records_.jobs[index(job)].request; }
  const Progress& progress(JobId job) const { return records_.progress[index(job)]; }
  /// How a job that has ended did end.
  trace::JobState state(JobId job) const {
    ALMANAC_CHECK(progress(job).phase == Phase::ended, "job {} has not ended", index(job));
    return records_.jobs[index(job)].outcome.state;
  }
  const cluster::Demand& demand(DemandId id) const { return records_.demands[index(id)]; }
  std::size_t num_jobs() const { return records_.jobs.size(); }
  /// What a running job holds.
  std::span<const cluster::Grant> grants(JobId job) const {
    const Progress& state = progress(job);
    return {records_.grants.data() + state.first_grant, state.num_grants};
  }
  /// How a running job runs.
  Config config(JobId job) const {
    if (records_.configs == nullptr) return {};
    const auto found = records_.configs->find(job);
    return found == records_.configs->end() ? Config{} : found->second;
  }
  /// The demands that will do for a job that accepts several and can start with them, best first:
  /// the first is Progress::demand. Empty = that one will do alone.
  std::span<const Acceptable> acceptable(JobId job) const {
    if (records_.acceptable == nullptr || records_.acceptable->empty()) return {};
    const auto found = records_.acceptable->find(job);
    return found == records_.acceptable->end() ? std::span<const Acceptable>{} : found->second;
  }
  /// The jobs of a group that have come so far, in the order in which they came, what has ended
  /// too.
  std::span<const JobId> group(NameId name) const {
    if (records_.groups == nullptr || name == kNoName) return {};
    const auto found = records_.groups->find(name);
    return found == records_.groups->end() ? std::span<const JobId>{} : found->second;
  }
  /// What a job tells of its training; nothing = it tells nothing.
  std::optional<Training> training(JobId job) const {
    return telemetry == nullptr ? std::nullopt : telemetry->training(job, now);
  }
  /// Until when a waiting job is held; Time::min() = it is not.
  Time held_until(JobId job) const {
    if (records_.holds == nullptr) return Time::min();
    const auto found = records_.holds->find(job);
    return found == records_.holds->end() ? Time::min() : found->second;
  }
  /// What it costs a running job to be changed to `target`, as work added to it.
  Duration cost(JobId job, const Target& target) const {
    return restart.of(request(job), worked(job), grants(job), target.grants);
  }
  /// Time that the job has run so far, the present run included.
  Duration attained(JobId job) const {
    const Progress& state = progress(job);
    const Duration runs = state.phase == Phase::running ? now - state.since : Duration{0};
    return state.attained + std::max(Duration{0}, runs);
  }
  /// Work that it has done so far; as long as the time it ran unless something tells otherwise.
  Duration worked(JobId job) const {
    const auto told = telemetry == nullptr ? std::nullopt : telemetry->worked(job, now);
    return told ? *told : attained(job);
  }

 private:
  Records records_;
};

/// What shall change; whatever is not mentioned stays as it is.
///
/// A policy says what a job is to hold; what that means for the job - start, stop, move, resize -
/// follows from what it holds now. The ledger is the cluster as the plan so far would leave it: a
/// policy takes GPUs there and then says whose they are; what it takes for a what-if it must undo
/// before it returns. What is said counts for quotas at once.
class Plan {
 public:
  enum class Action : std::uint8_t {
    none,    ///< It stays as it is, or was mentioned again later.
    start,   ///< It waits, and is to run; where one of the nodes still boots, once it is there.
    stop,    ///< It runs, and is to wait: it keeps what it has done, less what that costs.
    move,    ///< It goes on on other GPUs: a stop and a start.
    resize,  ///< It goes on on the same GPUs with other parts of them, cores, memory or settings.
  };
  struct Change {
    JobId job{};
    Action action{};
    std::uint32_t first_grant = 0;
    std::uint32_t num_grants = 0;
    Config config{};
  };
  /// A job, and until when it is not to start.
  struct Hold {
    JobId job{};
    Time until{};
  };

  /// A service, and how many replicas it is to have.
  struct Scale {
    ServiceId service{};
    int replicas = 0;
  };

  /// `view` tells what jobs hold now.
  Plan(cluster::Ledger& working_copy, const View& view) : ledger(working_copy), view_(view) {}

  cluster::Ledger& ledger;
  Quotas* quotas = nullptr;  ///< Null = there are none.

  /// Says what a job that waits or runs is to hold from now on, which is taken in the ledger
  /// already, as what it lets go is given back. Said again, the last word counts. The quotas that
  /// the job counts for must have room.
  void set(JobId job, const Target& target);
  /// What becomes of a job; null = it is not mentioned.
  const Change* find(JobId job) const {
    if (changes_.size() > kFew) return find_among_many(job);
    for (const Change& each : changes_) {
      if (each.job == job) return &each;
    }
    return nullptr;
  }
  std::span<const cluster::Grant> grants(const Change& change) const {
    return {grants_.data() + change.first_grant, change.num_grants};
  }
  /// In the order in which they were said.
  std::span<const Change> changes() const { return changes_; }
  /// How many running jobs stop or move.
  std::size_t num_stops() const { return num_stops_; }

  /// Keeps a waiting job from starting before `until`; then job_released is told.
  void hold(JobId job, Time until) { said(holds).push_back({job, until}); }
  /// Turns a waiting job away for good.
  void decline(JobId job) { said(declined).push_back(job); }
  /// Ends a job that waits or runs, for good: nothing more is wanted of it. What it holds is given
  /// back in the ledger already.
  void end(JobId job) { said(ended).push_back(job); }
  /// Lets a service have so many replicas: jobs arrive, or end once they have answered what they
  /// have begun, after this plan is carried out.
  void scale(ServiceId service, int replicas) { said(scales).push_back({service, replicas}); }
  /// Sends a node that runs nothing to sleep; in the ledger at once.
  void sleep(NodeId node) {
    ledger.set_power(node, cluster::Power::asleep);
    said(sleeps).push_back(node);
  }
  /// Boots a node that sleeps. Once it is there, the host tells capacity_changed.
  void boot(NodeId node) {
    ledger.set_power(node, cluster::Power::booting);
    said(boots).push_back(node);
  }
  /// Says that a waiting job would run now if no node slept or booted.
  void hold_back(JobId job) { said(held_back).push_back(job); }
  /// Asks for a timer event; at `now` means one more decision at this instant.
  void wake(Time at) { wakes.push_back(at); }
  void clear() {
    changes_.clear();
    grants_.clear();
    wakes.clear();
    num_stops_ = 0;
    if (has_verbs_) clear_verbs();
  }
  /// Whether any verb but wake() was said.
  bool has_verbs() const { return has_verbs_; }

  std::vector<Hold> holds;
  std::vector<JobId> declined;
  std::vector<JobId> ended;
  std::vector<Scale> scales;
  std::vector<NodeId> sleeps;
  std::vector<NodeId> boots;
  std::vector<JobId> held_back;
  std::vector<Time> wakes;

 private:
  Action action(JobId job, const Target& target) const;
  /// Changes up to which a job is looked for among them: nearly all plans have no more.
  static constexpr std::size_t kFew = 8;
  const Change* find_among_many(JobId job) const;
  void clear_verbs();
  /// Notes where the last change is, and where all are once there are many.
  void file_changes();
  template <typename Verb>
  Verb& said(Verb& verb) {
    has_verbs_ = true;
    return verb;
  }

  const View& view_;
  std::vector<Change> changes_;
  std::vector<cluster::Grant> grants_;
  std::vector<std::uint32_t> position_;  // of the change of each job, where there are many
  std::size_t num_stops_ = 0;
  bool has_verbs_ = false;
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Answers all events of one instant at once. Same calls, same plans.
  virtual void decide(std::span<const Event> events, const View& view, Plan& plan) = 0;
  /// Why `job`, which waits, does not run now. `ledger` is left as it was.
  virtual Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const = 0;
  /// Appends the jobs that wait after the last decision, those of each virtual cluster in the order
  /// in which it looks at them; not those yet that it stopped, nor those that quotas leave aside.
  virtual void line_up(std::vector<JobId>& line) const = 0;
};

}  // namespace almanac::policy
