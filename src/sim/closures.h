// SPDX-License-Identifier: Apache-2.0

/// \file
/// Maintenance windows: times in which no job may run. A job that would not end before a window, by
/// its time limit, is kept from the policy until the window is over, as by the live service
/// (machine/maintenance.h). A window of some nodes drains these and gives them back, whatever the
/// limits of jobs. Running jobs continue.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.h"
#include "schedule/round.h"
#include "trace/trace.h"

namespace almanac::sim {

struct Closure {
  Time from{};
  Time to{};
  std::vector<NodeId> nodes{};  ///< Where nothing starts; empty for everywhere.
};

/// Cost: O(windows + log jobs) for each job that begins to wait.
class Closures {
 public:
  /// A job that is kept from the policy.
  struct Kept {
    JobId job{};
    schedule::Past past{};
    Time until{};
  };

  /// A node that nothing may start on from now on, or that takes jobs again.
  struct Change {
    NodeId node{};
    bool drained = false;
  };

  /// `windows` in order of `from`.
  Closures(const trace::Trace& trace, std::vector<Closure> windows);

  /// Returns until when a job may not start, as of `now`; kNoTime if it may.
  Time closed_until(JobId job, Time now) const;
  /// Notes that a job waits: take_look() returns it once it may not start any more.
  void watch(JobId job, Time now);
  void keep(JobId job, Time until, const schedule::Past& past);
  bool keeps_any() const { return !kept_.empty(); }

  /// Returns when one of the following has something; kNever for never.
  Time next() const;
  /// Returns a job to look at; kNoJob if none is due.
  JobId take_look(Time now);
  /// Returns the jobs whose window is over, in the order in which they were kept.
  std::vector<Kept> take_released(Time now);
  /// Returns the nodes whose windows have begun or are over, in order of time.
  std::vector<Change> take_changes(Time now);

 private:
  using Look = std::pair<Time, JobId>;
  struct Edge {
    Time at{};
    NodeId node{};
    bool begins = false;
  };

  const trace::Trace& trace_;
  std::vector<Closure> windows_;  // of all nodes
  std::vector<Edge> edges_;       // of windows of some nodes, in order of time
  std::size_t next_edge_ = 0;
  std::map<NodeId, int> closed_;  // windows of a node that have begun and are not over
  std::priority_queue<Look, std::vector<Look>, std::greater<>> looks_;
  std::deque<Kept> kept_;
};

}  // namespace almanac::sim
