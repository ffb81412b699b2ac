// SPDX-License-Identifier: Apache-2.0

/// \file
/// The pending jobs in the order in which Slurm looks at them, one record for each partition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "slurmctld/jobs/job.h"

namespace almanac::slurmctld {

/// Source   Slurm 22.05, slurmctld/job_scheduler.c (build_job_queue, sort_job_queue2).
class Queue {
 public:
  /// A pending job in one of its partitions. Smaller records come first.
  struct Record {
    bool has_reservation = false;
    int tier = 0;
    std::uint32_t priority = 0;
    Seconds submit = 0;
    JobNumber array = 0;
    JobNumber number = 0;
    PartitionAt partition = 0;
    Job* job = nullptr;

    bool operator<(const Record& other) const {
      if (has_reservation != other.has_reservation) return has_reservation;
      if (tier != other.tier) return tier > other.tier;
      if (priority != other.priority) return priority > other.priority;
      if (submit != other.submit) return submit < other.submit;
      if (array != other.array) return array < other.array;
      if (number != other.number) return number < other.number;
      return partition < other.partition;
    }
  };

  void add(const Record& record) {
    const auto [added, is_new] = records_.insert(record);
    if (!is_new) return;
    Line& line = line_of(record.partition);
    const bool is_first = line.records++ == 0;
    if (is_first || (line.first != nullptr && record < *line.first)) line.first = &*added;
  }
  void remove(const Record& record) {
    const auto found = records_.find(record);
    if (found == records_.end()) return;
    Line& line = line_of(record.partition);
    --line.records;
    if (line.first == &*found) line.first = nullptr;
    records_.erase(found);
  }
  void clear() {
    records_.clear();
    lines_.clear();
  }

  auto begin() const { return records_.begin(); }
  auto end() const { return records_.end(); }
  /// Returns the first record after `record`, which need not be in the queue.
  auto upper_bound(const Record& record) const { return records_.upper_bound(record); }
  bool empty() const { return records_.empty(); }
  std::size_t size() const { return records_.size(); }
  /// Records of one partition.
  std::size_t size(PartitionAt partition) const {
    return partition < lines_.size() ? lines_[partition].records : 0;
  }
  /// Returns the first record of a partition, or null if it has none. Cost: O(1) until that record
  /// leaves, then O(records before the next one) once.
  const Record* first(PartitionAt partition) const {
    if (size(partition) == 0) return nullptr;
    const Line& line = lines_[partition];
    if (line.first == nullptr) {
      line.first = &*std::find_if(records_.begin(), records_.end(),
                                  [&](const Record& each) { return each.partition == partition; });
    }
    return line.first;
  }

 private:
  /// The records of one partition.
  struct Line {
    std::size_t records = 0;
    mutable const Record* first = nullptr;  // null = not known
  };

  Line& line_of(PartitionAt partition) {
    if (lines_.size() <= partition) lines_.resize(partition + 1);
    return lines_[partition];
  }

  std::set<Record> records_;
  std::vector<Line> lines_;  // by partition
};

}  // namespace almanac::slurmctld
