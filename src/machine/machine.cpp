// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/connections.h"
#include "machine/devices.h"
#include "machine/instances.h"
#include "profiling/machine.h"
#include "shepherd/run.h"
#include "site/cluster.h"

namespace almanac::machine {
namespace {

/// Fraction of the memory that is left to the system and the service.
constexpr double kSystemsPart = 0.1;

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  name.resize(name.find('\0'));
  return name;
}

/// A node for each type of device: a job is given devices of one. Where there are several, each
/// device comes with as many cores and as much memory as any other, for that is what a job is given
/// that does not say.
cluster::Cluster found_cluster(const profiling::Machine& found,
                               const std::vector<Device>& devices) {
  cluster::Cluster made;
  made.add_vc("local");
  made.takes_every_job = true;
  const double memory_gb = std::floor(found.memory_gb * (1 - kSystemsPart));
  const auto of_device = [&](double all) {
    return std::floor(1e3 * all / static_cast<double>(devices.size())) / 1e3;
  };
  for (auto from = devices.begin(); made.nodes.empty() || from != devices.end();) {
    const auto until = std::find_if(from, devices.end(), [&](const Device& each) {
      return each.is_instance() != from->is_instance() || each.board != from->board ||
             (each.is_instance() && each.type != from->type);
    });
    std::vector<int> numbers;
    double gpu_memory_gb = from == until ? 0 : from->memory_gb;
    for (auto at = from; at != until; ++at) {
      if (at->number) numbers.push_back(*at->number);
      gpu_memory_gb = std::min(gpu_memory_gb, at->memory_gb);
    }
    const bool is_all = from == devices.begin() && until == devices.end();
    cluster::NodeClass make{.gpus = static_cast<int>(until - from),
                            .gpu_type = from == until ? "" : from->type,
                            .cpus = static_cast<double>(found.cpus.size()),
                            .memory_gb = memory_gb,
                            .gpu_memory_gb = gpu_memory_gb};
    if (!is_all) {
      make.cpus = of_device(make.cpus) * make.gpus;
      make.memory_gb = of_device(memory_gb) * make.gpus;
    }
    const slices::Board* const board = from == until ? nullptr : from->board;
    if (board != nullptr) {
      // Instances of different boards do not reach each other by NVLink.
      make.sharing = cluster::Sharing::mig;
      make.board = board;
    } else if (found.driver && static_cast<int>(numbers.size()) == make.gpus) {
      find_connections(*found.driver, numbers, make);
    }
    std::string name = host_name();
    if (!is_all && from->is_instance()) name += "-" + from->type;
    if (!is_all && board != nullptr) name += "-" + board->name;
    made.add_nodes(make, 1, {name});
    from = until;
  }
  return made;
}

/// Whether we are in the machine's first PID namespace, by whose numbers the driver goes: in a
/// container they are other processes'.
///
/// Source   PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h; pid_namespaces(7).
bool is_in_first_pid_namespace() {
  constexpr ino_t kFirst = 0xEFFFFFFC;
  struct stat own {};
  return ::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == kFirst;
}

/// N of /dev/nvidiaN of each GPU of each node; none where one is an instance, or not told.
std::vector<std::vector<int>> device_minors(const gpu::Driver& driver, const Machine& machine) {
  std::vector<std::vector<int>> made;
  for (const auto& numbers : machine.driver_numbers) {
    std::vector<int>& minors = made.emplace_back();
    for (const std::optional<int>& number : numbers) {
      const auto minor = number ? driver.device_minor(*number) : std::nullopt;
      if (!minor) return {};
      minors.push_back(*minor);
    }
  }
  return made;
}

/// Whether the driver says of every GPU which process holds its memory.
bool can_watch_gpu_memory(const profiling::Machine& found, const Machine& machine) {
  if (!found.driver || !machine.numbers_processes_as_driver) return false;
  for (const auto& numbers : machine.driver_numbers) {
    for (const std::optional<int>& number : numbers) {
      if (!number || !found.driver->holders(*number)) return false;
    }
  }
  return true;
}

/// Whether GPUs that a file has cut are boards which may be, and the other way round.
Result<void> check_boards(const Machine& machine, const std::vector<Device>& devices,
                          const std::string& cluster_file) {
  std::size_t at = 0;
  for (const cluster::Node& node : machine.cluster.nodes) {
    const cluster::NodeClass& make = machine.cluster.classes[node.node_class];
    for (int gpu = 0; gpu < make.gpus; ++gpu, ++at) {
      const slices::Board* const found = at < devices.size() ? devices[at].board : nullptr;
      if (found == make.board) continue;
      const auto told = [](const slices::Board* board) {
        return board == nullptr ? "a GPU that cannot be partitioned on demand" : board->name;
      };
      return fail(Code::invalid,
                  fmt::format("GPU {} of node {} is {} in the file, but {} here", gpu, node.name,
                              told(make.board), told(found)),
                  {.file = cluster_file},
                  "serve --make-instances partitions GPUs in MIG mode; cluster discover writes a "
                  "file without instances");
    }
  }
  return {};
}

}  // namespace

const std::vector<int>& cores_of(const Machine& machine, NodeId node) {
  if (machine.boxes.empty()) return machine.cores;
  return machine.cores_of_box.at(machine.boxes[index(node)]);
}

Result<Machine> find_machine(const std::string& cluster_file, bool makes_instances) {
  const profiling::Machine found = profiling::this_machine();
  Machine made;
  made.has_driver = found.driver != nullptr;
  made.numbers_processes_as_driver = is_in_first_pid_namespace();
  Devices devices = find_devices(found, makes_instances);
  made.notes = std::move(devices.notes);
  if (cluster_file.empty()) {
    made.cluster = found_cluster(found, devices.all);
    if (!made.has_driver) {
      made.notes.push_back(fmt::format(
          "no GPU was found: {}; describe the machine in a file with --cluster", found.no_driver));
    }
  } else {
    auto told = site::read_cluster(cluster_file);
    if (!told) return tl::unexpected(told.error());
    made.cluster = std::move(*told);
    if (auto right = check_boards(made, devices.all, cluster_file); !right) {
      return tl::unexpected(right.error());
    }
  }
  if (!made.cluster.changes.empty()) {
    return fail(Code::unsupported,
                "the cluster file changes the capacity over time, which a single machine cannot do",
                {.file = cluster_file});
  }
  std::size_t configured = 0;
  double cpus = 0;
  made.makes_instances =
      std::any_of(made.cluster.classes.begin(), made.cluster.classes.end(),
                  [](const cluster::NodeClass& each) { return each.board != nullptr; });
  for (const cluster::Node& node : made.cluster.nodes) {
    const cluster::NodeClass& make = made.cluster.classes[node.node_class];
    std::vector<std::string>& names = made.gpu_names.emplace_back();
    std::vector<std::optional<int>>& numbers = made.driver_numbers.emplace_back();
    for (int gpu = 0; gpu < make.gpus; ++gpu, ++configured) {
      const bool is_there = configured < devices.all.size();
      numbers.push_back(is_there ? devices.all[configured].number : std::nullopt);
      names.push_back(is_there ? devices.all[configured].name : std::to_string(configured));
    }
    cpus += make.cpus;
  }
  if (made.has_driver && configured > devices.all.size()) {
    return fail(Code::invalid,
                fmt::format("{} GPUs are configured, but the driver reports {}", configured,
                            devices.all.size()),
                {.file = cluster_file}, "correct the number in the cluster file");
  }
  if (!made.has_driver && configured > 0) {
    made.notes.push_back(
        fmt::format("using the {} GPUs of {}: {}", configured, cluster_file, found.no_driver));
  }
  if (made.makes_instances) {
    made.standing = standing_instances(*found.driver, made);
    made.notes.emplace_back("MIG instances are created and removed on demand");
  } else if (makes_instances) {
    made.notes.emplace_back("no GPU of a known board is in MIG mode: none is partitioned");
  }
  if (cpus > 0 && cpus <= static_cast<double>(found.cpus.size())) {
    made.cores = found.cpus;
  } else if (cpus > 0) {
    made.notes.push_back(
        fmt::format("{} cores are configured, but the machine has {}: jobs are not pinned to cores",
                    cpus, found.cpus.size()));
  }
  shepherd::Means means = shepherd::means();
  if (made.cores.empty()) means.cpus = "not held";
  if (made.has_driver && means.gpus != shepherd::kTold) {
    made.device_minors = device_minors(*found.driver, made);
  }
  if (!made.has_driver) means.gpus = "";
  if (made.has_driver && made.device_minors.empty()) means.gpus = shepherd::kTold;
  made.limits_by = to_string(means);
  if (const auto group = shepherd::try_group(); !group) {
    made.notes.push_back(
        fmt::format("jobs run without control groups ({}): if a job's shepherd is killed with -9, "
                    "a process that left its session and cleared its environment keeps running, "
                    "and the next job may get its GPUs",
                    group.error().message));
  }
  if (configured > 0) {
    made.limits_by += fmt::format(", memory of shared GPUs: {}",
                                  can_watch_gpu_memory(found, made) ? "watched" : "not held");
  }
  return made;
}

}  // namespace almanac::machine
