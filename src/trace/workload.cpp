// SPDX-License-Identifier: Apache-2.0
#include "trace/workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace almanac::trace {
namespace {

tl::unexpected<Error> bad(std::string message) { return fail(Code::invalid, std::move(message)); }

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <typename Rows>
double total_jobs(const Rows& rows) {
  double total = 0;
  for (const auto& row : rows) total += row.jobs;
  return total;
}

std::int64_t total_nodes(const Workload& workload) {
  std::int64_t nodes = 0;
  for (const Workload::Vc& vc : workload.vc) nodes += vc.nodes;
  return nodes;
}

Result<void> check_vcs(const std::vector<Workload::Vc>& vcs) {
  if (vcs.empty() || total_jobs(vcs) <= 0) return bad("at least one row of vc must have jobs");
  for (std::size_t i = 0; i < vcs.size(); ++i) {
    if (vcs[i].name.empty()) return bad(fmt::format("row {} of vc needs a name", i + 1));
    if ((vcs[i].jobs > 0) != (vcs[i].gpu_time > 0)) {
      return bad(fmt::format("vc {}: jobs and gpu_time must both be 0, or neither", vcs[i].name));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (vcs[i].name == vcs[j].name) return bad(fmt::format("vc {} is listed twice", vcs[i].name));
    }
  }
  return {};
}

Result<void> check_sizes(const Workload& workload) {
  std::int64_t room = 0;
  for (const Workload::Vc& vc : workload.vc) room = std::max(room, largest_job(workload, vc));
  for (const Workload::Size& size : workload.size) {
    if (size.gpus > room) {
      return bad(fmt::format("jobs of {} GPUs fit no vc: the largest job that one takes has {}",
                             size.gpus, room));
    }
    if ((size.jobs > 0) != (size.gpu_time > 0)) {
      return bad(
          fmt::format("size of {} GPUs: jobs and gpu_time must both be 0, or neither", size.gpus));
    }
    if (size.completed + size.cancelled + size.failed <= 0) {
      return bad(fmt::format("size of {} GPUs: one final state must have a weight", size.gpus));
    }
  }
  // The smallest VC must find some size that it can hold, or its jobs have nowhere to go.
  for (const Workload::Vc& vc : workload.vc) {
    const std::int64_t gpus = largest_job(workload, vc);
    const bool any = std::any_of(workload.size.begin(), workload.size.end(),
                                 [&](const auto& s) { return s.jobs > 0 && s.gpus <= gpus; });
    if (vc.jobs > 0 && !any) {
      return bad(fmt::format("vc {} takes jobs of up to {} GPUs and no size is that small", vc.name,
                             gpus));
    }
  }
  return {};
}

Result<void> check_runs(const Workload::Run& run) {
  if (run.median_s > 0) {
    if (!run.octaves.empty()) return bad("[run] must have octaves or median_s, not both");
    if (run.most_s > 0 && run.most_s < run.median_s) {
      return bad(fmt::format("run.most_s must not be below median_s: {}", run.most_s));
    }
  } else if (sum(run.octaves) <= 0) {
    return bad("run.octaves must have a weight above 0");
  }
  return {};
}

Result<void> check_mix(const Workload& workload) {
  if (!workload.model.empty() && total_jobs(workload.model) <= 0) {
    return bad("at least one row of model must have jobs");
  }
  for (std::size_t i = 0; i < workload.model.size(); ++i) {
    if (workload.model[i].name.empty())
      return bad(fmt::format("row {} of model needs a name", i + 1));
  }
  if (!workload.cores.empty() && total_jobs(workload.cores) <= 0) {
    return bad("at least one row of cores must have jobs");
  }
  for (const Workload::Cores& cores : workload.cores) {
    if (cores.most < cores.least) {
      return bad(
          fmt::format("cores: most must not be below least: {} to {}", cores.least, cores.most));
    }
    if (workload.node.cpus <= 0) return bad("cores are asked for, so node.cpus must be above 0");
  }
  return {};
}

Result<void> check_rhythm(const Workload::Rhythm& rhythm) {
  if (rhythm.hours.size() != 24 || sum(rhythm.hours) <= 0) {
    return bad("rhythm.hours must be 24 weights, not all 0");
  }
  if (rhythm.weekdays.size() != 7 || sum(rhythm.weekdays) <= 0) {
    return bad("rhythm.weekdays must be 7 weights, not all 0");
  }
  return {};
}

Result<void> check_tasks(const Workload& workload) {
  if (!workload.size.empty() || !workload.run.octaves.empty() || workload.run.median_s > 0) {
    return bad("[task] defines sizes and run times: remove size and [run]");
  }
  if (cpu_jobs(workload) > 0 || !workload.model.empty() || !workload.cores.empty()) {
    return bad("remove model, cores and CPU jobs when there are tasks");
  }
  if (total_jobs(workload.task) <= 0) return bad("at least one row of task must have jobs");
  for (const Workload::Task& task : workload.task) {
    if (task.model.empty()) return bad("each row of task needs a model");
    if (task.kind != "training" && task.kind != "inference") {
      return bad(fmt::format("task {}: kind must be training or inference, found \"{}\"",
                             task.model, task.kind));
    }
    if (task.step_s + task.sample_s <= 0) {
      return bad(fmt::format("task {}: a step must take time: step_s or sample_s", task.model));
    }
  }
  if (workload.work.most_steps < workload.work.least_steps) {
    return bad(
        fmt::format("work.most_steps must not be below least_steps: {}", workload.work.most_steps));
  }
  return {};
}

Result<void> check_cpu_jobs(const Workload& workload) {
  const Workload::Cpu& cpu = workload.cpu;
  if (cpu.per_gpu_job == 0 && cpu.load == 0) return {};
  if (cpu.per_gpu_job == 0 || cpu.load == 0) {
    return bad("cpu.per_gpu_job and cpu.load must both be 0, or neither");
  }
  if (total_jobs(workload.cpu_size) <= 0) return bad("at least one row of cpu_size must have jobs");
  for (const Workload::CpuSize& size : workload.cpu_size) {
    if (static_cast<double>(size.cpus) > workload.node.cpus) {
      return bad(fmt::format("CPU jobs of {} cores fit no node: it has {}", size.cpus,
                             workload.node.cpus));
    }
  }
  if (cpu_jobs(workload) < 1) return bad("there is less than one CPU job: raise cpu.per_gpu_job");
  constexpr double kMost = 1e8;
  if (const double mean = mean_cpu_run(workload); mean > kMost) {
    return bad(fmt::format("CPU jobs would run {:.0f} s each: lower cpu.load", mean));
  }
  return {};
}

}  // namespace

Result<void> check(const Workload& workload) {
  if (Result<void> fine = check_vcs(workload.vc); !fine) return fine;
  if (Result<void> fine = check_rhythm(workload.rhythm); !fine) return fine;
  if (!workload.task.empty()) return check_tasks(workload);
  if (workload.deadline.any()) return bad("[deadline] requires rows of task");
  if (workload.size.empty() || total_jobs(workload.size) <= 0) {
    return bad("at least one row of size must have jobs");
  }
  if (Result<void> fine = check_runs(workload.run); !fine) return fine;
  if (Result<void> fine = check_mix(workload); !fine) return fine;
  if (Result<void> fine = check_cpu_jobs(workload); !fine) return fine;
  const Workload::Recipe& recipe = workload.recipe;
  const double parts =
      recipe.user_part + recipe.recipe_part + recipe.version_part + recipe.session_part;
  if (parts > 1) return bad(fmt::format("the parts of [recipe] must not exceed 1: {:.3f}", parts));
  return check_sizes(workload);
}

Workload stretched(Workload workload, std::int64_t jobs) {
  workload.span.days *= static_cast<double>(jobs) / static_cast<double>(workload.span.jobs);
  workload.span.jobs = jobs;
  return workload;
}

Workload scaled(Workload workload, std::int64_t copies) {
  workload.span.jobs *= copies;
  for (Workload::Vc& vc : workload.vc) {
    vc.nodes *= copies;
    vc.users *= copies;
  }
  return workload;
}

std::int64_t largest_job(const Workload& workload, const Workload::Vc& vc) {
  const std::int64_t gpus = vc.nodes * workload.node.gpus;
  return vc.largest > 0 ? std::min(vc.largest, gpus) : gpus;
}

std::int64_t total_gpus(const Workload& workload) {
  return total_nodes(workload) * workload.node.gpus;
}

std::int64_t cpu_jobs(const Workload& workload) {
  return std::llround(workload.cpu.per_gpu_job * static_cast<double>(workload.span.jobs));
}

double mean_cpu_run(const Workload& workload) {
  double cores_a_job = 0;
  for (const Workload::CpuSize& size : workload.cpu_size) {
    cores_a_job += size.jobs / total_jobs(workload.cpu_size) * static_cast<double>(size.cpus);
  }
  constexpr double kSecondsPerDay = 86400;
  const double core_time = workload.node.cpus * static_cast<double>(total_nodes(workload)) *
                           workload.span.days * kSecondsPerDay;
  return workload.cpu.load * core_time / (cores_a_job * static_cast<double>(cpu_jobs(workload)));
}

}  // namespace almanac::trace
