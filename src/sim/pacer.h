// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs each job at the speed that its resources and its neighbors allow, and moves its end when
/// the speed changes.
///
/// A job's run time in the trace is its work; at rate r it takes 1/r of that. A job alone runs at a
/// rate that depends only on what it holds (schedule/speed_book.h). Jobs on the same GPUs slow each
/// other (shared_gpus.h, perf/beside.h); a job that yields does not slow the others. A node with
/// overdrawn memory bandwidth slows the jobs that use it (perf/bandwidth.h), a crowded link slows
/// the jobs that send over it (shared_links.h), and storage slows the jobs that read from it
/// (shared_storage.h). The scarcest of the three decides, because a job that waits for one needs
/// less of the others. Power saved by limits on the GPUs in use is counted too; for GPUs held in
/// parts, on those parts. Elastic jobs run as their application does (courses.h), slowed by power
/// limits, neighbors and bandwidth like others.
///
/// Cost     One rate for each start, end or resize; one for each job on the same GPUs, two if they
///          slow each other; and one step for each job on the same nodes that uses memory
///          bandwidth, if the node gives its bandwidth. Jobs whose rate is unchanged are not moved.
///          56 bytes per job, plus those of the log.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "policy/contract/contract.h"
#include "schedule/speed_book.h"
#include "sim/courses.h"
#include "sim/end_queue.h"
#include "sim/pace.h"
#include "sim/pace_log.h"
#include "sim/progress_rule.h"
#include "sim/shared_gpus.h"
#include "sim/shared_links.h"
#include "sim/shared_storage.h"
#include "trace/trace.h"

namespace almanac::sim {

class Pacer final : public policy::Telemetry {
 public:
  /// `rule` null: exact progress. `applications` null: no elastic jobs. Both must outlive it.
  Pacer(const cluster::Cluster& cluster, const trace::Trace& trace,
        const schedule::SpeedBook& speeds, EndQueue& ends, const ProgressRule* rule = nullptr,
        const elastic::Applications* applications = nullptr);

  /// Starts `job` with `held` at `now`, to run until it has done `work`. Adds its end to the queue.
  void start(JobId job, std::span<const cluster::Grant> held, Duration work, Time now,
             const policy::Config& config = {});
  /// The job had done `work` before the simulation began.
  void credit(JobId job, Duration work);
  /// Stops the job and removes its end from the queue.
  void stop(JobId job, Time now);
  /// Ends the job. Its end must already be out of the queue.
  void end(JobId job, Time now);
  /// The job now holds `held`, with other cores and memory on the same nodes, or runs with another
  /// `config`.
  void resize(JobId job, std::span<const cluster::Grant> held, Time now,
              const policy::Config& config = {});
  /// Returns when the next job reports something, or changes its rate by itself; kNever if none
  /// will.
  Time next_report() const { return reports_.empty() ? kNever : reports_.next(); }
  JobId next_reporter() const { return reports_.job(); }
  /// Handles the report that is due now, from the job that holds `held`. Returns the value for
  /// job_reported, or nothing if it reports nothing.
  std::optional<double> report(std::span<const cluster::Grant> held, Time now);

  /// Returns the log of everything that ran until `now`. No job may run afterwards.
  PaceLog take_log(Time now);

  /// Returns GPUs that compute, as the equivalent number of fully busy GPUs.
  double computing_gpus() const { return in_gpus(computing_); }
  /// Returns the number of busy GPUs that would draw the power that limits save.
  double spared_gpus() const { return in_gpus(spared_); }
  PaceChange explain(JobId job, std::span<const cluster::Grant> held, Time now) const;

  std::optional<double> gpu_use(JobId job) const override {
    return paces(job) ? std::optional(use_of(job)) : std::nullopt;
  }
  bool will_know_gpu_use(JobId job) const override { return paces(job); }
  std::optional<double> bandwidth_gbs(JobId job) const override {
    return paces(job) ? std::optional(drawn_by(job)) : std::nullopt;
  }
  std::optional<double> bandwidth_gbs(NodeId node) const override;
  Duration renewed_every() const override { return kNoDuration; }
  std::optional<Duration> worked(JobId job, Time now) const override;
  std::optional<policy::Training> training(JobId job, Time now) const override;

 private:
  struct Job {
    double done_ms = 0;  // work until `since`
    double work_ms = 0;
    Time since{};
    double alone = 0;     // rate without bandwidth contention; 0 if it does not run
    float computing = 0;  // fraction of its time in which its GPUs compute for it, likewise
    float contention = 1;
    float spared = 0;            // see spared_gpus()
    std::int32_t gpu_milli = 0;  // held, which may differ from what it requested
    std::int32_t power_w = 0;    // Config::power_w
    bool yields = false;         // Config::yields

    double rate() const { return alone * contention; }
  };
  struct Node {
    std::vector<JobId> jobs;  // those that use memory bandwidth
    double asked_gbs = 0;
    double speed = 1;
  };

  /// A rate, and the jobs that cause it: those on the most crowded of its GPUs.
  struct Shared {
    policy::Pace pace;
    std::vector<JobId> beside;
    double neighbours = 1;  ///< Their factor, if the way they share decides the rate.
  };

  /// Whether the job is in the original trace, and not a replica of a service.
  bool paces(JobId job) const { return index(job) < jobs_.size(); }
  double use_of(JobId job) const;
  double drawn_by(JobId job) const;
  Shared shared_pace(JobId job, std::span<const cluster::Grant> held) const;
  /// Recomputes the rates of jobs that share GPUs.
  void retime(std::span<const JobId> jobs, Time now);

  /// Returns the bandwidth that the job needs from each of its nodes if none is overdrawn, in GB/s.
  double asked_of_each(JobId job, std::size_t nodes) const;
  bool contends(JobId job) const {
    return !nodes_.empty() && trace_.jobs[index(job)].outcome.bandwidth_gbs > 0;
  }
  /// Recomputes the rate of a running job that holds `held`, or has other neighbors.
  void pace_anew(JobId job, std::span<const cluster::Grant> held, Time now);
  void set_alone(JobId job, std::span<const cluster::Grant> held, Time now);
  float spared_by(JobId job, std::span<const cluster::Grant> held) const;
  /// Gives an elastic job `held` from now on.
  void set_course(JobId job, std::span<const cluster::Grant> held, const policy::Config& config);
  /// Returns the rate that a lease of whole steps gives, if steps are required.
  void settle(JobId job, Time now);
  void count(JobId job, int sign);
  /// Recomputes the rates on a node whose load has changed.
  void judge(NodeId node, Time now);
  void slow(JobId job, Time now);
  double contention_of(JobId job) const;
  /// Registers the traffic of a job that starts or changes, and slows the jobs that it affects.
  void share_traffic(JobId job, std::span<const cluster::Grant> held, const policy::Config& config,
                     Time now);
  void slow_all(std::span<const JobId> jobs, Time now);
  void expect_end(JobId job, Time now, bool queued);
  /// Queues the next report of a job, replacing any earlier one.
  void expect_report(JobId job, Time now);
  perf::Parts parts_of(JobId job, std::span<const cluster::Grant> held, const Shared& shared,
                       double alone) const;

  const cluster::Cluster& cluster_;
  const trace::Trace& trace_;
  const schedule::SpeedBook& speeds_;
  EndQueue& ends_;
  const ProgressRule* rule_;
  PaceLog log_;
  SharedGpus shared_;
  SharedLinks links_;
  SharedStorage storage_;
  Courses courses_;
  EndQueue reports_;
  std::vector<Job> jobs_;
  std::vector<Node> nodes_;  // empty if no node gives its bandwidth
  /// The nodes of running jobs that contend. Kept in addition to Round's, which change first.
  std::vector<std::vector<NodeId>> nodes_of_;
  GpuUnits computing_ = 0;
  GpuUnits spared_ = 0;
};

}  // namespace almanac::sim
