// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that were just submitted, as the plugin job_submit/almanac has told them, until the
/// controller tells of them itself. What it tells is somewhat old by then: a decision without them
/// would give their GPUs, and their place in the line, to the job that comes next.
///
/// The plugin does not know a job's number. So it has a made-up one here, and is known again by the
/// site factor that it was given.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slurm/job.h"
#include "steer/mirror.h"

namespace almanac::steer {

class Announced {
 public:
  /// A number that no job of Slurm's has, nor another that is announced.
  slurm::JobNumber next_number();
  void add(slurm::Job job, std::int64_t site_factor);
  /// The site factor of a job that is announced.
  std::optional<std::int64_t> site_factor(slurm::JobNumber job) const;
  /// Forgets the jobs that the controller knows by now, and those that it has not told of for 3 s:
  /// their submission was refused. `ended` are gone since the last look. Gives the jobs that were
  /// forgotten.
  std::vector<slurm::JobNumber> look(const Mirror& mirror, const std::vector<slurm::Job>& ended);
  /// The jobs that are announced, in the order in which they came.
  const std::vector<slurm::Job>& jobs() const { return jobs_; }

 private:
  std::vector<slurm::Job> jobs_;  // with the site factor that each was given
  std::uint32_t given_ = 0;
};

}  // namespace almanac::steer
