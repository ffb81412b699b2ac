// SPDX-License-Identifier: Apache-2.0

/// \file
/// The LoRA adapters that a replica holds in GPU memory, in addition to the model's weights.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/request.h"

namespace almanac::inference {

/// A number of slots, each for one adapter. If all are taken, the adapter that no running request
/// uses and that was used longest ago is evicted. Adapters are numbered from 1; 0 is the model
/// alone and needs no slot. All operations are O(slots).
///
/// Source   vLLM (max_loras): slots are reserved before any adapter is loaded.
class Adapters {
 public:
  explicit Adapters(std::int32_t places) : places_(static_cast<std::size_t>(places)) {}

  /// Whether a request for `adapter` can run next to the running ones.
  bool has_room(std::uint32_t adapter) const;
  /// Starts a request for the adapter. Returns whether the adapter must be loaded. Requires
  /// has_room().
  bool use(std::uint32_t adapter);
  /// Ends a request for the adapter.
  void release(std::uint32_t adapter);
  /// Adds `more` (1 or -1) waiting requests for the adapter.
  void expect(std::uint32_t adapter, int more);

  /// Number of adapters used by running requests.
  std::int32_t in_use() const { return in_use_; }
  /// Whether the adapter is in memory, or a waiting request needs it.
  bool knows(std::uint32_t adapter) const;
  /// Whether the running and waiting requests leave a slot free.
  bool has_free_place() const;

 private:
  struct Known {
    std::uint32_t adapter = 0;
    std::int32_t running = 0, waiting = 0;
    bool loaded = false;
    std::uint64_t used = 0;  // time of last use
  };
  const Known* find(std::uint32_t adapter) const;
  Known& known(std::uint32_t adapter);
  void forget_unknown();

  std::size_t places_;
  std::vector<Known> known_;  // loaded or waited for
  std::size_t loaded_ = 0;
  std::int32_t in_use_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace almanac::inference
