// SPDX-License-Identifier: Apache-2.0

/// \file
/// What srun is asked, and what of that can be done on one machine.
///
/// Source   srun(1) of Slurm 23.02.
/// Differs  A step runs on the machine of its job. Nothing waits for a controller. Options that
///          change neither what runs nor on which GPUs are told in a note; what cannot be done is
///          refused in one line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::stand_in {

/// Which GPUs each task sees.
enum class GpuView { all, own_share, mapped };

struct Step {
  std::vector<std::string> command{};
  int tasks = 1;
  std::optional<int> cpus_per_task{};
  std::optional<int> gpus{};  ///< Of the step; nothing = all of the job's.
  GpuView gpu_view = GpuView::all;
  std::vector<int> gpu_map{};  ///< Of GpuView::mapped: of each task, the place of its GPU.
  bool immediate = false;      ///< Fails where GPUs are other steps'.
  std::string out{};           ///< As sbatch's --output; "" = ours.
  std::string err{};           ///< "" = with `out`.
  std::string in{};            ///< "all", "none", a task's number, a file; "" = the first task's.
  bool append = false;
  bool label = false;
  std::string directory{};
  std::string name{};
  std::string export_names = "ALL";
  Duration time_limit = kNoDuration;
  bool kill_on_bad_exit = false;
  Duration wait = kNoDuration;  ///< After the first task's end; kNoDuration = without end.
  std::vector<std::string> notes{};
};

/// `words`: without the program. `variables`: the job's environment, of which SLURM_NTASKS and
/// other defaults are read. Fails with usage or unsupported.
Result<Step> read_step(const std::vector<std::string>& words,
                       const std::vector<std::string>& variables);

/// The value of a variable; "" = it is not set.
std::string value_of(const std::vector<std::string>& variables, const std::string& name);

}  // namespace almanac::stand_in
