// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/known_fits.h"

#include <algorithm>

namespace almanac::slurmctld {

void KnownFits::forget(NodeAt node) {
  const ZoneAt at = zones_.of_node(node);
  if (at == kNoZone) return;
  ++known_[at].version;
  if (known_[at].used == 0) return;
  known_[at].used = 0;
  std::fill(known_[at].slots.begin(), known_[at].slots.end(), 0);
}

/// Doubles the slots.
void KnownFits::grow(Zone& zone) {
  zone.slots.assign(zone.slots.size() * 2, 0);
  for (std::uint32_t at = 0; at < zone.used; ++at) {
    std::uint32_t& slot = zone.slots[zone.entries[at].hash & (zone.slots.size() - 1)];
    zone.entries[at].next = slot;
    slot = at + 1;
  }
}

FutureFits& KnownFits::of(const FitAsk& ask) {
  static const StaleWeights kAllZero;
  const StaleWeights& weights = ask.weights != nullptr ? *ask.weights : kAllZero;
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  const ZoneAt number = zones_.of_partition(ask.partition);
  const NodeBits::Extent& extent = zones_.extent(number);
  std::size_t hash =
      ask.candidates.hash(extent) ^ ((std::uint64_t{ask.shape} << 32 | ask.partition) * kOdd);
  hash ^= hash >> 32U;
  Zone& zone = known_[number];
  for (std::uint32_t at = zone.slots[hash & (zone.slots.size() - 1)]; at > 0;) {
    Entry& entry = zone.entries[at - 1];
    if (entry.hash == hash && entry.shape == ask.shape && entry.partition == ask.partition &&
        entry.candidates.equals(ask.candidates, extent) && entry.weights.size() == weights.size() &&
        (weights.empty() || entry.weights == weights)) {
      return entry.fits;
    }
    at = entry.next;
  }
  if (zone.used == zone.slots.size()) grow(zone);
  if (zone.used == zone.entries.size()) zone.entries.emplace_back();
  Entry& entry = zone.entries[zone.used++];
  entry.hash = hash;
  entry.shape = ask.shape;
  entry.partition = ask.partition;
  entry.candidates.take(ask.candidates, extent);
  entry.weights = weights;
  entry.fits.clear();
  std::uint32_t& slot = zone.slots[hash & (zone.slots.size() - 1)];
  entry.next = slot;
  slot = zone.used;
  return entry.fits;
}

}  // namespace almanac::slurmctld
