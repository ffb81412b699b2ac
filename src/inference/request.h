// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests to a model service, as a log tells them: when, how many tokens in, how many out, and
/// which leading blocks of the prompt other requests have too.
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
  std::int32_t prompt = 0;        ///< Tokens that come in, at least 1.
  std::int32_t output = 0;        ///< Tokens that go out; the prefill yields the first of them.
  std::uint32_t first_block = 0;  ///< Into Requests::blocks.
  std::uint32_t blocks = 0;       ///< How many; 0 = shares nothing.
  std::uint32_t model = 0;        ///< Into Requests::models; 0 where there are none.
  std::uint32_t tenant = 0;       ///< Into Requests::tenants; 0 where there are none.
  std::uint32_t adapter = 0;      ///< One more than into Requests::adapters; 0 = the model alone.
};

/// Requests by arrival; equal arrivals keep the order of their file.
struct Requests {
  std::vector<Request> all{};
  /// Ids of blocks of content, in the order of a prompt. Equal ids after equal ids are the same
  /// tokens. What of a prompt lies behind its last id is its own.
  std::vector<std::uint64_t> blocks{};
  std::int32_t tokens_per_block = 0;  ///< Of one id; 0 = no ids.
  /// Names of what requests ask for, in the order in which the log has them; empty = one model.
  std::vector<std::string> models{};
  /// Names of who asks, in the order in which the log has them; empty = it does not say.
  std::vector<std::string> tenants{};
  /// Names of the adapters (LoRA) of the model that requests are for; empty = none names one.
  std::vector<std::string> adapters{};
  /// What the user should know: inferred, left out, not used. One line each.
  std::vector<std::string> notes{};

  std::size_t size() const { return all.size(); }
  const Request& operator[](RequestId id) const { return all[id]; }
  std::span<const std::uint64_t> ids(const Request& request) const {
    return std::span(blocks).subspan(request.first_block, request.blocks);
  }
};

/// What became of a request. Times are of the run, not from arrival; kNever = it did not come to
/// that.
struct Outcome {
  Micros start = kNever;        ///< Its first iteration began.
  Micros first_token = kNever;  ///< The prefill that counted has ended.
  Micros finish = kNever;
  Micros decoding = 0;     ///< Sum of the iterations that gave it tokens after the first.
  Micros longest_gap = 0;  ///< Between two of its tokens.
  Micros computed = 0;     ///< Its part of all iterations that it was in, by tokens.
  std::int32_t preemptions = 0;
  std::int32_t hit_tokens = 0;  ///< Of its prompt, found in a cache when it was last admitted.
  std::int32_t replica = -1;    ///< Below 0 = turned away.
};

}  // namespace almanac::inference
