// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests to a model service, from a log: arrival, prompt tokens, output tokens, and the leading
/// blocks of the prompt that are shared with other requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace almanac::inference {

/// Microseconds since the start of a run. Whole numbers are exact up to 2^53 (285 years); models
/// that yield fractions keep them, for a decode step is short and runs are sums of millions.
using Micros = double;
inline constexpr Micros kNever = std::numeric_limits<Micros>::infinity();

using RequestId = std::uint32_t;

struct Request {
  Micros arrival = 0;
  std::int32_t prompt = 0;        ///< Prompt tokens, at least 1.
  std::int32_t output = 0;        ///< Output tokens; the prefill yields the first one.
  std::uint32_t first_block = 0;  ///< Index into Requests::blocks.
  std::uint32_t blocks = 0;       ///< Number of blocks; 0 = nothing shared.
  std::uint32_t model = 0;        ///< Index into Requests::models; 0 if there are none.
  std::uint32_t tenant = 0;       ///< Index into Requests::tenants; 0 if there are none.
  std::uint32_t adapter = 0;      ///< 1 + index into Requests::adapters; 0 = no adapter.
};

/// Requests ordered by arrival; equal arrivals keep the order of the file.
struct Requests {
  std::vector<Request> all{};
  /// Ids of blocks of content, in the order of a prompt. Equal sequences of ids stand for the same
  /// tokens. The part of a prompt after its last id is not shared.
  std::vector<std::uint64_t> blocks{};
  std::int32_t tokens_per_block = 0;  ///< Tokens of a block; 0 = no ids.
  /// Names of models, in the order of the log; empty = one model.
  std::vector<std::string> models{};
  /// Names of tenants, in the order of the log; empty = unknown.
  std::vector<std::string> tenants{};
  /// Names of LoRA adapters; empty = no request names one.
  std::vector<std::string> adapters{};
  /// Notes for the user about what was inferred, left out or not used, one line each.
  std::vector<std::string> notes{};

  std::size_t size() const { return all.size(); }
  const Request& operator[](RequestId id) const { return all[id]; }
  std::span<const std::uint64_t> ids(const Request& request) const {
    return std::span(blocks).subspan(request.first_block, request.blocks);
  }
};

/// Outcome of a request. Times count from the start of the run; kNever = did not happen.
struct Outcome {
  Micros start = kNever;        ///< Start of its first iteration.
  Micros first_token = kNever;  ///< End of its (last) prefill.
  Micros finish = kNever;
  Micros decoding = 0;     ///< Total time of the iterations that produced tokens after the first.
  Micros longest_gap = 0;  ///< Longest time between two of its tokens.
  Micros computed = 0;     ///< Its share of all its iterations, by tokens.
  std::int32_t preemptions = 0;
  std::int32_t hit_tokens = 0;  ///< Prompt tokens found in a cache when it was last admitted.
  std::int32_t replica = -1;    ///< Below 0 = rejected.
};

}  // namespace almanac::inference
