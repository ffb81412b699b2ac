// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs jobs at the speed that what they hold and their neighbours on a node allow, and moves their
/// ends when that changes.
///
/// A job's run time in the trace is its work; at rate r it takes 1/r of that. What a job holds
/// decides its rate alone (schedule/speed_book.h). Jobs on the same GPUs slow each other
/// (shared_gpus.h, perf/beside.h); one that yields does not slow the others. A node whose memory
/// bandwidth is overdrawn slows those of its jobs that use some (perf/bandwidth.h), a crowded link
/// those that send over it (shared_links.h), and storage those that read from it
/// (shared_storage.h): the scarcest of the three decides, for a job that waits for one asks less of
/// the others. What power limits take off the draw of the GPUs in use is counted too; of a GPU held
/// in parts, of those parts. Elastic jobs run as their application does (courses.h), slowed by
/// power limits, neighbours and bandwidth alike.
///
/// Cost     A start, an end or a resize costs one rate; one for each job on the same GPUs, twice
///          where they slow each other; and one step for each job on the same nodes that uses
///          memory bandwidth where the node says how much it has. Jobs whose rate stays are not
///          moved. 56 bytes a job, and those of the log.
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
  /// `rule` null = progress is exact. `applications` null = no job is elastic. Both outlive it.
  Pacer(const cluster::Cluster& cluster, const trace::Trace& trace,
        const schedule::SpeedBook& speeds, EndQueue& ends, const ProgressRule* rule = nullptr,
        const elastic::Applications* applications = nullptr);

  /// `job` runs from `now` on with `held` until it has done `work`. Puts its end in the queue.
  void start(JobId job, std::span<const cluster::Grant> held, Duration work, Time now,
             const policy::Config& config = {});
  /// It had done `work` before the simulation began.
  void credit(JobId job, Duration work);
  /// It is stopped; its end is taken out of the queue.
  void stop(JobId job, Time now);
  /// Its end, taken out of the queue, has come.
  void end(JobId job, Time now);
  /// It holds `held` now, other cores and memory of the same nodes, or runs in another way.
  void resize(JobId job, std::span<const cluster::Grant> held, Time now,
              const policy::Config& config = {});
  /// When the next job reports something, or runs at another rate by itself; kNever = none will.
  Time next_report() const { return reports_.empty() ? kNever : reports_.next(); }
  JobId next_reporter() const { return reports_.job(); }
  /// That is now, and it holds `held`. The value of job_reported; nothing = it reports nothing.
  std::optional<double> report(std::span<const cluster::Grant> held, Time now);

  /// The log of all that ran until `now`, for good: nothing runs on.
  PaceLog take_log(Time now);

  /// GPUs that compute, as many as if they did nothing else.
  double computing_gpus() const { return in_gpus(computing_); }
  /// GPUs in use, as many as would draw what power limits spare.
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
    double alone = 0;     // the rate without contention for bandwidth; 0 = does not run
    float computing = 0;  // the share of its time in which its GPUs compute for it, likewise
    float contention = 1;
    float spared = 0;            // see spared_gpus()
    std::int32_t gpu_milli = 0;  // that it holds, which may be others than it asks
    std::int32_t power_w = 0;    // Config::power_w
    bool yields = false;         // Config::yields

    double rate() const { return alone * contention; }
  };
  struct Node {
    std::vector<JobId> jobs;  // that use memory bandwidth
    double asked_gbs = 0;
    double speed = 1;
  };

  /// A rate, and the jobs that slow it: those of the most crowded of its GPUs.
  struct Shared {
    policy::Pace pace;
    std::vector<JobId> beside;
    double neighbours = 1;  ///< The factor of these, where it is how they share that decides.
  };

  /// Whether it is of the trace as that was at first, and no replica of a service.
  bool paces(JobId job) const { return index(job) < jobs_.size(); }
  double use_of(JobId job) const;
  double drawn_by(JobId job) const;
  Shared shared_pace(JobId job, std::span<const cluster::Grant> held) const;
  /// Works the rates of sharers out anew.
  void retime(std::span<const JobId> jobs, Time now);

  /// What the job asks of each of its nodes when nothing is overdrawn, in GB/s.
  double asked_of_each(JobId job, std::size_t nodes) const;
  bool contends(JobId job) const {
    return !nodes_.empty() && trace_.jobs[index(job)].outcome.bandwidth_gbs > 0;
  }
  /// A running job holds `held`, or has other neighbours.
  void pace_anew(JobId job, std::span<const cluster::Grant> held, Time now);
  void set_alone(JobId job, std::span<const cluster::Grant> held, Time now);
  float spared_by(JobId job, std::span<const cluster::Grant> held) const;
  /// An elastic job is to hold `held` from now on.
  void set_course(JobId job, std::span<const cluster::Grant> held, const policy::Config& config);
  /// The rate at which the whole steps of a lease are done, if they are asked.
  void settle(JobId job, Time now);
  void count(JobId job, int sign);
  /// After what is asked of a node has changed.
  void judge(NodeId node, Time now);
  void slow(JobId job, Time now);
  double contention_of(JobId job) const;
  /// A job that starts, or is to run otherwise, sends and reads so; slows those that this concerns.
  void share_traffic(JobId job, std::span<const cluster::Grant> held, const policy::Config& config,
                     Time now);
  void slow_all(std::span<const JobId> jobs, Time now);
  void expect_end(JobId job, Time now, bool queued);
  /// Puts the next report of a job in its queue, in place of the one that may be there.
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
  std::vector<Node> nodes_;  // none if no node says its bandwidth
  /// The nodes of those running jobs that contend; beside Round's, which change first.
  std::vector<std::vector<NodeId>> nodes_of_;
  GpuUnits computing_ = 0;
  GpuUnits spared_ = 0;
};

}  // namespace almanac::sim
