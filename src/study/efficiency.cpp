// SPDX-License-Identifier: Apache-2.0
#include "study/efficiency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "stats/quantile.h"

namespace almanac::study {
namespace {

constexpr double kNotTold = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double JobUse::time_share() const {
  return limit == kNoDuration ? kNotTold : seconds(longest_run()) / seconds(limit);
}

std::vector<UserUse> by_user(const std::vector<JobUse>& jobs) {
  struct Shares {
    UserUse use{};
    std::vector<double> memory{};
    std::vector<double> time{};
  };
  std::map<std::string, Shares> users;
  for (const JobUse& job : jobs) {
    // Shorter than Slurm samples, a job's use says nothing.
    if (job.elapsed < 1min) continue;
    Shares& user = users[job.user];
    const double hours = seconds(job.elapsed) / 3600;
    ++user.use.jobs;
    if (const double share = job.core_share(); std::isfinite(share)) {
      user.use.core_hours += job.cores * hours;
      user.use.core_hours_unused += job.cores * hours * std::max(0.0, 1 - share);
    }
    user.use.gpu_hours += job.gpus * hours;
    if (std::isfinite(job.gpu_use)) {
      user.use.gpu_hours_known += job.gpus * hours;
      user.use.gpu_hours_unused += job.gpus * hours * (1 - job.gpu_use);
    }
    if (const double share = job.memory_share(); std::isfinite(share)) {
      user.use.gb_hours += job.memory_gb * hours;
      user.use.gb_hours_unused += job.memory_gb * hours * std::max(0.0, 1 - share);
      user.memory.push_back(share);
    }
    if (std::isfinite(job.time_share())) user.time.push_back(job.time_share());
  }
  std::vector<UserUse> all;
  for (auto& [name, user] : users) {
    user.use.user = name;
    user.use.memory_share = stats::quantile(user.memory, 0.5);
    user.use.time_share = stats::quantile(user.time, 0.5);
    all.push_back(std::move(user.use));
  }
  std::stable_sort(all.begin(), all.end(), [](const UserUse& a, const UserUse& b) {
    return std::pair(a.gpu_hours_unused, a.core_hours_unused) >
           std::pair(b.gpu_hours_unused, b.core_hours_unused);
  });
  return all;
}

}  // namespace almanac::study
