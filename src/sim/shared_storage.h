// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs read which data sets from afar, and how fast that lets them run
/// (perf/remote_input.h).
///
/// Cost     Nothing of jobs that do not tell what they read. Else O(readers log readers) whenever
/// one comes or
///          goes, or is to run otherwise.
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

  /// A job that does not read yet does from now on: at `alone` of the speed at which its run time
  /// is told if nothing holds it up. Not entered if it reads nothing; gives whether it was.
  bool enter(JobId job, double alone, const policy::Config& config);
  /// A reader runs at another speed if nothing holds it up; gives whether that
  /// changes what others have.
  bool pace(JobId job, double alone);
  /// Gives whether it did read.
  bool leave(JobId job);
  bool has(JobId job) const { return !readers_.empty() && readers_.contains(job); }
  /// Its speed beside `alone`, 0 to 1.
  double speed(JobId job) const;
  /// Those that read, in order of number.
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
