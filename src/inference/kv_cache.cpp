// SPDX-License-Identifier: Apache-2.0

#include "inference/kv_cache.h"

#include "base/check.h"

namespace almanac::inference {

KvCache::KvCache(std::int32_t blocks, bool reuse) : size_(blocks), free_(0), reuse_(reuse) {
  if (!reuse) {
    free_ = blocks;
    return;
  }
  states_.resize(static_cast<std::size_t>(blocks));
  for (Block block = 0; block < blocks; ++block) append(block);
}

std::int32_t KvCache::find(std::span<const Key> keys) const {
  std::int32_t found = 0;
  for (const Key key : keys) {
    if (!found_.contains(key)) break;
    ++found;
  }
  return found;
}

std::int32_t KvCache::idle(std::span<const Key> keys, std::int32_t found) const {
  std::int32_t idle = 0;
  for (const Key key : keys.first(static_cast<std::size_t>(found))) {
    idle += states_[static_cast<std::size_t>(found_.at(key))].holders == 0;
  }
  return idle;
}

void KvCache::share(std::span<const Key> keys, std::int32_t found, std::vector<Block>& held) {
  for (const Key key : keys.first(static_cast<std::size_t>(found))) {
    const Block block = found_.at(key);
    if (states_[static_cast<std::size_t>(block)].holders++ == 0) unlink(block);
    held.push_back(block);
  }
}

void KvCache::take(std::int32_t count, std::vector<Block>& held) {
  ALMANAC_CHECK(count <= free_, "{} blocks taken of {}", count, free_);
  if (!reuse_) {
    free_ -= count;
    return;
  }
  for (; count > 0; --count) {
    const Block block = first_;
    unlink(block);
    State& state = states_[static_cast<std::size_t>(block)];
    if (state.named) found_.erase(state.key);
    state.named = false;
    state.holders = 1;
    held.push_back(block);
  }
}

void KvCache::name(Block block, Key key) {
  State& state = states_[static_cast<std::size_t>(block)];
  state.key = key;
  state.named = true;
  found_[key] = block;
}

void KvCache::release(std::int32_t count, std::vector<Block>& held) {
  if (!reuse_) {
    free_ += count;
    return;
  }
  for (; !held.empty(); held.pop_back()) {
    if (--states_[static_cast<std::size_t>(held.back())].holders == 0) append(held.back());
  }
}

void KvCache::append(Block block) {
  State& state = states_[static_cast<std::size_t>(block)];
  state.before = last_;
  state.after = kNone;
  (last_ == kNone ? first_ : states_[static_cast<std::size_t>(last_)].after) = block;
  last_ = block;
  ++free_;
}

void KvCache::unlink(Block block) {
  const State& state = states_[static_cast<std::size_t>(block)];
  (state.before == kNone ? first_ : states_[static_cast<std::size_t>(state.before)].after) =
      state.after;
  (state.after == kNone ? last_ : states_[static_cast<std::size_t>(state.after)].before) =
      state.before;
  --free_;
}

}  // namespace almanac::inference
