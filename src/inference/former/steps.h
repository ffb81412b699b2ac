// SPDX-License-Identifier: Apache-2.0

/// \file
/// What several batch formers do alike.
#pragma once

#include "inference/replica.h"

namespace almanac::inference::former {

/// A token for each running sequence. Those that came last are sent back where no block is left.
/// False = some were.
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

/// Whole prompts in order of arrival, `most` at most, within the budget of tokens; one beyond the
/// budget runs alone. How many; what brings its KV along joins uncounted.
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

/// Turns away what waits and is later than its objective allows.
inline void drop_late(Replica& replica) {
  if (replica.limits().first_token == kNever) return;
  while (replica.next() != nullptr && replica.next()->ready == 0 &&
         replica.now() + replica.prompts_take(1) >
             replica.arrival(*replica.next()) + replica.limits().first_token) {
    replica.turn_away_next();
  }
}

}  // namespace almanac::inference::former
