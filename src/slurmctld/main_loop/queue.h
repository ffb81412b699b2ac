// SPDX-License-Identifier: Apache-2.0

/// \file
/// The pending jobs in the order in which Slurm looks at them, one record for each partition.
#pragma once

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
    if (records_.insert(record).second) ++count(record.partition);
  }
  void remove(const Record& record) {
    if (records_.erase(record) > 0) --count(record.partition);
  }
  void clear() {
    records_.clear();
    counts_.clear();
  }

  auto begin() const { return records_.begin(); }
  auto end() const { return records_.end(); }
  /// Returns the first record after `record`, which need not be in the queue.
  auto upper_bound(const Record& record) const { return records_.upper_bound(record); }
  bool empty() const { return records_.empty(); }
  std::size_t size() const { return records_.size(); }
  /// Records of one partition.
  std::size_t size(PartitionAt partition) const {
    return partition < counts_.size() ? counts_[partition] : 0;
  }

 private:
  std::size_t& count(PartitionAt partition) {
    if (counts_.size() <= partition) counts_.resize(partition + 1);
    return counts_[partition];
  }

  std::set<Record> records_;
  std::vector<std::size_t> counts_;  // by partition
};

}  // namespace almanac::slurmctld
