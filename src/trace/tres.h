// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses the resources that Slurm reports for a job: "cpu=8,gres/gpu:a100=8,mem=100G,node=1".
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace almanac::trace {

/// Most GPUs, nodes or CPUs of a job; a larger count means a damaged record.
inline constexpr double kMostOfTres = 1e6;
inline constexpr double kMostCpus = 1e9;

/// Trackable resources. Missing: NaN, 0 nodes, no type.
struct Tres {
  std::int32_t gpus = 0;
  std::int32_t nodes = 0;
  std::int32_t shards = 0;  ///< gres/shard: parts of GPUs; the site's configuration says how many a
                            ///< GPU has.
  std::int32_t mps = 0;     ///< gres/mps, the same.
  std::string gpu_type{};   ///< "a100"; several as "a100|h100".
  float cpus = std::numeric_limits<float>::quiet_NaN();
  float memory_gb = std::numeric_limits<float>::quiet_NaN();  ///< In units of 1024 MiB.

  /// Adds `count` of a resource: "gres/gpu", "gres/gpu:a100", "cpu", "node"; others are passed
  /// over. gres/gpu counts all types together, so typed counts matter only without it; the same
  /// holds for gres/shard and gres/mps. Returns false, and adds nothing, for a count that no job
  /// can have (kMostOfTres).
  bool add(std::string_view resource, double count);

 private:
  /// Total of all types, and counts by type.
  struct Count {
    double all = -1;
    double typed = 0;
    bool add(std::string_view resource, std::string_view name, double count);
    std::int32_t total() const;
  };
  void add_type(std::string_view type);

  Count gpu_count_;
  Count shard_count_;
  Count mps_count_;
};

/// Parses a TRES list, or the older GRES form "gpu:a100:8". Returns nothing for other texts, and
/// for counts that no job can have.
std::optional<Tres> parse_tres(std::string_view text);

}  // namespace almanac::trace
