// SPDX-License-Identifier: Apache-2.0

/// \file
/// Answers a policy how fast each job of a trace runs with what it is given (policy::Speeds) by the
/// speed models of `perf`, asked in the terms of a cluster.
///
/// A rate of 1 is the speed at which the job's run time was recorded: with the cores and memory of
/// Outcome::reference_cpus and reference_memory_gb, else with those that it asked, on as few nodes
/// as hold its GPUs, of the type that it asked, without neighbours that it did not ask for. A job
/// that tells its batch and its steps, of a model that says what they mean (perf/genie.h), keeps
/// both on any number of GPUs: its rate is the latency at the reference by that on what it holds. A
/// CPU job runs in proportion to its cores, up to those that it asked. What is recorded ran without
/// a power limit. Where a log says on which MIG instance, or on all of a board, it was recorded
/// (Outcome::reference_profile), speed is in proportion to multiprocessors; instances do not slow
/// each other. A job that runs on what it would take instead (Request::alternatives) does so at
/// the rate that it says, whatever its model.
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

/// Whether a log tells what jobs send or read over what the cluster tells of links or storage: then
/// jobs have speeds, whatever models are known.
bool tells_traffic(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Whether jobs have speeds for what they share GPUs by: MPS, time slices, or instances that are
/// not what their run times were recorded on.
bool tells_sharing(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Read-only once made, so that several runs may ask at once. Cost: 8 bytes a job.
class SpeedBook final : public policy::Speeds {
 public:
  SpeedBook(const cluster::Cluster& cluster, const trace::Trace& trace, perf::Catalogue catalogue,
            policy::PowerLimits limits = {});
  SpeedBook(const SpeedBook&) = delete;
  SpeedBook& operator=(const SpeedBook&) = delete;
  /// By the same models and limits, of the jobs of another trace. `cluster` is as this one's.
  std::unique_ptr<SpeedBook> of(const cluster::Cluster& cluster, const trace::Trace& trace) const;
  /// Takes in the jobs that its trace has behind those that it had: replicas of services. What they
  /// send, read or take instead is not looked at.
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
  /// What a GPU job tells of batch and steps, ready to be asked; null where it does not, or its
  /// model does not say what they mean.
  const perf::GenieTask* task(JobId job) const { return of(job).speed.task(); }
  policy::SpeedModelId model(JobId job) const override {
    return jobs_[index(job)].alike == kCpuJob ? policy::kNoSpeedModel : of(job).model;
  }
  bool tells_types(JobId job) const override;
  /// As the log tells it (Outcome::network_s), else as the model's steps are longer than one GPU's
  /// on as many nodes, at full speed of the link.
  std::optional<links::Flow> flow(JobId job, std::span<const cluster::Grant> grants) const override;
  std::optional<policy::Reading> reading(JobId job) const override;
  double theta() const override { return models_.catalogue().theta; }
  /// What power limits take off the draw of a GPU of this node that the job has
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
  /// What the user should know of the models that were found, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// GPU jobs that are alike.
  struct Alike {
    perf::JobSpeed speed;
    policy::SpeedModelId model;
    int gpus;
    int nodes;
    perf::GpuType type;
    std::vector<double> power;  ///< By class of nodes; empty = no node has a power limit.
    double use;                 ///< Of a GPU; 0 where there are no power limits.
  };
  /// What a job would take instead of what it asks.
  struct Instead {
    int gpus;
    std::vector<bool> will_do;  ///< By class of nodes.
    double cpus;                ///< Of one without GPUs.
    double rate;
  };
  struct JobModel {
    std::uint32_t alike = kCpuJob;  // position in alike_
    float cpus = 0;                 // that a CPU job asks
  };
  static constexpr std::uint32_t kCpuJob = ~std::uint32_t{0};

  void add_alternatives(const trace::Trace& trace);
  void add_traffic(const cluster::Cluster& cluster, const trace::Trace& trace);
  /// How fast a job is with what it took instead of what it asks; nothing where it did not.
  std::optional<double> instead(JobId job, std::span<const cluster::Grant> grants) const;
  const perf::SpeedModel& speed_model(JobId job) const { return of(job).speed.model(); }
  const Alike& of(JobId job) const { return alike_[jobs_[index(job)].alike]; }
  void add_gpu_jobs(const trace::Trace& trace, std::size_t from);
  /// What share of the multiprocessors a job has, beside those that it was recorded with: of the
  /// slowest of its GPUs.
  double on_instance(JobId job, std::span<const cluster::Grant> grants) const;
  /// Grants of `gpus` GPUs, each with so much, on `nodes` nodes; 0 = on as few of the usual as hold
  /// them.
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
  std::unordered_map<JobId, std::vector<Instead>> instead_;  // as asked first
  std::unordered_map<JobId, slices::ProfileId> references_;  // that are told; kNoProfile = a board
  bool has_links_ = false;
  std::unordered_map<JobId, links::Flow> flows_;  // that are told
  std::unordered_map<JobId, policy::Reading> readings_;
  std::vector<std::string> notes_;
};

}  // namespace almanac::schedule
