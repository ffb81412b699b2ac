// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waiting jobs in order of rank, and the questions that scheduling asks of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cluster/ledger.h"

namespace almanac::policy {

/// Total order of jobs: rank, then tie, then who joined first.
struct QueueKey {
  double rank = 0;
  double tie = 0;
  std::uint32_t sequence = 0;

  friend bool operator<(const QueueKey& a, const QueueKey& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.tie != b.tie) return a.tie < b.tie;
    return a.sequence < b.sequence;
  }
};

struct QueueEntry {
  QueueKey key{};
  JobId job{};
  Duration believed{};  ///< Believed time still to run.
};

/// A sorted list cut into short blocks, each of which knows its least believed run time.
///
/// Cost: insert and erase move at most one block (a few hundred bytes) after a binary search over
/// the blocks; the front is at hand; "the first that ends within t" scans one number a block. So a
/// queue of 100,000 jobs costs about as much as one of ten.
class RankedQueue {
 public:
  void insert(const QueueEntry& entry);
  /// Removes the entry with this key, which must be there.
  void erase(const QueueKey& key);
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// The least entry; there must be one.
  const QueueEntry& front() const { return blocks_.front()->front(); }
  /// The greatest entry; there must be one.
  const QueueEntry& back() const { return blocks_.back()->entries[blocks_.back()->end - 1]; }
  /// The first entry that is believed to run no longer than `limit`; null = none.
  const QueueEntry* first_within(Duration limit) const;
  /// The least entry above `key`; null = none.
  const QueueEntry* next(const QueueKey& key) const;
  /// The greatest entry below `key`; null = none.
  const QueueEntry* previous(const QueueKey& key) const;

  /// Walks the entries in order; any insert or erase ends its life.
  class Cursor {
   public:
    explicit Cursor(const RankedQueue& queue)
        : queue_(&queue), at_(queue.empty() ? 0 : queue.blocks_.front()->begin) {}
    /// The present entry; null = past the last.
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

  struct Block {
    std::array<QueueEntry, kBlockSize> entries;  // those in [begin, end) are in use
    std::size_t begin = 0;
    std::size_t end = 0;
    mutable Duration least = Duration::max();  // of believed; may be too small until it is needed
    mutable bool least_is_exact = true;

    const QueueEntry& front() const { return entries[begin]; }
    std::size_t size() const { return end - begin; }
    QueueEntry* first() { return entries.data() + begin; }
    QueueEntry* last() { return entries.data() + end; }
    Duration least_believed() const;
  };

  /// The block that holds `key`, or would.
  std::size_t block_of(const QueueKey& key) const;
  void split(std::size_t block);

  std::vector<std::unique_ptr<Block>> blocks_;  // none empty, but for an only one
  std::size_t size_ = 0;
};

/// The waiting jobs of one virtual cluster, filed by demand: jobs of equal demand fit together or
/// not at all, so each question is asked once a demand and not once a job.
class WaitingQueue {
 public:
  struct Class {
    DemandId id{};
    cluster::Demand demand{};
    QueueKey front{};  ///< Of jobs, while there are any.
    RankedQueue jobs{};
    bool is_aside = false;
    RankedQueue aside{};  ///< Its jobs while it is aside.
  };

  void insert(DemandId id, const cluster::Demand& demand, const QueueEntry& entry);
  void erase(DemandId id, const QueueKey& key);
  /// Puts a demand that has ever waited here aside, or back: as long as it is aside nobody of it
  /// counts as waiting.
  void set_aside(DemandId id, bool aside);
  bool is_aside(DemandId id) const;
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// The class whose front is the first of all; there must be one. O(1).
  const Class& first() const { return classes_[first_]; }
  /// Every demand that has ever waited here, fewest GPUs first; some may be empty.
  const std::vector<Class>& classes() const { return classes_; }
  /// The entry that follows `key` over all classes; null = none.
  const QueueEntry* next(const QueueKey& key) const;

 private:
  void add_class(DemandId id, const cluster::Demand& demand);
  void find_first();

  std::vector<Class> classes_;           // by GPUs
  std::vector<std::uint32_t> position_;  // of each DemandId in classes_, or kAbsent
  std::uint32_t first_ = 0;              // position of first(), while anybody waits
  std::size_t size_ = 0;
};

}  // namespace almanac::policy
