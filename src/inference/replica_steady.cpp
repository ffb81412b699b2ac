// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sequences that get one token in each iteration: an iteration costs only what changes in it, and
/// what it adds to each outcome is added, in the same order, when the sequence is looked at.
#include <algorithm>
#include <iterator>

#include "inference/replica.h"

namespace almanac::inference {

std::vector<Replica::Slot>& Replica::growing(const Sequence& sequence) {
  const auto size = growing_.size();
  const std::size_t filled = static_cast<std::size_t>(sequence.done) % size;
  return growing_[(sequence.caught_up + size - filled) % size];
}

void Replica::begin_steady(Slot slot) {
  Sequence& sequence = sequences_[slot];
  sequence.steady = true;
  sequence.caught_up = counted_;
  sequence.finishes = counted_ + static_cast<std::uint64_t>(sequence.last - sequence.done);
  next_finish_ = std::min(next_finish_, sequence.finishes);
  steady_context_ += sequence.done;
  steady_.push_back(slot);
  // Those that begin stand behind all that are steady, or grow_steady() ends it for all, so blocks
  // are taken in the order of run().
  growing(sequence).push_back(slot);
}

void Replica::end_steady(Slot slot) {
  Sequence& sequence = sequences_[slot];
  std::erase(growing(sequence), slot);
  catch_up(sequence);
  sequence.steady = false;
  steady_context_ -= sequence.done;
  std::erase(steady_, slot);
  if (sequence.finishes > next_finish_) return;
  next_finish_ = kNoFinish;
  for (const Slot each : steady_) {
    next_finish_ = std::min(next_finish_, sequences_[each].finishes);
  }
}

void Replica::end_all_steady() {
  for (const Slot slot : steady_) {
    catch_up(sequences_[slot]);
    sequences_[slot].steady = false;
  }
  for (auto& each : growing_) each.clear();
  steady_.clear();
  steady_context_ = 0;
  next_finish_ = kNoFinish;
}

void Replica::catch_up(Sequence& sequence) {
  Outcome& outcome = books_.outcomes[sequence.request];
  Micros decoding = outcome.decoding, computed = outcome.computed, gap = outcome.longest_gap;
  Micros token_at = sequence.token_at;
  const std::uint64_t behind = counted_ - sequence.caught_up;
  for (auto each = iterations_.end() - static_cast<std::ptrdiff_t>(behind);
       each != iterations_.end(); ++each) {
    decoding += each->took;
    computed += each->each_token;
    gap = std::max(gap, each->ends - token_at);
    token_at = each->ends;
  }
  outcome.decoding = decoding;
  outcome.computed = computed;
  outcome.longest_gap = gap;
  sequence.token_at = token_at;
  sequence.done += static_cast<std::int32_t>(behind);
  sequence.caught_up = counted_;
}

void Replica::catch_up() {
  for (const Slot slot : steady_) catch_up(sequences_[slot]);
}

std::int32_t Replica::grow_steady(std::int32_t most) {
  if (steady_.empty()) return 0;
  const std::size_t others = running_.size() - steady_.size();
  const bool stand_first =
      std::none_of(running_.end() - static_cast<std::ptrdiff_t>(others), running_.end(),
                   [&](Slot slot) { return sequences_[slot].steady; });
  const std::vector<Slot>& grow = growing_[counted_ % growing_.size()];
  if (!stand_first || steady_.size() > static_cast<std::size_t>(most) ||
      grow.size() > static_cast<std::size_t>(cache_.free())) {
    end_all_steady();
    return 0;
  }
  for (const Slot slot : grow) {
    cache_.take(1, sequences_[slot].held);
    ++sequences_[slot].blocks;
  }
  batch_.decodes += static_cast<std::int64_t>(steady_.size());
  batch_.context += steady_context_;
  return static_cast<std::int32_t>(steady_.size());
}

bool Replica::count_steady(Micros now, Micros each_token) {
  constexpr std::size_t kMostKept = 1 << 12;
  if (iterations_.size() == kMostKept) {
    catch_up();
    iterations_.clear();
  }
  iterations_.push_back({now - began_, each_token, now});
  ++counted_;
  const auto count = static_cast<std::int64_t>(steady_.size());
  steady_context_ += count;
  backlog_ -= count;
  if (counted_ < next_finish_) return false;
  const auto is_last = [&](Slot slot) { return sequences_[slot].finishes == counted_; };
  std::vector<Slot> last;
  std::copy_if(steady_.begin(), steady_.end(), std::back_inserter(last), is_last);
  for (const Slot slot : last) {
    end_steady(slot);
    books_.outcomes[sequences_[slot].request].finish = now + limits_.front;
  }
  return true;
}

}  // namespace almanac::inference
