// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job of Slurm as the other rooms know jobs: as one of a trace, and as one of the store.
#pragma once

#include <cstdint>
#include <string>

#include "base/names.h"
#include "base/result.h"
#include "experiment/past.h"
#include "slurm/job.h"
#include "slurm/node.h"
#include "steer/world.h"
#include "store/job.h"
#include "store/store.h"
#include "trace/job.h"
#include "trace/trace.h"

namespace almanac::steer {

inline store::JobNumber to_store(slurm::JobNumber number) {
  return store::JobNumber{static_cast<std::int64_t>(number)};
}
/// Zero for what is no number of Slurm's.
inline slurm::JobNumber to_slurm(store::JobNumber number) {
  const auto value = static_cast<std::int64_t>(number);
  const bool fits = value > 0 && value <= std::int64_t{0xffffffff};
  return slurm::JobNumber{fits ? static_cast<std::uint32_t>(value) : 0};
}

/// Where a job that holds nodes is, whatever its partition has become since; else where it waits.
VcId vc_of(const slurm::Job& job, const World& world);

/// The name of the virtual cluster of `world` whose nodes it is for: what its own is called, but
/// where these are accounts or QOS.
std::string owner_of_nodes(const slurm::Job& job, const World& world);

/// What policies and predictors know of it. A job that wants whole nodes asks all that the nodes of
/// its virtual cluster have; one of shards a part of a GPU.
trace::Request to_request(const slurm::Job& job, const World& world, Names& names);

/// The job as users see it. Nodes that the world does not know are left out of what it holds.
store::Job to_stored(const slurm::Job& job, const World& world);

/// All jobs that have ended, as they are played on `world`: accounting tells partitions, of which
/// those that share nodes are one virtual cluster. Of the quotas of `limits` they claim what they
/// would today; those of which the store kept no account claim nothing.
Result<experiment::Past> past_of(const store::Store& store, const World& world,
                                 const slurm::Limits& limits);

/// Tasks that a record stands for: 1, or of an array "3-9:2%2" as many as wait. At least 1.
struct Tasks {
  std::int64_t count = 1;
  std::int64_t at_once = 0;  ///< 0 = any number.
};
Tasks count_tasks(const std::string& tasks);

}  // namespace almanac::steer
