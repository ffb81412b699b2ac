// SPDX-License-Identifier: Apache-2.0

/// \file
/// Remembers where jobs fit, for jobs that ask alike for the same nodes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "slurmctld/backfill/will_run.h"

namespace almanac::slurmctld {

/// What decides where a job fits, apart from what runs: equal asks have equal answers.
struct FitAsk {
  std::uint32_t shape = 0;
  std::uint32_t partition = 0;
  const NodeBits& candidates;
  const StaleWeights* weights = nullptr;  ///< That a CPU job sees; null if all are 0.
};

/// Answers are kept by zone: partitions that share nodes are in one, and no job uses nodes of two.
class KnownFits {
 public:
  KnownFits() = default;
  /// Takes the nodes of each partition.
  KnownFits(const std::vector<NodeBits>& partitions, std::size_t nodes);

  /// Forgets all answers about the zone of a node, as something on the node has changed.
  void forget(NodeAt node);
  /// Returns the answers, which hold until the zone is forgotten.
  FutureFits& of(const FitAsk& ask);

 private:
  struct Entry {
    std::uint32_t shape = 0;
    std::uint32_t partition = 0;
    NodeBits candidates{};
    StaleWeights weights{};
    FutureFits fits;
  };

  static constexpr std::uint32_t kNoZone = ~std::uint32_t{0};

  std::vector<std::unordered_multimap<std::size_t, Entry>> known_;  // by zone, by hash
  std::vector<std::uint32_t> partition_zones_;
  std::vector<std::uint32_t> node_zones_;
};

}  // namespace almanac::slurmctld
