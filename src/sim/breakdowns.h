// SPDX-License-Identifier: Apache-2.0

/// \file
/// Failures of a simulation: what fails next, what each job has saved, which nodes replace which,
/// and the log of all that.
///
/// A job's *position* is its work done, checkpoints included, less what it must repeat. Between
/// checkpoints lie `interval` of work and the time to write one. A job that fails goes on from its
/// last checkpoint after its restart; a failure during the restart costs the restart again. A job
/// that pauses before it tries again leaves the queue meanwhile, so that others use its GPUs. A job
/// that a policy stops goes on where the policy's host says.
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "faults/job_faults.h"
#include "faults/log.h"
#include "faults/model.h"
#include "faults/node_faults.h"
#include "policy/contract/contract.h"
#include "sim/end_queue.h"
#include "trace/trace.h"

namespace almanac::sim {

class Breakdowns {
 public:
  /// The references must outlive it.
  Breakdowns(const faults::Model& model, const cluster::Cluster& cluster, const trace::Trace& trace,
             std::uint64_t seed, Time begin);

  enum class Kind : std::uint8_t { repaired, announced, node_failed, job_failed, retried };
  struct Event {
    Kind kind{};
    NodeId node = kNoNode;
    JobId job = kNoJob;
    std::uint16_t cause = 0;
    Time fails_at{};  ///< Of an announced failure.
    Duration repair{0};
  };

  /// Continues from a state in which `drained` are out of service. The state does not say why, so
  /// the last ones of each virtual cluster count as its spares, and the others return after a
  /// repair time drawn from the model.
  void resume(std::span<const NodeId> drained, Time now);

  /// Returns when the next event happens. No node fails while no job runs and none will arrive
  /// (`nothing_left`), so that a job that can never start does not keep the simulation going.
  Time next(bool nothing_left) const;
  /// Returns an event that is due at `now`; nothing if there is none.
  std::optional<Event> take(Time now);

  /// Returns the time in which `job` writes checkpoints during `work`.
  Duration writes(JobId job, Duration work) const;
  void started(JobId job, Time now, Duration attained);
  /// A policy stopped the job. `position` is less what the stop costs, `restart` of it for the
  /// restart.
  void stopped(JobId job, Duration position, Duration restart);
  void ended(JobId job);
  /// A running job fails at `position`. Returns the work that the failure adds: what the job
  /// repeats, and its restart.
  Duration fail(Time now, JobId job, Duration position, const Event& event);
  /// Returns when a job that has just failed tries again, as an event unless it is `now`; kNever if
  /// it gives up.
  Time retry(Time now, JobId job);
  /// A job that failed before the simulation tries again at `until`.
  void pause(JobId job, Time until) { pausing_.push(until, job); }
  bool any_pauses() const { return !pausing_.empty(); }
  bool pauses(JobId job) const { return pausing_.contains(job); }

  /// Whether a failure stops this running job.
  bool stops(const Event& event, std::span<const cluster::Grant> grants) const;
  /// Whether the node stays in service while jobs run on it that the failure does not stop.
  bool stays(const Event& event) const {
    return model_.causes[event.cause].unit == faults::Unit::link;
  }
  /// Nodes that are out of service until others fail.
  const std::vector<NodeId>& spares() const { return spares_; }
  /// A node leaves for repair. Returns the spare node that replaces it; nothing if none is left.
  std::optional<NodeId> send_out(Time now, const Event& event);
  /// A node returns. Returns whether it goes into service; otherwise it is a spare from now on.
  bool take_back(NodeId node, Time now);

  /// Returns the log. `progress` are all jobs at `now`, `works` their work without checkpoints.
  faults::Log take_log(std::span<const policy::Progress> progress, std::span<const Duration> works,
                       Time now);

 private:
  struct Job {
    Duration saved{0};   ///< Position of the last checkpoint.
    Duration useful{0};  ///< Largest `saved` so far.
    std::uint32_t interruptions = 0;
    std::int32_t in_row = 0;  ///< Failures since the last new checkpoint.
    std::uint32_t open = 0;   ///< Number of the interruption that it waits after; 0 = none.
    Duration seen{0};         ///< `saved` at the last failure.
  };
  struct Node {
    int failures = 0;
    Time since{};           ///< When it came into service.
    Duration out{0};        ///< Time out of service or as a spare since then.
    Time spare_since{};     ///< When it last became a spare.
    bool replaced = false;  ///< A spare has its place.
  };
  using Return = std::pair<Time, NodeId>;

  int gpus_per_node(JobId job) const;
  Duration interval(JobId job) const;
  Duration restart(JobId job) const;
  bool gave_up(JobId job) const { return jobs_[index(job)].in_row >= model_.retry.most; }
  /// Returns the pause of a job that has just failed.
  Duration back_off(JobId job) const;
  int gpus_of(NodeId node) const {
    return cluster_.classes[cluster_.nodes[index(node)].node_class].gpus;
  }

  const faults::Model& model_;
  const cluster::Cluster& cluster_;
  const trace::Trace& trace_;
  faults::NodeFaults node_faults_;
  faults::JobFaults job_faults_;
  EndQueue failing_;  // jobs that fail by themselves, by when
  EndQueue pausing_;  // jobs that try again, by when
  std::priority_queue<Return, std::vector<Return>, std::greater<>> returns_;
  std::vector<Job> jobs_;
  std::vector<Node> nodes_;
  std::vector<NodeId> spares_;
  faults::Log log_;
  int most_gpus_ = 1;  // of a node
};

}  // namespace almanac::sim
