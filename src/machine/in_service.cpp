// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes that are drained and GPUs that are out of service: what the round is told, and what stays
/// so when the service begins again.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/core.h"
#include "service/log.h"

namespace almanac::machine {

using policy::EventKind;

namespace {

constexpr const char* kKey = "out_of_service";

Error no_such(const std::string& what) {
  return {Code::not_found, fmt::format("there is no {}", what), {}, "almanac nodes shows them"};
}

}  // namespace

std::optional<NodeId> Core::node_called(const std::string& name) const {
  const cluster::Cluster& cluster = config_.machine.cluster;
  for (std::uint32_t at = 0; at < cluster.nodes.size(); ++at) {
    if (cluster.node_label(NodeId{at}) == name) return NodeId{at};
  }
  return std::nullopt;
}

cluster::GpuMask Core::trouble_mask(NodeId node) const {
  cluster::GpuMask mask = 0;
  for (const auto& [where, why] : out_.gpus) {
    if (where.first == node) mask |= cluster::GpuMask{1} << static_cast<unsigned>(where.second);
  }
  return mask;
}

void Core::apply_service(NodeId node, OutOfService out) {
  out_ = std::move(out);
  round_->set_drained(node, out_.drained.contains(node));
  round_->set_out(node, trouble_mask(node));
  const VcId vc = config_.machine.cluster.nodes[index(node)].vc;
  events_.push_back({EventKind::capacity_changed, static_cast<std::uint32_t>(index(vc))});
  outbox_.set(kKey, to_json(out_));
}

std::string Core::to_json(const OutOfService& out) const {
  nlohmann::json made{{"drained", nlohmann::json::array()}, {"gpus", nlohmann::json::array()}};
  const cluster::Cluster& cluster = config_.machine.cluster;
  for (const NodeId node : out.drained) made["drained"].push_back(cluster.node_label(node));
  for (const auto& [where, why] : out.gpus) {
    made["gpus"].push_back(
        {{"node", cluster.node_label(where.first)}, {"gpu", where.second}, {"why", why}});
  }
  return made.dump();
}

Result<void> Core::read_service() {
  const auto kept = store_.get(kKey);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return {};
  const auto read = nlohmann::json::parse(**kept, nullptr, false);
  if (read.is_discarded()) {
    return fail(Code::corrupt, fmt::format("the store's {} is no JSON", kKey));
  }
  // What the cluster has no more needs no word.
  for (const auto& node : read["drained"]) {
    if (const auto id = node_called(node.get<std::string>())) out_.drained.insert(*id);
  }
  for (const auto& each : read["gpus"]) {
    const auto id = node_called(each["node"].get<std::string>());
    const int gpu = each["gpu"].get<int>();
    if (!id || gpu >= config_.machine.cluster.gpus(*id)) continue;
    out_.gpus[{*id, gpu}] = each["why"].get<std::string>();
  }
  return {};
}

void Core::hear_of_gpu(NodeId node, int gpu, const std::string& trouble) {
  const std::string name = config_.machine.cluster.node_label(node);
  if (trouble.empty()) {
    service::log_info(fmt::format("{} GPU {} is well again", name, gpu));
  } else {
    service::log_warning(fmt::format("{} GPU {} is out of service: {}", name, gpu, trouble));
  }
  // What the driver says holds, whatever the disk says: it is kept when it can be.
  wishes_.post([this, node, gpu, trouble]() -> Result<Change> {
    Change change;
    change.acts.push_back(
        [this, node, gpu, trouble] { apply_service(node, with(out_, node, gpu, trouble)); });
    return change;
  });
}

Result<void> Core::set_drained(const std::string& node, bool drained,
                               const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  return change([this, node, drained]() -> Result<Change> {
    const auto id = node_called(node);
    if (!id) return tl::unexpected(no_such("node " + node));
    OutOfService out = out_;
    if (drained) {
      out.drained.insert(*id);
    } else {
      out.drained.erase(*id);
    }
    return put_out(*id, std::move(out));
  });
}

Result<void> Core::set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                                   const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  return change([this, node, gpu, trouble]() -> Result<Change> {
    const auto id = node_called(node);
    if (!id || gpu < 0 || gpu >= config_.machine.cluster.gpus(*id)) {
      return tl::unexpected(no_such(fmt::format("GPU {} of node {}", gpu, node)));
    }
    return put_out(*id, with(out_, *id, gpu, trouble));
  });
}

Core::OutOfService Core::with(OutOfService out, NodeId node, int gpu, const std::string& trouble) {
  if (trouble.empty()) {
    out.gpus.erase({node, gpu});
  } else {
    out.gpus[{node, gpu}] = trouble;
  }
  return out;
}

Core::Change Core::put_out(NodeId node, OutOfService out) {
  Change change;
  change.kept.set(kKey, to_json(out));
  change.acts.push_back([this, node, out = std::move(out)] { apply_service(node, out); });
  return change;
}

}  // namespace almanac::machine
