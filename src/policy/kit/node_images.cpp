// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/node_images.h"

#include <fmt/format.h>

namespace almanac::policy {
namespace {

constexpr std::int8_t kFree = -1;
constexpr std::int8_t kPart = 0;
static_assert(cluster::kMaxGpusPerNode <= fragment::kMaxGpus);
static_assert(cluster::kWholeGpu == fragment::kWhole);

}  // namespace

fragment::Request request_of(const cluster::Demand& demand) {
  const cluster::Amount total = demand.total();
  return {.cpu_milli = total.cpu_milli,
          .memory_mib = total.memory_mb,
          .gpus = demand.gpus,
          .gpu_milli = demand.is_cpu_job() ? 0 : demand.gpu_milli,
          .models = demand.gpu_types};
}

fragment::Pod pod_of(const cluster::Demand& demand) {
  const bool any = demand.gpu_types == fragment::kAnyModel;
  return {request_of(demand), any ? "" : fmt::format("{:x}", demand.gpu_types)};
}

void NodeImages::look(const cluster::Ledger& ledger) {
  ++looks_;
  if (ledger_ != ledger.identity()) {
    ledger_ = ledger.identity();
    images_.assign(ledger.num_nodes(), {});
    changes_.resize(images_.size());
    changed_at_.resize(images_.size());
    holders_.assign(images_.size(), {});
    for (std::size_t node = 0; node < images_.size(); ++node) see(ledger, node);
    return;
  }
  for (std::size_t node = 0; node < images_.size(); ++node) {
    if (ledger.changes(NodeId{static_cast<std::uint32_t>(node)}) != changes_[node]) {
      see(ledger, node);
    }
  }
}

void NodeImages::see(const cluster::Ledger& ledger, std::size_t node) {
  const NodeId id{static_cast<std::uint32_t>(node)};
  const cluster::Pool& pool = ledger.pool(id);
  fragment::NodeImage& image = images_[node];
  std::vector<std::int8_t>& holders = holders_[node];
  holders.resize(static_cast<std::size_t>(pool.gpus_per_node), kFree);
  changes_[node] = ledger.changes(id);
  changed_at_[node] = looks_;
  const bool ready = ledger.ready(id);
  const cluster::Amount room = ledger.room(id);
  image.cpu_milli = ready ? room.cpu_milli : -1;
  image.memory_mib = room.memory_mb;
  image.gpus = ready ? pool.gpus_per_node : 0;
  image.model = pool.gpus_per_node > 0 ? pool.gpu_type : 0;
  std::int8_t taken = 0;
  for (int gpu = 0; gpu < pool.gpus_per_node; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    image.free_milli[at] = static_cast<std::int16_t>(ledger.free_milli(id, gpu));
    if (image.free_milli[at] == fragment::kWhole) {
      holders[at] = kFree;
    } else if (image.free_milli[at] > 0) {
      holders[at] = kPart;
    } else if (holders[at] == kFree) {
      ++taken;
    }
  }
  image.held = {};
  for (std::int8_t& holder : holders) {
    const auto at = static_cast<std::size_t>(&holder - holders.data());
    if (holder == kFree && image.free_milli[at] == 0) holder = taken;
    if (holder != kFree) ++image.held[static_cast<std::size_t>(holder)];
  }
  for (std::size_t gpus = 2; gpus < image.held.size(); ++gpus) {
    image.held[gpus] = static_cast<std::int16_t>(image.held[gpus] / static_cast<int>(gpus));
  }
}

}  // namespace almanac::policy
