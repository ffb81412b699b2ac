// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds the number of tokens per block id of a request log. A prompt of L tokens has ceil(L /
/// size) ids, or floor(L / size) if the log leaves out partial blocks. Only one size fits nearly
/// all prompts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "inference/request.h"

namespace almanac::inference {

/// What a format, or a column map, says about its block ids.
struct BlockRule {
  std::int32_t tokens = 0;  ///< Tokens per id; 0 if unknown.
  bool only_heads = false;  ///< Ids may end before the prompt does.
  bool is_told = false;     ///< The user gave the size; do not search for another.
};

/// Sets Requests::tokens_per_block. Requests whose ids do not fit their prompts lose their ids, and
/// a note gives their number. Another note reports a size that differs from `rule`.
///
/// `lines` has the line of each request in the file; 0 if unknown. Fails with `invalid` if the ids
/// fit no size, or several. O(requests + largest size).
Result<void> settle_blocks(Requests& requests, std::span<const std::int64_t> lines,
                           const std::string& path, const BlockRule& rule);

}  // namespace almanac::inference
