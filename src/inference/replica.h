// SPDX-License-Identifier: Apache-2.0

/// \file
/// One copy of a model that serves: requests wait, are batched iteration by iteration, and hold KV
/// memory while they run.
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

/// What bounds a replica.
struct Limits {
  std::int32_t sequences = 256;  ///< That run at a time.
  std::int32_t tokens = 2048;    ///< Of one iteration.
  std::int32_t chunk = 0;        ///< Most tokens of one prompt in an iteration; 0 = `tokens`.
  std::int32_t kv_blocks = 0;    ///< Above 0.
  std::int32_t block_tokens = 16;
  /// What requests ask, for batch formers that heed it; kNever = nothing.
  Micros first_token = kNever;
  Micros per_token = kNever;
  Micros gather = 0;  ///< How long the first request of a fixed batch waits for others.
  /// Blocks of host memory that sequences which are sent back leave their KV in; 0 = it is lost
  /// and computed anew, as it is where this is full.
  std::int32_t swap_blocks = 0;
  Micros swap_block = 0;      ///< To copy one there, or back. Nothing is computed meanwhile.
  bool reuse = false;         ///< Requests find the KV of equal prompt heads again.
  std::int32_t adapters = 0;  ///< In GPU memory at a time; above 0 where requests name some.
  Micros adapter_load = 0;    ///< To copy one there. Nothing is computed meanwhile.
  Micros adapter_read = 0;    ///< What each one that is in use adds to an iteration.
  std::int32_t stages = 1;  ///< Of layers, each on GPUs of its own: so many batches are under way.
};

/// How long replicas computed, summed over all of a fleet.
struct Busy {
  Micros prefilling = 0;  ///< Iterations with parts of prompts in them.
  Micros decoding = 0;    ///< All others.
  std::int64_t adapter_loads = 0;
};

/// What an outcome is written to, and what the requests are. They outlive the replicas.
struct Books {
  const Requests& requests;
  std::vector<Outcome>& outcomes;
  Busy& busy;
};

/// A request as a replica gets it.
struct Visit {
  RequestId request = 0;
  std::int32_t ready = 0;     ///< Tokens that come with their KV, and with the first token given.
  Micros token_at = kNever;   ///< When the last of them was given.
  bool only_prefill = false;  ///< It leaves when its prompt is computed, if more is asked.
};

class Replica {
 public:
  /// A request that waits or runs here.
  struct Sequence {
    RequestId request = 0;
    std::int32_t prompt = 0;
    std::int32_t last = 0;     ///< Tokens with KV when it is finished.
    std::int32_t done = 0;     ///< Tokens with KV.
    std::int32_t ready = 0;    ///< Tokens whose KV it brings along when it runs again.
    std::int32_t blocks = 0;   ///< Held.
    std::int32_t swapped = 0;  ///< Blocks of host memory that `ready` is in.
    Micros token_at = 0;       ///< When its last token came.
    bool begun = false;        ///< Its first token was given on another replica.
    bool leaves = false;       ///< As soon as its prompt is computed.
    std::vector<KvCache::Block> held{};
    std::vector<KvCache::Key> keys{};  ///< Of its full prompt blocks.
    bool prefilling() const { return done < prompt; }
  };
  using Slot = std::uint32_t;

  Replica(std::int32_t number, const Limits& limits, const StepTime& step,
          std::unique_ptr<Former> former, Books books);

  /// Lets a request wait here, those that bring KV before those that do not. False = it can never
  /// fit.
  bool enqueue(const Visit& visit);
  /// Starts an iteration and says when it ends; kNever when there is nothing to do. With stages it
  /// may be called again from opens_at() on, before the one before has ended: that has half of the
  /// layers, a third and so on behind it, and its sequences are in no other iteration.
  Micros begin(Micros now);
  /// Ends the one that began first. Adds the requests that are finished to `finished`.
  void end(Micros now, std::vector<RequestId>& finished);
  /// When the first stage is free again.
  Micros opens_at() const { return stages_free_.empty() ? 0 : stages_free_.front(); }
  /// When the first of the iterations that are under way ends; kNever = none is.
  Micros ends_at() const { return flights_.empty() ? kNever : flights_.front().ends; }
  /// When a replica that had nothing to do wants to be asked again; kNever = when something comes.
  Micros ask_again() const { return ask_again_; }

  /// Lets a running request leave at the end of an iteration. False = it does not run here, or has
  /// its prompt still to be computed.
  bool let_leave(RequestId request);
  /// What left in the iteration that has ended, to go on elsewhere. Its KV stays held until
  /// release().
  std::span<const Visit> left() const { return left_; }
  void release(RequestId request);
  /// What began in the last begin() with KV that it brought along.
  std::span<const RequestId> settled() const { return settled_; }

  /// Gives up all requests, those that run first; what was computed of them is lost. Those that
  /// left are elsewhere.
  void abandon(std::vector<RequestId>& lost);

  // What routers and scalers look at.
  std::int32_t number() const { return number_; }
  bool busy() const { return busy_; }
  bool empty() const { return running() == 0 && waiting_.empty() && leaving_.empty(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size() + in_flight_; }
  /// Tokens that requests here still have to be given or to have computed.
  std::int64_t backlog() const { return backlog_; }
  const KvCache& cache() const { return cache_; }
  /// Blocks that all that waits needs to begin.
  std::int64_t wanted_blocks() const { return wanted_blocks_; }
  std::int32_t blocks_for(std::int32_t tokens) const {
    return (tokens + limits_.block_tokens - 1) / limits_.block_tokens;
  }
  const Limits& limits() const { return limits_; }
  /// Tokens of the request's prompt that would be found here.
  std::int32_t would_find(RequestId request) const;
  /// Whether the adapter that it names is here, or will be for another that waits.
  bool knows_adapter(RequestId request) const { return adapters_.knows(adapter_of(request)); }
  /// Whether all that run and wait leave a place for one.
  bool has_adapter_place() const { return adapters_.has_free_place(); }

  // What formers do.
  /// Those that run and are in no iteration that is under way.
  std::span<const Slot> run() const { return running_; }
  const Sequence& at(Slot slot) const { return sequences_[slot]; }
  /// The one that has waited longest; null = none.
  const Sequence* next() const {
    return waiting_.empty() ? nullptr : &sequences_[waiting_.front()];
  }
  /// Takes a running sequence into the batch with `tokens` more. False = no block is left for it.
  bool grow(Slot slot, std::int32_t tokens);
  /// Lets the next waiting sequence run with at most `most` tokens in this batch, what it finds in
  /// the cache not counted. The tokens that it got, none where it brings its KV along; or nothing
  /// where `spare` blocks more than it needs are not free.
  std::optional<std::int32_t> admit(std::int32_t most, std::int32_t spare = 0);
  /// Turns the next waiting sequence away: it is not served.
  void turn_away_next();
  Micros now() const { return began_; }
  /// How long the prompts of the `count` sequences that wait longest would take alone in a batch.
  Micros prompts_take(std::size_t count) const;
  Micros arrival(const Sequence& sequence) const {
    return books_.requests[sequence.request].arrival;
  }
  /// Sends the last running sequence back to the head of the queue; it loses its KV, or takes it
  /// along where host memory has room.
  void preempt_last();
  /// With nothing in the batch: calls the former again then, if nothing comes before.
  void gather_until(Micros at) { ask_again_ = at; }

 private:
  struct Share {
    Slot slot;
    std::int32_t tokens;
    bool prefill;
  };
  /// An iteration that is under way, where there are stages.
  struct Flight {
    std::vector<Share> shares{};
    Batch batch{};
    Micros began = 0, ends = 0;
  };
  /// Lets the batch that was formed go through the stages; when it leaves the last.
  Micros take_off(Micros now, Micros takes);
  void land();
  void add_to_batch(Slot slot, std::int32_t tokens, std::int32_t done);
  /// What the outcome of a request is when its tokens are lost.
  void forget_tokens(const Sequence& sequence);
  void name_full_blocks(Sequence& sequence, std::int32_t from, std::int32_t to);
  /// Blocks without which a sequence that waits does not begin.
  std::int32_t wants(const Sequence& sequence) const {
    return blocks_for(sequence.ready > 0 ? sequence.ready + 1 : sequence.prompt);
  }
  std::uint32_t adapter_of(RequestId request) const {
    return limits_.adapters > 0 ? books_.requests[request].adapter : 0;
  }
  void let_run(Slot slot);
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
  std::deque<Flight> flights_;       // none where there is one stage
  std::vector<Micros> stages_free_;  // likewise
  std::size_t in_flight_ = 0;        // sequences
  Micros began_ = 0;
  Micros copying_ = 0;  // of the iteration, to host memory and back
  Micros ask_again_ = kNever;
  std::int64_t backlog_ = 0;
  std::int64_t wanted_blocks_ = 0;
  std::int32_t swapped_blocks_ = 0;
  bool busy_ = false;
};

/// The keys of the full prompt blocks of a request, each naming its block and all before it.
std::vector<KvCache::Key> prompt_keys(const Requests& requests, RequestId request,
                                      std::int32_t block_tokens);

}  // namespace almanac::inference
