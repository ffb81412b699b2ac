// SPDX-License-Identifier: Apache-2.0
#include "study/right_size.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace almanac::study {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr int kFewest = 5;
/// What is asked for less than a quarter less is not worth a word.
constexpr double kWorth = 0.75;

struct Group {
  std::vector<const JobUse*> jobs{};

  template <typename Value>
  double most(Value value) const {
    double found = 0;
    // std::max would drop what is not known.
    for (const JobUse* const job : jobs) {
      const double one = value(*job);
      if (std::isnan(one)) return kNothing;
      found = std::max(found, one);
    }
    return found;
  }
  bool any_ended(std::string_view state) const {
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const JobUse* job) { return job->state.starts_with(state); });
  }
};

/// Whole ones, at least one; what is not known stays so.
double whole(double wanted) { return wanted < 1 ? 1 : std::ceil(wanted); }

double if_less(double enough, double asked) { return enough <= kWorth * asked ? enough : kNothing; }

/// Up to whole quarters of an hour, from four hours on to whole hours.
Duration rounded_up(double seconds) {
  const double step = seconds <= 4 * 3600 ? 900 : 3600;
  return Duration(std::llround(std::ceil(seconds / step) * step * 1e3));
}

RightSize size_of(const Group& group) {
  const JobUse& last = *group.jobs.back();
  RightSize made{.user = last.user,
                 .name = last.name,
                 .jobs = static_cast<int>(group.jobs.size()),
                 .gpus = last.gpus,
                 .cores = last.cores,
                 .enough_cores = kNothing,
                 .memory_gb = last.memory_gb,
                 .enough_memory_gb = kNothing,
                 .limit = last.limit};
  const double cores = group.most([](const JobUse& job) { return job.cores_used; });
  made.enough_cores = if_less(whole(1.25 * cores), last.cores);
  const double memory = group.most([](const JobUse& job) { return job.memory_used_gb; });
  if (!group.any_ended("OUT_OF_MEMORY")) {
    made.enough_memory_gb = if_less(whole(1.2 * memory), last.memory_gb);
  }
  const double longest = group.most([](const JobUse& job) { return seconds(job.longest_run()); });
  if (last.limit != kNoDuration && !group.any_ended("TIMEOUT")) {
    const Duration enough = rounded_up(1.25 * longest);
    if (seconds(enough) <= kWorth * seconds(last.limit)) made.enough_limit = enough;
  }
  const auto freed = [&](double enough, double JobUse::*asked) {
    double hours = 0;
    if (std::isnan(enough)) return hours;
    for (const JobUse* const job : group.jobs) {
      hours += std::max(0.0, job->*asked - enough) * seconds(job->elapsed) / 3600;
    }
    return hours;
  };
  made.core_hours = freed(made.enough_cores, &JobUse::cores);
  made.gb_hours = freed(made.enough_memory_gb, &JobUse::memory_gb);
  return made;
}

}  // namespace

std::vector<RightSize> right_sizes(const std::vector<JobUse>& jobs) {
  // Jobs of other sizes need other amounts. NaN has no order, so -1 stands for what is not known.
  const auto request = [](double amount) { return std::isnan(amount) ? -1 : amount; };
  std::map<std::tuple<std::string, std::string, double, double, double>, Group> groups;
  for (const JobUse& job : jobs) {
    if (job.elapsed < 1min) continue;
    groups[{job.user, job.name, request(job.gpus), request(job.cores), request(job.memory_gb)}]
        .jobs.push_back(&job);
  }
  std::vector<RightSize> all;
  for (const auto& [request_of, group] : groups) {
    if (group.jobs.size() < kFewest) continue;
    RightSize made = size_of(group);
    const bool any = !std::isnan(made.enough_cores) || !std::isnan(made.enough_memory_gb) ||
                     made.enough_limit != kNoDuration;
    if (any) all.push_back(std::move(made));
  }
  std::stable_sort(all.begin(), all.end(), [](const RightSize& a, const RightSize& b) {
    return a.core_hours > b.core_hours;
  });
  return all;
}

bool is_for(const RightSize& size, const JobUse& job) {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return size.user == job.user && size.name == job.name && same(size.gpus, job.gpus) &&
         same(size.cores, job.cores) && same(size.memory_gb, job.memory_gb);
}

double cost_of_unused(const UserUse& user, const Prices& prices) {
  return user.gpu_hours_unused * prices.gpu_hour + user.core_hours_unused * prices.core_hour +
         user.gb_hours_unused * prices.gb_hour;
}

}  // namespace almanac::study
