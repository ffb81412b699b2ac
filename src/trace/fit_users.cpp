// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "stats/normal.h"
#include "stats/share.h"
#include "trace/fit_steps.h"
#include "trace/generate.h"

namespace almanac::trace {
namespace {

constexpr double kTop = 0.1;        // the share of users that is looked at
constexpr double kJobsAUser = 100;  // where the log has no users
constexpr double kMostIdle = 4;     // users for each that is seen
constexpr int kRounds = 8;
constexpr std::uint64_t kSeeds = 3;  // a month of chance is not to be learnt
constexpr std::int64_t kEnoughJobs = 25000;

/// What the busiest users hold, as normal scores (in which a log-normal's spread is linear).
struct Concentration {
  double jobs = 0;
  double gpu_time = 0;
  double users = 0;  ///< Those who submitted anything.
};

template <typename Jobs>
Concentration concentration(const Jobs& jobs) {
  std::unordered_map<std::uint32_t, std::pair<double, double>> users;
  for (const Job& job : jobs) {
    auto& [count, gpu_time] = users[static_cast<std::uint32_t>(job.request.user)];
    count += 1;
    gpu_time += whole_run(job) * job.request.gpus;
  }
  std::vector<double> counts, gpu_times;
  for (const auto& [user, held] : users) {
    counts.push_back(held.first);
    gpu_times.push_back(held.second);
  }
  const auto score = [](std::vector<double>& values) {
    return stats::normal_quantile(std::clamp(stats::top_share(values, kTop), 1e-3, 1 - 1e-3));
  };
  return {score(counts), score(gpu_times), static_cast<double>(users.size())};
}

Concentration generated(const Workload& workload) {
  Concentration mean;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Concentration one = concentration(generate(workload, seed).jobs);
    mean.jobs += one.jobs / static_cast<double>(kSeeds);
    mean.users += one.users / static_cast<double>(kSeeds);
    mean.gpu_time += one.gpu_time / static_cast<double>(kSeeds);
  }
  return mean;
}

}  // namespace

void invent_users(FitInput& input, Workload& workload) {
  for (Workload::Vc& vc : workload.vc) {
    vc.users = std::max(std::int64_t{1}, static_cast<std::int64_t>(vc.jobs / kJobsAUser));
  }
  input.notes.push_back(
      fmt::format("the log names no users: one is created for every {} jobs, with typical "
                  "differences and repetition",
                  kJobsAUser));
}

void fit_users(const FitInput& input, Workload& workload) {
  std::vector<Job> jobs;
  for (const Job* job : input.jobs) {
    if (job->request.user != kNoName) jobs.push_back(*job);
  }
  const Concentration wanted = concentration(jobs);
  Workload trial = workload.span.jobs > kEnoughJobs ? stretched(workload, kEnoughJobs) : workload;
  double more = 1;  // users than are seen: some are idle all the time
  for (int round = 0; round < kRounds; ++round) {
    const Concentration found = generated(trial);
    Workload::User& user = trial.user;
    user.activity_spread = std::clamp(user.activity_spread + wanted.jobs - found.jobs, 0.0, 5.0);
    user.size_spread = std::clamp(user.size_spread + wanted.gpu_time - found.gpu_time, 0.0, 5.0);
    more = std::clamp(more * wanted.users / found.users, 1.0, kMostIdle);
    for (std::size_t i = 0; i < workload.vc.size(); ++i) {
      trial.vc[i].users = std::llround(more * static_cast<double>(workload.vc[i].users));
    }
  }
  workload.user = trial.user;
  workload.vc = trial.vc;
}

}  // namespace almanac::trace
