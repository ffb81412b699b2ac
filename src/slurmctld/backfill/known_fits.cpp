// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/known_fits.h"

#include <algorithm>
#include <utility>

namespace almanac::slurmctld {

KnownFits::KnownFits(const std::vector<NodeBits>& partitions, std::size_t nodes)
    : known_(partitions.size()), partition_zones_(partitions.size()), node_zones_(nodes, kNoZone) {
  for (std::uint32_t at = 0; at < partitions.size(); ++at) {
    partition_zones_[at] = at;
    partitions[at].each([&](NodeAt node) {
      const std::uint32_t other = node_zones_[node];
      node_zones_[node] = at;
      if (other == kNoZone || other == at) return;
      std::replace(partition_zones_.begin(), partition_zones_.end(), other, at);
      std::replace(node_zones_.begin(), node_zones_.end(), other, at);
    });
  }
}

void KnownFits::forget(NodeAt node) {
  if (node_zones_[node] == kNoZone) return;
  auto& known = known_[node_zones_[node]];
  if (!known.empty()) known.clear();
}

FutureFits& KnownFits::of(const FitAsk& ask) {
  static const StaleWeights kAllZero;
  const StaleWeights& weights = ask.weights != nullptr ? *ask.weights : kAllZero;
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  const std::size_t hash =
      ask.candidates.hash() ^ ((std::uint64_t{ask.shape} << 32 | ask.partition) * kOdd);
  auto& known = known_[partition_zones_[ask.partition]];
  const auto [first, last] = known.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    Entry& entry = at->second;
    if (entry.shape == ask.shape && entry.partition == ask.partition &&
        entry.candidates == ask.candidates && entry.weights == weights) {
      return entry.fits;
    }
  }
  Entry entry{ask.shape, ask.partition, ask.candidates, weights, {}};
  return known.emplace(hash, std::move(entry))->second.fits;
}

}  // namespace almanac::slurmctld
