// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast each job of a trace runs with what it is given: the speed models of `perf`, asked in
/// the terms of a cluster.
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
#include "rules/links/contention.h"
#include "trace/trace.h"

namespace almanac::policy {

/// Whether a log tells what jobs send or read over what the cluster tells of links or storage: then
/// jobs have speeds, whatever models are known.
bool tells_traffic(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Whether jobs have speeds for what they share GPUs by: MPS, time slices, or instances that are
/// not what their run times were recorded on.
bool tells_sharing(const trace::Trace& trace, const cluster::Cluster& cluster);

/// Read-only once made, so that several runs may ask at once. Cost: 8 bytes a job.
class SpeedBook {
 public:
  SpeedBook(const cluster::Cluster& cluster, const trace::Trace& trace, perf::Catalogue catalogue,
            PowerLimits limits = {});
  SpeedBook(const SpeedBook&) = delete;
  SpeedBook& operator=(const SpeedBook&) = delete;
  /// By the same models and limits, of the jobs of another trace. `cluster` is as this one's.
  std::unique_ptr<SpeedBook> of(const cluster::Cluster& cluster, const trace::Trace& trace) const;
  /// Takes in the jobs that its trace has behind those that it had: replicas of services. What they
  /// send, read or take instead is not looked at.
  void take_in(const trace::Trace& trace);

  /// Of a job that holds `grants`, as far as cores, memory, GPUs with the power limit `power_w`
  /// (Config::power_w) and `beside`, the jobs on the most crowded of its GPUs, decide; `yields` as
  /// Config::yields.
  perf::Pace pace(JobId job, std::span<const cluster::Grant> grants,
                  std::span<const JobId> beside = {}, int power_w = 0, bool yields = false) const;
  double rate(JobId job, std::span<const cluster::Grant> grants) const {
    return pace(job, grants).rate;
  }
  /// The same, taken apart. A GPU job's.
  perf::Parts parts(JobId job, std::span<const cluster::Grant> grants,
                    std::span<const JobId> beside = {}, int power_w = 0, bool yields = false) const;
  /// How fast the slowest GPU of a job computes under its power limits, beside none.
  double power(JobId job, std::span<const cluster::Grant> grants, int power_w) const;
  /// Of a GPU job on as few nodes as hold it, with the cores and memory of `unit` for each GPU.
  double rate(JobId job, const cluster::Amount& unit) const;
  /// Of a GPU job on `nodes` nodes with so many GPUs on each, with the cores and memory of its
  /// reference for each. Costs no more than rate().
  double rate(JobId job, int nodes, int gpus_per_node) const {
    const Alike& alike = of(job);
    return alike.speed.rate(nodes, gpus_per_node, power_of(alike, usual_class_));
  }
  /// What a GPU job tells of batch and steps, ready to be asked; null where it does not, or its
  /// model does not say what they mean.
  const perf::GenieTask* task(JobId job) const { return of(job).speed.task(); }
  /// How a job that holds `grants` sends between their nodes; nothing where they are one node, or
  /// neither the log nor the model tells it. As told (Outcome::network_s), else as the model's
  /// steps are longer than one GPU's on as many nodes, at full speed of the link. The power of GPUs
  /// and jobs beside it change nothing.
  std::optional<links::Flow> flow(JobId job, std::span<const cluster::Grant> grants) const;
  /// What a job reads at full speed, and what of; nothing where it is not told, or the cluster does
  /// not say from where.
  struct Reading {
    NameId data_set{};
    double data_gb = 0;
    double gbs = 0;
  };
  std::optional<Reading> reading(JobId job) const;
  /// What a node costs beside its GPUs (perf::cost()).
  double theta() const { return models_.catalogue().theta; }
  /// The model of a GPU job.
  const perf::SpeedModel& model(JobId job) const { return of(job).speed.model(); }
  /// What power limits take off the draw of a GPU of this node that the job has
  /// (PowerLimits::spared()).
  double spared(JobId job, NodeId node, int power_w) const {
    return limits_.spared(use(job), class_of_[index(node)], power_w);
  }
  /// What power limits do that policies may set, to a GPU job of use(); null = it is not known.
  const PowerLimits* job_limits() const { return limits_.may_be_set() ? &limits_ : nullptr; }
  /// How much a job uses a GPU, 0 to 1; of one that asks none it is not known. There are limits.
  double use(JobId job) const {
    return jobs_[index(job)].alike == kCpuJob ? limits_.usual_use() : of(job).use;
  }
  /// What the user should know of the models that were found, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// GPU jobs that are alike.
  struct Alike {
    perf::JobSpeed speed;
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
  struct Job {
    std::uint32_t alike = kCpuJob;  // position in alike_
    float cpus = 0;                 // that a CPU job asks
  };
  static constexpr std::uint32_t kCpuJob = ~std::uint32_t{0};

  void add_alternatives(const trace::Trace& trace);
  void add_traffic(const cluster::Cluster& cluster, const trace::Trace& trace);
  /// How fast a job is with what it took instead of what it asks; nothing where it did not.
  std::optional<double> instead(JobId job, std::span<const cluster::Grant> grants) const;
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
  PowerLimits limits_;
  std::vector<cluster::NodeClass> classes_;
  std::vector<std::uint32_t> class_of_;  // of each node
  std::vector<perf::GpuType> type_of_class_;
  std::size_t usual_class_;  // what most nodes with GPUs are
  cluster::NodeClass usual_;
  std::vector<Job> jobs_;
  std::deque<Alike> alike_;
  std::unordered_map<JobId, std::vector<Instead>> instead_;  // as asked first
  std::unordered_map<JobId, slices::ProfileId> references_;  // that are told; kNoProfile = a board
  bool has_links_ = false;
  std::unordered_map<JobId, links::Flow> flows_;  // that are told
  std::unordered_map<JobId, Reading> readings_;
  std::vector<std::string> notes_;
};

}  // namespace almanac::policy
