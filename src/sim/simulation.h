// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a trace through a policy on a cluster, event by event.
///
/// Time jumps from event to event. Events at the same instant are reported together: ends first,
/// then arrivals, incidents, capacity changes, timers. A decision may cause events at its own
/// instant (a job without run time, an immediate timer); they are reported in a further round of
/// that instant.
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
#include "faults/log.h"
#include "policy/contract/contract.h"
#include "rules/elastic/application_file.h"
#include "schedule/round.h"
#include "sim/closures.h"
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
namespace almanac::faults {
struct Model;
}

namespace almanac::sim {

class ProgressRule;
class Services;

/// Receives the events for a policy before the policy does.
class Listener {
 public:
  virtual ~Listener() = default;
  /// `telemetry` is null if nothing is measured.
  virtual void hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
                    const policy::Telemetry* telemetry) = 0;
  /// The policy has decided, and its decision is in effect.
  virtual void decided(Time now, const schedule::Round& round, const policy::Telemetry* telemetry) {
    static_cast<void>(now);
    static_cast<void>(round);
    static_cast<void>(telemetry);
  }
  /// A task has been submitted, or what it depended on has ended, and its array has no room. All
  /// else of this instant has happened, and the policy has decided if there was anything to decide.
  virtual void throttled(Time now, JobId task, const schedule::Round& round,
                         const policy::Telemetry* telemetry) {
    static_cast<void>(now);
    static_cast<void>(task);
    static_cast<void>(round);
    static_cast<void>(telemetry);
  }
  /// A failed job has left the queue, and joins it again at `until`.
  virtual void paused(JobId job, Time until) {
    static_cast<void>(job);
    static_cast<void>(until);
  }
};

/// How jobs really run. Policies see none of it.
struct Truth {
  /// Speed of jobs by what they hold; null: always as recorded.
  const schedule::SpeedBook* speeds = nullptr;
  /// How jobs of these models train on more or fewer GPUs; null if there are none. Requires speeds.
  const elastic::Applications* applications = nullptr;
  const ProgressRule* progress = nullptr;            ///< Requires speeds; null for exact progress.
  const std::vector<Duration>* run_times = nullptr;  ///< By job; null for those of the log.
};

/// Cost of letting nodes sleep.
struct SleepCost {
  Duration boot = 5min;  ///< Time that a node takes to boot.
  /// Shortest idle gap worth sleeping in; only used for the bound.
  Duration least_sleep = 5min;
};

/// Which part of the log is simulated.
struct Range {
  /// State to continue from, instead of an empty cluster, without timeline and window. Jobs that
  /// are not in it and were submitted by then are over.
  const Present* from = nullptr;
  Time last_arrival = kNever;  ///< Jobs submitted later do not arrive.
  JobId until_ended = kNoJob;  ///< The simulation ends when this job has ended.
};

/// What a caller observes of a simulation, and how it stops one.
struct Watch {
  const std::atomic<bool>* stop = nullptr;        ///< Becomes true when the user interrupts.
  std::atomic<std::uint32_t>* arrived = nullptr;  ///< Counts arrivals, for a progress bar.
  JobId job = kNoJob;      ///< Job whose waits and paces are recorded in full.
  bool log_waits = false;  ///< Whether to record the waits of all jobs, as WaitLog does.
  Listener* listener = nullptr;
};

struct Options {
  std::string policy{};  ///< Name of the policy in messages.
  schedule::RestartCost restart{};
  SleepCost nodes{};
  std::uint64_t seed = 0;  ///< Of the view's random numbers.
  Truth truth{};
  /// Speeds that the policy believes in; null for the true ones.
  const policy::Speeds* believed = nullptr;
  /// Jobs start only if their claims, by position in the log, have room; null for no quotas.
  const policy::Quotas* quotas = nullptr;
  /// Events of nodes and signals; null for none. A job on a node that goes down waits, and
  /// continues from its last checkpoint.
  const cluster::Incidents* incidents = nullptr;
  /// Failures to draw, by `seed`; null for none. After a state, new ones are drawn.
  const faults::Model* failures = nullptr;
  /// Maintenance windows in which no job may run, in order of time. Nodes of a window must not be
  /// out of service for another reason.
  std::vector<Closure> closures{};
  /// Services to run next to the jobs; null for none. Requires Services::trace() as the trace, a
  /// policy::Serving as the policy, and Services::tell_speeds() with `truth.speeds` and `believed`,
  /// because they must include the replicas.
  Services* services = nullptr;
  Range range{};
  /// Time after the first arrival that `Schedule::window` leaves out.
  Duration warm_up{0};
  /// Of the samples; 0 for an interval that gives at most 100,000.
  Duration timeline_interval{0};
  /// Whether jobs that never ran in the log leave the queue when they left it there
  /// (sim/queue_rules.h), and jobs join after their dependencies. If false, every job arrives at
  /// its time and runs, as in the published simulators.
  bool keeps_queue_rules = true;
  Watch watch{};
};

/// State of the cluster after all events at or before `at`.
struct Sample {
  Time at{};
  std::int32_t gpus_total = 0;
  std::int32_t gpus_busy = 0;
  std::int64_t gpus_waiting = 0;
  std::uint32_t jobs_running = 0;
  std::uint32_t jobs_waiting = 0;
  std::int32_t nodes_on = 0;  ///< Includes booting nodes.
  std::int32_t nodes_asleep = 0;
  std::int32_t gpus_on = 0;  ///< Of nodes that are on; booting nodes do not count.
  std::int32_t gpus_booting = 0;
  std::int32_t gpus_asleep = 0;
  double gpus_computing = 0;  ///< NaN if speeds are not simulated.
  /// Number of busy GPUs that would draw the power that limits save.
  double gpus_spared = 0;
  double cpus_total = 0;  ///< Cores of nodes that give their number.
  double cpus_busy = 0;
};

/// Time in each state in GPU-seconds: a node counts with all its GPUs, in use or not.
struct NodeUse {
  double on_gpu_s = 0;
  double booting_gpu_s = 0;
  double asleep_gpu_s = 0;
  double asleep_node_s = 0;
  std::uint64_t wake_ups = 0;  ///< Instants at which nodes were woken.
  std::uint64_t nodes_woken = 0;
};

/// Use while jobs arrived: from the end of the warm-up to the last arrival. This leaves out the
/// empty cluster of the first hours and the long run of the last job.
struct Window {
  Time from{};
  Time until{};
  double total_gpu_s = 0;      ///< GPUs in service.
  double busy_gpu_s = 0;       ///< Held by jobs.
  double computing_gpu_s = 0;  ///< In use by computation; NaN if speeds are not simulated.
  double total_cpu_s = 0;  ///< Core-seconds in service, of nodes that give their number of cores.
  double busy_cpu_s = 0;
};

/// Result of one job; see Schedule::jobs.
struct JobResult {
  /// When it joined the queue, if later than Request::submit because a dependency ended later here
  /// than in the log.
  Time joined = kNoTime;
  Time start = kNoTime;  ///< First start.
  Time end = kNoTime;
  Duration ran{0};  ///< Total time on GPUs.
  std::uint32_t preemptions = 0;
  std::uint32_t first_grant = 0;
  std::uint16_t num_grants = 0;
  TenantId tenant = kNoTenant;  ///< Position in Cluster::tenants.
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
  std::unordered_map<JobId, Time> joined_;  // for jobs that joined later than in the log
  Time finish_{};
};

/// Returns when a job joined the queue of a simulation. Its wait and completion time count from
/// then.
inline Time joined(const trace::Request& request, const JobResult& result) {
  return result.joined != kNoTime ? result.joined : request.submit;
}

struct Schedule {
  /// One for each job of the trace. CPU jobs stay Phase::unknown if nodes do not give their number
  /// of cores.
  JobResults jobs;
  /// Next start of each job that had run before and waited when the simulation began.
  std::unordered_map<JobId, Time> resumed{};
  /// Last grants of a job, from JobSchedule::first_grant on.
  std::vector<cluster::Grant> grants;
  std::vector<Sample> timeline;
  std::vector<std::pair<JobId, policy::Reason>> never;  ///< Jobs that can never start, and why.
  std::vector<Wait> waits;                              ///< Of the watched job.
  std::vector<JobWait> job_waits;                       ///< Of all jobs, if recorded.
  /// Of the watched job, if speeds are simulated.
  std::vector<PaceChange> paces;
  PaceLog pace_log;         ///< Of all jobs; empty if speeds are not simulated.
  Time begin{};             ///< First arrival.
  Time finish{};            ///< Last event.
  double busy_gpu_s = 0;    ///< Integral of GPUs in use.
  double total_gpu_s = 0;   ///< Integral of GPUs in service.
  double spared_gpu_s = 0;  ///< Integral of Sample::gpus_spared.
  NodeUse nodes{};
  std::vector<SignalUse> signal_uses{};  ///< One for each signal of the incidents.
  Window window{};
  SleepBound sleep_bound{};
  schedule::HeldBack held_back{};
  std::uint64_t failed_runs = 0;  ///< Number of times that jobs lost their nodes.
  faults::Log failures{};         ///< Of Options::failures.
  std::uint64_t events = 0;
  double wall_s = 0;  ///< Wall-clock time of the simulation.
  bool interrupted = false;
};

/// Whether a job is simulated. CPU jobs are if nodes give their number of cores.
bool is_simulated(const trace::Request& request, const cluster::Cluster& cluster);

/// Simulates the jobs of `trace` under `policy`.
///
/// Deterministic in its arguments. Cost: O(log running) per event, plus the policy's cost; about
/// 130 bytes per running job, 80 per finished job.
Schedule simulate(const trace::Trace& trace, const cluster::Cluster& cluster,
                  policy::Policy& policy, const Options& options);

}  // namespace almanac::sim
