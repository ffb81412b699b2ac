// SPDX-License-Identifier: Apache-2.0
#include "cli/simulated_gpus.h"

#include <fmt/format.h>

#include "cluster/sockets.h"

namespace almanac::cli {

Result<void> set_gpus(machine::Machine& machine, int gpus) {
  if (gpus > cluster::kMaxGpusPerNode) {
    return fail(Code::usage, fmt::format("a node has at most {} GPUs", cluster::kMaxGpusPerNode));
  }
  if (machine.cluster.nodes.size() > 1) {
    return fail(
        Code::usage, "--gpus cannot select MIG instances", {},
        "write a cluster file with almanac cluster discover -o toml, and use it with --cluster");
  }
  std::vector<std::string>& names = machine.gpu_names.front();
  if (machine.has_driver && static_cast<std::size_t>(gpus) > names.size()) {
    return fail(Code::usage, fmt::format("--gpus {}: the driver reports {}", gpus, names.size()));
  }
  while (names.size() < static_cast<std::size_t>(gpus))
    names.push_back(std::to_string(names.size()));
  names.resize(static_cast<std::size_t>(gpus));
  cluster::set_gpus(machine.cluster.classes.front(), gpus);
  std::erase_if(machine.standing, [&](const machine::Standing& each) { return each.gpu >= gpus; });
  if (!machine.has_driver) {
    machine.notes = {fmt::format("no GPU driver found: using {} simulated GPU{} (--gpus)", gpus,
                                 gpus == 1 ? "" : "s")};
  }
  return {};
}

}  // namespace almanac::cli
