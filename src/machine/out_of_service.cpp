// SPDX-License-Identifier: Apache-2.0
#include "machine/out_of_service.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "service/log.h"

namespace almanac::machine {

namespace {

constexpr const char* kOutageKey = "out_of_service";

Error no_such(const std::string& what) {
  return {Code::not_found, fmt::format("there is no {}", what), {}, "almanac nodes lists them"};
}

/// Returns `outage` with this trouble of a GPU, or without any if it is "".
Outage with(Outage outage, NodeId node, int gpu, const std::string& trouble) {
  if (trouble.empty()) {
    outage.gpus.erase({node, gpu});
  } else {
    outage.gpus[{node, gpu}] = trouble;
  }
  return outage;
}

/// "a, b, c, d and 3 more".
std::string first_of(const std::set<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown(names.begin(), names.end());
  const std::size_t more = shown.size() > kShown ? shown.size() - kShown : 0;
  shown.resize(shown.size() - more);
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::string Outage::missing_text() const {
  if (missing.empty()) return "";
  return missing.size() == 1
             ? fmt::format("box {} does not report, or could not start a job", *missing.begin())
             : fmt::format("boxes {} do not report, or could not start a job", first_of(missing));
}

std::string Outage::drained_text(const cluster::Cluster& cluster) const {
  std::set<std::string> names;
  for (const NodeId node : drained) names.insert(cluster.node_label(node));
  if (names.empty()) return "";
  return names.size() == 1 ? fmt::format("node {} is drained", *names.begin())
                           : fmt::format("nodes {} are drained", first_of(names));
}

Result<void> OutOfService::set_drained(const std::string& node, bool drained,
                                       const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  return requests_.change([this, node, drained]() -> Result<Change> {
    const auto id = node_called(node);
    if (!id) return tl::unexpected(no_such("node " + node));
    Outage outage = outage_;
    if (drained) {
      outage.drained.insert(*id);
    } else {
      outage.drained.erase(*id);
    }
    return plan(*id, std::move(outage));
  });
}

Result<void> OutOfService::set_gpu_trouble(const std::string& node, int gpu,
                                           const std::string& trouble,
                                           const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  return requests_.change([this, node, gpu, trouble]() -> Result<Change> {
    const auto id = node_called(node);
    if (!id || gpu < 0 || gpu >= state_.config.machine.cluster.gpus(*id)) {
      return tl::unexpected(no_such(fmt::format("GPU {} of node {}", gpu, node)));
    }
    return plan(*id, with(outage_, *id, gpu, trouble));
  });
}

void OutOfService::set_by_driver(NodeId node, int gpu, const std::string& trouble) {
  const std::string name = state_.config.machine.cluster.node_label(node);
  if (trouble.empty()) {
    service::log_info(fmt::format("{} GPU {} is healthy again", name, gpu));
  } else {
    service::log_warning(fmt::format("{} GPU {} is out of service: {}", name, gpu, trouble));
  }
  // The driver's word holds even if the disk refuses it, and is written when that is possible.
  requests_.post([this, node, gpu, trouble]() -> Result<Change> {
    Change change;
    change.act = [this, node, gpu, trouble] { apply(node, with(outage_, node, gpu, trouble)); };
    return change;
  });
}

void OutOfService::set_silent(const std::set<std::string>& boxes,
                              const std::set<std::string>& gone) {
  std::set<std::string> missing;
  std::set_difference(boxes.begin(), boxes.end(), gone.begin(), gone.end(),
                      std::inserter(missing, missing.end()));
  {
    const std::lock_guard lock(mutex_);
    if (silent_ == boxes && missing_ == missing) return;
    for (const std::string& each : missing) {
      if (silent_.contains(each)) continue;
      service::log_warning(
          fmt::format("box {} does not report, or could not start a job: none starts there, and "
                      "its jobs keep their "
                      "places",
                      each));
    }
    for (const std::string& each : silent_) {
      if (!boxes.contains(each)) service::log_info(fmt::format("box {} takes jobs again", each));
    }
    silent_ = boxes;
    missing_ = missing;
  }
  requests_.post([this, boxes, missing]() -> Result<Change> {
    Change change;
    change.act = [this, boxes, missing] {
      outage_.missing = missing;
      const std::vector<std::string>& box_of = state_.config.machine.boxes;
      for (std::uint32_t at = 0; at < box_of.size(); ++at) {
        const bool is_silent = boxes.contains(box_of[at]);
        if (outage_.silent.contains(NodeId{at}) == is_silent) continue;
        if (is_silent) {
          outage_.silent.insert(NodeId{at});
        } else {
          outage_.silent.erase(NodeId{at});
        }
        queue_.set_out_of_service(NodeId{at}, outage_);
      }
      state_.has_changed = true;
    };
    return change;
  });
}

void OutOfService::apply(NodeId node, Outage outage) {
  outage_ = std::move(outage);
  queue_.set_out_of_service(node, outage_);
  state_.outbox.set(kOutageKey, to_json(outage_));
}

Change OutOfService::plan(NodeId node, Outage outage) {
  Change change;
  change.kept.set(kOutageKey, to_json(outage));
  change.act = [this, node, outage = std::move(outage)] { apply(node, outage); };
  return change;
}

std::optional<NodeId> OutOfService::node_called(const std::string& name) const {
  const cluster::Cluster& cluster = state_.config.machine.cluster;
  for (std::uint32_t at = 0; at < cluster.nodes.size(); ++at) {
    if (cluster.node_label(NodeId{at}) == name) return NodeId{at};
  }
  return std::nullopt;
}

std::string OutOfService::to_json(const Outage& outage) const {
  nlohmann::json made{{"drained", nlohmann::json::array()}, {"gpus", nlohmann::json::array()}};
  const cluster::Cluster& cluster = state_.config.machine.cluster;
  for (const NodeId node : outage.drained) made["drained"].push_back(cluster.node_label(node));
  for (const auto& [where, why] : outage.gpus) {
    made["gpus"].push_back(
        {{"node", cluster.node_label(where.first)}, {"gpu", where.second}, {"why", why}});
  }
  return made.dump();
}

Result<void> OutOfService::read() {
  const std::vector<std::string>& box_of = state_.config.machine.boxes;
  for (std::uint32_t at = 0; at < box_of.size(); ++at) outage_.silent.insert(NodeId{at});
  silent_ = missing_ = outage_.missing = {box_of.begin(), box_of.end()};
  const auto kept = state_.store.get(kOutageKey);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return {};
  const auto read = nlohmann::json::parse(**kept, nullptr, false);
  if (read.is_discarded()) {
    return fail(Code::corrupt, fmt::format("the store's {} is not JSON", kOutageKey));
  }
  // Skips what the cluster does not have any more.
  for (const auto& node : read["drained"]) {
    if (const auto id = node_called(node.get<std::string>())) outage_.drained.insert(*id);
  }
  for (const auto& each : read["gpus"]) {
    const auto id = node_called(each["node"].get<std::string>());
    const int gpu = each["gpu"].get<int>();
    if (!id || gpu >= state_.config.machine.cluster.gpus(*id)) continue;
    outage_.gpus[{*id, gpu}] = each["why"].get<std::string>();
  }
  return {};
}

}  // namespace almanac::machine
