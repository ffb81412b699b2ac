// SPDX-License-Identifier: Apache-2.0

/// \file
/// The simulator of Splitwise: whole servers, each an instance with continuous batching and a
/// bound on preemptions; prompts and tokens of one request may run on two of them.
///
/// Source   Patel et al., ISCA'24, and the released splitwise-sim.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/request.h"
#include "serving/token_table.h"

namespace almanac::serving {

enum class SplitwisePool : std::uint8_t { both, prompts, tokens };

/// One server of eight GPUs.
struct SplitwiseServer {
  const TokenTable* times = nullptr;
  SplitwisePool pool = SplitwisePool::both;
};

struct SplitwiseModel {
  double weights = 0;  ///< Bytes.
  double layers = 0, hidden = 0;
};

enum class SplitwiseScheduler : std::uint8_t {
  round_robin,
  jsq,
  token_jsq,
  mixed_pool,      ///< Splitwise's own: pools of prompts and tokens, and one that does both.
  kv_round_robin,  ///< The rules of the first three, for prompts and tokens apart.
  kv_jsq,
  kv_token_jsq,  ///< As released: nothing is ever added to what it counts.
};

struct SplitwiseSetup {
  std::vector<SplitwiseServer> servers{};
  SplitwiseModel model{};
  SplitwiseScheduler scheduler = SplitwiseScheduler::token_jsq;
  bool orca = false;            ///< Batches bounded by requests only, and no preemption.
  double bandwidth_factor = 1;  ///< Of what moves KV between servers.
};

/// Arrival and times are in seconds, as in the program, whose roundings decide ties.
struct SplitwiseRequest {
  double arrival = 0;
  std::int32_t prompt = 0, output = 0;  ///< Tokens.
};

struct SplitwiseTimes {
  double prompt_start = inference::kNever, first_token = inference::kNever,
         token_start = inference::kNever, finish = inference::kNever;
  std::int32_t prompt_server = -1, token_server = -1;
};

/// Plays `requests`. O(iterations x batch).
std::vector<SplitwiseTimes> play_splitwise(std::span<const SplitwiseRequest> requests,
                                           const SplitwiseSetup& setup);

}  // namespace almanac::serving
