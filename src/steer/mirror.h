// SPDX-License-Identifier: Apache-2.0

/// \file
/// The state of a cluster as its manager has reported it so far: jobs, nodes and partitions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "manager/link.h"

namespace almanac::steer {

/// What one answer of the controller changed.
struct Difference {
  bool anything = false;
  std::uint64_t came = 0, requeued = 0;
  std::vector<manager::JobNumber> started{};
  std::vector<manager::Job> ended{};  ///< Each once. A vanished job has its last known state.
};

/// Not thread-safe.
class Mirror {
 public:
  /// A job as it was last reported.
  struct Known : manager::Job {
    std::uint64_t revision = 0;  ///< Another one after each change; never used twice.
  };
  using Jobs = std::map<manager::JobNumber, Known>;
  using Nodes = std::map<std::string, manager::Node>;

  Difference take(manager::News news);
  /// Applies a change that the controller has accepted but not reported yet.
  void note(const manager::JobChange& change);

  /// By the controller's clock; kNoTime if it has reported nothing yet.
  Time at() const { return at_; }
  /// Jobs that have not ended.
  const Jobs& jobs() const { return jobs_; }
  const manager::Job* find(manager::JobNumber job) const;
  const Nodes& nodes() const { return nodes_; }
  const std::vector<manager::Partition>& partitions() const { return partitions_; }
  const manager::Partition* find_partition(const std::string& name) const;
  const std::vector<manager::Reservation>& reservations() const { return reservations_; }
  const std::vector<manager::Licence>& licences() const { return licences_; }
  const manager::Limits& limits() const { return limits_; }
  /// Empty if the manager keeps no fair share, or the connection does not report it.
  const std::vector<manager::Association>& associations() const { return associations_; }
  /// Grows when a node comes, goes, or is made otherwise, when partitions have other nodes or
  /// another PriorityTier, when a QOS has another Priority, and when accounts have other shares.
  std::uint64_t hardware() const { return hardware_; }

 private:
  void take_job(manager::Job&& job, Difference& made);
  void lose(Jobs::iterator at, Difference& made);

  std::uint64_t last_revision_ = 0;
  Time at_ = kNoTime;
  Jobs jobs_;
  std::map<manager::JobNumber, Time> ended_;  // that the controller still knows, and their end
  Nodes nodes_;
  std::vector<manager::Partition> partitions_;
  std::vector<manager::Reservation> reservations_;
  std::vector<manager::Licence> licences_;
  manager::Limits limits_;
  std::vector<manager::Association> associations_;
  std::uint64_t hardware_ = 0;
};

/// Whether a job holds resources of nodes.
bool holds_nodes(const manager::Job& job);
inline bool waits(const manager::Job& job) { return job.state == manager::State::pending; }
/// Jobs that hold resources of nodes, in order of start.
std::vector<const manager::Job*> running_jobs(const Mirror& mirror);
/// Whether nothing may start on a node now.
bool is_out(const manager::Node& node);

}  // namespace almanac::steer
