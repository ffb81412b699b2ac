// SPDX-License-Identifier: Apache-2.0

/// \file
/// How AFS deals GPUs to jobs, case by case.
///
/// Source   Hwang et al., Elastic Resource Sharing for Distributed Deep Learning, NSDI'21,
///          Algorithm 1 and section 4.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "policy/kit/tournament.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_afs(Recipes& registry);

namespace afs_recipe {
namespace {

constexpr const char* kCases = "golden/elastic/afs/*.json";

struct ElasticJob {
  double submit = 0;
  double remaining_s = 0;  ///< On one GPU.
  std::size_t max_gpus = 0;
  std::vector<double> speeds;  ///< On 0, 1, 2 ... GPUs.
};

std::vector<ElasticJob> read_jobs(const Json& jobs, std::size_t gpus) {
  std::vector<ElasticJob> read;
  for (const Json& job : jobs) {
    ElasticJob& made = read.emplace_back();
    made.submit = job.at("submit");
    made.remaining_s = job.at("remaining_s");
    made.max_gpus = job.at("max_gpus");
    made.speeds = {0};
    for (const Json& speed : job.at("speedup")) made.speeds.push_back(speed);
    require(made.speeds.size() > std::min(made.max_gpus, gpus), "speedup ends before max_gpus");
  }
  return read;
}

/// How many GPUs each job gets, one tournament a GPU.
std::vector<std::size_t> deal(const std::vector<ElasticJob>& jobs, std::size_t gpus) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].submit < jobs[b].submit; });
  std::vector<std::size_t> given(jobs.size());
  for (; gpus > 0; --gpus) {
    std::vector<policy::Contender> contenders;
    std::vector<std::size_t> who;
    for (const std::size_t at : order) {
      const ElasticJob& job = jobs[at];
      if (given[at] >= job.max_gpus) continue;
      contenders.push_back({.work = job.remaining_s,
                            .speed = job.speeds[given[at]],
                            .next_speed = job.speeds[given[at] + 1]});
      who.push_back(at);
    }
    if (contenders.empty()) break;
    ++given[who[policy::win_step(contenders)]];
  }
  return given;
}

void compare(Bench& bench, const File& file) {
  std::size_t cases = 0;
  std::size_t equal = 0;
  each_case(file, [&](const Json& each) {
    const auto published = each.at("allocation_rule").get<std::vector<std::size_t>>();
    const std::int64_t gpus = each.at("total_gpus");
    require(gpus >= 0 && gpus <= 1'000'000, fmt::format("expected GPUs, found {}", gpus));
    const auto total = static_cast<std::size_t>(gpus);
    ++cases;
    equal += deal(read_jobs(each.at("jobs"), total), total) == published ? 1 : 0;
  });
  bench.add(fmt::format("{}: cases in which each job gets the GPUs of the paper's rule", file.name),
            static_cast<double>(cases), static_cast<double>(equal), "cases");
}

}  // namespace
}  // namespace afs_recipe

void register_afs(Recipes& registry) {
  using namespace afs_recipe;
  registry.add({.name = "afs",
                .summary = "GPUs that AFS gives to jobs, against its rule worked out case by case",
                .paper = "Hwang et al., NSDI'21, Algorithm 1",
                .kind = Kind::second,
                .needs = {{kCases, "cases worked out by Algorithm 1, part of the shared data"}},
                .make = [](Bench& bench) {
                  bench.each(kCases, [&](const File& file) { compare(bench, file); });
                }});
}

}  // namespace almanac::reproduce
