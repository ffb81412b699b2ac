// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/known_fits.h"

#include <algorithm>
#include <span>

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
  const std::span<const Word> candidates = ask.candidates.words(extent);
  const Word asker = Word{ask.shape} << 32 | ask.partition;
  std::size_t hash = ask.candidates.hash(extent) ^ (asker * kOdd);
  hash ^= hash >> 32U;
  Zone& zone = known_[number];
  const std::size_t mask = zone.slots.size() - 1;
  const std::size_t length = candidates.size() + 1;  // of a key
  for (std::size_t at = hash & mask; !zone.is_free(zone.slots[at]); at = (at + 1) & mask) {
    if (zone.slots[at].hash != hash) continue;
    const Word* const key = zone.keys.data() + zone.slots[at].entry * length;
    if (*key != asker || !std::equal(candidates.begin(), candidates.end(), key + 1)) continue;
    Entry& entry = zone.entries[zone.slots[at].entry];
    if (entry.weights == weights) return entry.fits;
  }
  if (std::size_t{zone.used} * 2 >= zone.slots.size()) grow(zone);
  if (zone.used == zone.entries.size()) {
    zone.entries.emplace_back();
    zone.keys.resize(zone.entries.size() * length);
  }
  Entry& entry = zone.entries[zone.used];
  Word* const key = zone.keys.data() + zone.used * length;
  *key = asker;
  std::copy(candidates.begin(), candidates.end(), key + 1);
  entry.hash = hash;
  entry.weights = weights;
  entry.fits.clear();
  file(zone, zone.used++);
  return entry.fits;
}

}  // namespace almanac::slurmctld
