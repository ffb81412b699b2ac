// SPDX-License-Identifier: Apache-2.0

/// \file
/// The engine of inference-sim (BLIS): one replica that batches decodes and parts of prompts.
///
/// It differs from a real server, and from inference::Replica, in these ways: what a prompt finds
/// in the cache is not read when the rest is computed; a prompt that is found completely is not
/// computed and holds none of its blocks; the last token of an answer takes a block before all are
/// released; an iteration ends as soon as it begins, except for its time, so that a replica that it
/// empties starts the next request at once; a step may have nothing to compute while requests wait.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "inference/kv_cache.h"
#include "inference/request.h"
#include "inference/step_time.h"

namespace almanac::serving {

/// What bounds the replica.
struct BlisLimits {
  std::int32_t sequences = 256;  ///< Running at a time.
  std::int32_t tokens = 2048;    ///< Of one iteration.
  std::int32_t chunk = 0;        ///< Tokens of one prompt in an iteration; 0 = `tokens`.
  std::int32_t kv_blocks = 0;    ///< Above 0.
  std::int32_t block_tokens = 16;
};

class BlisEngine {
 public:
  /// Requests reach the replica `delay` after their arrival. `step` must outlive the engine.
  BlisEngine(inference::Requests requests, const BlisLimits& limits,
             const inference::StepTime& step, inference::Micros delay);

  inference::RequestId submit(const inference::Request& request);
  /// Called when a request is finished; may submit others.
  void on_finish(std::function<void(inference::RequestId, inference::Micros)> finished) {
    finished_ = std::move(finished);
  }
  void run();

  const inference::Requests& requests() const { return requests_; }
  const std::vector<inference::Outcome>& outcomes() const { return outcomes_; }

 private:
  struct Sequence {
    inference::RequestId request = 0;
    std::int32_t prompt = 0;
    std::int32_t last = 0;    // tokens with KV when it is finished
    std::int32_t done = 0;    // tokens with KV
    std::int32_t blocks = 0;  // held
    std::int32_t bare = 0;    // tokens done that no held block covers
    std::vector<inference::KvCache::Block> held{};
    std::vector<inference::KvCache::Key> keys{};
    bool prefilling() const { return done < prompt; }
  };
  using Slot = std::size_t;
  struct Share {
    Slot slot;
    std::int32_t tokens;
    bool prefill;
  };

  std::int32_t blocks_for(std::int32_t tokens) const {
    return (tokens + limits_.block_tokens - 1) / limits_.block_tokens;
  }
  void expect(inference::RequestId request);
  void enqueue(inference::RequestId request);
  void iterate();
  void form();
  /// Computes a token, or as much of a prompt as fits; 0 = no block is left.
  std::int32_t compute_some(Slot slot, std::int32_t budget);
  /// Starts the next waiting request with up to `most` tokens; -1 = it lacks blocks.
  std::int32_t admit(std::int32_t most);
  void preempt_last();
  void end(inference::Micros at);
  void name_full_blocks(Sequence& sequence, std::int32_t from, std::int32_t to);

  inference::Requests requests_;
  std::vector<inference::Outcome> outcomes_;
  BlisLimits limits_;
  const inference::StepTime* step_;
  inference::Micros delay_;
  std::function<void(inference::RequestId, inference::Micros)> finished_;
  inference::KvCache cache_;
  using Arrival = std::pair<inference::Micros, inference::RequestId>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::vector<Sequence> sequences_;
  std::deque<Slot> waiting_;
  std::vector<Slot> running_;
  std::vector<Share> shares_;
  inference::Batch batch_;
  inference::Micros now_ = 0;
  inference::Micros next_ = inference::kNever;  // iteration
};

}  // namespace almanac::serving
