// SPDX-License-Identifier: Apache-2.0
#include "machine/gpu_memory.h"

#include <optional>
#include <set>
#include <utility>

#include "process/tree.h"

namespace almanac::machine {
namespace {

/// A GPU at one moment.
struct Gpu {
  std::optional<double> memory_gb{};
  std::optional<std::vector<gpu::Holder>> holders{};
};

/// What those processes hold there; nothing where the driver does not tell it of one of them.
std::optional<double> held_by(const std::set<pid_t>& processes, const Gpu& gpu) {
  if (!gpu.holders) return std::nullopt;
  double sum = 0;
  for (const gpu::Holder& holder : *gpu.holders) {
    if (!processes.contains(holder.process)) continue;
    if (!holder.memory_gb) return std::nullopt;
    sum += *holder.memory_gb;
  }
  return sum;
}

class Look {
 public:
  Look(const gpu::Driver& driver, const Machine& machine) : driver_(driver), machine_(machine) {}

  void at(const Patient& patient, const std::set<pid_t>& processes, GpuMemory& found) {
    std::optional<double> sum = 0;
    for (const cluster::Grant& grant : patient.held) {
      const int gpus = machine_.cluster.gpus(grant.node);
      for (int gpu = 0; gpu < gpus; ++gpu) {
        if ((grant.gpus >> static_cast<unsigned>(gpu) & 1U) == 0) continue;
        const Gpu& seen = at(grant.node, gpu);
        const std::optional<double> held_gb = held_by(processes, seen);
        sum = sum && held_gb ? std::optional(*sum + *held_gb) : std::nullopt;
        if (!patient.asks_part || !held_gb || !seen.memory_gb) continue;
        const double part_gb = grant.gpu_memory_mb > 0
                                   ? grant.gpu_memory_mb / 1e3
                                   : *seen.memory_gb * grant.gpu_milli / cluster::kWholeGpu;
        if (*held_gb <= part_gb) continue;
        found.excesses.push_back({patient.job, patient.folder, grant.node, gpu, *held_gb, part_gb});
      }
    }
    if (sum) found.held_gb[patient.job] = *sum;
  }

 private:
  /// Each is asked once a look.
  const Gpu& at(NodeId node, int gpu) {
    const auto [place, is_new] = seen_.try_emplace({node, gpu});
    const auto number = machine_.driver_numbers[index(node)][static_cast<std::size_t>(gpu)];
    if (!is_new || !number) return place->second;
    place->second.memory_gb = driver_.memory_gb(*number);
    if (auto holders = driver_.holders(*number)) place->second.holders = std::move(*holders);
    return place->second;
  }

  const gpu::Driver& driver_;
  const Machine& machine_;
  std::map<std::pair<NodeId, int>, Gpu> seen_;
};

bool has_gpus(const Patient& patient) {
  for (const cluster::Grant& grant : patient.held) {
    if (grant.gpus != 0) return true;
  }
  return false;
}

}  // namespace

GpuMemory look_at_gpu_memory(const gpu::Driver& driver, const Machine& machine,
                             const std::vector<Patient>& patients) {
  GpuMemory found;
  if (!machine.numbers_processes_as_driver) return found;
  // All before the driver is asked: of a process that has gone meanwhile it says nothing, and one
  // that has its number since is too young to hold much.
  std::vector<std::pair<const Patient*, std::set<pid_t>>> trees;
  for (const Patient& patient : patients) {
    if (patient.shepherd < 0 || !has_gpus(patient)) continue;
    const std::vector<pid_t> below = process::descendants(patient.shepherd);
    trees.emplace_back(&patient, std::set<pid_t>(below.begin(), below.end()));
  }
  Look look(driver, machine);
  for (const auto& [patient, processes] : trees) look.at(*patient, processes, found);
  return found;
}

}  // namespace almanac::machine
