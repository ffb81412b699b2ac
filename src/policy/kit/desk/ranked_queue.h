// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs in order of rank.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace almanac::policy {

/// Total order of jobs: the higher priority tier first, then rank, then tie, then the order of
/// joining. The tier is no part of the rank because a sum would lose digits of the rank, and
/// because passes compare ranks with limits of their own.
struct QueueKey {
  double rank = 0;
  double tie = 0;
  std::uint32_t sequence = 0;
  std::int32_t tier = 0;

  bool operator==(const QueueKey&) const = default;
  friend bool operator<(const QueueKey& a, const QueueKey& b) {
    if (a.tier != b.tier) return a.tier > b.tier;
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.tie != b.tie) return a.tie < b.tie;
    return a.sequence < b.sequence;
  }
};

/// Sorts after every job.
inline constexpr QueueKey kNobody{std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::infinity(), ~std::uint32_t{0},
                                  std::numeric_limits<std::int32_t>::min()};

struct QueueEntry {
  QueueKey key{};
  JobId job{};
  Duration believed{};  ///< Longest remaining run time, by the bound of the job (Beliefs).
};

/// A sorted list of short blocks, each of which knows its shortest estimated run time.
///
/// Cost     insert and erase move at most one block (a few hundred bytes) after a binary search
///          over the blocks; the front is available at once; "the first that ends within t" reads
///          one number per block. A queue of 100,000 jobs thus costs about as much as one of ten.
class RankedQueue {
 public:
  void insert(const QueueEntry& entry);
  /// Removes the entry with this key, which must exist.
  void erase(const QueueKey& key);
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Returns the smallest entry; requires one.
  const QueueEntry& front() const { return blocks_.front()->front(); }
  /// Returns the largest entry; requires one.
  const QueueEntry& back() const { return blocks_.back()->back(); }
  /// Returns the shortest estimated run time; Duration::max() if empty.
  Duration least_believed() const;
  /// Returns the first entry with an estimated run time of at most `limit`; null if none.
  const QueueEntry* first_within(Duration limit) const;
  /// Returns the smallest entry above `key`; null if none.
  const QueueEntry* next(const QueueKey& key) const;
  /// Returns the largest entry below `key`; null if none.
  const QueueEntry* previous(const QueueKey& key) const;

  /// Goes through the entries in order; any insert or erase invalidates it.
  class Cursor {
   public:
    explicit Cursor(const RankedQueue& queue)
        : queue_(&queue), at_(queue.empty() ? 0 : queue.blocks_.front()->begin) {}
    /// Returns the current entry; null past the last.
    const QueueEntry* get() const {
      if (block_ >= queue_->blocks_.size() || queue_->empty()) return nullptr;
      return &queue_->blocks_[block_]->entries[at_];
    }
    void advance() {
      if (++at_ < queue_->blocks_[block_]->end) return;
      if (++block_ < queue_->blocks_.size()) at_ = queue_->blocks_[block_]->begin;
    }

   private:
    const RankedQueue* queue_;
    std::size_t block_ = 0;
    std::size_t at_;
  };

 private:
  static constexpr std::size_t kBlockSize = 64;
  static constexpr std::size_t kFirstBlockSize = 4;

  struct Block {
    explicit Block(std::size_t room)
        : entries(std::make_unique<QueueEntry[]>(room)), capacity(room) {}

    std::unique_ptr<QueueEntry[]> entries;  // those in [begin, end) are in use
    std::size_t capacity;                   // small in a queue that was never long
    std::size_t begin = 0;
    std::size_t end = 0;
    mutable Duration least = Duration::max();  // of believed; may be too small until it is needed
    mutable bool least_is_exact = true;

    const QueueEntry& front() const { return entries[begin]; }
    const QueueEntry& back() const { return entries[end - 1]; }
    std::size_t size() const { return end - begin; }
    QueueEntry* first() { return entries.get() + begin; }
    QueueEntry* last() { return entries.get() + end; }
    Duration least_believed() const;
    /// Makes room behind the last entry of a block that is not full.
    void move_up();
  };

  /// Returns the block that holds `key`, or would.
  std::size_t block_of(const QueueKey& key) const;
  void split(std::size_t block);

  std::vector<std::unique_ptr<Block>> blocks_;  // none is empty, unless it is the only one
  std::size_t size_ = 0;
};

}  // namespace almanac::policy
