// SPDX-License-Identifier: Apache-2.0

/// \file
/// The GPUs that the jobs of a virtual cluster hold, event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "study/study.h"

namespace almanac::study {

/// The GPU jobs of one virtual cluster whose start is known, in order of submission.
struct VcJobs {
  NameId name = kNoName;
  VcId vc = kNoVc;  ///< kNoVc for the whole cluster, if jobs name no virtual cluster.
  std::vector<std::uint32_t> jobs{};  ///< Positions in the trace.
};

/// Returns the jobs by the virtual cluster that they name; in one group if the cluster knows none
/// of the names, or takes every job. Leaves out jobs with names that the cluster does not know.
std::vector<VcJobs> jobs_by_vc(const Study& study);

/// Free GPUs at each event (a start, an end or a change of capacity), and the most that were free
/// over any period. Negative if jobs run on GPUs of other virtual clusters.
///
/// Cost: 16 bytes per event; most_free() is O(log events).
class VcLoad {
 public:
  VcLoad(const Study& study, const VcJobs& group);

  /// GPUs that are free at `time`, just before what happens then.
  int free_before(Time time) const;
  /// The most GPUs that were free at any time in [from, to); of [from, from], at `from`.
  int most_free(Time from, Time to) const;

 private:
  struct Capacity {
    Time at;
    int gpus;
  };
  std::size_t event_at(Time time) const;  // the last event at or before, or SIZE_MAX

  std::vector<Capacity> capacity_;
  std::vector<Time> times_;  // of events, distinct
  std::vector<int> tree_;    // iterative maximum tree; leaves are the GPUs free after each event
};

}  // namespace almanac::study
