// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why each job of a simulation waited, at a bounded cost.
#pragma once

#include <queue>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "policy/contract/reason.h"
#include "schedule/round.h"

namespace almanac::sim {

/// A stretch of time in which a job waited for one reason.
struct Wait {
  Time from{};
  Time until{};
  policy::Reason reason{};
};

/// A wait, and whose.
struct JobWait {
  JobId job{};
  Wait wait{};
};

/// Asks each job that waits for its reason when it comes, and then after a tenth of the time for
/// which it has been there, a minute at least. So a stretch begins when its reason was first found,
/// at most a tenth too late, and a reason that came and went in between is missed.
///
/// Cost: of a job that is there for t minutes some 10 ln(t) questions, 90 for ten days, whatever
/// happens meanwhile; asking at every event would cost jobs times events.
class WaitLog {
 public:
  void come(JobId job, Time now) { due_.push({now, job}); }
  /// Asks those whose turn it is, after the policy has decided.
  void look(Time now, schedule::Round& round);
  /// All stretches, by job and time; those that last still end at `finish`.
  std::vector<JobWait> take(Time finish);

 private:
  void note(JobId job, Time now, schedule::Round& round);

  using Due = std::pair<Time, JobId>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<JobWait> waits_;
  std::vector<std::uint32_t> last_;  // of each job the position of its last stretch + 1; 0 = none
  std::vector<Time> came_;
};

}  // namespace almanac::sim
