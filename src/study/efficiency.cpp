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

double JobUse::idle_gpu_hours() const {
  return std::isfinite(gpu_use) ? gpu_hours() * (1 - gpu_use) : 0;
}

double JobUse::idle_core_hours() const {
  const double share = core_share();
  return std::isfinite(share) ? cores * seconds(elapsed) / 3600 * std::max(0.0, 1 - share) : 0;
}

bool JobUse::left_gpus_unused() const {
  if (gpus <= 0 || !knows_unused_gpus()) return false;
  return (std::isnan(gpu_use_at_most) ? gpu_use : gpu_use_at_most) < kUnused;
}

bool JobUse::knows_unused_gpus() const {
  return !std::isnan(gpu_use_at_most) || (!gpu_use_is_sample && !std::isnan(gpu_use));
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
      user.use.core_hours_unused += job.idle_core_hours();
    }
    user.use.gpu_hours += job.gpus * hours;
    if (std::isfinite(job.gpu_use)) {
      user.use.gpu_hours_known += job.gpu_hours();
      user.use.gpu_hours_unused += job.idle_gpu_hours();
    }
    if (job.knows_unused_gpus()) user.use.gpu_hours_judged += job.gpu_hours();
    if (job.left_gpus_unused()) {
      ++user.use.jobs_at_zero;
      user.use.gpu_hours_at_zero += job.gpu_hours();
    }
    if (!std::isnan(job.energy_j)) {
      user.use.energy_j = job.energy_j + (std::isnan(user.use.energy_j) ? 0 : user.use.energy_j);
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

void sort_by_waste(std::vector<JobUse>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const JobUse& a, const JobUse& b) {
    return std::pair(a.idle_gpu_hours(), a.idle_core_hours()) >
           std::pair(b.idle_gpu_hours(), b.idle_core_hours());
  });
}

}  // namespace almanac::study
