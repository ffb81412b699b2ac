// SPDX-License-Identifier: Apache-2.0
#include "slurm/ended.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include <fmt/format.h>

namespace almanac::slurm {

void keep_ended(std::vector<Job>& jobs, Time from, Time until) {
  std::erase_if(jobs, [&](const Job& job) {
    return job.end == kNoTime || job.end < from || job.end >= until;
  });
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return std::tie(a.end, a.number, a.submit) < std::tie(b.end, b.number, b.submit);
  });
}

std::string in_uts(Time time) {
  return fmt::format("uts{}",
                     std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count());
}

}  // namespace almanac::slurm
