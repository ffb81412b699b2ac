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
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/quotas.h"
#include "policy/reason.h"
#include "policy/restart_cost.h"
#include "policy/speed_book.h"
#include "trace/job.h"

namespace almanac::policy {

/// In the order in which events of one instant are told. A job is withdrawn that waits and shall no
/// longer: its user has cancelled or held it. A job is adopted that runs already when a policy is
/// new: a service that starts again, a forecast.
enum class EventKind : std::uint8_t {
  job_ended,
  job_withdrawn,
  job_adopted,
  job_arrived,
  capacity_changed,
  timer
};

struct Event {
  EventKind kind{};
  std::uint32_t subject = 0;  ///< JobId, VcId; nothing for a timer.
};

enum class Phase : std::uint8_t { unknown, waiting, running, ended, withdrawn, never };

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
  Phase phase = Phase::unknown;
};

/// What is measured while jobs run, with what they hold now. Nothing = not known: nobody tells it,
/// or it is too early after a start or a resize.
class Telemetry {
 public:
  virtual ~Telemetry() = default;
  /// The share of its time in which a running job's GPUs compute.
  virtual std::optional<double> gpu_use(JobId job) const = 0;
  /// Whether that will be known of a job once it has run for a while.
  virtual bool will_know_gpu_use(JobId job) const = 0;
  /// What it draws of its nodes' memory bandwidth, in GB/s.
  virtual std::optional<double> bandwidth_gbs(JobId job) const = 0;
  /// What all jobs of a node draw.
  virtual std::optional<double> bandwidth_gbs(NodeId node) const = 0;
  /// How often something new is told while nobody starts, ends or is resized; kNoDuration = never.
  virtual Duration renewed_every() const = 0;
  /// Work that a job has done until `now`, as time at the speed at which its run time is given.
  virtual std::optional<Duration> worked(JobId job, Time now) const = 0;
};

/// What a policy may know at `now`: no outcome of a job that has not ended.
class View {
 public:
  /// All may grow while the view lasts.
  View(const cluster::Cluster& machines, const std::vector<trace::Job>& jobs,
       const std::vector<Progress>& progress, const std::vector<cluster::Demand>& demands,
       const std::vector<cluster::Grant>& grants, Rng& random)
      : cluster(machines),
        rng(random),
        jobs_(jobs),
        progress_(progress),
        demands_(demands),
        grants_(grants) {}

  Time now{};
  const cluster::Cluster& cluster;
  Rng& rng;
  const SpeedBook* speeds = nullptr;     ///< How fast jobs run with what, as profiled; null = all
                                         ///< run as recorded.
  RestartCost restart{};                 ///< What it will cost a job to be stopped.
  const Telemetry* telemetry = nullptr;  ///< Null = nothing is ever measured.

  const trace::Request& request(JobId job) const { return jobs_[index(job)].request; }
  const Progress& progress(JobId job) const { return progress_[index(job)]; }
  /// How a job that has ended did end.
  trace::JobState state(JobId job) const {
    ALMANAC_CHECK(progress(job).phase == Phase::ended, "job {} has not ended", index(job));
    return jobs_[index(job)].outcome.state;
  }
  const cluster::Demand& demand(DemandId id) const { return demands_[index(id)]; }
  std::size_t num_demands() const { return demands_.size(); }
  std::size_t num_jobs() const { return jobs_.size(); }
  /// What a running job holds.
  std::span<const cluster::Grant> grants(JobId job) const {
    const Progress& state = progress(job);
    return {grants_.data() + state.first_grant, state.num_grants};
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
  const std::vector<trace::Job>& jobs_;
  const std::vector<Progress>& progress_;
  const std::vector<cluster::Demand>& demands_;
  const std::vector<cluster::Grant>& grants_;
};

/// What shall change; whatever is not mentioned stays as it is.
///
/// The ledger is the cluster as the plan so far would leave it. A policy takes GPUs there and then
/// says whose they are; what it takes for a what-if it must undo before it returns. What is said
/// counts for quotas at once.
class Plan {
 public:
  /// A job and what it is to hold.
  struct Start {
    JobId job{};
    std::uint32_t first_grant = 0;
    std::uint32_t num_grants = 0;
  };

  explicit Plan(cluster::Ledger& working_copy) : ledger(working_copy) {}

  cluster::Ledger& ledger;
  Quotas* quotas = nullptr;  ///< Null = there are none.

  /// Starts a waiting job on `grants`, which are already taken in the ledger; where one of the
  /// nodes still boots, once it is there. Its claim must have room.
  void start(JobId job, std::span<const cluster::Grant> held) {
    if (quotas != nullptr) quotas->take(quotas->of(job));
    starts.push_back(
        {job, static_cast<std::uint32_t>(grants.size()), static_cast<std::uint32_t>(held.size())});
    grants.insert(grants.end(), held.begin(), held.end());
  }
  /// Gives a running job other cores and memory, or another part of each GPU, on the same GPUs;
  /// what it lets go is given back in the ledger already, and what it gains is taken.
  void resize(JobId job, std::span<const cluster::Grant> held) {
    resizes.push_back(
        {job, static_cast<std::uint32_t>(grants.size()), static_cast<std::uint32_t>(held.size())});
    grants.insert(grants.end(), held.begin(), held.end());
  }
  /// Preempts a running job, whose grants are already given back in the ledger.
  void stop(JobId job) {
    if (quotas != nullptr) quotas->give_back(quotas->of(job));
    stops.push_back(job);
  }
  /// Sends a node that runs nothing to sleep; in the ledger at once.
  void sleep(NodeId node) {
    ledger.set_power(node, cluster::Power::asleep);
    sleeps.push_back(node);
  }
  /// Boots a node that sleeps. Once it is there, the host tells capacity_changed.
  void boot(NodeId node) {
    ledger.set_power(node, cluster::Power::booting);
    boots.push_back(node);
  }
  /// Says that a waiting job would run now if no node slept or booted.
  void hold_back(JobId job) { held_back.push_back(job); }
  /// Asks for a timer event; at `now` means one more decision at this instant.
  void wake(Time at) { wakes.push_back(at); }
  void clear() {
    stops.clear();
    resizes.clear();
    starts.clear();
    grants.clear();
    sleeps.clear();
    boots.clear();
    held_back.clear();
    wakes.clear();
  }

  std::vector<JobId> stops;
  std::vector<Start> resizes;
  std::vector<Start> starts;  ///< After stops: a job in both moves.
  std::vector<cluster::Grant> grants;
  std::vector<NodeId> sleeps;
  std::vector<NodeId> boots;
  std::vector<JobId> held_back;
  std::vector<Time> wakes;
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Answers all events of one instant at once. Same calls, same plans.
  virtual void decide(std::span<const Event> events, const View& view, Plan& plan) = 0;
  /// Why `job`, which waits, does not run now. `ledger` is left as it was.
  virtual Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const = 0;
  /// Appends the jobs that wait after the last decision, those of each virtual cluster in the order
  /// in which it looks at them; not those yet that it stopped, nor whom quotas leave aside.
  virtual void line_up(std::vector<JobId>& line) const = 0;
};

}  // namespace almanac::policy
