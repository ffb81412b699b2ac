// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds how many tokens one block id of a request log stands for. A prompt of L tokens has ceil(L
/// / size) ids, or floor(L / size) where the log leaves out blocks that are not full; only one size
/// does that for nearly all prompts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "inference/request.h"

namespace almanac::inference {

/// What a format, or a column map, says of its block ids.
struct BlockRule {
  std::int32_t tokens = 0;  ///< Of one id; 0 = unknown.
  bool only_heads = false;  ///< Ids may stop before the prompt does.
  bool is_told = false;     ///< The user said the size: no other is looked for.
};

/// Sets Requests::tokens_per_block. Requests whose ids do not fit their prompts lose their ids, and
/// a note says how many there are; a note also says where the size is not the one of `rule`.
///
/// `lines` has the line of each request in the file; 0 = unknown. Fails with invalid where the ids
/// fit no size, or several. O(requests + largest size).
Result<void> settle_blocks(Requests& requests, std::span<const std::int64_t> lines,
                           const std::string& path, const BlockRule& rule);

}  // namespace almanac::inference
