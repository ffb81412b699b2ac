// SPDX-License-Identifier: Apache-2.0

/// \file
/// Answers how fast each job of a trace runs with given resources (policy::Speeds), by the speed
/// models of `perf` in the terms of a cluster.
///
/// A rate of 1 is the speed at which the job's run time was recorded: with the cores and memory of
/// Outcome::reference_cpus and reference_memory_gb, otherwise with those that it requested; on as
/// few nodes as possible; on the type that it requested; without neighbors, unless it requested
/// part of a GPU. A job that gives batch size and steps, for a model that defines them
/// (perf/genie.h), keeps both on any number of GPUs: its rate is the latency at the reference
/// divided by that on what it holds. The rate of a CPU job is proportional to its cores, up to
/// those requested. Recorded runs had no power limit. If a log gives the MIG instance, or the whole
/// board, of the recorded run (Outcome::reference_profile), speed is proportional to
/// multiprocessors; instances do not slow each other. A job that runs on one of its alternatives
/// (Request::alternatives) has the rate given there, whatever its model.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "perf/speed_models.h"
#include "policy/contract/power_limits.h"
#include "policy/contract/speeds.h"
#include "rules/links/contention.h"
#include "trace/trace.h"

namespace almanac::schedule {

/// Whether a log gives the traffic of jobs, and the cluster the links or storage that carry it. If
/// so, jobs have speeds even without known models.
bool tells_traffic(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Whether jobs have speeds for what they share GPUs by: MPS, time slices, or instances that are
/// not what their run times were recorded on.
bool tells_sharing(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Read-only once constructed, so several runs may use it at once. Cost: 8 bytes per job.
class SpeedBook final : public policy::Speeds {
 public:
  SpeedBook(const cluster::Cluster& cluster, const trace::Trace& trace, perf::Catalogue catalogue,
            policy::PowerLimits limits = {});
  SpeedBook(const SpeedBook&) = delete;
  SpeedBook& operator=(const SpeedBook&) = delete;
  /// Returns a book for the jobs of another trace, with the same models and limits. `cluster` must
  /// equal this book's.
  std::unique_ptr<SpeedBook> of(const cluster::Cluster& cluster, const trace::Trace& trace) const;
  /// Adds jobs appended to its trace: replicas of services. Ignores their traffic and alternatives.
  void take_in(const trace::Trace& trace);

  policy::Pace pace(JobId job, std::span<const cluster::Grant> grants,
                    std::span<const JobId> beside = {}, int power_w = 0,
                    bool yields = false) const override;
  /// Returns the factors of a GPU job's pace.
  perf::Parts parts(JobId job, std::span<const cluster::Grant> grants,
                    std::span<const JobId> beside = {}, int power_w = 0, bool yields = false) const;
  using policy::Speeds::rate;
  double rate(JobId job, const cluster::Amount& unit) const override;
  double rate(JobId job, int nodes, int gpus_per_node) const override {
    const Alike& alike = of(job);
    return alike.speed.rate(nodes, gpus_per_node, power_of(alike, usual_class_));
  }
  double power(JobId job, std::span<const cluster::Grant> grants, int power_w) const override;
  /// Returns the batch size and steps of a GPU job, ready for queries; null if the job does not
  /// give them, or its model does not define them.
  const perf::GenieTask* task(JobId job) const { return of(job).speed.task(); }
  policy::SpeedModelId model(JobId job) const override {
    return jobs_[index(job)].alike == kCpuJob ? policy::kNoSpeedModel : of(job).model;
  }
  bool tells_types(JobId job) const override;
  /// Returns the traffic from the log (Outcome::network_s). Otherwise it is the extra step time of
  /// the model on this many nodes relative to one GPU, at full link speed.
  std::optional<links::Flow> flow(JobId job, std::span<const cluster::Grant> grants) const override;
  std::optional<policy::Reading> reading(JobId job) const override;
  double theta() const override { return models_.catalogue().theta; }
  /// Returns the power that limits save on a GPU of this node that the job uses
  /// (PowerLimits::spared()).
  double spared(JobId job, NodeId node, int power_w) const {
    return limits_.spared(use(job), class_of_[index(node)], power_w);
  }
  const policy::PowerLimits* job_limits() const override {
    return limits_.may_be_set() ? &limits_ : nullptr;
  }
  double use(JobId job) const override {
    return jobs_[index(job)].alike == kCpuJob ? limits_.usual_use() : of(job).use;
  }
  /// Notes for the user about the models found, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// GPU jobs that are alike.
  struct Alike {
    perf::JobSpeed speed;
    policy::SpeedModelId model;
    int gpus;
    int nodes;
    perf::GpuType type;
    std::vector<double> power;  ///< By class of nodes; empty if no node has a power limit.
    double use;                 ///< Of a GPU; 0 without power limits.
  };
  /// An alternative of a job.
  struct Instead {
    int gpus;
    std::vector<bool> will_do;  ///< By class of nodes.
    double cpus;                ///< For one without GPUs.
    double rate;
  };
  struct JobModel {
    std::uint32_t alike = kCpuJob;  // position in alike_
    float cpus = 0;                 // requested by a CPU job
  };
  static constexpr std::uint32_t kCpuJob = ~std::uint32_t{0};

  void add_alternatives(const trace::Trace& trace);
  void add_traffic(const cluster::Cluster& cluster, const trace::Trace& trace);
  /// Returns the speed of a job on an alternative; nothing if it runs on its own request.
  std::optional<double> instead(JobId job, std::span<const cluster::Grant> grants) const;
  const perf::SpeedModel& speed_model(JobId job) const { return of(job).speed.model(); }
  const Alike& of(JobId job) const { return alike_[jobs_[index(job)].alike]; }
  void add_gpu_jobs(const trace::Trace& trace, std::size_t from);
  /// Returns the multiprocessors of a job relative to its recorded run, for the slowest of its
  /// GPUs.
  double on_instance(JobId job, std::span<const cluster::Grant> grants) const;
  /// Returns grants of `gpus` GPUs, each like `each`, on `nodes` nodes; 0 for as few usual nodes as
  /// possible.
  std::vector<perf::Grant> spread(int gpus, int nodes, const perf::Grant& each) const;
  perf::Grant reference_gpu(const trace::Job& job, const Names& names) const;
  perf::Grant translated(const Alike& alike, const cluster::Grant& grant, int power_w) const;
  double power_of(const Alike& alike, std::size_t node_class, int power_w) const {
    if (power_w == 0 || alike.power.empty()) return power_of(alike, node_class);
    return limits_.speed(alike.use, node_class, power_w);
  }
  static double power_of(const Alike& alike, std::size_t node_class) {
    return alike.power.empty() ? 1 : alike.power[node_class];
  }

  perf::SpeedModels models_;
  policy::PowerLimits limits_;
  std::vector<cluster::NodeClass> classes_;
  std::vector<std::uint32_t> class_of_;  // of each node
  std::vector<perf::GpuType> type_of_class_;
  std::size_t usual_class_;  // what most nodes with GPUs are
  cluster::NodeClass usual_;
  std::vector<JobModel> jobs_;
  std::deque<Alike> alike_;
  std::unordered_map<const perf::SpeedModel*, policy::SpeedModelId> model_ids_;
  std::unordered_map<JobId, std::vector<Instead>> instead_;  // its own request first
  std::unordered_map<JobId, slices::ProfileId> references_;  // where given; kNoProfile for a board
  bool has_links_ = false;
  std::unordered_map<JobId, links::Flow> flows_;  // where given
  std::unordered_map<JobId, policy::Reading> readings_;
  std::vector<std::string> notes_;
};

}  // namespace almanac::schedule
