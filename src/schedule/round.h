// SPDX-License-Identifier: Apache-2.0

/// \file
/// One round of scheduling: passes events to the policy, then checks, applies and executes its
/// plan.
///
/// The round keeps the state (which jobs wait, which run where) for both the simulator and the live
/// service. These differ in their clock and in what executes a plan: the Actuator.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "schedule/admission.h"
#include "schedule/tenant_limits.h"
#include "trace/trace.h"

namespace almanac::schedule {

using policy::RestartCost;

/// Executes a plan.
class Actuator {
 public:
  virtual ~Actuator() = default;
  virtual void start(JobId job) = 0;
  virtual void stop(JobId job) = 0;
  /// Frees the allocation of a job that moves; start() with the new one follows in the same round.
  virtual void vacate(JobId job) { stop(job); }
  /// Gives a running job the allocation in Round::grants(), on the same GPUs, and the settings in
  /// Round::config().
  virtual void resize(JobId job) = 0;
  /// Ends a running or waiting job permanently. Called only if the host lets policies do so.
  virtual void end(JobId job, bool runs);
  /// Rejects a waiting job permanently. Called only if the host lets policies do so.
  virtual void decline(JobId job);
  /// Sets the number of replicas of a service. Its jobs may join or end once run() has returned.
  /// Called only if the host runs services.
  virtual void scale(policy::ServiceId service, int replicas);
  virtual void sleep(NodeId node) = 0;
  /// Boots a node; the host calls Round::booted() once it is up.
  virtual void boot(NodeId node) = 0;
};

/// History of a job that a round takes over.
struct Past {
  Time since{};          ///< Start of the current run or wait.
  Time start = kNoTime;  ///< Start of the first run.
  Duration attained{};   ///< Run time before the current run.
  Duration charged{};    ///< Work added by restarts.
  std::uint32_t preemptions = 0;
  TenantId tenant = kNoTenant;  ///< Tenant of the job; kNoTenant = the one named in its request.
};

/// Current totals.
struct Load {
  std::uint32_t jobs_running = 0;
  std::uint32_t jobs_waiting = 0;
  std::int64_t gpus_waiting = 0;  ///< GPUs requested by waiting jobs.
};

/// Jobs that had to wait for nodes to boot, so far.
struct HeldBack {
  std::uint64_t jobs = 0;  ///< Jobs that have started since.
  Duration waited{0};      ///< Delay compared with all nodes being on, summed over jobs.
};

/// State and operation of a scheduling round. The trace may grow: jobs may join that were added
/// later.
///
/// Cost: 64 bytes a job and 32 a grant. Not thread-safe.
class Round {
 public:
  /// `name` is the policy's name in messages.
  Round(const cluster::Cluster& cluster, const trace::Trace& trace, policy::Policy& policy,
        Actuator& actuator, const RestartCost& cost, std::uint64_t seed, std::string name);

  /// Gives the policy speed models and measurements. Either may be null.
  void observe(const policy::Speeds* speeds, const policy::Telemetry* telemetry);

  /// Gives the policy signals, which must outlive the round.
  void show(std::span<const policy::Signal> signals) { view_.signals = signals; }
  /// Gives the policy services, which must outlive the round and are read at each run().
  void show(const std::vector<policy::Service>& services) { services_ = &services; }

  /// Enforces quotas; claims must be set before jobs join. `quotas` must outlive the round, which
  /// counts usage there and adds the limits of tenants. Tenant limits are enforced without this
  /// call, too.
  void keep(policy::Quotas& quotas);

  /// Lets a job join. Returns a reason if it can never start; the policy then never sees it.
  std::optional<policy::Reason> admit(JobId job);
  /// Lets a job join that has waited or run under an earlier round.
  std::optional<policy::Reason> admit(JobId job, const Past& past);
  /// Takes over a job that runs on `held`. The caller must send job_adopted, in order of start and
  /// before any job_arrived. Returns a reason, and changes nothing, if the job could not start here
  /// now.
  std::optional<policy::Reason> adopt(JobId job, std::span<const cluster::Grant> held,
                                      const Past& past);
  /// Records the end of a running job.
  void end(Time now, JobId job);
  /// Records that a running job lost its nodes or processes: it waits, loses the work since its
  /// last checkpoint, and is charged a restart. The caller must send job_failed.
  void fail(Time now, JobId job);
  /// Same, charging `cost` instead of what RestartCost says.
  void fail(Time now, JobId job, Duration cost);
  /// Delays a job that starts in the current run() to `at`, when its nodes have booted.
  void begins_later(Time now, JobId job, Time at);
  /// Adds work to a job for what the host does before it starts.
  void charge(JobId job, Duration work);
  /// Withdraws a waiting job. The caller must send job_withdrawn.
  void withdraw(Time now, JobId job);
  void set_nodes(VcId vc, int nodes);
  void set_drained(NodeId node, bool drained) { ledger_.set_drained(node, drained); }
  /// Takes `gpus` of a node out of service and all its other GPUs into service: immediately if they
  /// are free, otherwise when their jobs end. The caller must send capacity_changed.
  void set_out(NodeId node, cluster::GpuMask gpus);
  /// Records that a node has booted. The caller must send capacity_changed for its virtual cluster.
  void booted(NodeId node);
  /// Sends the policy `events`, which the calls above recorded, and carries out its plan. Aborts if
  /// the plan breaks a rule, or if the policy requests immediate wake-ups endlessly.
  void run(Time now, std::span<const policy::Event> events);
  /// Returns the wake-up times that the policy requested in the last round.
  std::span<const Time> wakes() const { return plan_.wakes; }

  const policy::Progress& progress(JobId job) const { return progress_[index(job)]; }
  /// Returns the current or last allocation of a job.
  std::span<const cluster::Grant> grants(JobId job) const;
  /// Returns the settings of a job.
  policy::Config config(JobId job) const { return view_.config(job); }
  const cluster::Ledger& ledger() const { return ledger_; }
  const Load& load() const { return load_; }
  const HeldBack& held_back() const { return held_back_; }
  /// Moves the state and last allocations of all jobs out; the round is over.
  std::vector<policy::Progress> take_progress() { return std::move(progress_); }
  std::vector<cluster::Grant> take_grants() { return std::move(grants_); }
  /// Returns why a waiting job does not run, as of the last round.
  policy::Reason why_waiting(Time now, JobId job);
  /// Appends the waiting jobs, see policy::Policy::line_up().
  void line_up(std::vector<JobId>& line) const { policy_.line_up(line); }

 private:
  /// Why the limits of its tenants never let it start; nothing if they can.
  std::optional<policy::Reason> over_limit(JobId job) const;
  /// Sets the demand of a job here, and its history.
  std::optional<policy::Reason> introduce(JobId job, const Past& past);
  void check_time_goes_on(std::span<const policy::Event> events);
  void check_and_stop(Time now, const policy::Plan::Change& stop);
  void check_and_resize(const policy::Plan::Change& resize);
  void check_and_start(Time now, const policy::Plan::Change& start);
  void carry_out_verbs(Time now);
  void cut_off(Time now, JobId job);
  /// Takes a running job off its GPUs; it waits for `target`.
  void suspend(Time now, JobId job, Duration cost);
  void set_config(JobId job, const policy::Config& config);
  /// Records whether a job runs on GPUs that can be partitioned.
  void note_on_boards(JobId job);
  /// Returns why a job finds no instance: the job whose end makes room for one. If there are
  /// several, the one that must end first, or else has run longest.
  policy::Reason why_no_instance(JobId job);
  /// `events`, and those of jobs that are held no longer.
  std::span<const policy::Event> with_released(Time now, std::span<const policy::Event> events);
  /// Takes the GPUs that must go out of service and are free.
  void take_out(NodeId node);
  void count(const cluster::Grant& grant, int sign);
  void note_start(Time now, JobId job);
  /// Whether a job may run on this number of GPUs.
  bool accepts(JobId job, int gpus) const;
  int asked_gpus(const policy::Progress& state) const {
    return admission_.demands()[index(state.demand)].gpus;
  }
  void remember_grants(JobId job, std::span<const cluster::Grant> grants);
  /// Returns what a view shows.
  policy::View::Records records() const;

  const cluster::Cluster& cluster_;
  const trace::Trace& trace_;
  policy::Policy& policy_;
  Actuator& actuator_;
  RestartCost cost_;
  std::string name_;
  Time at_ = kNoTime;     // of the last round
  int rounds_at_it_ = 0;  // before it at the same instant, since a job came or went
  Rng rng_;
  Admission admission_;
  TenantLimits limits_;
  policy::Quotas own_quotas_;  // if tenants have limits and the host has no quotas
  cluster::Ledger ledger_;
  std::vector<policy::Progress> progress_;
  std::vector<cluster::Grant> grants_;
  std::unordered_map<JobId, policy::Config> configs_;  // of jobs that do not run as they come
  std::unordered_map<JobId, Time> holds_;              // until when waiting jobs are held
  std::unordered_map<JobId, std::vector<policy::Acceptable>> acceptable_;  // of jobs that accept
                                                                           // several
  std::unordered_map<NameId, std::vector<JobId>> groups_;
  std::vector<std::int32_t> tiers_;  // by job, up to the last one with a tier other than 0
  const std::vector<policy::Service>* services_ = nullptr;  // null for none
  policy::View view_;
  policy::Plan plan_;
  std::vector<policy::Event> told_;
  Load load_;
  std::int64_t busy_gpu_milli_ = 0;
  std::int64_t busy_cpu_milli_ = 0;
  /// GPUs of a node that must go out of service, and those that already are.
  struct Out {
    cluster::GpuMask wanted = 0;
    cluster::GpuMask taken = 0;
  };
  std::unordered_map<NodeId, Out> out_;
  HeldBack held_back_;
  bool has_boards_ = false;                     // GPUs that can be cut
  std::set<JobId> on_boards_{};                 // that run there
  std::unordered_map<JobId, Time> held_since_;  // jobs that wait for nodes to boot
};

}  // namespace almanac::schedule
