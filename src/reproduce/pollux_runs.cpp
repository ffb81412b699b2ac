// SPDX-License-Identifier: Apache-2.0
#include "reproduce/pollux_runs.h"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "stats/quantile.h"

namespace almanac::reproduce::pollux {
namespace {

constexpr const char* kApplications = "data/elastic/pollux/applications.json";
constexpr const char* kWorkloads = "data/elastic/pollux/workloads*.csv";
constexpr const char* kPublished = "golden/elastic/pollux/jcts*.csv";

using Group = std::pair<std::string, std::string>;  ///< Load and workload.

std::map<Group, std::vector<Job>> read_workloads(const File& file, const File& applications) {
  Rows rows(file.path,
            {"load", "workload", "job", "submit_s", "application", "num_replicas", "batch_size"});
  std::map<std::string, std::shared_ptr<const Application>> known;
  std::map<Group, std::vector<Job>> groups;
  while (rows.next()) {
    const std::string name(rows.text("application"));
    auto& application = known[name];
    if (!application) application = read_application(applications, name);
    const std::int64_t gpus = rows.whole("num_replicas");
    const std::int64_t batch = rows.whole("batch_size");
    rows.require(gpus >= 1 && gpus <= kGpus, fmt::format("expected 1 to {} GPUs", kGpus));
    rows.require(batch >= gpus && batch <= application->max_batch,
                 "expected a batch within limits");
    const double submit_s = rows.number("submit_s");
    rows.require(submit_s >= 0 && submit_s <= 1e7, "expected a time of 0 to 1e7 s");
    groups[{std::string(rows.text("load")), std::string(rows.text("workload"))}].push_back(
        {.name = std::string(rows.text("job")),
         .application = application,
         .submit_s = submit_s,
         .gpus = static_cast<int>(gpus),
         .batch = static_cast<int>(batch)});
  }
  return groups;
}

/// By policy, load, workload and job.
using Published = std::map<std::tuple<std::string, std::string, std::string, std::string>, double>;

void read_published(const File& file, Published& published) {
  Rows rows(file.path, {"policy", "load", "workload", "job", "jct_s"});
  while (rows.next()) {
    published[{std::string(rows.text("policy")), std::string(rows.text("load")),
               std::string(rows.text("workload")), std::string(rows.text("job"))}] =
        rows.number("jct_s");
  }
}

/// Adds the mean published and that of ours, in s, to `means` of the group's load.
void compare(Bench& bench, const File& file, const Group& group, std::vector<Job> jobs,
             const std::string& policy, const Decide& decide, const Published& published,
             std::map<std::string, std::vector<std::pair<double, double>>>& means) {
  simulate(jobs, decide);
  double told = 0;
  double equal = 0;
  double sum_told = 0;
  double sum = 0;
  for (const Job& job : jobs) {
    const double jct_s = job.completed_s - job.submit_s;
    sum += jct_s;
    const auto found = published.find({policy, group.first, group.second, job.name});
    if (found == published.end()) continue;
    ++told;
    sum_told += found->second;
    equal += jct_s == found->second ? 1 : 0;
  }
  const auto count = static_cast<double>(jobs.size());
  const std::string what =
      fmt::format("{} load {} workload {} {}: ", file.name, group.first, group.second, policy);
  if (told > 0) bench.add(what + "jobs with completion time as published", told, equal, "jobs");
  const double mean_told = told == count ? sum_told / count : stats::kNaN;
  bench.add(what + "mean JCT", mean_told, sum / count, "s");
  means[group.first].emplace_back(mean_told, sum / count);
}

}  // namespace

std::vector<Need> needs() {
  constexpr const char* kFrom =
      "the simulator of github.com/petuum/adaptdl, branch osdi21-artifact";
  return {{kApplications, kFrom}, {kWorkloads, kFrom}, {kPublished, kFrom}};
}

std::vector<int> free_gpus(std::span<Job* const> present) {
  std::vector<int> free(kNodes, kGpusANode);
  for (const Job* const job : present) {
    for (const int node : job->nodes) --free[static_cast<std::size_t>(node)];
  }
  return free;
}

void compare_runs(Bench& bench, const std::string& policy, const std::function<Decide()>& make) {
  Published published;
  bench.each(kPublished, [&](const File& file) { read_published(file, published); });
  bench.each(kApplications, [&](const File& applications) {
    bench.each(kWorkloads, [&](const File& file) {
      std::map<std::string, std::vector<std::pair<double, double>>> means;
      for (const auto& [group, jobs] : read_workloads(file, applications)) {
        compare(bench, file, group, jobs, policy, make(), published, means);
      }
      for (const auto& [load, of_workloads] : means) {
        double told = 0;
        double ours = 0;
        for (const auto& [mean_told, mean] : of_workloads) {
          told += mean_told / static_cast<double>(of_workloads.size());
          ours += mean / static_cast<double>(of_workloads.size());
        }
        bench.add(fmt::format("{} load {} {}: mean JCT of the workloads", file.name, load, policy),
                  told, ours, "s");
      }
    });
  });
}

}  // namespace almanac::reproduce::pollux
