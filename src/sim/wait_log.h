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

/// Records the reason of each waiting job when its wait begins, at arrival or when it is stopped,
/// and again each time that wait has grown by a tenth, at least 10 s. A period therefore starts
/// when its reason was first seen, at most a tenth too late; reasons that come and go in between
/// are missed. The periods of a job add up to its wait.
///
/// Cost: about 10 ln(t / 10 s) questions for a wait of t, 110 for ten days, whatever else happens.
/// Asking at every event would cost jobs times events.
class WaitLog {
 public:
  /// `job` waits from now on.
  void begin(JobId job, Time now);
  /// `job`, if it waits, waits no longer: it starts, or leaves the queue.
  void end(JobId job, Time now);
  /// `job` has its nodes, and waits for them to boot.
  void boot(JobId job, Time from, Time until, int gpus);
  /// `job` waits from now on, but may not join the queue yet, for `reason`.
  void hold(JobId job, Time now, const policy::Reason& reason);
  /// Asks the jobs that are due, once the policy has decided everything at this instant.
  void look(Time now, schedule::Round& round);
  /// Returns all periods, by job and time. Open periods end at `finish`.
  std::vector<JobWait> take(Time finish);

 private:
  /// The wait that a job is in.
  struct Current {
    Time began{};
    Time due = kNever;       ///< Next question; kNever if it does not wait.
    std::uint32_t last = 0;  ///< Position of its latest period + 1; 0 for none.
  };
  void note(JobId job, Time now, schedule::Round& round);

  using Due = std::pair<Time, JobId>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<JobWait> waits_;
  std::vector<Current> current_;  // by job
};

}  // namespace almanac::sim
