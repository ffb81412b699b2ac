// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tracks which jobs read which data sets from remote storage, and how fast that lets them run
/// (perf/remote_input.h).
///
/// Cost     Nothing for jobs with unknown input. Otherwise O(readers log readers) whenever a job
///          comes, goes or changes.
#pragma once

#include <map>
#include <vector>

#include "cluster/cluster.h"
#include "policy/contract/contract.h"
#include "policy/contract/speeds.h"

namespace almanac::sim {

class SharedStorage {
 public:
  /// `speeds` must outlive it.
  SharedStorage(const cluster::Cluster& cluster, const policy::Speeds& speeds)
      : storage_(cluster.storage), speeds_(speeds) {}

  /// Adds a job that runs at `alone`, relative to its reference speed, if nothing limits its reads.
  /// Ignores a job that reads nothing. Returns whether it was added.
  bool enter(JobId job, double alone, const policy::Config& config);
  /// Changes the unlimited speed of a reader. Returns whether that changes the speed of others.
  bool pace(JobId job, double alone);
  /// Returns whether the job was a reader.
  bool leave(JobId job);
  bool has(JobId job) const { return !readers_.empty() && readers_.contains(job); }
  /// Returns its speed relative to `alone`, 0 to 1.
  double speed(JobId job) const;
  /// Returns all readers in order of number.
  std::vector<JobId> readers() const;

 private:
  struct Reader {
    policy::Reading reading;
    double gbs = 0;
    policy::Config config;
    double speed = 1;
  };

  void judge();

  cluster::Storage storage_;
  const policy::Speeds& speeds_;
  std::map<JobId, Reader> readers_;
};

}  // namespace almanac::sim
