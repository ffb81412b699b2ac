// SPDX-License-Identifier: Apache-2.0
#include "serving/blis_engine.h"

#include <algorithm>

#include "inference/replica.h"

namespace almanac::serving {

using namespace inference;

BlisEngine::BlisEngine(Requests requests, const BlisLimits& limits, const StepTime& step,
                       Micros delay)
    : requests_(std::move(requests)),
      outcomes_(requests_.size()),
      limits_(limits),
      step_(&step),
      delay_(delay),
      cache_(limits.kv_blocks, true) {
  if (limits_.chunk <= 0) limits_.chunk = limits_.tokens;
  for (RequestId id = 0; id < requests_.size(); ++id) expect(id);
}

void BlisEngine::expect(RequestId request) {
  arrivals_.push({requests_[request].arrival + delay_, request});
}

RequestId BlisEngine::submit(const Request& request) {
  const auto id = static_cast<RequestId>(requests_.size());
  requests_.all.push_back(request);
  outcomes_.emplace_back();
  expect(id);
  return id;
}

void BlisEngine::run() {
  while (!arrivals_.empty() || next_ != kNever) {
    if (!arrivals_.empty() && arrivals_.top().first <= next_) {
      now_ = arrivals_.top().first;
      const RequestId request = arrivals_.top().second;
      arrivals_.pop();
      enqueue(request);
    } else {
      now_ = next_;
      iterate();
    }
  }
}

void BlisEngine::enqueue(RequestId request) {
  const Request& asked = requests_[request];
  // A prompt that outgrows the memory would wait for ever.
  if (blocks_for(asked.prompt) > cache_.size()) {
    outcomes_[request].replica = -1;
    return;
  }
  sequences_.push_back({.request = request,
                        .prompt = asked.prompt,
                        .last = asked.prompt + std::max(asked.output, 1) - 1,
                        .keys = prompt_keys(requests_, request, limits_.block_tokens)});
  waiting_.push_back(sequences_.size() - 1);
  outcomes_[request].replica = 0;
  if (next_ == kNever) next_ = now_;
}

void BlisEngine::iterate() {
  batch_.clear();
  shares_.clear();
  next_ = kNever;
  form();
  if (shares_.empty() && waiting_.empty()) return;
  const Micros at = now_ + (*step_)(batch_);
  end(at);
  if (!running_.empty() || !waiting_.empty()) next_ = at;
}

void BlisEngine::form() {
  std::int32_t budget = limits_.tokens;
  bool preempted = false;
  for (std::size_t each = 0; each < running_.size() && budget > 0; ++each) {
    std::int32_t tokens = 0;
    while ((tokens = compute_some(running_[each], budget)) == 0) {
      preempted = true;
      const bool itself = running_.size() == each + 1;
      preempt_last();
      if (itself) return;
    }
    budget -= tokens;
  }
  if (preempted) return;
  while (budget > 0 && !waiting_.empty() &&
         running_.size() < static_cast<std::size_t>(limits_.sequences)) {
    const std::int32_t tokens = admit(std::min(limits_.chunk, budget));
    if (tokens < 0) return;
    budget -= tokens;
  }
}

std::int32_t BlisEngine::compute_some(Slot slot, std::int32_t budget) {
  Sequence& sequence = sequences_[slot];
  const bool prefill = sequence.prefilling();
  const std::int32_t tokens =
      prefill ? std::min({sequence.prompt - sequence.done, limits_.chunk, budget}) : 1;
  const std::int32_t more = blocks_for(sequence.done + tokens - sequence.bare) - sequence.blocks;
  if (more > 0) {
    if (more > cache_.free()) return 0;
    cache_.take(more, sequence.held);
    sequence.blocks += more;
  }
  if (prefill) {
    name_full_blocks(sequence, sequence.done, sequence.done + tokens);
    batch_.prefills.push_back({.done = sequence.done, .fresh = tokens, .prompt = sequence.prompt});
  } else {
    ++batch_.decodes;
    batch_.context += sequence.done;
  }
  shares_.push_back({slot, tokens, prefill});
  return tokens;
}

std::int32_t BlisEngine::admit(std::int32_t most) {
  const Slot slot = waiting_.front();
  Sequence& sequence = sequences_[slot];
  const std::int32_t found = cache_.find(sequence.keys);
  const std::int32_t known = found * limits_.block_tokens;
  const std::int32_t tokens = std::min(sequence.prompt - known, most);
  const std::int32_t need = blocks_for(tokens);
  const std::int32_t idle = found > 0 ? cache_.idle(sequence.keys, found) : 0;
  if (need + idle > cache_.free()) return -1;
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
  Outcome& outcome = outcomes_[sequence.request];
  outcome.hit_tokens = known;
  if (outcome.start == kNever) outcome.start = now_;
  batch_.prefills.push_back({.done = 0, .fresh = tokens, .prompt = sequence.prompt});
  shares_.push_back({slot, tokens, true});
  sequence.done = known;
  return tokens;
}

void BlisEngine::preempt_last() {
  const Slot slot = running_.back();
  running_.pop_back();
  Sequence& sequence = sequences_[slot];
  cache_.release(std::exchange(sequence.blocks, 0), sequence.held);
  sequence.done = sequence.bare = 0;
  Outcome& outcome = outcomes_[sequence.request];
  ++outcome.preemptions;
  outcome.decoding = 0;
  outcome.first_token = kNever;
  waiting_.push_front(slot);
}

void BlisEngine::end(Micros at) {
  for (const Share& share : shares_) {
    Sequence& sequence = sequences_[share.slot];
    Outcome& outcome = outcomes_[sequence.request];
    sequence.done += share.tokens;
    if (!share.prefill) {
      outcome.decoding += at - now_;
    } else if (!sequence.prefilling()) {
      outcome.first_token = at;
    }
  }
  std::vector<RequestId> finished;
  std::erase_if(running_, [&](Slot slot) {
    Sequence& sequence = sequences_[slot];
    if (sequence.done < sequence.last) return false;
    if (sequence.blocks * limits_.block_tokens + sequence.bare < sequence.done + 1 &&
        cache_.free() > 0) {
      cache_.take(1, sequence.held);
      ++sequence.blocks;
    }
    cache_.release(sequence.blocks, sequence.held);
    outcomes_[sequence.request].finish = at;
    finished.push_back(sequence.request);
    return true;
  });
  if (!finished_) return;
  for (const RequestId request : finished) finished_(request, at);
}

void BlisEngine::name_full_blocks(Sequence& sequence, std::int32_t from, std::int32_t to) {
  const std::int32_t end = std::min(to, sequence.prompt) / limits_.block_tokens;
  for (std::int32_t block = from / limits_.block_tokens; block < end; ++block) {
    const auto position = static_cast<std::size_t>(block);
    cache_.name(sequence.held[position], sequence.keys[position]);
  }
}

}  // namespace almanac::serving
