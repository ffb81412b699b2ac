// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs hold parts of which GPUs.
///
/// Jobs on one GPU slow each other where they ask together more than the GPU. A job that asks a
/// part, and shares with others that ask no more than the rest, runs as it was recorded: with
/// others beside it.
///
/// Cost     A step for each job on a job's GPUs; nothing is kept of jobs that hold whole GPUs.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/ledger.h"
#include "trace/trace.h"

namespace almanac::sim {

/// GPUs in whole units, which are taken off again without an error as jobs come and go.
using GpuUnits = std::int64_t;
inline constexpr GpuUnits kGpuUnit = GpuUnits{1} << 32;
inline GpuUnits in_units(double gpus) { return std::llround(gpus * double{kGpuUnit}); }
inline double in_gpus(GpuUnits units) { return static_cast<double>(units) / double{kGpuUnit}; }

class SharedGpus {
 public:
  /// Both must outlive it.
  SharedGpus(const trace::Trace& trace, const cluster::Cluster& cluster)
      : trace_(trace), cluster_(cluster) {}

  /// A job holds `held`; not entered if these are whole GPUs.
  void enter(JobId job, std::span<const cluster::Grant> held);
  void leave(JobId job);
  static bool has_parts(std::span<const cluster::Grant> held);
  bool has(JobId job) const { return !held_.empty() && held_.contains(job); }
  /// What a job that has entered holds.
  std::span<const cluster::Grant> held(JobId job) const { return held_.at(job); }

  /// Those that slow `job` and are slowed by it, each once, in order of number.
  std::vector<JobId> neighbours(JobId job) const;
  /// Jobs beside one on a GPU, in order of number, and how they share it.
  struct Crowd {
    std::vector<JobId> jobs;
    cluster::Sharing sharing{};

    bool operator==(const Crowd&) const = default;
  };
  /// Those of each of its GPUs; GPUs with the same ones once.
  std::vector<Crowd> crowds(JobId job) const;

  /// A job that has entered would make each of its GPUs compute for `use` more of the time. Gives
  /// how many more GPUs compute: none does more than all the time.
  GpuUnits add_use(JobId job, GpuUnits use);

 private:
  struct Gpu {
    std::vector<JobId> jobs;  // in order of number
    int asked_milli = 0;      // by all of them
    GpuUnits use = 0;
  };
  using Key = std::pair<NodeId, int>;

  int asked_milli(JobId job) const;

  cluster::Sharing sharing(NodeId node) const {
    return cluster_.classes[cluster_.nodes[index(node)].node_class].sharing;
  }

  const trace::Trace& trace_;
  const cluster::Cluster& cluster_;
  std::map<Key, Gpu> gpus_;
  std::unordered_map<JobId, std::vector<cluster::Grant>> held_;
};

}  // namespace almanac::sim
