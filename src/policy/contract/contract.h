// SPDX-License-Identifier: Apache-2.0

/// \file
/// The contract between a policy and its host: events in, a plan out.
///
/// A policy uses no file, clock or thread, and no random numbers except the view's. It cannot
/// distinguish the simulator from a live cluster.
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

/// Kinds of events, in the order of delivery at one instant. A waiting job is withdrawn when its
/// user cancels or holds it. A running job is adopted when a new policy takes over, after a restart
/// of the service or in a forecast. A host that does not know a kind of event never sends it, and
/// policies must work without.
enum class EventKind : std::uint8_t {
  job_ended,
  job_failed,  ///< The job lost its nodes or processes, and waits to resume from its checkpoint.
  job_withdrawn,
  job_adopted,
  job_arrived,
  job_released,  ///< A waiting job is no longer held.
  job_reported,  ///< View::training has changed; `value` is the reported metric, NaN for other
                 ///< reports.
  node_down,     ///< A node is out of service; its jobs got job_failed.
  node_up,
  node_notice,  ///< A node will go down in `value` seconds.
  capacity_changed,
  signal_changed,  ///< `value` is the new value in View::signals.
  timer
};

struct Event {
  EventKind kind{};
  std::uint32_t subject = 0;  ///< JobId, NodeId, VcId or SignalId; unused for a timer.
  double value = 0;
};

/// State of a job. A declined job never ran; a job that was cut off was ended by the policy.
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
  in_turn,  ///< Only when no other job sends, or when the rule of turns allows both.
  shifted,  ///< With steps that begin Config::shift_ms later than those of other shifted jobs.
};

/// Settings of a running job other than its place. 0 keeps the job's own setting.
struct Config {
  std::int32_t batch = 0;    ///< Samples per step, over all its GPUs.
  std::int32_t variant = 0;  ///< Number of the variant, from 1.
  /// Power limit of each GPU in watts. A lower limit of the node takes precedence, and no limit may
  /// be below the board's minimum. Requires Trait::limits_power.
  std::int32_t power_w = 0;
  /// Whether the job only uses GPU time that the other jobs on its GPUs leave, which then run at
  /// full speed (perf/sharing.h). Requires Trait::yields_gpus.
  bool yields = false;
  /// Use of shared links and storage. Requires Trait::paces_traffic.
  Sending sending = Sending::at_once;
  float shift_ms = 0;  ///< Shift of its steps if `sending` is `shifted`.
  /// Priority of its traffic on shared links (rules/links/contention.h): a higher one sends first.
  std::int32_t link_priority = 0;
  float cache_gb = 0;  ///< Cache for its data set in GB; the largest value of several jobs counts.
  float remote_gbs = 0;  ///< Limit on remote reads of its data set, GB/s.

  bool operator==(const Config&) const = default;
};

/// Allocation and settings that a job should get. No grants = the job does not run.
struct Target {
  std::span<const cluster::Grant> grants{};
  Config config{};
};

/// A demand that a job accepts.
struct Acceptable {
  DemandId demand{};
  float rate = 1;  ///< Speed of the job there, relative to its request.
};

/// A named time series that does not belong to a job, such as the price of power or carbon
/// intensity.
struct Signal {
  std::string name;
  double value = 0;
  Time since{};
};

enum class ServiceId : std::uint32_t {};  ///< Position in View::services.

/// A service that answers requests with replicas. Each replica is a job without an end; the host
/// adds or ends replicas according to Plan::scale.
struct Service {
  std::string name;
  int least = 0;         ///< Minimum number of replicas while requests arrive.
  int most = 0;          ///< Maximum number of replicas.
  int wanted = 0;        ///< Replicas requested by the last scale().
  inference::Load load;  ///< Load at View::now.
};

/// State of a job, kept by the host in one cache line.
struct alignas(64) Progress {
  Time since{};          ///< Start of the current run or wait; in the future while nodes boot.
  Time start = kNoTime;  ///< Start of the first run.
  Time end = kNoTime;
  Duration attained{};  ///< Run time before the current run.
  Duration charged{};   ///< Work added by restarts so far.
  VcId vc = kNoVc;
  DemandId demand{};
  std::uint32_t preemptions = 0;
  std::uint32_t first_grant = 0;
  std::uint16_t num_grants = 0;
  std::uint16_t max_grants = 0;  ///< Capacity for grants from first_grant.
  TenantId tenant = kNoTenant;   ///< Index into Cluster::tenants; kNoTenant = no declared tenant.
  Phase phase = Phase::unknown;
};

/// Training state that a job reports: total and limits at submission, the rest while it runs.
struct Training {
  double total = 0;     ///< Progress at which the job ends; 0 = unknown.
  double progress = 0;  ///< Steps so far; if the batch can change, steps at the initial batch.
  elastic::BatchLimits batches{};
  std::optional<elastic::Gradient> gradient{};  ///< Current gradient noise; nothing = not measured.
  std::span<const elastic::Observation> seen{};  ///< Step times, one for each configuration.
  std::optional<double> metric{};                ///< Last reported metric; larger is better.
  double metric_at = 0;                          ///< Progress at that report.
};

/// Measurements of running jobs with their current allocation. Nothing = unknown: the host does not
/// measure it, or the job started or was resized too recently.
class Telemetry {
 public:
  virtual ~Telemetry() = default;
  /// Returns the fraction of time in which a running job's GPUs are busy.
  virtual std::optional<double> gpu_use(JobId job) const = 0;
  /// Returns whether gpu_use() will be known once the job has run for a while.
  virtual bool will_know_gpu_use(JobId job) const = 0;
  /// Returns the memory bandwidth that the job uses on its nodes, in GB/s.
  virtual std::optional<double> bandwidth_gbs(JobId job) const = 0;
  /// Returns the memory bandwidth that all jobs on a node use, in GB/s.
  virtual std::optional<double> bandwidth_gbs(NodeId node) const = 0;
  /// Returns the interval between new measurements while no job starts, ends or is resized;
  /// kNoDuration = never.
  virtual Duration renewed_every() const = 0;
  /// Returns the work that a job has done until `now`, as time at the reference speed of its run
  /// time.
  virtual std::optional<Duration> worked(JobId job, Time now) const = 0;
  /// Returns the training state that a job reports; nothing = no reports.
  virtual std::optional<Training> training(JobId job, Time now) const {
    static_cast<void>(job);
    static_cast<void>(now);
    return std::nullopt;
  }
};

/// Everything a policy may know at `now`, which excludes the outcome of jobs that have not ended.
class View {
 public:
  /// Records of the host, which may grow while the view exists. Null = the host has none.
  struct Records {
    const std::vector<trace::Job>& jobs;
    const std::vector<Progress>& progress;
    const std::vector<cluster::Demand>& demands;
    const std::vector<cluster::Grant>& grants;
    const std::unordered_map<JobId, Config>* configs = nullptr;
    const std::unordered_map<JobId, Time>* holds = nullptr;
    const std::unordered_map<JobId, std::vector<Acceptable>>* acceptable = nullptr;
    const std::unordered_map<NameId, std::vector<JobId>>* groups = nullptr;
    const std::vector<std::int32_t>* tiers = nullptr;  // by job; jobs beyond its end have tier 0
  };

  View(const cluster::Cluster& machines, Rng& random, const Records& records)
      : cluster(machines), rng(random), records_(records) {}

  /// Returns a view of the same jobs in another schedule, without speeds, measurements, holds and
  /// settings. The arguments must outlive it.
  View elsewhere(const std::vector<Progress>& progress, const std::vector<cluster::Grant>& grants,
                 Rng& random) const {
    return {cluster,
            random,
            {.jobs = records_.jobs,
             .progress = progress,
             .demands = records_.demands,
             .grants = grants,
             .tiers = records_.tiers}};
  }

  Time now{};
  const cluster::Cluster& cluster;
  Rng& rng;
  const Speeds* speeds = nullptr;        ///< Speed profiles; null = all jobs run as recorded.
  RestartCost restart{};                 ///< Cost of stopping or moving a job.
  std::span<const Signal> signals{};     ///< Indexed by SignalId; empty = no signals.
  std::span<const Service> services{};   ///< Indexed by ServiceId; empty = no services.
  const Telemetry* telemetry = nullptr;  ///< Null = no measurements.

  const trace::Request& request(JobId job) const { return records_.jobs[index(job)].request; }
  /// Returns the id of a job in its source (trace/job_id.h).
  trace::JobKey key(JobId job) const { return records_.jobs[index(job)].id; }
  const Progress& progress(JobId job) const { return records_.progress[index(job)]; }
  /// Returns the final state of a job that has ended.
  trace::JobState state(JobId job) const {
    ALMANAC_CHECK(progress(job).phase == Phase::ended, "job {} has not ended", index(job));
    return records_.jobs[index(job)].outcome.state;
  }
  const cluster::Demand& demand(DemandId id) const { return records_.demands[index(id)]; }
  std::size_t num_jobs() const { return records_.jobs.size(); }
  /// Returns the allocation of a running job.
  std::span<const cluster::Grant> grants(JobId job) const {
    const Progress& state = progress(job);
    return {records_.grants.data() + state.first_grant, state.num_grants};
  }
  /// Returns the settings of a running job.
  Config config(JobId job) const {
    if (records_.configs == nullptr) return {};
    const auto found = records_.configs->find(job);
    return found == records_.configs->end() ? Config{} : found->second;
  }
  /// Returns the demands that a job accepts and can start with, best first. The first is
  /// Progress::demand. Empty = the job accepts only that one.
  std::span<const Acceptable> acceptable(JobId job) const {
    if (records_.acceptable == nullptr || records_.acceptable->empty()) return {};
    const auto found = records_.acceptable->find(job);
    return found == records_.acceptable->end() ? std::span<const Acceptable>{} : found->second;
  }
  /// Returns the jobs of a group that have arrived so far, in order of arrival, including ended
  /// ones.
  std::span<const JobId> group(NameId name) const {
    if (records_.groups == nullptr || name == kNoName) return {};
    const auto found = records_.groups->find(name);
    return found == records_.groups->end() ? std::span<const JobId>{} : found->second;
  }
  /// Returns the priority tier of a job: jobs of a higher tier go first, and no job stops for one
  /// of a lower tier. 0 unless the job, its QOS, its tenant or its virtual cluster has another.
  std::int32_t tier(JobId job) const {
    if (records_.tiers == nullptr || index(job) >= records_.tiers->size()) return 0;
    return (*records_.tiers)[index(job)];
  }
  /// Returns the training state that a job reports; nothing = no reports.
  std::optional<Training> training(JobId job) const {
    return telemetry == nullptr ? std::nullopt : telemetry->training(job, now);
  }
  /// Returns the time until which a waiting job is held; Time::min() = not held.
  Time held_until(JobId job) const {
    if (records_.holds == nullptr) return Time::min();
    const auto found = records_.holds->find(job);
    return found == records_.holds->end() ? Time::min() : found->second;
  }
  /// Returns the cost of changing a running job to `target`, as work added to the job.
  Duration cost(JobId job, const Target& target) const {
    return restart.of(request(job), worked(job), grants(job), target.grants);
  }
  /// Returns the run time of the job so far, including the current run.
  Duration attained(JobId job) const {
    const Progress& state = progress(job);
    const Duration runs = state.phase == Phase::running ? now - state.since : Duration{0};
    return state.attained + std::max(Duration{0}, runs);
  }
  /// Returns the work done so far; equals the run time unless it is measured.
  Duration worked(JobId job) const {
    const auto told = telemetry == nullptr ? std::nullopt : telemetry->worked(job, now);
    return told ? *told : attained(job);
  }

 private:
  Records records_;
};

/// Changes that a decision makes; everything else stays as it is.
///
/// A policy sets the allocation that a job should have. Whether this starts, stops, moves or
/// resizes the job follows from its current allocation. The ledger shows the cluster after the plan
/// so far: a policy takes GPUs in the ledger, then assigns them with set(). Anything taken for a
/// what-if must be undone before returning. Changes count towards quotas immediately.
class Plan {
 public:
  enum class Action : std::uint8_t {
    none,    ///< No change, or replaced by a later change.
    start,   ///< Start a waiting job, as soon as all its nodes have booted.
    stop,    ///< Stop a running job, which keeps its progress less the cost of the stop.
    move,    ///< Move a running job to other GPUs: a stop and a start.
    resize,  ///< Change the fractions, cores, memory or settings of a running job on the same GPUs.
  };
  struct Change {
    JobId job{};
    Action action{};
    std::uint32_t first_grant = 0;
    std::uint32_t num_grants = 0;
    Config config{};
  };
  /// A job that must not start before `until`.
  struct Hold {
    JobId job{};
    Time until{};
  };

  /// A service and its new number of replicas.
  struct Scale {
    ServiceId service{};
    int replicas = 0;
  };

  /// `view` has the current allocations.
  Plan(cluster::Ledger& working_copy, const View& view) : ledger(working_copy), view_(view) {}

  cluster::Ledger& ledger;
  Quotas* quotas = nullptr;  ///< Null = no quotas.

  /// Sets the new allocation of a waiting or running job. The ledger must already reflect it: the
  /// new GPUs taken, the old ones given back. A later call replaces an earlier one. The job's
  /// quotas must have room.
  void set(JobId job, const Target& target);
  /// Returns the change of a job; null = none.
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
  /// Returns all changes in the order in which they were made.
  std::span<const Change> changes() const { return changes_; }
  /// Returns the number of running jobs that stop or move.
  std::size_t num_stops() const { return num_stops_; }

  /// Holds a waiting job until `until`, when the event job_released follows.
  void hold(JobId job, Time until) { said(holds).push_back({job, until}); }
  /// Rejects a waiting job permanently.
  void decline(JobId job) { said(declined).push_back(job); }
  /// Ends a waiting or running job permanently. Its GPUs must already be given back in the ledger.
  void end(JobId job) { said(ended).push_back(job); }
  /// Sets the number of replicas of a service. After the plan is carried out, new replicas arrive
  /// as jobs, or surplus ones end once they have answered their current requests.
  void scale(ServiceId service, int replicas) { said(scales).push_back({service, replicas}); }
  /// Powers down an idle node; takes effect in the ledger immediately.
  void sleep(NodeId node) {
    ledger.set_power(node, cluster::Power::asleep);
    said(sleeps).push_back(node);
  }
  /// Boots a sleeping node. The event capacity_changed follows once it is up.
  void boot(NodeId node) {
    ledger.set_power(node, cluster::Power::booting);
    said(boots).push_back(node);
  }
  /// Records that a waiting job would run now if no node were asleep or booting.
  void hold_back(JobId job) { said(held_back).push_back(job); }
  /// Requests a timer event; `now` means one more decision at this instant.
  void wake(Time at) { wakes.push_back(at); }
  void clear() {
    changes_.clear();
    grants_.clear();
    wakes.clear();
    num_stops_ = 0;
    if (has_verbs_) clear_verbs();
  }
  /// Returns whether any of the verbs above except wake() was used.
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
  /// Number of changes up to which find() searches linearly; nearly all plans have no more.
  static constexpr std::size_t kFew = 8;
  const Change* find_among_many(JobId job) const;
  void clear_verbs();
  /// Records the position of the last change, and of all changes once there are many.
  void file_changes();
  template <typename Verb>
  Verb& said(Verb& verb) {
    has_verbs_ = true;
    return verb;
  }

  const View& view_;
  std::vector<Change> changes_;
  std::vector<cluster::Grant> grants_;
  std::vector<std::uint32_t> position_;  // of the change of each job, if there are many
  std::size_t num_stops_ = 0;
  bool has_verbs_ = false;
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Handles all events of one instant. The same calls must give the same plans.
  virtual void decide(std::span<const Event> events, const View& view, Plan& plan) = 0;
  /// Returns why the waiting job `job` does not run now. Leaves `ledger` unchanged.
  virtual Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const = 0;
  /// Appends the jobs waiting after the last decision, for each virtual cluster in queue order.
  /// Omits jobs that the decision stopped and jobs excluded by quotas.
  virtual void line_up(std::vector<JobId>& line) const = 0;
};

}  // namespace almanac::policy
