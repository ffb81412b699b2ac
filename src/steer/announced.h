// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that were just submitted, as the plugin job_submit/almanac announced them, until the
/// controller reports them. The controller's report is always a little old: a decision without
/// these jobs would give their GPUs and their place in the queue to the next job.
///
/// The plugin does not know the number of a job. So the job has a temporary number here, and is
/// recognised by its site factor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "manager/job.h"
#include "steer/mirror.h"

namespace almanac::steer {

class Announced {
 public:
  /// A number that neither a job of the manager nor another announced job has.
  manager::JobNumber next_number();
  void add(manager::Job job, std::int64_t site_factor);
  /// The site factor of an announced job.
  std::optional<std::int64_t> site_factor(manager::JobNumber job) const;
  /// Forgets jobs that the controller reports by now, and jobs that it has not reported within 3 s,
  /// whose submission was refused. `ended` are gone since the last look. Returns the forgotten
  /// jobs.
  std::vector<manager::JobNumber> look(const Mirror& mirror,
                                       const std::vector<manager::Job>& ended);
  /// The announced jobs, in order of arrival.
  const std::vector<manager::Job>& jobs() const { return jobs_; }

 private:
  std::vector<manager::Job> jobs_;  // with the site factor that each was given
  std::uint32_t given_ = 0;
};

}  // namespace almanac::steer
