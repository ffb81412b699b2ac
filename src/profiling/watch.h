// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a command once and watches it until its rate is known.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/nvml.h"
#include "process/job.h"
#include "profiling/progress.h"
#include "profiling/step_rate.h"

namespace almanac::profiling {

/// What a run used, from its first line of progress on.
struct RunUse {
  double cpus = 0;       ///< Cores kept busy, on average.
  double memory_gb = 0;  ///< Most at once, as looked at.
  double read_gb = 0;    ///< From disk, since it began.
  double read_mb_s = 0;  ///< From disk, on average.
  double written_mb_s = 0;
  std::optional<double> gpu_use{};        ///< 0 to 1, mean over time and GPUs.
  std::optional<double> gpu_memory_gb{};  ///< Most on one GPU at once.
};

enum class RunEnd {
  known,        ///< Stopped, for its rate is known.
  time_up,      ///< Stopped, for it had all the time there is.
  ended,        ///< Ended by itself, in good order.
  crashed,      ///< Ended by itself, otherwise.
  hung,         ///< Stopped, for it made no progress any more.
  interrupted,  ///< Stopped on the user's word.
  alone,        ///< Stopped, for its neighbour ended.
};

struct RunResult {
  RunEnd end = RunEnd::known;
  std::optional<StepRate> rate{};
  std::size_t progress_lines = 0;
  std::string read_as{};     ///< The preset of its lines; "" = there were none.
  process::Ending ending{};  ///< Of one that ended by itself.
  std::vector<std::string> last_lines{};
  RunUse use{};
  double wall_s = 0;
  int left = 0;  ///< Processes that would not go.
};

struct Watch {
  double batch = 1;
  double most_s = 60;      ///< The whole run.
  double patience_s = 60;  ///< Without progress.
  StopRule rule{};
  const ProgressReader* reader = nullptr;
  const gpu::Nvml* nvml = nullptr;  ///< nullptr = GPUs are not looked at.
  std::vector<int> gpus{};          ///< Those that it was given.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Out and err of the commands are the watch's. With a neighbour, time counts from when both make
/// progress. When it returns, nothing of both runs any more. Fails as Job::start() does.
Result<RunResult> watch(process::Command command, std::optional<process::Command> neighbour,
                        const Watch& watch);

}  // namespace almanac::profiling
