// SPDX-License-Identifier: Apache-2.0
#include "cluster/demand_table.h"

namespace almanac::cluster {
namespace {

constexpr std::size_t kMostPlainGpus = 4096;

bool is_plain(const Demand& demand) {
  return demand == Demand{.gpus = demand.gpus} && demand.gpus >= 0 &&
         static_cast<std::size_t>(demand.gpus) < kMostPlainGpus;
}

}  // namespace

std::size_t DemandTable::Hash::operator()(const Demand& demand) const {
  std::uint64_t hash = 0;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  };
  mix(static_cast<std::uint64_t>(demand.gpus) << 32 | static_cast<std::uint32_t>(demand.tasks));
  mix(demand.gpu_types);
  mix(static_cast<std::uint64_t>(demand.nvlink_gpus) << 32 |
      static_cast<std::uint32_t>(demand.nodes));
  mix(static_cast<std::uint64_t>(demand.cpu_milli) << 32 |
      static_cast<std::uint32_t>(demand.memory_mb));
  mix(static_cast<std::uint64_t>(demand.gpu_memory_mb) << 32 | demand.profile);
  mix(static_cast<std::uint64_t>(index(demand.claim)) << 32 |
      static_cast<std::uint32_t>(demand.gpu_milli));
  return hash;
}

DemandId DemandTable::id_of(const Demand& demand) {
  const bool plain = is_plain(demand);
  const auto gpus = static_cast<std::size_t>(demand.gpus);
  if (plain && gpus < plain_.size() && plain_[gpus] > 0) return DemandId{plain_[gpus] - 1};
  const DemandId next{static_cast<std::uint32_t>(demands_.size())};
  const auto [known, is_new] = ids_.try_emplace(demand, next);
  if (is_new) demands_.push_back(demand);
  if (plain) {
    if (plain_.size() <= gpus) plain_.resize(gpus + 1, 0);
    plain_[gpus] = static_cast<std::uint32_t>(index(known->second)) + 1;
  }
  return known->second;
}

}  // namespace almanac::cluster
