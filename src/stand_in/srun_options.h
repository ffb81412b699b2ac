// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses the options of srun, as far as one machine can follow them.
///
/// Source   srun(1) of Slurm 23.02.
/// Differs  A step runs on the machine of its job, and no controller takes part. The script of a
///          gang runs on each of its boxes, so a step there has one task on each. Options that
///          change neither what runs nor on which GPUs are ignored with a note; other unsupported
///          options are errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::stand_in {

/// The GPUs that each task sees.
enum class GpuView { all, own_share, mapped };

struct Step {
  std::vector<std::string> command{};
  int tasks = 1;  ///< On this machine.
  int first = 0;  ///< Number of the first task; in a gang, the rank of this box.
  int boxes = 1;  ///< Of a gang, each of which runs the command and starts a task of its own.
  std::optional<int> cpus_per_task{};
  std::optional<int> gpus{};  ///< GPUs of the step; nothing = all of the job's.
  GpuView gpu_view = GpuView::all;
  std::vector<int> gpu_map{};  ///< With GpuView::mapped, the index of each task's GPU.
  bool immediate = false;      ///< Fails if other steps have the GPUs.
  std::string out{};           ///< As sbatch's --output; "" = srun's own output.
  std::string err{};           ///< "" = the same as `out`.
  std::string in{};  ///< "all", "none", the number of a task, or a file; "" = the first task's.
  bool append = false;
  bool label = false;
  std::string directory{};
  std::string name{};
  std::string export_names = "ALL";
  Duration time_limit = kNoDuration;
  bool kill_on_bad_exit = false;
  Duration wait = kNoDuration;  ///< After the first task has ended; kNoDuration = without limit.
  std::vector<std::string> notes{};
};

/// Parses `words`, the command line without the program. `variables` is the job's environment, from
/// which SLURM_NTASKS and other defaults are read. Fails with usage or unsupported.
Result<Step> read_step(const std::vector<std::string>& words,
                       const std::vector<std::string>& variables);

/// Returns the value of a variable; "" = not set.
std::string value_of(const std::vector<std::string>& variables, const std::string& name);

}  // namespace almanac::stand_in
