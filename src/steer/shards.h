// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs that jobs share by gres/shard: which jobs ask for a part, and what is taken of each GPU.
///
/// Which GPU of a node a job of shards gets is for Slurm to say: the first with room (22.05), of
/// one socket or another where GPUs belong to sockets. What can be told whatever the order: it lies
/// beside another job only on a GPU that is taken in part, so where there is one such GPU there is
/// one such job, and where there is none it is alone.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "steer/mirror.h"

namespace almanac::steer {

/// Whether it asks gres/shard; Slurm refuses jobs that want GPUs too.
inline bool asks_shards(const slurm::Job& job) { return job.gpus == 0 && job.shards > 0; }

inline int shards_of_a_node(const slurm::Job& job) { return job.shards / std::max(1, job.nodes); }

/// A node with shards, as far as Slurm tells.
struct SharedNode {
  struct Gpu {
    std::vector<slurm::JobNumber> jobs{};  ///< In the order in which they came.
    int shards = 0;                        ///< Taken.
    bool has_whole = false;                ///< By a job that wants it whole.
  };
  int per_gpu = 0;  ///< Shards.
  std::vector<Gpu> gpus{};
  /// A job has shards of a GPU that is not told.
  bool is_unclear = false;
  /// Jobs of whole GPUs run or wait in one of its partitions. When one of two jobs on a GPU ends,
  /// Slurm 22.05.8 takes the GPU for free as far as such jobs go.
  bool is_mixed = false;

  /// What each of two jobs has that share a GPU.
  int half() const { return per_gpu / 2; }
  /// The GPUs where a job of half the shards would lie beside others.
  std::vector<int> open() const;
  /// No GPU with two jobs, which would be open when one of them ends.
  bool stays_so() const;
};

/// Whether a job may be requeued that comes beside another by chance: once.
inline bool may_be_parted(const slurm::Job& job) { return job.requeueable && job.restarts == 0; }

/// The nodes by name; only those with at least two shards a GPU.
std::map<std::string, SharedNode> shared_nodes(const Mirror& mirror);

}  // namespace almanac::steer
