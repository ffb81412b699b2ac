// SPDX-License-Identifier: Apache-2.0

/// \file
/// Remembers where jobs fit, for jobs that ask alike for the same nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "slurmctld/backfill/will_run.h"
#include "slurmctld/nodes/zones.h"

namespace almanac::slurmctld {

/// What decides where a job fits, apart from what runs: equal asks have equal answers.
struct FitAsk {
  std::uint32_t shape = 0;
  std::uint32_t partition = 0;
  const NodeBits& candidates;
  const StaleWeights* weights = nullptr;  ///< That a CPU job sees; null if all are 0.
};

/// Answers are kept by zone.
class KnownFits {
 public:
  /// `zones` must outlive it.
  explicit KnownFits(const Zones& zones) : zones_(zones), known_(zones.size()) {}

  /// Returns how often a zone was forgotten, from 1: while it stays, jobs fit there as they did.
  std::uint64_t version(ZoneAt zone) const { return known_[zone].version; }

  /// Forgets all answers about the zone of a node, as something on the node has changed.
  void forget(NodeAt node);
  /// Returns the answers, which hold until the zone is forgotten.
  FutureFits& of(const FitAsk& ask);

 private:
  using Word = std::uint64_t;
  struct Entry {
    std::size_t hash = 0;
    StaleWeights weights{};
    FutureFits fits{};
  };
  /// The hash is here, too, so that a search reads few entries.
  struct Slot {
    std::size_t hash = 0;
    std::uint32_t entry = 0;
    std::uint32_t version = 0;  // of the zone; free if it is another one
  };
  /// Answers about one zone, found by their hashes: the slot of an entry is the first free one from
  /// the hash on. Forgotten entries keep their memory.
  struct Zone {
    std::uint64_t version = 1;
    std::deque<Entry> entries{};
    /// Of each entry: shape and partition, then the words of its candidates in the zone. In one
    /// array, so that a search follows no pointers.
    std::vector<Word> keys{};
    std::uint32_t used = 0;
    std::vector<Slot> slots = std::vector<Slot>(64);  // at least half of them are free

    bool is_free(const Slot& slot) const {
      return slot.version != static_cast<std::uint32_t>(version);
    }
  };

  static void file(Zone& zone, std::uint32_t entry);
  static void grow(Zone& zone);

  const Zones& zones_;
  std::vector<Zone> known_;
};

}  // namespace almanac::slurmctld
