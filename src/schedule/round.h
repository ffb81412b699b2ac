// SPDX-License-Identifier: Apache-2.0

/// \file
/// One round of scheduling: events in, the policy's plan out, checked, applied and acted on.
///
/// The round keeps what is true (which jobs wait, which run where) in one place for the simulator
/// and the live service alike. They differ in what tells the time and in what acts: the Actuator.
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

/// Makes a plan real.
class Actuator {
 public:
  virtual ~Actuator() = default;
  virtual void start(JobId job) = 0;
  virtual void stop(JobId job) = 0;
  /// It leaves what it holds, and start() of what it goes on with follows in the same round.
  virtual void vacate(JobId job) { stop(job); }
  /// Gives a running job what Round::grants() says now, on the same GPUs, and the settings that
  /// Round::config() says.
  virtual void resize(JobId job) = 0;
  /// Ends a job for good, which runs or waits. Asked only of hosts that let policies do so.
  virtual void end(JobId job, bool runs);
  /// Turns a waiting job away for good. Asked only of hosts that let policies do so.
  virtual void decline(JobId job);
  /// Lets a service have so many replicas. Jobs may join or end for it once run() has returned.
  /// Asked only of hosts that run services.
  virtual void scale(policy::ServiceId service, int replicas);
  virtual void sleep(NodeId node) = 0;
  /// Boots a node; the host of the round calls Round::booted() when it is there.
  virtual void boot(NodeId node) = 0;
};

/// What lies behind a job that a round takes over.
struct Past {
  Time since{};          ///< When the present run, or wait, began.
  Time start = kNoTime;  ///< Of the first run.
  Duration attained{};   ///< Time run before the present run.
  Duration charged{};    ///< Work added by restarts.
  std::uint32_t preemptions = 0;
  TenantId tenant = kNoTenant;  ///< Whose it is; kNoTenant = the one that its request names.
};

/// Totals of the present.
struct Load {
  std::uint32_t jobs_running = 0;
  std::uint32_t jobs_waiting = 0;
  std::int64_t gpus_waiting = 0;  ///< Asked for by the jobs that wait.
};

/// Jobs that had to wait for nodes to boot, so far.
struct HeldBack {
  std::uint64_t jobs = 0;  ///< That have started since.
  Duration waited{0};      ///< From when they would have run had all nodes been on until they did.
};

/// The trace may grow: a job can join that was not in it when the round was made.
///
/// Cost: 64 bytes a job and 32 a grant. Not thread-safe.
class Round {
 public:
  /// `name` is what messages call the policy.
  Round(const cluster::Cluster& cluster, const trace::Trace& trace, policy::Policy& policy,
        Actuator& actuator, const RestartCost& cost, std::uint64_t seed, std::string name);

  /// Lets the policy see how fast jobs run, and what is measured. Either may be null.
  void observe(const policy::Speeds* speeds, const policy::Telemetry* telemetry);

  /// Lets the policy see signals; they must outlive the round.
  void show(std::span<const policy::Signal> signals) { view_.signals = signals; }
  /// Lets the policy see services; they must outlive the round, which looks at each run().
  void show(const std::vector<policy::Service>& services) { services_ = &services; }

  /// Lets jobs start only where their quotas have room; claims must be told before jobs join.
  /// `quotas` must outlive the round, which counts there what jobs hold, and adds the limits of
  /// tenants. These it keeps by itself too.
  void keep(policy::Quotas& quotas);

  /// Lets a job join. A reason means that it can never start and is not shown to the policy.
  std::optional<policy::Reason> admit(JobId job);
  /// The same for one that has waited or run under an earlier round.
  std::optional<policy::Reason> admit(JobId job, const Past& past);
  /// Takes over a job that runs on `held`. The policy is to be told job_adopted, before any
  /// job_arrived, jobs in order of start. A reason means that it could not start here today, and
  /// that nothing was done.
  std::optional<policy::Reason> adopt(JobId job, std::span<const cluster::Grant> held,
                                      const Past& past);
  /// A running job has ended.
  void end(Time now, JobId job);
  /// A running job has lost its nodes or its processes: it waits, has lost what it did since its
  /// last checkpoint, and is charged a restart. The policy is to be told job_failed.
  void fail(Time now, JobId job);
  /// A job that starts in the present run() begins `at`, later, when its nodes have booted.
  void begins_later(Time now, JobId job, Time at);
  /// What its host does before a job starts adds as much work as a restart would.
  void charge(JobId job, Duration work);
  /// A waiting job shall wait no longer. The policy is to be told job_withdrawn.
  void withdraw(Time now, JobId job);
  void set_nodes(VcId vc, int nodes);
  void set_drained(NodeId node, bool drained) { ledger_.set_drained(node, drained); }
  /// Takes GPUs of a node out of service, all others of it in: at once where they are free, else
  /// when the jobs that hold them let go. The policy is to be told capacity_changed.
  void set_out(NodeId node, cluster::GpuMask gpus);
  /// Those that are out by now.
  cluster::GpuMask out(NodeId node) const;
  /// A node that boots is there. The policy is to be told capacity_changed of its virtual cluster.
  void booted(NodeId node);
  /// Tells the policy `events`, of which it was told by the calls above, and carries out its plan.
  /// Aborts if the plan breaks a rule, or if the policy asks to be woken at once without end.
  void run(Time now, std::span<const policy::Event> events);
  /// When the policy asked to be woken in the last round.
  std::span<const Time> wakes() const { return plan_.wakes; }

  const policy::Progress& progress(JobId job) const { return progress_[index(job)]; }
  /// What a job holds, or held last.
  std::span<const cluster::Grant> grants(JobId job) const;
  /// How a job runs, beside where.
  policy::Config config(JobId job) const { return view_.config(job); }
  const cluster::Ledger& ledger() const { return ledger_; }
  const Load& load() const { return load_; }
  const HeldBack& held_back() const { return held_back_; }
  /// All that is known of the jobs and what they held last, for good: the round is over.
  std::vector<policy::Progress> take_progress() { return std::move(progress_); }
  std::vector<cluster::Grant> take_grants() { return std::move(grants_); }
  /// Why a waiting job does not run, after the last round.
  policy::Reason why_waiting(Time now, JobId job);
  /// Appends the jobs that wait as policy::Policy::line_up() does.
  void line_up(std::vector<JobId>& line) const { policy_.line_up(line); }

 private:
  /// Why the limits of its tenants never let it start; nothing if they can.
  std::optional<policy::Reason> over_limit(JobId job) const;
  /// Sets what a job asks here and what lies behind it.
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
  /// Notes whether a job runs where GPUs can be cut.
  void note_on_boards(JobId job);
  /// Why a job that asks instances finds none: the job with whose end one can be made. Of several
  /// the one that must end first, or has run for longest.
  policy::Reason why_no_instance(JobId job);
  /// `events`, and those of jobs that are held no longer.
  std::span<const policy::Event> with_released(Time now, std::span<const policy::Event> events);
  /// Takes what is to be out and is free.
  void take_out(NodeId node);
  void count(const cluster::Grant& grant, int sign);
  void note_start(Time now, JobId job);
  /// Whether a job may run on so many GPUs.
  bool accepts(JobId job, int gpus) const;
  int asked_gpus(const policy::Progress& state) const {
    return admission_.demands()[index(state.demand)].gpus;
  }
  void remember_grants(JobId job, std::span<const cluster::Grant> grants);
  /// What a view shows.
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
  policy::Quotas own_quotas_;  // where tenants have limits and the host keeps no quotas
  cluster::Ledger ledger_;
  std::vector<policy::Progress> progress_;
  std::vector<cluster::Grant> grants_;
  std::unordered_map<JobId, policy::Config> configs_;  // of jobs that do not run as they come
  std::unordered_map<JobId, Time> holds_;              // until when waiting jobs are held
  std::unordered_map<JobId, std::vector<policy::Acceptable>> acceptable_;  // of jobs that accept
                                                                           // several
  std::unordered_map<NameId, std::vector<JobId>> groups_;
  const std::vector<policy::Service>* services_ = nullptr;  // null = none
  policy::View view_;
  policy::Plan plan_;
  std::vector<policy::Event> told_;
  Load load_;
  std::int64_t busy_gpu_milli_ = 0;
  std::int64_t busy_cpu_milli_ = 0;
  /// GPUs of a node that are to be out of service, and that are.
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
