// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a trace through a policy on a cluster, event by event.
///
/// Time jumps from event to event; all events of one instant are told together, ends first, then
/// arrivals, incidents, changes of capacity, timers. A decision may cause events at its own instant
/// (a job without run time, a timer at once); they are told in a further round of that instant.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/incidents.h"
#include "policy/contract/contract.h"
#include "rules/elastic/application_file.h"
#include "schedule/round.h"
#include "sim/idle_gaps.h"
#include "sim/pace.h"
#include "sim/pace_log.h"
#include "sim/present.h"
#include "sim/signal_meter.h"
#include "sim/wait_log.h"
#include "trace/trace.h"

namespace almanac::schedule {
class SpeedBook;
}

namespace almanac::sim {

class ProgressRule;
class Services;

/// Hears what a policy is told, before the policy does.
class Listener {
 public:
  virtual ~Listener() = default;
  /// `telemetry` null = nothing is measured.
  virtual void hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
                    const policy::Telemetry* telemetry) = 0;
  /// The policy has decided, and what it decided is so.
  virtual void decided(Time now, const schedule::Round& round, const policy::Telemetry* telemetry) {
    static_cast<void>(now);
    static_cast<void>(round);
    static_cast<void>(telemetry);
  }
};

/// How jobs truly run. No policy sees any of it.
struct Truth {
  /// How fast jobs run with what they hold; null = each as recorded, whatever it holds.
  const schedule::SpeedBook* speeds = nullptr;
  /// How jobs whose model is one of these train on more or fewer GPUs; null = there are none. Used
  /// only with speeds.
  const elastic::Applications* applications = nullptr;
  const ProgressRule* progress = nullptr;  ///< Used only with speeds; null = exact progress.
  const std::vector<Duration>* run_times = nullptr;  ///< Of all jobs; null = those of the log.
};

/// Nodes that sleep.
struct SleepCost {
  Duration boot = 5min;         ///< Time that a node takes to boot.
  Duration least_sleep = 5min;  ///< An idle gap must be longer to be worth sleeping in; used for
                                ///< the bound alone.
};

/// Which part of the log is simulated.
struct Range {
  /// The simulation continues from there instead of from an empty cluster, without timeline and
  /// window; jobs that are not in it and were submitted by then are over.
  const Present* from = nullptr;
  Time last_arrival = kNever;  ///< Jobs submitted later do not arrive.
  JobId until_ended = kNoJob;  ///< The simulation ends when this job has ended.
};

/// What a caller observes of a simulation, and how it stops one.
struct Watch {
  const std::atomic<bool>* stop = nullptr;        ///< Becomes true when the user interrupts.
  std::atomic<std::uint32_t>* arrived = nullptr;  ///< Counts arrivals, for a progress bar.
  JobId job = kNoJob;      ///< Every reason why this job waits is kept, and its paces.
  bool log_waits = false;  ///< The reasons of all jobs are kept, as WaitLog does it.
  Listener* listener = nullptr;
};

struct Options {
  std::string policy{};  ///< Name of the policy in messages.
  schedule::RestartCost restart{};
  SleepCost nodes{};
  std::uint64_t seed = 0;  ///< Of the view's random numbers.
  Truth truth{};
  const policy::Speeds* believed = nullptr;  ///< What the policy believes of speeds; null = the
                                             ///< truth.
  /// Jobs start only where their claims, by position in the log, have room; null = there are none.
  const policy::Quotas* quotas = nullptr;
  /// What happens to nodes and signals; null = nothing does. A job on a node that goes down waits,
  /// and continues from its last checkpoint.
  const cluster::Incidents* incidents = nullptr;
  /// Run next to the jobs; null = none. The trace is Services::trace() then, the policy a
  /// policy::Serving, and Services::tell_speeds() has `truth.speeds` and `believed`, because they
  /// take replicas in.
  Services* services = nullptr;
  Range range{};
  Duration warm_up{0};            ///< From the first arrival on, left out of `Schedule::window`.
  Duration timeline_interval{0};  ///< Of the samples; 0 = chosen so that there are at most 100,000.
  /// Jobs that never ran in the log leave the queue when they left it there (sim/queue_rules.h),
  /// and jobs join after those they depend on. False = every job arrives at its time and runs, as
  /// in the published simulators.
  bool keeps_queue_rules = true;
  Watch watch{};
};

/// A sample of the present, taken after all events at or before `at`.
struct Sample {
  Time at{};
  std::int32_t gpus_total = 0;
  std::int32_t gpus_busy = 0;
  std::int64_t gpus_waiting = 0;
  std::uint32_t jobs_running = 0;
  std::uint32_t jobs_waiting = 0;
  std::int32_t nodes_on = 0;  ///< Or booting.
  std::int32_t nodes_asleep = 0;
  std::int32_t gpus_on = 0;  ///< Of the nodes that are on; those that boot are not among them.
  std::int32_t gpus_booting = 0;
  std::int32_t gpus_asleep = 0;
  double gpus_computing = 0;  ///< NaN where speeds are not simulated.
  double gpus_spared = 0;     ///< GPUs in use, as many as would draw what power limits spare.
  double cpus_total = 0;      ///< Cores of nodes that say how many they have.
  double cpus_busy = 0;
};

/// What nodes did for how long, in GPU-seconds: a node counts with its GPUs, in use or not.
struct NodeUse {
  double on_gpu_s = 0;
  double booting_gpu_s = 0;
  double asleep_gpu_s = 0;
  double asleep_node_s = 0;
  std::uint64_t wake_ups = 0;  ///< Moments in which nodes were woken.
  std::uint64_t nodes_woken = 0;
};

/// What was used while jobs arrived: from the end of the warm-up to the last arrival, so that
/// neither the first hours of an empty cluster nor the last job's long run count.
struct Window {
  Time from{};
  Time until{};
  double total_gpu_s = 0;      ///< GPUs in service.
  double busy_gpu_s = 0;       ///< Held by a job.
  double computing_gpu_s = 0;  ///< That computed; NaN where speeds are not simulated.
  double total_cpu_s = 0;      ///< Core seconds in service, of nodes that say how many they have.
  double busy_cpu_s = 0;
};

/// What became of one job; see Schedule::jobs.
struct JobResult {
  Time joined = kNoTime;  ///< The queue, where that was later than Request::submit: what it depends
                          ///< on ended later here than in the log.
  Time start = kNoTime;   ///< First start.
  Time end = kNoTime;
  Duration ran{0};  ///< Time on GPUs in all.
  std::uint32_t preemptions = 0;
  std::uint32_t first_grant = 0;
  std::uint16_t num_grants = 0;
  TenantId tenant = kNoTenant;  ///< Of Cluster::tenants.
  policy::Phase phase = policy::Phase::unknown;
};

/// The results of all jobs, in the form in which the simulation kept them.
class JobResults {
 public:
  JobResults() = default;
  JobResults(std::vector<policy::Progress> progress, Time finish,
             std::unordered_map<JobId, Time> joined = {})
      : progress_(std::move(progress)), joined_(std::move(joined)), finish_(finish) {}

  std::size_t size() const { return progress_.size(); }
  JobResult operator[](std::size_t job) const {
    const policy::Progress& state = progress_[job];
    const bool runs = state.phase == policy::Phase::running;
    const auto joined =
        joined_.empty() ? joined_.end() : joined_.find(JobId{static_cast<std::uint32_t>(job)});
    return {
        .joined = joined == joined_.end() ? kNoTime : joined->second,
        .start = state.start,
        .end = state.end,
        .ran = state.attained + (runs ? std::max(Duration{0}, finish_ - state.since) : Duration{0}),
        .preemptions = state.preemptions,
        .first_grant = state.first_grant,
        .num_grants = state.num_grants,
        .tenant = state.tenant,
        .phase = state.phase};
  }

 private:
  std::vector<policy::Progress> progress_;
  std::unordered_map<JobId, Time> joined_;  // of those that joined later than the log says
  Time finish_{};
};

/// When a job joined the queue of a simulation: its wait and its completion time count from then.
inline Time joined(const trace::Request& request, const JobResult& result) {
  return result.joined != kNoTime ? result.joined : request.submit;
}

struct Schedule {
  JobResults jobs;                     ///< One a job of the trace; CPU jobs stay Phase::unknown
                                       ///< where nodes do not say how many cores they have.
  std::vector<cluster::Grant> grants;  ///< JobSchedule::first_grant ..+ num_grants: where it ran
                                       ///< last.
  std::vector<Sample> timeline;
  std::vector<std::pair<JobId, policy::Reason>> never;  ///< Jobs that can never start, and why.
  std::vector<Wait> waits;                              ///< Of the watched job.
  std::vector<JobWait> job_waits;                       ///< Of all jobs, if they are kept.
  std::vector<PaceChange> paces;                        ///< Of the watched job, where speeds are
                                                        ///< simulated.
  PaceLog pace_log;                                     ///< Of all jobs; empty where they are not.
  Time begin{};                                         ///< First arrival.
  Time finish{};                                        ///< Last event.
  double busy_gpu_s = 0;                                ///< Integral of GPUs in use.
  double total_gpu_s = 0;                               ///< Integral of GPUs in service.
  double spared_gpu_s = 0;                              ///< Integral of Sample::gpus_spared.
  NodeUse nodes{};
  std::vector<SignalUse> signal_uses{};  ///< One for each signal of the incidents.
  Window window{};
  SleepBound sleep_bound{};
  schedule::HeldBack held_back{};
  std::uint64_t failed_runs = 0;  ///< Jobs lost their nodes so often.
  std::uint64_t events = 0;
  double wall_s = 0;  ///< Time that the simulation took, on the wall.
  bool interrupted = false;
};

/// Whether a job is simulated: a CPU job is where nodes say how many cores they have.
bool is_simulated(const trace::Request& request, const cluster::Cluster& cluster);

/// Simulates the jobs of `trace` under `policy`.
///
/// Deterministic in its arguments. Cost: O(log running) an event plus the policy's; about 130 bytes
/// a job while it runs, 80 when it is done.
Schedule simulate(const trace::Trace& trace, const cluster::Cluster& cluster,
                  policy::Policy& policy, const Options& options);

}  // namespace almanac::sim
