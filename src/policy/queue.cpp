// SPDX-License-Identifier: Apache-2.0
#include "policy/queue.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::policy {
namespace {

constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

bool before(const QueueEntry& entry, const QueueKey& key) { return entry.key < key; }

}  // namespace

Duration RankedQueue::Block::least_believed() const {
  if (!least_is_exact) {
    least = Duration::max();
    for (std::size_t at = begin; at < end; ++at) least = std::min(least, entries[at].believed);
    least_is_exact = true;
  }
  return least;
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
  auto upper = std::make_unique<Block>();
  // A queue that grows at its end leaves full blocks behind, not half-full ones.
  const bool at_end = block + 1 == blocks_.size();
  const std::size_t keep = full.begin + (at_end ? full.size() - 1 : full.size() / 2);
  upper->end = full.end - keep;
  std::copy(full.entries.data() + keep, full.last(), upper->first());
  full.end = keep;
  full.least_is_exact = upper->least_is_exact = false;
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(block) + 1, std::move(upper));
}

void RankedQueue::insert(const QueueEntry& entry) {
  if (blocks_.empty()) blocks_.push_back(std::make_unique<Block>());
  std::size_t at = block_of(entry.key);
  if (blocks_[at]->size() == kBlockSize) {
    split(at);
    at = block_of(entry.key);
  }
  Block& block = *blocks_[at];
  if (block.end == kBlockSize) {
    std::copy(block.first(), block.last(), block.entries.data());
    block.end = block.size();
    block.begin = 0;
  }
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
  QueueEntry* const found = std::lower_bound(block.first(), block.last(), key, before);
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
  return at > 0 ? &blocks_[at - 1]->entries[blocks_[at - 1]->end - 1] : nullptr;
}

void WaitingQueue::add_class(DemandId id, const cluster::Demand& demand) {
  const auto place =
      std::upper_bound(classes_.begin(), classes_.end(), demand.gpus,
                       [](int gpus, const Class& known) { return gpus < known.demand.gpus; });
  classes_.insert(place, Class{.id = id, .demand = demand});
  for (std::uint32_t at = 0; at < classes_.size(); ++at) position_[index(classes_[at].id)] = at;
  find_first();
}

void WaitingQueue::find_first() {
  const Class* best = nullptr;
  for (const Class& each : classes_) {
    if (each.jobs.empty()) continue;
    if (best == nullptr || each.front < best->front) best = &each;
  }
  if (best != nullptr) first_ = static_cast<std::uint32_t>(best - classes_.data());
}

void WaitingQueue::insert(DemandId id, const cluster::Demand& demand, const QueueEntry& entry) {
  if (position_.size() <= index(id)) position_.resize(index(id) + 1, kAbsent);
  if (position_[index(id)] == kAbsent) add_class(id, demand);
  const std::uint32_t position = position_[index(id)];
  Class& own = classes_[position];
  if (own.is_aside) return own.aside.insert(entry);
  if (own.jobs.empty() || entry.key < own.front) {
    own.front = entry.key;
    if (empty() || entry.key < first().front) first_ = position;
  }
  own.jobs.insert(entry);
  ++size_;
}

void WaitingQueue::erase(DemandId id, const QueueKey& key) {
  const std::uint32_t position = position_[index(id)];
  Class& own = classes_[position];
  if (own.is_aside) return own.aside.erase(key);
  own.jobs.erase(key);
  --size_;
  if (!own.jobs.empty()) own.front = own.jobs.front().key;
  if (position == first_) find_first();
}

void WaitingQueue::set_aside(DemandId id, bool aside) {
  Class& own = classes_[position_[index(id)]];
  if (own.is_aside == aside) return;
  own.is_aside = aside;
  size_ -= own.jobs.size();
  std::swap(own.jobs, own.aside);
  size_ += own.jobs.size();
  if (!own.jobs.empty()) own.front = own.jobs.front().key;
  find_first();
}

bool WaitingQueue::is_aside(DemandId id) const {
  if (index(id) >= position_.size() || position_[index(id)] == kAbsent) return false;
  return classes_[position_[index(id)]].is_aside;
}

const QueueEntry* WaitingQueue::next(const QueueKey& key) const {
  const QueueEntry* best = nullptr;
  for (const Class& each : classes_) {
    const QueueEntry* const candidate = each.jobs.next(key);
    if (candidate != nullptr && (best == nullptr || candidate->key < best->key)) best = candidate;
  }
  return best;
}

}  // namespace almanac::policy
