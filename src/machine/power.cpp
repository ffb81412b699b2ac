// SPDX-License-Identifier: Apache-2.0
#include "machine/power.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "gpu/driver.h"

namespace almanac::machine {
namespace {

/// What a GPU of the node adds to its idle draw.
double added_w(const energy::PowerModel& model, const cluster::Cluster& cluster, NodeId node) {
  const double told_w = cluster.classes[cluster.nodes[index(node)].node_class].gpu_power_limit_w;
  return model.gpu_w(1, told_w > 0 ? std::max(told_w, model.gpu_least_limit_w) : energy::kNoLimit);
}

}  // namespace

double modelled_w(const energy::PowerModel& model, const cluster::Cluster& cluster,
                  const std::vector<cluster::Grant>& held) {
  double draw_w = static_cast<double>(cluster.nodes.size()) * model.idle_w;
  for (const cluster::Grant& each : held) {
    const double gpus = each.count() * each.gpu_milli / double{cluster::kWholeGpu};
    draw_w += gpus * added_w(model, cluster, each.node);
  }
  return draw_w;
}

double modelled_gpu_w(const energy::PowerModel& model, const cluster::Cluster& cluster,
                      NodeId node) {
  return model.idle_w / cluster.gpus(node) + added_w(model, cluster, node);
}

void limit_gpus(Machine& machine) {
  std::optional<Result<std::unique_ptr<gpu::Driver>>> driver;
  std::map<std::string, int> troubles;  // what, and of how many GPUs
  for (std::size_t at = 0; at < machine.cluster.nodes.size(); ++at) {
    const cluster::Node& node = machine.cluster.nodes[at];
    const double limit_w = machine.cluster.classes[node.node_class].gpu_power_limit_w;
    if (limit_w <= 0) continue;
    if (!driver) driver.emplace(gpu::open_driver());
    for (const std::optional<int>& number : machine.driver_numbers[at]) {
      if (!*driver) {
        ++troubles["not held: " + driver->error().message];
      } else if (!number) {
        ++troubles["not enforced: the driver does not support it"];
      } else if (const auto kept = (**driver)->persist(*number),
                 set = (**driver)->limit_power(*number, limit_w);
                 !set) {
        ++troubles["not held: " + set.error().message];
      } else if (!kept) {
        ++troubles["lost whenever the GPU is unused (no persistence mode): " +
                   kept.error().message];
      }
    }
  }
  for (const auto& [what, gpus] : troubles) {
    machine.notes.push_back(
        fmt::format("gpu_power_limit_w of {} GPU{}: {}", gpus, gpus == 1 ? "" : "s", what));
  }
}

}  // namespace almanac::machine
