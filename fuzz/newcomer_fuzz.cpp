// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as what Slurm's plugin asks of a new job: a job whose amounts make sense, or no
/// question.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "steer/record.h"
#include "steer_slurm/newcomer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace almanac;
  const auto job = steer_slurm::read_question({reinterpret_cast<const char*>(data), size});
  if (!job) return 0;
  ALMANAC_CHECK(job->nodes >= 1 && job->gpus >= 0 && job->gpus_per_node >= 0 && job->shards >= 0,
                "{} nodes, {} GPUs, {} a node, {} shards", job->nodes, job->gpus,
                job->gpus_per_node, job->shards);
  ALMANAC_CHECK(job->cpus && std::isfinite(*job->cpus) && *job->cpus >= 0, "{}",
                job->cpus.value_or(-1));
  ALMANAC_CHECK(!job->memory_gb || (std::isfinite(*job->memory_gb) && *job->memory_gb >= 0), "{}",
                job->memory_gb.value_or(-1));
  const steer::Tasks tasks = steer::count_tasks(job->tasks);
  ALMANAC_CHECK(tasks.count >= 1 && tasks.at_once >= 0, "{} tasks, {} at once", tasks.count,
                tasks.at_once);
  return 0;
}
