// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs that jobs share by gres/shard: which jobs request a part, and what is in use on each GPU.
///
/// Slurm chooses the GPU for a job of shards: the first one with room (22.05), in one socket or
/// another if GPUs belong to sockets. Independent of that order, it shares a GPU with another job
/// only on a GPU that is partly taken. If there is one such GPU, there is one such job; if there is
/// none, it is alone.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "steer/mirror.h"

namespace almanac::steer {

/// Whether a job requests gres/shard. Slurm refuses jobs that also request GPUs.
inline bool asks_shards(const manager::Job& job) { return job.gpus == 0 && job.shards > 0; }

inline int shards_of_a_node(const manager::Job& job) { return job.shards / std::max(1, job.nodes); }

/// A node with shards, as far as Slurm reports it.
struct SharedNode {
  struct Gpu {
    std::vector<manager::JobNumber> jobs{};  ///< In order of arrival.
    int shards = 0;                          ///< Taken.
    bool has_whole = false;                  ///< In use by a job of whole GPUs.
  };
  int per_gpu = 0;  ///< Shards.
  std::vector<Gpu> gpus{};
  /// Slurm does not report on which GPU a job has its shards.
  bool is_unclear = false;
  /// Whether jobs with whole GPUs run or wait in one of its partitions. When one of two jobs on a
  /// GPU ends, Slurm 22.05.8 treats the GPU as free for such jobs.
  bool is_mixed = false;

  /// Shards of each of two jobs that share a GPU.
  int half() const { return per_gpu / 2; }
  /// The GPUs where a job with half the shards would share the GPU.
  std::vector<int> open() const;
  /// No GPU with two jobs, which would be open when one of them ends.
  bool stays_so() const;
};

/// Whether a job may be requeued if it comes to share a GPU by chance; once only.
inline bool may_be_parted(const manager::Job& job) { return job.requeueable && job.restarts == 0; }

/// The nodes with at least two shards per GPU, by name.
std::map<std::string, SharedNode> shared_nodes(const Mirror& mirror);

}  // namespace almanac::steer
