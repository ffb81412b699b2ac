// SPDX-License-Identifier: Apache-2.0

/// \file
/// Steps shared by several batch formers.
#pragma once

#include "inference/replica.h"

namespace almanac::inference::former {

/// Adds one token for each running sequence. Preempts the newest sequences if no block is free.
/// Returns false if it preempted any.
inline bool decode_all(Replica& replica) {
  bool all = true;
  for (std::size_t each = 0; each < replica.run().size(); ++each) {
    while (!replica.grow(replica.run()[each], 1)) {
      all = false;
      const bool itself = replica.run().size() == each + 1;
      replica.preempt_last();
      if (itself) return false;
    }
  }
  return all;
}

/// Admits whole prompts in order of arrival, at most `most`, within the token budget; a prompt
/// beyond the budget runs alone. Returns their number, not counting sequences that bring their KV
/// cache.
inline std::size_t admit_prompts(Replica& replica, std::size_t most, std::int64_t budget) {
  std::size_t prompts = 0;
  for (std::size_t each = 0; each < most && replica.next() != nullptr; ++each) {
    const bool brings = replica.next()->ready > 0;
    const std::int32_t whole = std::max(replica.next()->prompt, 1);
    if (!brings && whole > budget && prompts > 0) break;
    const auto tokens = replica.admit(whole);
    if (!tokens) break;
    if (brings) continue;
    budget -= *tokens;
    ++prompts;
  }
  return prompts;
}

/// Rejects waiting requests that have already missed their objective.
inline void drop_late(Replica& replica) {
  if (replica.limits().first_token == kNever) return;
  while (replica.next() != nullptr && replica.next()->ready == 0 &&
         replica.now() + replica.prompts_take(1) >
             replica.arrival(*replica.next()) + replica.limits().first_token) {
    replica.turn_away_next();
  }
}

}  // namespace almanac::inference::former
