// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which adapters (LoRA) of its model a replica has in GPU memory, beside the model's own weights.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/request.h"

namespace almanac::inference {

/// So many places of one adapter each. One that no running request uses makes room for another, the
/// one that was used longest ago first. Adapters count from 1; 0 is the model alone and needs none.
/// All is O(places).
///
/// Source   vLLM (max_loras): places are set aside before any adapter comes.
class Adapters {
 public:
  explicit Adapters(std::int32_t places) : places_(static_cast<std::size_t>(places)) {}

  /// Whether a request for `adapter` can run beside those that do.
  bool has_room(std::uint32_t adapter) const;
  /// A request for it runs. True = it has to be loaded. Requires has_room().
  bool use(std::uint32_t adapter);
  /// Such a request runs no more.
  void release(std::uint32_t adapter);
  /// One more, or one fewer (-1), waits for it.
  void expect(std::uint32_t adapter, int more);

  /// Used by requests that run.
  std::int32_t in_use() const { return in_use_; }
  /// In memory, or asked for by a request that waits.
  bool knows(std::uint32_t adapter) const;
  /// Whether all that run and wait leave a place.
  bool has_free_place() const;

 private:
  struct Known {
    std::uint32_t adapter = 0;
    std::int32_t running = 0, waiting = 0;
    bool loaded = false;
    std::uint64_t used = 0;  // when it was used last
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
