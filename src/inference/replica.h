// SPDX-License-Identifier: Apache-2.0

/// \file
/// One copy of a model that serves requests: they wait, are batched per iteration, and hold KV
/// cache while they run.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "inference/adapters.h"
#include "inference/former.h"
#include "inference/kv_cache.h"
#include "inference/request.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// Limits of a replica.
struct Limits {
  std::int32_t sequences = 256;  ///< Running at a time.
  std::int32_t tokens = 2048;    ///< Per iteration.
  std::int32_t chunk = 0;        ///< Most tokens of one prompt per iteration; 0 for `tokens`.
  std::int32_t context = 0;      ///< Most tokens of a request, prompt and answer; 0 for any.
  std::int32_t kv_blocks = 0;    ///< Above 0.
  std::int32_t block_tokens = 16;
  /// Objective of requests, for batch formers that use it; kNever for none.
  Micros first_token = kNever;
  Micros per_token = kNever;
  Micros end_to_end = kNever;  ///< No former uses it.
  /// Between the arrival of a request and the engine, and from the engine to the client: added to
  /// the time of every token that a client sees.
  Micros front = 0;
  Micros gather = 0;  ///< How long the first request of a fixed batch waits for others.
  /// Blocks of host memory for the KV cache of preempted sequences. 0, or if full: the cache is
  /// discarded and recomputed.
  std::int32_t swap_blocks = 0;
  Micros swap_block = 0;  ///< To copy one block, in either direction; nothing is computed
                          ///< meanwhile.
  bool reuse = false;     ///< Whether requests reuse the KV cache of equal prompt prefixes.
  /// In GPU memory at a time; above 0 if requests name adapters.
  std::int32_t adapters = 0;
  Micros adapter_load = 0;     ///< To load one; nothing is computed meanwhile.
  Micros adapter_read = 0;     ///< Added to an iteration for each adapter in use.
  Micros adapter_token = 0;    ///< Added for each token of a request with an adapter,
  Micros adapter_kernels = 0;  ///< and to each iteration with such a token.
  /// Pipeline stages, each on its own GPUs; up to this many batches are in flight.
  std::int32_t stages = 1;
};

/// Compute time of replicas, summed over a fleet.
struct Busy {
  Micros prefilling = 0;  ///< Iterations that include prompt tokens.
  Micros decoding = 0;    ///< All other iterations.
  std::int64_t adapter_loads = 0;
};

/// The requests, and where outcomes are written. Both outlive the replicas.
struct Books {
  const Requests& requests;
  std::vector<Outcome>& outcomes;
  Busy& busy;
};

/// A request on its way to a replica.
struct Visit {
  RequestId request = 0;
  /// Tokens that arrive with their KV cache; the first token is already out.
  std::int32_t ready = 0;
  Micros token_at = kNever;  ///< When the last of them was produced.
  /// Without its KV cache: tokens to compute again, prompt and answer so far, before it continues.
  std::int32_t known = 0;
  bool only_prefill = false;  ///< Whether it leaves after its prefill, if it needs more tokens.
};

class Replica {
 public:
  /// A request that waits or runs on the replica.
  struct Sequence {
    RequestId request = 0;
    /// Tokens of its prefill: the prompt, and after a preemption also the tokens produced.
    std::int32_t prompt = 0;
    std::int32_t last = 0;        ///< Tokens in the KV cache when it is finished.
    std::int32_t done = 0;        ///< Tokens in the KV cache.
    std::int32_t ready = 0;       ///< Tokens whose KV cache it brings when it runs again.
    std::int32_t blocks = 0;      ///< Held.
    std::int32_t swapped = 0;     ///< Blocks of host memory that hold `ready`.
    Micros token_at = 0;          ///< When its last token was produced.
    bool begun = false;           ///< Whether its first token was produced before its prefill here.
    bool leaves = false;          ///< Whether it leaves after its prefill.
    bool steady = false;          ///< See grow_steady().
    std::uint64_t caught_up = 0;  ///< If steady: the steady iteration after which `done` held,
    std::uint64_t finishes = 0;   ///< and the one that is its last.
    std::vector<KvCache::Block> held{};
    std::vector<KvCache::Key> keys{};  ///< Of its full prompt blocks.
    bool prefilling() const { return done < prompt; }
  };
  using Slot = std::uint32_t;

  Replica(std::int32_t number, const Limits& limits, const StepTime& step,
          std::unique_ptr<Former> former, Books books);

  /// Adds a request to the queue, before others if it brings its KV cache. Returns false if it can
  /// never fit.
  bool enqueue(const Visit& visit);
  /// Starts an iteration and returns its end; kNever if there is nothing to do. With pipeline
  /// stages it may be called again from opens_at() on, before the previous iteration has ended.
  /// Sequences are in one iteration at a time.
  Micros begin(Micros now);
  /// Ends the oldest iteration. Appends finished requests to `finished`.
  void end(Micros now, std::vector<RequestId>& finished);
  /// When the first stage is free again.
  Micros opens_at() const { return stages_free_.empty() ? 0 : stages_free_.front(); }
  /// When the oldest iteration in flight ends; kNever if there is none.
  Micros ends_at() const { return flights_.empty() ? kNever : flights_.front().ends; }
  /// When a replica without work must be asked again; kNever to wait for an arrival.
  Micros ask_again() const { return ask_again_; }

  /// Lets a running request leave at the end of an iteration. Returns false if it does not run
  /// here, or is still in prefill.
  bool let_leave(RequestId request);
  /// Brings `at()` of all steady sequences up to date.
  void catch_up();
  /// Requests that left in the iteration that has ended, to continue elsewhere. Their KV cache
  /// stays allocated until release().
  std::span<const Visit> left() const { return left_; }
  void release(RequestId request);
  /// Requests that started in the last begin() with a KV cache that they brought.
  std::span<const RequestId> settled() const { return settled_; }

  /// Drops all requests, running ones first; their computed tokens are lost. Requests that left are
  /// not included.
  void abandon(std::vector<RequestId>& lost);
  /// Drops all requests, running ones first, as they can continue elsewhere: with the KV cache that
  /// they have here if their prefill is done. An iteration under way is lost.
  void hand_out(std::vector<Visit>& visits);
  /// Tokens whose KV cache hand_out() would give. O(sequences).
  std::int64_t tokens_to_hand_out() const;

  // For routers and scalers:
  std::int32_t number() const { return number_; }
  bool busy() const { return busy_; }
  bool empty() const { return running() == 0 && waiting_.empty() && leaving_.empty(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size() + in_flight_; }
  /// Tokens that requests here still have to compute or produce.
  std::int64_t backlog() const { return backlog_; }
  const KvCache& cache() const { return cache_; }
  /// Blocks that all waiting requests need to start.
  std::int64_t wanted_blocks() const { return wanted_blocks_; }
  std::int32_t blocks_for(std::int32_t tokens) const {
    return (tokens + limits_.block_tokens - 1) / limits_.block_tokens;
  }
  const Limits& limits() const { return limits_; }
  /// Returns the prompt tokens of the request that the cache here holds.
  std::int32_t would_find(RequestId request) const;
  /// Whether the adapter of the request is loaded, or needed by another waiting request.
  bool knows_adapter(RequestId request) const { return adapters_.knows(adapter_of(request)); }
  /// Blocks that the prompt of a request takes.
  std::int32_t blocks_of_prompt(RequestId request) const {
    return blocks_for(books_.requests[request].prompt);
  }
  /// Whether the running and waiting requests leave an adapter slot free.
  bool has_adapter_place() const { return adapters_.has_free_place(); }

  // For batch formers:
  /// Adds one token of each steady sequence to the batch, which must be empty, and returns their
  /// number. Steady sequences have had their prefill and stay here until they are finished; as long
  /// as all of them are in each iteration they need no work of their own except when they take a
  /// block, begin or end, and `at()` is not up to date. If they do not stand before all others in
  /// run(), are more than `most`, or lack a block, none is added and none is steady any more.
  ///
  /// Cost: O(taken blocks + sequences that are not steady).
  std::int32_t grow_steady(std::int32_t most);
  /// Number of steady sequences.
  std::size_t steady() const { return steady_.size(); }
  /// Running sequences that are in no iteration in flight.
  std::span<const Slot> run() const { return running_; }
  const Sequence& at(Slot slot) const { return sequences_[slot]; }
  /// Returns the sequence that has waited longest; null if none.
  const Sequence* next() const {
    return waiting_.empty() ? nullptr : &sequences_[waiting_.front()];
  }
  /// Adds `tokens` of a running sequence to the batch. Returns false if no block is free for it.
  bool grow(Slot slot, std::int32_t tokens);
  /// Starts the next waiting sequence with at most `most` tokens in this batch, not counting cached
  /// ones. Returns its tokens in the batch, 0 if it brings its KV cache. Returns nothing if fewer
  /// than `spare` blocks would stay free.
  std::optional<std::int32_t> admit(std::int32_t most, std::int32_t spare = 0);
  /// Rejects the next waiting sequence.
  void turn_away_next();
  Micros now() const { return began_; }
  /// Returns the prefill time of the `count` longest-waiting sequences, alone in a batch.
  Micros prompts_take(std::size_t count) const;
  Micros arrival(const Sequence& sequence) const {
    return books_.requests[sequence.request].arrival;
  }
  /// Preempts the last running sequence and puts it at the head of the queue. Its KV cache moves to
  /// host memory if there is room. Otherwise it is lost, and its next prefill computes the prompt
  /// and the tokens produced, as in vLLM.
  void preempt_last();
  /// With an empty batch: calls the former again at `at`, unless something arrives earlier.
  void gather_until(Micros at) { ask_again_ = at; }

 private:
  static constexpr std::uint64_t kNoFinish = ~std::uint64_t{0};
  struct Share {
    Slot slot;
    std::int32_t tokens;
    bool prefill;
  };
  /// An iteration in flight, if there are stages.
  struct Flight {
    std::vector<Share> shares{};
    Batch batch{};
    Micros began = 0, ends = 0;
  };
  /// Sends the batch through the stages. Returns when it leaves the last one.
  Micros take_off(Micros now, Micros takes);
  void land();
  void add_to_batch(Slot slot, std::int32_t tokens, std::int32_t done);
  void name_full_blocks(Sequence& sequence, std::int32_t from, std::int32_t to);
  /// Returns the blocks that a waiting sequence needs to start.
  std::int32_t wants(const Sequence& sequence) const {
    return blocks_for(sequence.ready > 0 ? sequence.ready + 1 : sequence.prompt);
  }
  std::uint32_t adapter_of(RequestId request) const {
    return limits_.adapters > 0 ? books_.requests[request].adapter : 0;
  }
  /// Time that adapters add to the batch.
  Micros adapters_take() const;
  void let_run(Slot slot);
  void begin_steady(Slot slot);
  void end_steady(Slot slot);
  void end_all_steady();
  void catch_up(Sequence& sequence);
  /// Steady sequences for which the same iterations of a row take a block.
  std::vector<Slot>& growing(const Sequence& sequence);
  /// Counts the iteration that ends for steady sequences. Returns whether any is finished.
  bool count_steady(Micros now, Micros each_token);
  void line_up(std::deque<Slot>::iterator before, Slot slot);
  void take_next();

  std::int32_t number_;
  Limits limits_;
  const StepTime* step_;
  std::unique_ptr<Former> former_;
  Books books_;
  KvCache cache_;
  Adapters adapters_;
  std::vector<Sequence> sequences_;
  std::vector<Slot> spare_slots_;
  std::deque<Slot> waiting_;
  std::vector<Slot> running_;
  std::vector<Slot> leaving_;
  std::vector<Share> shares_;
  std::vector<Visit> left_;
  std::vector<RequestId> settled_;
  Batch batch_;
  std::deque<Flight> flights_;       // empty with one stage
  std::vector<Micros> stages_free_;  // likewise
  std::size_t in_flight_ = 0;        // sequences
  /// An iteration with all steady sequences.
  struct Steady {
    Micros took, each_token, ends;
  };
  bool keeps_steady_;
  std::vector<Slot> steady_;                // in no order
  std::vector<std::vector<Slot>> growing_;  // by the iteration modulo the tokens of a block
  std::vector<Steady> iterations_;          // the last ones
  std::uint64_t counted_ = 0;               // iterations
  std::uint64_t next_finish_ = kNoFinish;   // of steady sequences
  std::int64_t steady_context_ = 0;         // sum of their tokens in the KV cache
  Micros began_ = 0;
  Micros copying_ = 0;  // of this iteration, to and from host memory
  Micros ask_again_ = kNever;
  std::int64_t backlog_ = 0;
  std::int64_t wanted_blocks_ = 0;
  std::int32_t swapped_blocks_ = 0;
  bool busy_ = false;
};

/// Returns the keys of the full prompt blocks of a request, each identifying its block and all
/// before it.
std::vector<KvCache::Key> prompt_keys(const Requests& requests, RequestId request,
                                      std::int32_t block_tokens);

}  // namespace almanac::inference
