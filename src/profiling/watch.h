// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a command once, until its rate is known.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/driver.h"
#include "process/job.h"
#include "profiling/progress.h"
#include "profiling/step_rate.h"

namespace almanac::profiling {

/// What a run used since its first line of progress, unless said otherwise.
struct RunUse {
  double cpus = 0;       ///< Mean number of busy cores.
  double memory_gb = 0;  ///< Largest sample.
  double read_gb = 0;    ///< From disk, since the run began.
  double read_mb_s = 0;  ///< From disk, mean.
  double written_mb_s = 0;
  std::optional<double> gpu_use{};        ///< 0 to 1, mean over time and GPUs.
  std::optional<double> gpu_memory_gb{};  ///< Largest sample of one GPU.
};

enum class RunEnd {
  known,        ///< Stopped because its rate is known.
  time_up,      ///< Stopped after the longest time of a run.
  ended,        ///< Ended by itself with success.
  crashed,      ///< Ended by itself without success.
  hung,         ///< Stopped because it made no progress for too long.
  interrupted,  ///< Stopped by the user.
  alone,        ///< Stopped because its neighbor ended.
};

struct RunResult {
  RunEnd end = RunEnd::known;
  std::optional<StepRate> rate{};
  std::size_t progress_lines = 0;
  std::string read_as{};     ///< The preset that recognized its lines; "" = there were none.
  process::Ending ending{};  ///< Only if it ended by itself.
  std::vector<std::string> last_lines{};
  RunUse use{};
  double wall_s = 0;
  int left = 0;  ///< Processes that could not be stopped.
};

struct Watch {
  double batch = 1;
  double most_s = 60;      ///< Longest time of the run.
  double patience_s = 60;  ///< Longest time without progress.
  StopRule rule{};
  const ProgressReader* reader = nullptr;
  const gpu::Driver* driver = nullptr;  ///< nullptr = GPUs are not sampled.
  std::vector<int> gpus{};              ///< The run's GPUs, as the driver counts them.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Sets the standard output and error of the commands. With a neighbor, measuring begins once both
/// make progress, or after `patience_s` if the neighbor's lines are not recognized. Stops all
/// processes of both before it returns, except `left`. Fails as Job::start() does.
Result<RunResult> watch(process::Command command, std::optional<process::Command> neighbour,
                        const Watch& watch);

}  // namespace almanac::profiling
