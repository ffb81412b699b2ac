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
  // What an adapter makes of the same tokens is not the same.
  KvCache::Key before = told.adapter == 0 ? 0 : Rng(told.adapter, 1).next();
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
      cache_(limits.kv_blocks, limits.reuse),
      adapters_(limits.adapters),
      keeps_steady_(former_->grows_steady() && limits.adapters == 0 && limits.stages <= 1) {
  if (keeps_steady_) growing_.resize(static_cast<std::size_t>(limits_.block_tokens));
  if (limits_.chunk <= 0) limits_.chunk = limits_.tokens;
  if (limits_.stages > 1) stages_free_.resize(static_cast<std::size_t>(limits_.stages));
}

bool Replica::enqueue(const Visit& visit) {
  const Request& told = books_.requests[visit.request];
  const std::int32_t whole = told.prompt + std::max(told.output, 1) - 1;
  // What outgrows all of the memory would be sent back to the queue forever.
  const std::int32_t most = visit.only_prefill ? told.prompt : whole;
  if (blocks_for(most) > cache_.size()) return false;
  if (limits_.context > 0 && told.prompt + told.output > limits_.context) return false;
  if (spare_slots_.empty()) {
    spare_slots_.push_back(static_cast<Slot>(sequences_.size()));
    sequences_.emplace_back();
  }
  const Slot slot = spare_slots_.back();
  spare_slots_.pop_back();
  Sequence& sequence = sequences_[slot];
  sequence.request = visit.request;
  sequence.prompt = visit.known > 0 ? visit.known : told.prompt;
  sequence.last = visit.only_prefill ? told.prompt : whole;
  sequence.done = sequence.blocks = sequence.swapped = 0;
  sequence.ready = visit.ready;
  sequence.token_at = visit.token_at;
  sequence.begun = visit.ready > 0 || visit.known > 0;
  sequence.leaves = visit.only_prefill && told.output > 1;
  if (limits_.reuse) {
    sequence.keys = prompt_keys(books_.requests, visit.request, limits_.block_tokens);
  }
  backlog_ += sequence.last - visit.ready;
  books_.outcomes[visit.request].replica = number_;
  auto place = waiting_.end();
  if (sequence.begun) {
    place = std::find_if(waiting_.begin(), waiting_.end(), [&](Slot each) {
      const Sequence& other = sequences_[each];
      return other.ready == 0 && (visit.ready > 0 || !other.begun);
    });
  }
  line_up(place, slot);
  return true;
}

void Replica::line_up(std::deque<Slot>::iterator before, Slot slot) {
  waiting_.insert(before, slot);
  wanted_blocks_ += wants(sequences_[slot]);
  adapters_.expect(adapter_of(sequences_[slot].request), 1);
}

void Replica::take_next() {
  const Sequence& sequence = sequences_[waiting_.front()];
  wanted_blocks_ -= wants(sequence);
  adapters_.expect(adapter_of(sequence.request), -1);
  waiting_.pop_front();
}

void Replica::let_run(Slot slot) {
  running_.push_back(slot);
  if (!adapters_.use(adapter_of(sequences_[slot].request))) return;
  copying_ += limits_.adapter_load;
  ++books_.busy.adapter_loads;
}

bool Replica::let_leave(RequestId request) {
  for (const Slot slot : running_) {
    Sequence& sequence = sequences_[slot];
    if (sequence.request != request) continue;
    if (sequence.prefilling()) return false;
    if (sequence.steady) {
      end_steady(slot);
      if (busy_) shares_.push_back({slot, 1, false});
    }
    sequence.leaves = true;
    return true;
  }
  return false;
}

void Replica::release(RequestId request) {
  const auto found = std::find_if(leaving_.begin(), leaving_.end(),
                                  [&](Slot slot) { return sequences_[slot].request == request; });
  Sequence& sequence = sequences_[*found];
  cache_.release(sequence.blocks, sequence.held);
  spare_slots_.push_back(*found);
  leaving_.erase(found);
}

std::int32_t Replica::would_find(RequestId request) const {
  if (!limits_.reuse) return 0;
  return limits_.block_tokens *
         cache_.find(prompt_keys(books_.requests, request, limits_.block_tokens));
}

Micros Replica::begin(Micros now) {
  if (running_.empty() && waiting_.empty()) return kNever;
  if (limits_.stages > 1 && now < opens_at()) return kNever;
  batch_.clear();
  shares_.clear();
  left_.clear();
  settled_.clear();
  copying_ = 0;
  ask_again_ = kNever;
  began_ = now;
  former_->form(*this);
  // Where all that ran was sent back there is room again for what waits.
  if (shares_.empty() && running_.empty() && !waiting_.empty()) former_->form(*this);
  if (shares_.empty() && steady_.empty()) return kNever;
  busy_ = true;
  const Micros takes = copying_ + adapters_take() + (*step_)(batch_);
  return limits_.stages > 1 ? take_off(now, takes) : now + takes;
}

Micros Replica::adapters_take() const {
  if (limits_.adapters == 0) return 0;
  std::int64_t tokens = 0;
  for (const Share& share : shares_) {
    if (adapter_of(sequences_[share.slot].request) != 0) tokens += share.tokens;
  }
  const Micros read = adapters_.in_use() * limits_.adapter_read;
  if (tokens == 0) return read;
  return read + limits_.adapter_kernels + static_cast<double>(tokens) * limits_.adapter_token;
}

Micros Replica::take_off(Micros now, Micros takes) {
  Micros at = now;
  for (Micros& free : stages_free_) free = at = std::max(at, free) + takes / limits_.stages;
  std::vector<bool> flies(sequences_.size());
  for (const Share& share : shares_) flies[share.slot] = true;
  in_flight_ += std::erase_if(running_, [&](Slot slot) { return flies[slot]; });
  flights_.push_back({std::exchange(shares_, {}), std::exchange(batch_, {}), now, at});
  return at;
}

void Replica::land() {
  Flight flight = std::move(flights_.front());
  flights_.pop_front();
  for (const Share& share : flight.shares) running_.push_back(share.slot);
  in_flight_ -= flight.shares.size();
  shares_ = std::move(flight.shares);
  batch_ = std::move(flight.batch);
  began_ = flight.began;
  left_.clear();
}

void Replica::end(Micros now, std::vector<RequestId>& finished) {
  if (limits_.stages > 1) land();
  busy_ = !flights_.empty();
  // If several iterations are in the pipeline, each stage computes its part of the time.
  (batch_.prefills.empty() ? books_.busy.decoding : books_.busy.prefilling) +=
      (now - began_) / limits_.stages;
  bool some_go = false;
  const auto tokens = static_cast<double>(batch_.prefill_tokens() + batch_.decodes);
  const Micros each_token = (now - began_) / limits_.stages / std::max(1.0, tokens);
  if (!steady_.empty()) some_go = count_steady(now, each_token);
  for (const Share& share : shares_) {
    Sequence& sequence = sequences_[share.slot];
    Outcome& outcome = books_.outcomes[sequence.request];
    backlog_ -= share.tokens;
    sequence.done += share.tokens;
    outcome.computed += share.tokens * each_token;
    if (share.prefill && sequence.prefilling()) continue;
    if (share.prefill && !sequence.begun) {
      outcome.first_token = now + limits_.front;
    } else {
      outcome.decoding += now - began_;
      outcome.longest_gap = std::max(outcome.longest_gap, now - sequence.token_at);
    }
    sequence.token_at = now;
    if (sequence.leaves) {
      some_go = true;
      if (sequence.done < sequence.last || sequence.last == sequence.prompt) continue;
      sequence.leaves = false;
    } else if (sequence.done < sequence.last) {
      if (keeps_steady_) begin_steady(share.slot);
      continue;
    }
    outcome.finish = now + limits_.front;
    some_go = true;
  }
  if (!some_go) return;
  std::erase_if(running_, [&](Slot slot) {
    Sequence& sequence = sequences_[slot];
    if (sequence.leaves && !sequence.prefilling()) {
      backlog_ -= sequence.last - sequence.done;
      left_.push_back({sequence.request, sequence.done, sequence.token_at});
      adapters_.release(adapter_of(sequence.request));
      leaving_.push_back(slot);
      return true;
    }
    if (sequence.done < sequence.last) return false;
    cache_.release(sequence.blocks, sequence.held);
    adapters_.release(adapter_of(sequence.request));
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
  const auto keys = static_cast<std::int32_t>(sequence.keys.size());
  const std::int32_t end = std::min(to / limits_.block_tokens, keys);
  for (std::int32_t block = from / limits_.block_tokens; block < end; ++block) {
    const auto position = static_cast<std::size_t>(block);
    cache_.name(sequence.held[position], sequence.keys[position]);
  }
}

bool Replica::grow(Slot slot, std::int32_t tokens) {
  Sequence& sequence = sequences_[slot];
  const std::int32_t more = blocks_for(sequence.done + tokens) - sequence.blocks;
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
  if (!adapters_.has_room(adapter_of(sequence.request))) return std::nullopt;
  if (sequence.ready > 0) {
    if (wants(sequence) + spare > cache_.free()) return std::nullopt;
    take_next();
    const std::int32_t need = blocks_for(sequence.ready);
    cache_.take(need, sequence.held);
    sequence.blocks = need;
    sequence.done = sequence.ready;
    name_full_blocks(sequence, 0, sequence.done);
    copying_ += sequence.swapped * limits_.swap_block;
    swapped_blocks_ -= sequence.swapped;
    sequence.swapped = 0;
    let_run(slot);
    settled_.push_back(sequence.request);
    return 0;
  }
  std::int32_t found = limits_.reuse ? cache_.find(sequence.keys) : 0;
  if (found * limits_.block_tokens >= sequence.prompt) --found;
  const std::int32_t known = found * limits_.block_tokens;
  const std::int32_t tokens = std::min(sequence.prompt - known, most);
  const std::int32_t need = blocks_for(tokens);
  const std::int32_t idle = found > 0 ? cache_.idle(sequence.keys, found) : 0;
  if (need + idle + spare > cache_.free()) return std::nullopt;
  take_next();
  if (found > 0) cache_.share(sequence.keys, found, sequence.held);
  cache_.take(need, sequence.held);
  sequence.blocks = found + need;
  name_full_blocks(sequence, known, known + tokens);
  let_run(slot);
  Outcome& outcome = books_.outcomes[sequence.request];
  outcome.hit_tokens = known;
  if (outcome.start == kNever) outcome.start = began_;
  add_to_batch(slot, tokens, known);
  sequence.done = known;
  backlog_ -= known;
  return tokens;
}

void Replica::preempt_last() {
  const Slot slot = running_.back();
  running_.pop_back();
  Sequence& sequence = sequences_[slot];
  if (sequence.steady) end_steady(slot);
  adapters_.release(adapter_of(sequence.request));
  const std::int32_t blocks = std::exchange(sequence.blocks, 0);
  cache_.release(blocks, sequence.held);
  ++books_.outcomes[sequence.request].preemptions;
  // What moves elsewhere stays where it is sent back.
  if (sequence.last > sequence.prompt) sequence.leaves = false;
  if (sequence.done > 0 && swapped_blocks_ + blocks <= limits_.swap_blocks) {
    sequence.ready = std::exchange(sequence.done, 0);
    sequence.swapped = blocks;
    swapped_blocks_ += blocks;
    copying_ += blocks * limits_.swap_block;
  } else {
    backlog_ += sequence.done;
    if (!sequence.prefilling()) {
      sequence.prompt = sequence.done + 1;  // the token produced last is not in the cache
      sequence.begun = true;
    }
    sequence.done = sequence.ready = 0;
  }
  line_up(waiting_.begin(), slot);
}

void Replica::turn_away_next() {
  const Slot slot = waiting_.front();
  const Sequence& sequence = sequences_[slot];
  backlog_ -= sequence.last - sequence.ready;
  books_.outcomes[sequence.request].replica = -1;
  take_next();
  spare_slots_.push_back(slot);
}

Micros Replica::prompts_take(std::size_t count) const {
  Batch batch;
  for (std::size_t each = 0; each < std::min(count, waiting_.size()); ++each) {
    if (sequences_[waiting_[each]].ready > 0) continue;
    const std::int32_t prompt = sequences_[waiting_[each]].prompt;
    batch.prefills.push_back({.done = 0, .fresh = prompt, .prompt = prompt});
  }
  return (*step_)(batch);
}

void Replica::abandon(std::vector<RequestId>& lost) {
  while (!flights_.empty()) land();
  end_all_steady();
  for (const Slot slot : running_) {
    ++books_.outcomes[sequences_[slot].request].preemptions;
    lost.push_back(sequences_[slot].request);
  }
  for (const Slot slot : waiting_) lost.push_back(sequences_[slot].request);
  for (const RequestId request : lost) {
    Outcome& outcome = books_.outcomes[request];
    outcome.decoding = outcome.longest_gap = 0;
    outcome.first_token = kNever;
  }
  running_.clear();
  waiting_.clear();
  wanted_blocks_ = 0;
}

void Replica::hand_out(std::vector<Visit>& visits) {
  while (!flights_.empty()) land();
  end_all_steady();
  for (const Slot slot : running_) {
    const Sequence& sequence = sequences_[slot];
    Visit& visit = visits.emplace_back(Visit{.request = sequence.request});
    if (!sequence.prefilling()) {
      visit.ready = sequence.done;
      visit.token_at = sequence.token_at;
    } else if (sequence.begun) {
      visit.known = sequence.prompt;
      visit.token_at = sequence.token_at;
    }
  }
  for (const Slot slot : waiting_) {
    const Sequence& sequence = sequences_[slot];
    Visit& visit = visits.emplace_back(Visit{.request = sequence.request});
    if (!sequence.begun && sequence.ready == 0) continue;
    visit.ready = sequence.ready;
    visit.known = sequence.ready > 0 ? 0 : sequence.prompt;
    visit.token_at = sequence.token_at;
  }
  running_.clear();
  waiting_.clear();
  wanted_blocks_ = 0;
}

std::int64_t Replica::tokens_to_hand_out() const {
  std::int64_t sum = steady_context_;
  for (const Slot slot : running_) {
    const Sequence& sequence = sequences_[slot];
    if (!sequence.steady && !sequence.prefilling()) sum += sequence.done;
  }
  for (const Slot slot : waiting_) sum += sequences_[slot].ready;
  return sum;
}

}  // namespace almanac::inference
