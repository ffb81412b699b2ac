// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/ranked_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace almanac::policy {
namespace {

/// A function object, so that searches have the comparison inlined.
constexpr auto before = [](const QueueEntry& entry, const QueueKey& key) {
  return entry.key < key;
};

}  // namespace

Duration RankedQueue::Block::least_believed() const {
  if (!least_is_exact) {
    least = Duration::max();
    for (std::size_t at = begin; at < end; ++at) least = std::min(least, entries[at].believed);
    least_is_exact = true;
  }
  return least;
}

void RankedQueue::Block::move_up() {
  if (2 * size() > capacity && capacity < kBlockSize) {
    Block larger(4 * capacity);
    std::copy(first(), last(), larger.first());
    entries = std::move(larger.entries);
    capacity = larger.capacity;
  } else {
    std::copy(first(), last(), entries.get());
  }
  end = size();
  begin = 0;
}

std::size_t RankedQueue::block_of(const QueueKey& key) const {
  // Most questions are about the front, most newcomers go to the end.
  if (blocks_.size() == 1 || key < blocks_[1]->front().key) return 0;
  if (!(key < blocks_.back()->front().key)) return blocks_.size() - 1;
  const auto found = std::upper_bound(
      blocks_.begin() + 1, blocks_.end(), key,
      [](const QueueKey& k, const std::unique_ptr<Block>& b) { return k < b->front().key; });
  return static_cast<std::size_t>(found - blocks_.begin()) - 1;
}

void RankedQueue::split(std::size_t block) {
  Block& full = *blocks_[block];
  auto upper = std::make_unique<Block>(kBlockSize);
  // A queue that grows at its end leaves full blocks behind, not half-full ones.
  const bool at_end = block + 1 == blocks_.size();
  const std::size_t keep = full.begin + (at_end ? full.size() - 1 : full.size() / 2);
  upper->end = full.end - keep;
  std::copy(full.entries.get() + keep, full.last(), upper->first());
  full.end = keep;
  full.least_is_exact = upper->least_is_exact = false;
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(block) + 1, std::move(upper));
}

void RankedQueue::insert(const QueueEntry& entry) {
  if (blocks_.empty()) blocks_.push_back(std::make_unique<Block>(kFirstBlockSize));
  std::size_t at = block_of(entry.key);
  if (blocks_[at]->size() == kBlockSize) {
    split(at);
    at = block_of(entry.key);
  }
  Block& block = *blocks_[at];
  if (block.end == block.capacity) block.move_up();
  QueueEntry* place = block.last();
  // Most newcomers go to the end.
  if (block.size() > 0 && entry.key < (place - 1)->key) {
    place = std::lower_bound(block.first(), block.last(), entry.key, before);
    std::copy_backward(place, block.last(), block.last() + 1);
  }
  *place = entry;
  ++block.end;
  block.least = std::min(block.least, entry.believed);
  ++size_;
}

void RankedQueue::erase(const QueueKey& key) {
  const std::size_t at = block_of(key);
  Block& block = *blocks_[at];
  QueueEntry* found = block.first();
  // Most jobs that start are the first of their queue.
  if (block.size() > 0 && found->key < key) {
    found = std::lower_bound(found + 1, block.last(), key, before);
  }
  ALMANAC_CHECK(found != block.last() && !(key < found->key), "sequence {} is not queued",
                key.sequence);
  if (found->believed <= block.least) block.least_is_exact = false;
  if (found == block.first()) {
    ++block.begin;
  } else {
    std::copy(found + 1, block.last(), found);
    --block.end;
  }
  --size_;
  if (block.size() > 0) return;
  if (blocks_.size() == 1) {
    block.begin = block.end = 0;
    block.least = Duration::max();
    block.least_is_exact = true;
    return;
  }
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
}

Duration RankedQueue::least_believed() const {
  Duration least = Duration::max();
  for (const auto& block : blocks_) least = std::min(least, block->least_believed());
  return least;
}

const QueueEntry* RankedQueue::first_within(Duration limit) const {
  if (empty()) return nullptr;
  for (const auto& block : blocks_) {
    if (block->least_believed() > limit) continue;
    for (std::size_t at = block->begin; at < block->end; ++at) {
      if (block->entries[at].believed <= limit) return &block->entries[at];
    }
  }
  return nullptr;
}

const QueueEntry* RankedQueue::next(const QueueKey& key) const {
  if (empty()) return nullptr;
  std::size_t at = block_of(key);
  Block& block = *blocks_[at];
  const QueueEntry* const found =
      std::upper_bound(block.first(), block.last(), key,
                       [](const QueueKey& k, const QueueEntry& e) { return k < e.key; });
  if (found != block.last()) return found;
  return ++at < blocks_.size() ? &blocks_[at]->front() : nullptr;
}

const QueueEntry* RankedQueue::previous(const QueueKey& key) const {
  if (empty()) return nullptr;
  const std::size_t at = block_of(key);
  Block& block = *blocks_[at];
  const QueueEntry* const found = std::lower_bound(block.first(), block.last(), key, before);
  if (found != block.first()) return found - 1;
  return at > 0 ? &blocks_[at - 1]->back() : nullptr;
}

}  // namespace almanac::policy
