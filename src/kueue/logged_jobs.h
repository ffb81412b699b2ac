// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs of a log as workloads: their queue, and their requests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/result.h"
#include "kueue/quota_tree.h"
#include "kueue/read.h"
#include "kueue/setup.h"
#include "trace/trace.h"

namespace almanac::kueue {

/// Returns the position of the ClusterQueue that a job belongs to: the one that its virtual
/// cluster, partition, account or user names, in this order; or the only one. Nothing = none.
std::optional<std::size_t> queue_of(const Setup& setup, const trace::Request& request,
                                    const Names& names);

/// Returns the nominal quota of GPUs of a queue, over all flavors.
Amount nominal_gpus(const ClusterQueue& queue);

/// Returns what is assumed of the jobs of a log, a sentence each. Error: a job belongs to no queue,
/// its queue has no quota of GPUs, or a queue has quotas of two kinds of GPUs.
Result<std::vector<std::string>> notes_on_jobs(const Objects& objects, const trace::Trace& trace);

/// Returns the GPU types that a flavor stands for, as bits of `types`: those that its name or the
/// value of one of its labels names, alone or between dashes ("gpu-h100", "NVIDIA-H100-80GB");
/// otherwise all.
std::uint64_t types_of(const Flavor& flavor, const std::vector<std::string>& types);

/// The resources of each queue that jobs of a log request: GPUs, cores and memory.
class Resources {
 public:
  Resources() = default;
  explicit Resources(const Setup& setup);

  /// Returns the requests of a job in a queue. Cores and memory count where the queue has quotas of
  /// them and the job's are known.
  std::map<std::string, Amount> requests(std::size_t queue, std::int64_t gpus,
                                         std::int64_t cpu_milli, std::int64_t memory_mb) const;
  /// Returns the most GPUs of one flavor that a queue could use if nothing ran.
  Amount most_gpus(const QuotaTree& tree, std::size_t queue) const;
  /// Whether a queue has a quota of GPUs.
  bool has_gpus(std::size_t queue) const { return !of_[queue].gpu.empty(); }

 private:
  struct Of {
    std::string gpu{};  ///< "nvidia.com/gpu"; "" = none.
    bool has_cpu = false;
    bool has_memory = false;
  };
  std::size_t num_flavors_ = 0;
  std::vector<Of> of_{};  ///< By queue.
};

}  // namespace almanac::kueue
