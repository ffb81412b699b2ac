// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stand_in/step.h"
#include "submission/argument.h"

namespace almanac::stand_in {
namespace {

void set(std::vector<std::string>& variables, std::string_view name, const std::string& value) {
  std::erase_if(variables, [&](const std::string& each) {
    return each.size() > name.size() && each[name.size()] == '=' && each.starts_with(name);
  });
  variables.push_back(fmt::format("{}={}", name, value));
}

/// The job's own, which no --export takes away.
bool is_of_job(const std::string& variable) {
  constexpr std::string_view kNames[] = {"SLURM", "ALMANAC_", "CUDA_", "HIP_", "OMP_NUM_THREADS="};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view each) { return variable.starts_with(each); });
}

/// Returns the GPUs that task `number` sees.
std::vector<std::string> seen_by(const Step& step, const StepGpus& gpus, int number) {
  const auto task = static_cast<std::size_t>(number);
  if (step.gpu_view == GpuView::mapped && !step.gpu_map.empty()) {
    const auto place = static_cast<std::size_t>(step.gpu_map[task % step.gpu_map.size()]);
    return place < gpus.names.size() ? std::vector{gpus.names[place]} : std::vector<std::string>{};
  }
  if (step.gpu_view != GpuView::own_share) return gpus.names;
  const std::size_t each = gpus.names.size() / static_cast<std::size_t>(step.tasks);
  const auto from = gpus.names.begin() + static_cast<std::ptrdiff_t>(task * each);
  return {from, from + static_cast<std::ptrdiff_t>(each)};
}

}  // namespace

std::vector<std::string> environment_of(const Step& step, const StepGpus& gpus, int number,
                                        const std::vector<std::string>& variables) {
  std::vector<std::string> made = submission::exported(step.export_names, variables);
  for (const std::string& each : variables) {
    if (!is_of_job(each)) continue;
    if (std::find(made.begin(), made.end(), each) == made.end() &&
        value_of(made, each.substr(0, each.find('='))).empty()) {
      made.push_back(each);
    }
  }
  const bool is_gang = step.boxes > 1;
  const std::string tasks = std::to_string(step.tasks * step.boxes);
  const std::string boxes = std::to_string(step.boxes);
  const std::string per_box = is_gang ? fmt::format("1(x{})", step.boxes) : tasks;
  const std::string node = value_of(variables, "SLURM_JOB_NODELIST");
  std::vector<int> ranks;
  for (int rank = 0; rank < step.tasks; ++rank) ranks.push_back(step.first + rank);
  const std::pair<const char*, std::string> own[] = {
      {"SLURM_PROCID", std::to_string(step.first + number)},
      {"SLURM_LOCALID", std::to_string(number)},
      {"SLURM_NODEID", std::to_string(step.first)},
      {"SLURM_NTASKS", tasks},
      {"SLURM_NPROCS", tasks},
      {"SLURM_STEP_ID", "0"},
      {"SLURM_STEPID", "0"},
      {"SLURM_STEP_NUM_TASKS", tasks},
      {"SLURM_STEP_NUM_NODES", boxes},
      {"SLURM_STEP_NODELIST", node},
      {"SLURM_STEP_TASKS_PER_NODE", per_box},
      {"SLURM_TASKS_PER_NODE", per_box},
      {"SLURM_NNODES", boxes},
      {"SLURM_GTIDS", fmt::format("{}", fmt::join(ranks, ","))},
      {"SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"},
  };
  for (const auto& [name, value] : own) set(made, name, value);
  const std::string seen = fmt::format("{}", fmt::join(seen_by(step, gpus, number), ","));
  set(made, "CUDA_VISIBLE_DEVICES", seen);
  set(made, "HIP_VISIBLE_DEVICES", seen);
  set(made, "SLURM_STEP_GPUS", fmt::format("{}", fmt::join(gpus.names, ",")));
  if (!step.name.empty()) set(made, "SLURM_JOB_NAME", step.name);
  if (step.cpus_per_task) set(made, "SLURM_CPUS_PER_TASK", std::to_string(*step.cpus_per_task));
  // The service set as many threads as the job has cores: not for each task.
  const std::string cores = value_of(variables, "ALMANAC_CPUS");
  if (step.tasks > 1 && !cores.empty() && value_of(variables, "OMP_NUM_THREADS") == cores) {
    const int all = submission::read_count(cores, 1).value_or(1);
    set(made, "OMP_NUM_THREADS",
        std::to_string(step.cpus_per_task.value_or(std::max(1, all / step.tasks))));
  }
  return made;
}

std::string file_of(const std::string& pattern, int task,
                    const std::vector<std::string>& variables) {
  std::string made;
  const auto named = [&](const char* name) { return value_of(variables, name); };
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%' || at + 1 == pattern.size()) {
      made += pattern[at];
      continue;
    }
    // "%3t": with zeros before it.
    std::size_t width = 0;
    std::size_t letter = at + 1;
    while (letter + 1 < pattern.size() && pattern[letter] >= '0' && pattern[letter] <= '9') {
      width =
          std::min<std::size_t>(10 * width + static_cast<std::size_t>(pattern[letter++] - '0'), 10);
    }
    std::string text;
    switch (pattern[letter]) {
      case 'j':
        text = named("SLURM_JOB_ID");
        break;
      case 'J':
        text = named("SLURM_JOB_ID") + ".0";
        break;
      case 's':
      case 'n':
        text = "0";
        break;
      case 't':
        text = std::to_string(task);
        break;
      case 'N':
        text = named("SLURMD_NODENAME");
        break;
      case 'u':
        text = named("SLURM_JOB_USER");
        break;
      case 'x':
        text = named("SLURM_JOB_NAME");
        break;
      case 'A':
        text = named("SLURM_ARRAY_JOB_ID");
        break;
      case 'a':
        text = named("SLURM_ARRAY_TASK_ID");
        break;
      case '%':
        text = "%";
        break;
      default:
        text = pattern.substr(at, letter - at + 1);
    }
    if (text.size() < width) text.insert(0, width - text.size(), '0');
    made += text;
    at = letter;
  }
  return made;
}

}  // namespace almanac::stand_in
