// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tracks which jobs hold parts of which GPUs.
///
/// Jobs on one GPU slow each other if they request more than the whole GPU together. A job that
/// requests a part, next to jobs that request no more than the rest, runs as recorded, because it
/// was recorded on a shared GPU.
///
/// Cost     One step for each job on a job's GPUs. Jobs that hold whole GPUs are not tracked.
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

/// GPUs as integers, so that additions and subtractions cancel exactly as jobs come and go.
using GpuUnits = std::int64_t;
inline constexpr GpuUnits kGpuUnit = GpuUnits{1} << 32;
inline GpuUnits in_units(double gpus) { return std::llround(gpus * double{kGpuUnit}); }
inline double in_gpus(GpuUnits units) { return static_cast<double>(units) / double{kGpuUnit}; }

class SharedGpus {
 public:
  /// Both must outlive it.
  SharedGpus(const trace::Trace& trace, const cluster::Cluster& cluster)
      : trace_(trace), cluster_(cluster) {}

  /// Adds a job that holds `held`; ignores it if these are whole GPUs.
  void enter(JobId job, std::span<const cluster::Grant> held);
  void leave(JobId job);
  static bool has_parts(std::span<const cluster::Grant> held);
  bool has(JobId job) const { return !held_.empty() && held_.contains(job); }
  /// Returns what a job that has entered holds.
  std::span<const cluster::Grant> held(JobId job) const { return held_.at(job); }

  /// Returns the jobs that slow `job` and are slowed by it, each once, in order of number.
  std::vector<JobId> neighbours(JobId job) const;
  /// The other jobs on one GPU, in order of number, and how they share it.
  struct Crowd {
    std::vector<JobId> jobs;
    cluster::Sharing sharing{};

    bool operator==(const Crowd&) const = default;
  };
  /// Returns the crowd of each of its GPUs, without duplicates.
  std::vector<Crowd> crowds(JobId job) const;

  /// A job that has entered would make each of its GPUs compute for `use` more of the time. Returns
  /// the resulting increase of computing GPUs, because no GPU can compute more than all the time.
  GpuUnits add_use(JobId job, GpuUnits use);

 private:
  struct Gpu {
    std::vector<JobId> jobs;  // in order of number
    int asked_milli = 0;      // sum over all jobs
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
