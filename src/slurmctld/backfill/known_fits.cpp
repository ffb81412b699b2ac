// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/known_fits.h"

namespace almanac::slurmctld {

void KnownFits::forget(NodeAt node) {
  const ZoneAt at = zones_.of_node(node);
  if (at == kNoZone) return;
  ++known_[at].version;
  known_[at].used = 0;
}

void KnownFits::file(Zone& zone, std::uint32_t entry) {
  const std::size_t hash = zone.entries[entry].hash;
  const std::size_t mask = zone.slots.size() - 1;
  std::size_t at = hash & mask;
  while (!zone.is_free(zone.slots[at])) at = (at + 1) & mask;
  zone.slots[at] = {hash, entry, static_cast<std::uint32_t>(zone.version)};
}

/// Doubles the slots.
void KnownFits::grow(Zone& zone) {
  zone.slots.assign(zone.slots.size() * 2, Slot{});
  for (std::uint32_t at = 0; at < zone.used; ++at) file(zone, at);
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
  const std::size_t mask = zone.slots.size() - 1;
  for (std::size_t at = hash & mask; !zone.is_free(zone.slots[at]); at = (at + 1) & mask) {
    if (zone.slots[at].hash != hash) continue;
    Entry& entry = zone.entries[zone.slots[at].entry];
    if (entry.shape == ask.shape && entry.partition == ask.partition &&
        entry.candidates.equals(ask.candidates, extent) && entry.weights.size() == weights.size() &&
        (weights.empty() || entry.weights == weights)) {
      return entry.fits;
    }
  }
  if (std::size_t{zone.used} * 2 >= zone.slots.size()) grow(zone);
  if (zone.used == zone.entries.size()) zone.entries.emplace_back();
  Entry& entry = zone.entries[zone.used];
  entry.hash = hash;
  entry.shape = ask.shape;
  entry.partition = ask.partition;
  entry.candidates.take(ask.candidates, extent);
  entry.weights = weights;
  entry.fits.clear();
  file(zone, zone.used++);
  return entry.fits;
}

}  // namespace almanac::slurmctld
