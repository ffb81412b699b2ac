// SPDX-License-Identifier: Apache-2.0

/// \file
/// Converts jobs of a manager to jobs of traces and of the store.
#pragma once

#include <cstdint>
#include <string>

#include "base/names.h"
#include "base/result.h"
#include "experiment/past.h"
#include "manager/job.h"
#include "manager/node.h"
#include "steer/world.h"
#include "store/job.h"
#include "store/store.h"
#include "trace/job.h"
#include "trace/trace.h"

namespace almanac::steer {

inline store::JobNumber to_store(manager::JobNumber number) {
  return store::JobNumber{static_cast<std::int64_t>(number)};
}
/// Zero if it cannot be a number of the manager.
inline manager::JobNumber to_manager(store::JobNumber number) {
  const auto value = static_cast<std::int64_t>(number);
  const bool fits = value > 0 && value <= std::int64_t{0xffffffff};
  return manager::JobNumber{fits ? static_cast<std::uint32_t>(value) : 0};
}

/// The virtual cluster of the nodes that a job holds, whatever became of its partition; else the
/// one in which it waits.
VcId vc_of(const manager::Job& job, const World& world);

/// The name of the virtual cluster of `world` whose nodes a job can use. It is also the name of the
/// virtual cluster of the job, unless these are accounts or QOS.
const std::string& owner_of_nodes(const manager::Job& job, const World& world);

/// The request that policies and predictors get. A job of whole nodes requests all that the nodes
/// of its virtual cluster have; a job of shards requests a part of a GPU.
trace::Request to_request(const manager::Job& job, const World& world, Names& names);

/// The job as users see it. Leaves out nodes that the world does not know.
store::Job to_stored(const manager::Job& job, const World& world);

/// All ended jobs, to be simulated on `world`. Accounting reports partitions; those that share
/// nodes are one virtual cluster. The jobs claim of the quotas of `limits` what they would today;
/// jobs without an account in the store claim nothing.
Result<experiment::Past> past_of(const store::Store& store, const World& world,
                                 const manager::Limits& limits);

/// Number of tasks of a record: 1, or the waiting tasks of an array "3-9:2%2". At least 1.
struct Tasks {
  std::int64_t count = 1;
  std::int64_t at_once = 0;  ///< 0 for any number.
};
Tasks count_tasks(const std::string& tasks);

}  // namespace almanac::steer
