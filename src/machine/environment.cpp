// SPDX-License-Identifier: Apache-2.0
#include "machine/environment.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/ids.h"
#include "machine/box.h"
#include "machine/instances.h"
#include "service/job.h"

namespace almanac::machine {
namespace {

/// Resources that a job holds on all its nodes.
struct Held {
  std::vector<std::string> gpus{};
  std::int32_t gpu_milli = cluster::kWholeGpu;
  std::int32_t gpu_memory_mb = 0;  // that a part of a GPU asks; 0 = none
  double cpus = 0;
  double memory_gb = 0;
};

/// Adds the job's GPUs; on a divided board, the instance at the place of the job's.
void add_gpus(const cluster::Grant& grant, const Machine& machine, Held& sum) {
  const cluster::Node& node = machine.cluster.nodes[index(grant.node)];
  if (machine.cluster.classes[node.node_class].board != nullptr) {
    for (const Standing& each : machine.standing) {
      const bool is_its = each.node == grant.node && (grant.gpus >> each.gpu & 1U) != 0 &&
                          each.place == place_of(grant, machine);
      if (is_its) sum.gpus.push_back(each.name);
    }
    return;
  }
  const std::vector<std::string>& names = machine.gpu_names[index(grant.node)];
  for (std::size_t gpu = 0; gpu < names.size(); ++gpu) {
    if ((grant.gpus >> gpu & 1U) != 0) sum.gpus.push_back(names[gpu]);
  }
  if (grant.gpus == 0) return;
  sum.gpu_milli = grant.gpu_milli;
  if (grant.gpu_milli < cluster::kWholeGpu) sum.gpu_memory_mb = grant.gpu_memory_mb;
}

Held held_by(const std::vector<cluster::Grant>& grants, const Machine& machine) {
  Held sum;
  for (const cluster::Grant& grant : grants) {
    add_gpus(grant, machine, sum);
    sum.cpus += grant.cpu_milli / 1e3;
    sum.memory_gb += grant.memory_mb / 1e3;
  }
  return sum;
}

std::string names_of(const Held& held) { return fmt::format("{}", fmt::join(held.gpus, ",")); }

/// Returns the variables that may change while a job runs.
std::vector<std::pair<std::string, std::string>> changeable(const Held& held, std::int32_t batch) {
  const std::string gpus = names_of(held);
  std::vector<std::pair<std::string, std::string>> made{
      {"CUDA_VISIBLE_DEVICES", gpus},
      {"HIP_VISIBLE_DEVICES", gpus},
      {"ALMANAC_GPUS", std::to_string(held.gpus.size())}};
  const int cpus = static_cast<int>(std::ceil(held.cpus));
  if (cpus > 0) made.emplace_back("ALMANAC_CPUS", std::to_string(cpus));
  if (batch > 0) made.emplace_back("ALMANAC_BATCH", std::to_string(batch));
  return made;
}

bool sets(const std::vector<std::string>& environment, std::string_view name) {
  return std::any_of(environment.begin(), environment.end(), [&](const std::string& each) {
    return each.size() > name.size() && each[name.size()] == '=' && each.starts_with(name);
  });
}

void set(std::vector<std::string>& environment, std::string_view name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& each) {
    return each.size() > name.size() && each[name.size()] == '=' && each.starts_with(name);
  });
  environment.push_back(fmt::format("{}={}", name, value));
}

/// Whether a script was written for Slurm, and so may read Slurm's variables. No other job gets
/// them, for programs take them to mean that there is a Slurm.
bool is_for_slurm(const std::string& script) {
  return script.find("\n#SBATCH") != std::string::npos;
}

/// Sets a variable that is not set yet: the submission has what its script requests for each task.
void set_default(std::vector<std::string>& environment, std::string_view name,
                 const std::string& value) {
  if (!sets(environment, name)) set(environment, name, value);
}

/// Our srun comes before Slurm's, which would look for a controller.
void put_first_in_path(std::vector<std::string>& environment, const std::string& folder) {
  if (folder.empty()) return;
  constexpr std::string_view kPath = "PATH=";
  const auto path = std::find_if(environment.begin(), environment.end(),
                                 [&](const auto& each) { return each.starts_with(kPath); });
  if (path == environment.end()) {
    environment.push_back(fmt::format("PATH={}:/usr/local/bin:/usr/bin:/bin", folder));
  } else {
    *path = fmt::format("PATH={}:{}", folder, path->substr(kPath.size()));
  }
}

/// Sets the variables of sbatch(1) that apply here: one node with all tasks.
void set_as_slurm(std::vector<std::string>& environment, const store::Job& job,
                  const Machine& machine, const Held& held) {
  std::erase_if(environment,
                [](const std::string& each) { return each.starts_with("SLURM_ARRAY_"); });
  const auto number = static_cast<std::int64_t>(job.number);
  set(environment, "SLURM_JOB_ID", std::to_string(number));
  set(environment, "SLURM_JOBID", std::to_string(number));
  set(environment, "SLURM_JOB_NAME", job.asked->name);
  set(environment, "SLURM_JOB_USER", job.asked->user);
  set(environment, "SLURM_JOB_UID", std::to_string(job.asked->uid));
  set(environment, "SLURM_JOB_GID", std::to_string(job.asked->gid));
  set(environment, "SLURM_CLUSTER_NAME", "almanac");
  if (!job.asked->vc.empty()) set(environment, "SLURM_JOB_PARTITION", job.asked->vc);
  if (!job.asked->qos.empty()) set(environment, "SLURM_JOB_QOS", job.asked->qos);
  set(environment, "SLURM_SUBMIT_DIR", job.asked->directory);
  const std::string nodes = std::to_string(std::max<std::size_t>(1, job.held_gpus.size()));
  set(environment, "SLURM_JOB_NUM_NODES", nodes);
  set(environment, "SLURM_NNODES", nodes);
  if (!job.held_gpus.empty()) {
    const std::string node = machine.cluster.node_label(job.held_gpus.front().node);
    set(environment, "SLURM_JOB_NODELIST", node);
    set(environment, "SLURM_NODELIST", node);
    set(environment, "SLURMD_NODENAME", node);
    set(environment, "SLURM_SUBMIT_HOST", node);
  }
  set(environment, "SLURM_NODEID", "0");
  set(environment, "SLURM_PROCID", "0");
  set(environment, "SLURM_LOCALID", "0");
  set_default(environment, "SLURM_NTASKS", "1");
  set_default(environment, "SLURM_NPROCS", "1");
  std::string tasks = "1";
  for (const std::string& each : environment) {
    if (each.starts_with("SLURM_NTASKS=")) tasks = each.substr(each.find('=') + 1);
  }
  set(environment, "SLURM_TASKS_PER_NODE", tasks);
  const std::string gpus = std::to_string(held.gpus.size());
  set(environment, "SLURM_GPUS_ON_NODE", gpus);
  if (!held.gpus.empty()) {
    set(environment, "SLURM_GPUS", gpus);
    set(environment, "SLURM_JOB_GPUS", names_of(held));
  }
  if (const int cpus = static_cast<int>(std::ceil(held.cpus)); cpus > 0) {
    const int count = std::max(1, std::atoi(tasks.c_str()));
    set_default(environment, "SLURM_CPUS_PER_TASK", std::to_string(std::max(1, cpus / count)));
    set(environment, "SLURM_CPUS_ON_NODE", std::to_string(cpus));
    set(environment, "SLURM_JOB_CPUS_PER_NODE", std::to_string(cpus));
  }
  if (held.memory_gb > 0) {
    set(environment, "SLURM_MEM_PER_NODE",
        std::to_string(static_cast<std::int64_t>(held.memory_gb * 1024)));
  }
  const auto epoch_s = [](Time at) {
    return std::to_string(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
  };
  set(environment, "SLURM_JOB_START_TIME", epoch_s(job.since));
  if (job.asked->time_limit != kNoDuration) {
    set(environment, "SLURM_JOB_END_TIME", epoch_s(job.since + job.asked->time_limit));
  }
  put_first_in_path(environment, shepherd::slurm_commands());
  if (job.attempts > 1) set(environment, "SLURM_RESTART_COUNT", std::to_string(job.attempts - 1));
  if (!job.task) return;
  set(environment, "SLURM_ARRAY_JOB_ID",
      std::to_string(static_cast<std::int64_t>(job.task->array)));
  set(environment, "SLURM_ARRAY_TASK_ID", std::to_string(job.task->index));
}

}  // namespace

std::string where_text(const store::Job& job, const Machine& machine) {
  std::vector<std::string> pieces;
  for (const cluster::Grant& grant : job.held_gpus) {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < cluster::kMaxGpusPerNode; ++gpu) {
      if ((grant.gpus >> gpu & 1U) != 0) gpus.push_back(gpu);
    }
    const std::string node = machine.cluster.node_label(grant.node);
    pieces.push_back(gpus.empty() ? node : fmt::format("{}:{}", node, fmt::join(gpus, ",")));
    if (grant.profile == slices::kNoProfile) continue;
    pieces.back() += fmt::format("x{}@{}", slices::profile_name(grant.profile), grant.slice);
  }
  return fmt::format("{}", fmt::join(pieces, " "));
}

std::string allocation_of(const store::Job& job, const Machine& machine, std::int32_t batch) {
  std::string made;
  for (const auto& [name, value] : changeable(held_by(job.held_gpus, machine), batch)) {
    made += fmt::format("{}={}\n", name, value);
  }
  return made;
}

std::string visible_gpus(const std::vector<cluster::Grant>& held, const Machine& machine) {
  return names_of(held_by(held, machine));
}

std::string visible_gpus(const std::string& allocation) {
  const auto begin = allocation.find('=');
  return begin == std::string::npos
             ? ""
             : allocation.substr(begin + 1, allocation.find('\n') - begin - 1);
}

namespace {

/// Returns the device numbers of a job's GPUs; nothing if it may open all. A job whose GPUs may
/// change while it runs may open all, because its first device files stay open.
std::optional<std::vector<int>> devices_of(const store::Job& job, const store::Submission& asked,
                                           const Machine& machine) {
  if (machine.device_minors.empty() || asked.max_gpus > 0) return std::nullopt;
  std::vector<int> made;
  for (const cluster::Grant& grant : job.held_gpus) {
    const std::vector<int>& minors = machine.device_minors[index(grant.node)];
    // One box may know its devices where another does not.
    if (minors.size() < machine.gpu_names[index(grant.node)].size()) return std::nullopt;
    for (std::size_t gpu = 0; gpu < minors.size(); ++gpu) {
      if ((grant.gpus >> gpu & 1U) != 0) made.push_back(minors[gpu]);
    }
  }
  return made;
}

}  // namespace

shepherd::Spec spec_of(const store::Job& job, const store::Submission& asked,
                       const Machine& machine, std::int32_t batch, const std::string& folder) {
  const Held held = held_by(job.held_gpus, machine);
  shepherd::Spec spec{
      .id = fmt::format("{}.{}", static_cast<std::int64_t>(job.number), job.attempts)};
  spec.argv = asked.argv;
  spec.script = asked.script;
  spec.directory = asked.directory;
  spec.out = service::log_of(job, false);
  if (!asked.err.empty()) spec.err = service::log_of(job, true);
  spec.append = job.attempts > 1;
  spec.time_limit = asked.time_limit;
  spec.grace = asked.grace;
  spec.signal = asked.warn_signal;
  if (asked.warn_before != kNoDuration) spec.signal_before = asked.warn_before;
  spec.signal_shell = asked.warn_shell;
  spec.cores = job.cores;
  spec.gpus = devices_of(job, asked, machine);
  const bool holds_cores =
      !job.held_gpus.empty() && !cores_of(machine, job.held_gpus.front().node).empty();
  if (held.cpus > 0 && holds_cores) spec.cpus = held.cpus;
  if (held.memory_gb > 0) spec.memory_gb = held.memory_gb;
  spec.io_mbs = asked.io_mbs;
  spec.terminal = asked.pty;
  spec.umask = asked.umask.value_or(spec.umask);
  spec.resource_limits = asked.resource_limits;
  if (::geteuid() == 0) {
    spec.uid = asked.uid;
    spec.user_has_name = asked.user != std::to_string(asked.uid);
    spec.gid = asked.gid;
  }
  spec.environment = asked.environment;
  std::vector<std::string>& environment = spec.environment;
  set(environment, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  for (const auto& [name, value] : changeable(held, batch)) set(environment, name, value);
  if (asked.max_gpus > 0) {
    spec.allocation = allocation_of(job, machine, batch);
    set(environment, "ALMANAC_ALLOCATION", folder + shepherd::kAllocationFile);
  }
  if (held.gpu_milli < cluster::kWholeGpu) {
    set(environment, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", std::to_string(held.gpu_milli / 10));
  }
  if (held.gpu_memory_mb > 0) {  // of its only GPU, which it sees as number 0
    set(environment, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
        fmt::format("0={}M", std::int64_t{held.gpu_memory_mb} * 1024 / 1000));
  }
  set(environment, "ALMANAC_JOB_ID", std::to_string(static_cast<std::int64_t>(job.number)));
  set(environment, "ALMANAC_JOB_NAME", job.asked->name);
  set(environment, "ALMANAC_PROGRESS", folder + shepherd::kProgressFile);
  set(environment, "ALMANAC_ATTEMPT", std::to_string(job.attempts));
  const int cpus = static_cast<int>(std::ceil(held.cpus));
  if (cpus > 0 && !sets(environment, "OMP_NUM_THREADS")) {
    set(environment, "OMP_NUM_THREADS", std::to_string(cpus));
  }
  if (job.task) {
    set(environment, "ALMANAC_ARRAY_JOB_ID",
        std::to_string(static_cast<std::int64_t>(job.task->array)));
    set(environment, "ALMANAC_ARRAY_TASK_ID", std::to_string(job.task->index));
  }
  if (is_for_slurm(asked.script)) set_as_slurm(environment, job, machine, held);
  return spec;
}

namespace {

/// What the task of this rank must know of the others. A job on one box has the same variables, so
/// that its script need not know how many boxes it got.
void set_rendezvous(shepherd::Spec& spec, const std::vector<OnBox>& all, std::size_t rank,
                    const store::Job& job, const store::Submission& asked) {
  constexpr std::int64_t kFirstPort = 20'000;
  constexpr std::int64_t kPorts = 10'000;
  std::vector<std::string> names;
  for (const OnBox& each : all) names.push_back(each.box);
  const std::string boxes = fmt::format("{}", fmt::join(names, ","));
  const std::string size = std::to_string(all.size());
  const std::string own = std::to_string(rank);
  std::vector<std::string>& environment = spec.environment;
  const bool is_alone = all.size() == 1;  // whose name other machines know, but perhaps not itself
  set(environment, "MASTER_ADDR", is_alone ? "localhost" : names.front());
  set(environment, "MASTER_PORT",
      std::to_string(kFirstPort + static_cast<std::int64_t>(job.number) % kPorts));
  for (const char* const name : {"NODE_RANK", "RANK"}) set(environment, name, own);
  for (const char* const name : {"NNODES", "WORLD_SIZE"}) set(environment, name, size);
  set(environment, "ALMANAC_NODES", boxes);
  if (is_alone || !is_for_slurm(asked.script)) return;
  for (const char* const name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    set(environment, name, boxes);
  }
  for (const char* const name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) {
    set(environment, name, size);
  }
  // Other numbers of tasks, which the script requests, stay: srun refuses them.
  for (const char* const name : {"SLURM_NTASKS", "SLURM_NPROCS"}) {
    if (!sets(asked.environment, name)) set(environment, name, size);
  }
  for (const char* const name : {"SLURM_NODEID", "SLURM_PROCID"}) set(environment, name, own);
  set(environment, "SLURM_TASKS_PER_NODE", fmt::format("1(x{})", all.size()));
}

}  // namespace

std::vector<shepherd::Part> parts_of(const store::Job& job, const store::Submission& asked,
                                     const Machine& machine, std::int32_t batch,
                                     const std::string& folder) {
  const std::vector<OnBox> all = by_box(job.held_gpus, machine);
  std::vector<shepherd::Part> made;
  store::Job part = job;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    part.held_gpus = all[rank].held;
    made.push_back({all[rank].box, spec_of(part, asked, machine, batch, folder)});
    set_rendezvous(made.back().spec, all, rank, job, asked);
  }
  return made;
}

}  // namespace almanac::machine
