// SPDX-License-Identifier: Apache-2.0
#include "machine/box.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/read.h"
#include "cluster/read_toml.h"

namespace almanac::machine {

using nlohmann::json;

Machine head_of_boxes() {
  Machine made;
  made.cluster.add_vc("local");
  made.cluster.takes_every_job = true;
  made.limits_by = "each box";
  return made;
}

std::string describe_box(const Machine& machine) {
  return json{{"cluster", cluster::to_toml(machine.cluster)},
              {"gpus", machine.gpu_names},
              {"device_minors", machine.device_minors},
              {"cores", machine.cores}}
      .dump();
}

namespace {

/// What a box says about each of its nodes.
struct Details {
  std::vector<std::vector<std::string>> gpus{};
  std::vector<std::vector<int>> minors{};  // empty if not given
  std::vector<int> cores{};
};

Result<void> add_nodes(Machine& machine, const std::string& name, const cluster::Cluster& read,
                       Details details) {
  const auto fail_by = [&](const std::string& why) {
    return fail(Code::invalid, fmt::format("box {}: {}", name, why));
  };
  auto& [gpus, minors, cores] = details;
  if (gpus.size() != read.nodes.size()) return fail_by("it does not name the GPUs of each node");
  if (!minors.empty() && minors.size() != gpus.size()) {
    return fail_by("it does not give the devices of each node");
  }
  constexpr std::size_t kMostNodes = 256;
  if (gpus.size() > kMostNodes) return fail_by(fmt::format("more than {} nodes", kMostNodes));
  minors.resize(gpus.size());
  for (std::size_t at = 0; at < read.nodes.size(); ++at) {
    const cluster::NodeClass& make = read.classes[read.nodes[at].node_class];
    if (gpus[at].size() != static_cast<std::size_t>(make.gpus)) {
      return fail_by("the number of GPUs and of their names differ");
    }
    if (!minors[at].empty() && minors[at].size() != gpus[at].size()) {
      return fail_by("the number of GPUs and of their devices differ");
    }
    if (make.board != nullptr) {
      return fail_by("GPUs that are partitioned on demand cannot join; create instances first");
    }
    const std::string node = at == 0 ? name : fmt::format("{}-{}", name, at + 1);
    const auto& others = machine.cluster.nodes;
    if (std::any_of(others.begin(), others.end(),
                    [&](const cluster::Node& each) { return each.name == node; })) {
      return fail_by(fmt::format("there is already a node {}", node));
    }
    machine.cluster.add_nodes(make, 1, {node});
    if (machine.cluster.gpu_kinds().size() > cluster::kMaxGpuTypes) {
      return fail_by(
          fmt::format("all boxes together have more than {} kinds of GPUs", cluster::kMaxGpuTypes));
    }
    machine.gpu_names.push_back(gpus[at]);
    machine.driver_numbers.emplace_back(gpus[at].size());
    machine.device_minors.push_back(std::move(minors[at]));
    machine.boxes.push_back(name);
  }
  machine.cores_of_box[name] = std::move(cores);
  return {};
}

}  // namespace

Result<void> add_box(Machine& machine, const std::string& name, std::string_view hardware) try {
  const json said = json::parse(hardware);
  const auto read = cluster::parse_toml(said.at("cluster").get<std::string>(), "box " + name);
  if (!read) return tl::unexpected(read.error());
  return add_nodes(machine, name, *read,
                   {.gpus = said.at("gpus").get<std::vector<std::vector<std::string>>>(),
                    .minors = said.at("device_minors").get<std::vector<std::vector<int>>>(),
                    .cores = said.at("cores").get<std::vector<int>>()});
} catch (const json::exception& error) {
  return fail(Code::invalid, fmt::format("box {}: {}", name, error.what()));
}

std::string cluster_of_box(std::string_view hardware) {
  return json::parse(hardware).at("cluster").get<std::string>();
}

Result<void> add_damaged_box(Machine& machine, const std::string& name, std::string_view cluster) {
  const auto read = cluster::parse_toml(cluster, "box " + name);
  if (!read) return tl::unexpected(read.error());
  Details unknown;
  for (const cluster::Node& node : read->nodes) {
    std::vector<std::string>& names = unknown.gpus.emplace_back();
    for (int gpu = 0; gpu < read->classes[node.node_class].gpus; ++gpu) {
      names.push_back(std::to_string(gpu));
    }
  }
  return add_nodes(machine, name, *read, std::move(unknown));
}

std::vector<OnBox> by_box(const std::vector<cluster::Grant>& held, const Machine& machine) {
  std::vector<cluster::Grant> sorted = held;
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const cluster::Grant& a, const cluster::Grant& b) { return a.node < b.node; });
  std::vector<OnBox> made;
  for (const cluster::Grant& grant : sorted) {
    const std::string& box = machine.boxes[index(grant.node)];
    if (made.empty() || made.back().box != box) made.push_back({.box = box});
    made.back().held.push_back(grant);
  }
  return made;
}

}  // namespace almanac::machine
