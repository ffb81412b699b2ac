// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_asks.h"

#include <algorithm>

namespace almanac::trace {
namespace {

template <typename Rows>
std::optional<stats::Alias> lottery(const Rows& rows) {
  if (rows.empty()) return std::nullopt;
  std::vector<double> weights;
  for (const auto& row : rows) weights.push_back(row.jobs);
  return stats::Alias(weights);
}

}  // namespace

AsksLottery::AsksLottery(const Workload& workload)
    : workload_(workload), models_(lottery(workload.model)), cores_(lottery(workload.cores)) {}

Asks AsksLottery::draw(const PlanSize& size, Rng rng) const {
  if (size.gpus > 0) return draw_for_gpus(size, rng);
  const Workload::Bandwidth& traffic = workload_.bandwidth;
  const bool heavy = rng.uniform() < traffic.heavy_share;
  const auto cpus = static_cast<float>(size.cpus);
  return {.cpus = cpus,
          .bandwidth_gbs = cpus * static_cast<float>(heavy ? traffic.heavy : traffic.cpu)};
}

Asks AsksLottery::draw_for_gpus(const PlanSize& size, Rng& rng) const {
  const Workload::Node& node = workload_.node;
  const auto gpus = static_cast<float>(size.gpus);
  const float part = gpus / static_cast<float>(node.gpus);
  Asks asks{.cpus = part * static_cast<float>(node.cpus),
            .memory_gb = part * static_cast<float>(node.memory_gb),
            .bandwidth_gbs = gpus * static_cast<float>(workload_.bandwidth.gpu)};
  if (models_) asks.model = &workload_.model[models_->draw(rng)];
  if (cores_) {
    const Workload::Cores& range = workload_.cores[cores_->draw(rng)];
    const auto choices = static_cast<std::uint64_t>(range.most - range.least + 1);
    const auto each = static_cast<float>(range.least) + static_cast<float>(rng.below(choices));
    const auto nodes = static_cast<float>(nodes_of(workload_, size.gpus));
    asks.cpus = std::min(gpus * each, nodes * static_cast<float>(node.cpus));
  }
  return asks;
}

std::int64_t nodes_of(const Workload& workload, std::int64_t gpus) {
  return std::max<std::int64_t>(1, (gpus + workload.node.gpus - 1) / workload.node.gpus);
}

}  // namespace almanac::trace
