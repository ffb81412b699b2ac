// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why each job of a simulation waited, at bounded cost.
#pragma once

#include <queue>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "policy/contract/reason.h"
#include "schedule/round.h"

namespace almanac::sim {

/// A period in which a job waited for one reason.
struct Wait {
  Time from{};
  Time until{};
  policy::Reason reason{};
};

/// A wait and its job.
struct JobWait {
  JobId job{};
  Wait wait{};
};

/// Asks for the reason of each waiting job when it arrives, and again each time its wait has grown
/// by a tenth, at least a minute. A period therefore starts when its reason was first seen, at most
/// a tenth too late; reasons that come and go in between are missed.
///
/// Cost: about 10 ln(t) questions for a job that waits t minutes, 90 for ten days, whatever else
/// happens. Asking at every event would cost jobs times events.
class WaitLog {
 public:
  void come(JobId job, Time now) { due_.push({now, job}); }
  /// Asks the jobs that are due, after the policy has decided.
  void look(Time now, schedule::Round& round);
  /// Returns all periods, by job and time. Open periods end at `finish`.
  std::vector<JobWait> take(Time finish);

 private:
  void note(JobId job, Time now, schedule::Round& round);

  using Due = std::pair<Time, JobId>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<JobWait> waits_;
  std::vector<std::uint32_t> last_;  // by job: position of its last period + 1; 0 for none
  std::vector<Time> came_;
};

}  // namespace almanac::sim
