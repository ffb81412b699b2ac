// SPDX-License-Identifier: Apache-2.0

#include "inference/replica.h"

#include <algorithm>
#include <utility>

#include "base/rng.h"

namespace almanac::inference {

std::vector<KvCache::Key> prompt_keys(const Requests& requests, RequestId request,
                                      std::int32_t block_tokens) {
  const Request& told = requests[request];
  const auto ids = requests.ids(told);
  std::vector<KvCache::Key> keys(static_cast<std::size_t>(told.prompt / block_tokens));
  KvCache::Key before = 0;
  for (std::size_t block = 0; block < keys.size(); ++block) {
    const std::size_t token = block * static_cast<std::size_t>(block_tokens);
    const std::size_t id =
        ids.empty() ? 0 : token / static_cast<std::size_t>(requests.tokens_per_block);
    // Behind its ids a prompt is like no other: the request and the block name what stands there.
    const std::uint64_t content =
        id < ids.size() ? Rng(ids[id], token).next() : Rng(~std::uint64_t{request}, token).next();
    before = keys[block] = Rng(before, content).next();
  }
  return keys;
}

Replica::Replica(std::int32_t number, const Limits& limits, const StepTime& step,
                 std::unique_ptr<Former> former, Books books)
    : number_(number),
      limits_(limits),
      step_(&step),
      former_(std::move(former)),
      books_(books),
      cache_(limits.kv_blocks, limits.reuse) {
  if (limits_.chunk <= 0) limits_.chunk = limits_.tokens;
}

bool Replica::enqueue(RequestId request, std::int32_t ready, bool only_prefill) {
  const Request& told = books_.requests[request];
  if (blocks_for(told.prompt) > cache_.size()) return false;
  if (spare_slots_.empty()) {
    spare_slots_.push_back(static_cast<Slot>(sequences_.size()));
    sequences_.emplace_back();
  }
  const Slot slot = spare_slots_.back();
  spare_slots_.pop_back();
  Sequence& sequence = sequences_[slot];
  sequence.request = request;
  sequence.prompt = told.prompt;
  sequence.last = only_prefill ? told.prompt : told.prompt + std::max(told.output, 1) - 1;
  sequence.done = sequence.blocks = sequence.bare = 0;
  sequence.ready = ready;
  if (limits_.reuse) sequence.keys = prompt_keys(books_.requests, request, limits_.block_tokens);
  backlog_ += sequence.last - ready;
  books_.outcomes[request].replica = number_;
  waiting_.push_back(slot);
  return true;
}

std::int32_t Replica::would_find(RequestId request) const {
  if (!limits_.reuse) return 0;
  return limits_.block_tokens *
         cache_.find(prompt_keys(books_.requests, request, limits_.block_tokens));
}

Micros Replica::begin(Micros now) {
  if (running_.empty() && waiting_.empty()) return kNever;
  batch_.clear();
  shares_.clear();
  began_ = now;
  former_->form(*this);
  // Where all that ran was sent back there is room again for what waits.
  if (shares_.empty() && running_.empty() && !waiting_.empty() && !limits_.as_blis) {
    former_->form(*this);
  }
  if (shares_.empty() && !(limits_.as_blis && !waiting_.empty())) return kNever;
  busy_ = true;
  return now + (*step_)(batch_);
}

void Replica::end(Micros now, std::vector<RequestId>& finished) {
  busy_ = false;
  (batch_.prefills.empty() ? books_.busy.decoding : books_.busy.prefilling) += now - began_;
  bool some_finished = false;
  for (const Share& share : shares_) {
    Sequence& sequence = sequences_[share.slot];
    Outcome& outcome = books_.outcomes[sequence.request];
    backlog_ -= share.tokens;
    sequence.done += share.tokens;
    if (!share.prefill) {
      outcome.decoding += now - began_;
      outcome.longest_gap = std::max(outcome.longest_gap, now - sequence.token_at);
    } else if (!sequence.prefilling()) {
      // With KV from elsewhere the first token has been given there.
      if (sequence.ready == 0) outcome.first_token = now;
    } else {
      continue;
    }
    sequence.token_at = now;
    if (sequence.done < sequence.last) continue;
    outcome.finish = now;
    some_finished = true;
  }
  if (!some_finished) return;
  std::erase_if(running_, [&](Slot slot) {
    Sequence& sequence = sequences_[slot];
    if (sequence.done < sequence.last) return false;
    if (limits_.as_blis &&
        sequence.blocks * limits_.block_tokens + sequence.bare < sequence.done + 1 &&
        cache_.free() > 0) {
      cache_.take(1, sequence.held);
      ++sequence.blocks;
    }
    cache_.release(sequence.blocks, sequence.held);
    finished.push_back(sequence.request);
    spare_slots_.push_back(slot);
    return true;
  });
}

void Replica::add_to_batch(Slot slot, std::int32_t tokens, std::int32_t done) {
  const Sequence& sequence = sequences_[slot];
  if (sequence.prefilling()) {
    batch_.prefills.push_back({.done = done, .fresh = tokens, .prompt = sequence.prompt});
  } else {
    ++batch_.decodes;
    batch_.context += sequence.done;
  }
  shares_.push_back({slot, tokens, sequence.prefilling()});
}

void Replica::name_full_blocks(Sequence& sequence, std::int32_t from, std::int32_t to) {
  if (!limits_.reuse) return;
  const std::int32_t end = std::min(to, sequence.prompt) / limits_.block_tokens;
  for (std::int32_t block = from / limits_.block_tokens; block < end; ++block) {
    const auto position = static_cast<std::size_t>(block);
    cache_.name(sequence.held[position], sequence.keys[position]);
  }
}

bool Replica::grow(Slot slot, std::int32_t tokens) {
  Sequence& sequence = sequences_[slot];
  const std::int32_t more = blocks_for(sequence.done + tokens - sequence.bare) - sequence.blocks;
  if (more > 0) {
    if (more > cache_.free()) return false;
    cache_.take(more, sequence.held);
    sequence.blocks += more;
  }
  if (sequence.prefilling()) {
    name_full_blocks(sequence, sequence.done, sequence.done + tokens);
  }
  add_to_batch(slot, tokens, sequence.done);
  return true;
}

std::optional<std::int32_t> Replica::admit(std::int32_t most, std::int32_t spare) {
  const Slot slot = waiting_.front();
  Sequence& sequence = sequences_[slot];
  if (sequence.ready > 0) {
    const std::int32_t need = blocks_for(sequence.ready);
    if (need + spare > cache_.free()) return std::nullopt;
    cache_.take(need, sequence.held);
    sequence.blocks = need;
    sequence.done = sequence.ready;
    name_full_blocks(sequence, 0, sequence.done);
    Outcome& outcome = books_.outcomes[sequence.request];
    sequence.token_at = outcome.first_token;
    waiting_.pop_front();
    running_.push_back(slot);
    return 0;
  }
  std::int32_t found = limits_.reuse ? cache_.find(sequence.keys) : 0;
  if (!limits_.as_blis && found * limits_.block_tokens >= sequence.prompt) --found;
  const std::int32_t known = found * limits_.block_tokens;
  const std::int32_t tokens = std::min(sequence.prompt - known, most);
  const std::int32_t need = blocks_for(tokens);
  const std::int32_t idle = found > 0 ? cache_.idle(sequence.keys, found) : 0;
  if (need + idle + spare > cache_.free()) return std::nullopt;
  waiting_.pop_front();
  if (tokens == 0) {
    sequence.bare = known;
  } else {
    if (found > 0) cache_.share(sequence.keys, found, sequence.held);
    cache_.take(need, sequence.held);
    sequence.blocks = found + need;
    name_full_blocks(sequence, known, known + tokens);
  }
  running_.push_back(slot);
  Outcome& outcome = books_.outcomes[sequence.request];
  outcome.hit_tokens = known;
  if (outcome.start == kNever) outcome.start = began_;
  add_to_batch(slot, tokens, limits_.as_blis ? 0 : known);
  sequence.done = known;
  backlog_ -= known;
  return tokens;
}

void Replica::preempt_last() {
  const Slot slot = running_.back();
  running_.pop_back();
  Sequence& sequence = sequences_[slot];
  cache_.release(sequence.blocks, sequence.held);
  backlog_ += sequence.done;
  sequence.done = sequence.blocks = sequence.bare = 0;
  forget_tokens(sequence);
  sequence.ready = 0;
  waiting_.push_front(slot);
}

void Replica::turn_away_next() {
  const Slot slot = waiting_.front();
  const Sequence& sequence = sequences_[slot];
  backlog_ -= sequence.last - sequence.ready;
  books_.outcomes[sequence.request].replica = -1;
  waiting_.pop_front();
  spare_slots_.push_back(slot);
}

Micros Replica::prompts_take(std::size_t count) const {
  Batch batch;
  for (std::size_t each = 0; each < std::min(count, waiting_.size()); ++each) {
    const std::int32_t prompt = sequences_[waiting_[each]].prompt;
    batch.prefills.push_back({.done = 0, .fresh = prompt, .prompt = prompt});
  }
  return (*step_)(batch);
}

void Replica::forget_tokens(const Sequence& sequence) {
  Outcome& outcome = books_.outcomes[sequence.request];
  ++outcome.preemptions;
  outcome.decoding = outcome.longest_gap = 0;
  if (sequence.ready == 0) outcome.first_token = kNever;
}

void Replica::abandon(std::vector<RequestId>& lost) {
  for (const Slot slot : running_) {
    forget_tokens(sequences_[slot]);
    lost.push_back(sequences_[slot].request);
  }
  for (const Slot slot : waiting_) lost.push_back(sequences_[slot].request);
  running_.clear();
  waiting_.clear();
}

}  // namespace almanac::inference
