// SPDX-License-Identifier: Apache-2.0
#include "reproduce/tick_runs.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "reproduce/read.h"
#include "rules/elastic/application_file.h"

namespace almanac::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLatest_s = 10'000'000;

void read_workloads(const File& file, TickWorkloads& made) {
  Rows rows(file.path,
            {"load", "workload", "job", "submit_s", "application", "num_replicas", "batch_size"});
  std::map<WorkloadKey, std::vector<elastic::TickJob>> read;
  while (rows.next()) {
    const elastic::Application& application = made.application(rows.text("application"));
    elastic::TickJob job{.name = std::string(rows.text("job")),
                         .application = &application,
                         .submit_s = rows.whole("submit_s"),
                         .asked_gpus = static_cast<int>(rows.whole("num_replicas")),
                         .asked_batch = static_cast<int>(rows.whole("batch_size"))};
    rows.require(job.submit_s >= 0 && job.submit_s <= kLatest_s, "submit_s is out of range");
    rows.require(job.asked_gpus >= 1 && job.asked_gpus <= elastic::TickOptions{}.gpus(),
                 "num_replicas must be 1 to all GPUs");
    rows.require(application.covers(job.asked_batch) && job.asked_batch <= application.max_batch,
                 "batch_size was not validated");
    read[{std::string(rows.text("load")), std::string(rows.text("workload"))}].push_back(
        std::move(job));
  }
  // A file that is malformed leaves no part of a workload.
  for (auto& [key, jobs] : read) {
    std::vector<elastic::TickJob>& all = made.workloads[key];
    all.insert(all.end(), jobs.begin(), jobs.end());
  }
}

double percentile_99(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(0.99 * static_cast<double>(times.size() - 1))];
}

std::string run_name(std::string_view policy, const WorkloadKey& key) {
  return fmt::format("{} at load {}, workload {}", policy, key.first, key.second);
}

}  // namespace

std::vector<Need> tick_needs() {
  return {{kApplications, "Pollux' simulator (petuum/adaptdl), with data/profiles/adaptdl"},
          {kWorkloads, "workloads of Pollux' simulator"},
          {kTickJcts, "results published with Pollux' simulator, job by job"},
          {kTickMeans, "means published with Pollux' simulator"}};
}

const elastic::Application& TickWorkloads::application(std::string_view name) const {
  const auto found = applications.find(std::string(name));
  require(found != applications.end(), fmt::format("there is no application {}", name));
  return found->second;
}

TickWorkloads read_tick_workloads(Bench& bench) {
  TickWorkloads made;
  bench.each(kApplications, [&](const File& file) {
    const fs::path folder = fs::path(file.path).parent_path();
    const fs::path profiles = folder.parent_path().parent_path() / "profiles" / "adaptdl";
    made.applications.merge(
        value_or_throw(elastic::read_applications(file.path, folder.string(), profiles.string())));
  });
  bench.each(kWorkloads, [&](const File& file) { read_workloads(file, made); });
  return made;
}

std::set<TickRun> all_runs(const TickWorkloads& data) {
  std::set<TickRun> runs;
  for (const auto& [key, jobs] : data.workloads) runs.insert({.workload = key});
  return runs;
}

std::map<TickRun, TickOutcome> play_ticks(
    const TickWorkloads& data, const std::set<TickRun>& runs,
    const std::function<std::unique_ptr<elastic::TickPolicy>(const TickRun&)>& make) {
  const std::vector<TickRun> order(runs.begin(), runs.end());
  std::vector<TickOutcome> outcomes(order.size());
  tbb::parallel_for(std::size_t{0}, order.size(), [&](std::size_t at) {
    const TickRun& run = order[at];
    outcomes[at] = elastic::run_ticks(data.workloads.at(run.workload), run.options, *make(run));
  });
  std::map<TickRun, TickOutcome> made;
  for (std::size_t at = 0; at < order.size(); ++at) made[order[at]] = std::move(outcomes[at]);
  return made;
}

PublishedRuns read_published(Bench& bench, std::string_view policy) {
  PublishedRuns made;
  const auto name = [](const Rows& rows, std::string_view column) {
    return std::string(rows.text(column));
  };
  bench.each(kTickJcts, [&](const File& file) {
    Rows rows(file.path, {"workload", "job", "jct_s"});
    const bool is_sweep = rows.has("setting");
    PublishedRuns read = made;
    while (rows.next()) {
      if (!is_sweep && rows.text("policy") != policy) continue;
      PublishedRun& run = is_sweep ? read.sweeps[name(rows, "setting")][name(rows, "workload")]
                                   : read.runs[{name(rows, "load"), name(rows, "workload")}];
      run.jcts[name(rows, "job")] = rows.number("jct_s");
    }
    made = std::move(read);
  });
  bench.each(kTickMeans, [&](const File& file) {
    Rows rows(file.path, {"mean_jct_s"});
    while (rows.next()) {
      if (rows.text("policy") != policy || rows.text("workload") == "mean") continue;
      made.runs[{name(rows, "load"), name(rows, "workload")}].mean = rows.number("mean_jct_s");
    }
  });
  return made;
}

double mean_of(const TickOutcome& outcome) {
  if (!outcome || outcome->empty()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(std::accumulate(outcome->begin(), outcome->end(), std::int64_t{0})) /
         static_cast<double>(outcome->size());
}

void add_means(Bench& bench, std::string_view policy,
               const std::map<WorkloadKey, PublishedRun>& published,
               const std::map<TickRun, TickOutcome>& played) {
  struct Sum {
    double published = 0, ours = 0, workloads = 0;
  };
  std::map<std::string, Sum> by_load;
  const auto add = [&](const WorkloadKey& key, double mean, const TickOutcome& outcome) {
    if (!outcome) {
      bench.note(fmt::format("{}: {}.", run_name(policy, key), outcome.error().message));
    }
    const double ours = mean_of(outcome);
    bench.add(fmt::format("{}: mean JCT", run_name(policy, key)), mean, ours, "s");
    Sum& sum = by_load[key.first];
    sum.published += mean;
    sum.ours += ours;
    ++sum.workloads;
  };
  for (const auto& [key, run] : published) {
    const auto found = played.find({.workload = key});
    if (found == played.end()) {
      bench.note(fmt::format("There is no workload for {}.", run_name(policy, key)));
      continue;
    }
    double mean = run.mean.value_or(0);
    if (!run.mean) {
      for (const auto& [job, jct_s] : run.jcts)
        mean += jct_s / static_cast<double>(run.jcts.size());
    }
    add(key, mean, found->second);
  }
  const std::map<std::string, Sum> with_published = by_load;
  for (const auto& [run, outcome] : played) {
    if (published.contains(run.workload)) continue;
    add(run.workload, std::numeric_limits<double>::quiet_NaN(), outcome);
  }
  for (const auto& [load, sum] : with_published) by_load[load] = sum;
  for (const auto& [load, sum] : by_load) {
    bench.add(fmt::format("{} at load {}: mean JCT of {} workloads", policy, load, sum.workloads),
              sum.published / sum.workloads, sum.ours / sum.workloads, "s");
  }
}

void add_percentiles(Bench& bench, std::string_view policy,
                     const std::map<WorkloadKey, PublishedRun>& published,
                     const std::map<TickRun, TickOutcome>& played) {
  struct Times {
    std::vector<double> published, ours;
  };
  std::map<std::string, Times> by_load;
  for (const auto& [run, outcome] : played) {
    const auto expected = published.find(run.workload);
    if (!outcome || expected == published.end()) continue;
    Times& times = by_load[run.workload.first];
    for (const auto& [job, jct_s] : expected->second.jcts) times.published.push_back(jct_s);
    for (const std::int64_t jct_s : *outcome) times.ours.push_back(static_cast<double>(jct_s));
  }
  for (const auto& [load, times] : by_load) {
    if (times.published.empty() || times.ours.empty()) continue;
    bench.add(fmt::format("{} at load {}: 99th percentile of JCTs", policy, load),
              percentile_99(times.published), percentile_99(times.ours), "s");
  }
}

void compare_exactly(Bench& bench, std::string_view policy,
                     const std::function<std::unique_ptr<elastic::TickPolicy>()>& make) {
  const TickWorkloads data = read_tick_workloads(bench);
  const auto published = read_published(bench, policy).runs;
  const auto played = play_ticks(data, all_runs(data), [&](const TickRun&) { return make(); });
  for (const auto& [run, outcome] : played) {
    const auto known = published.find(run.workload);
    if (known == published.end() || known->second.jcts.empty()) continue;
    const PublishedRun& expected = known->second;
    const std::vector<elastic::TickJob>& jobs = data.workloads.at(run.workload);
    double equal = 0;
    for (std::size_t at = 0; outcome && at < jobs.size(); ++at) {
      const auto found = expected.jcts.find(jobs[at].name);
      if (found == expected.jcts.end()) continue;
      equal += static_cast<double>((*outcome)[at]) == found->second ? 1 : 0;
    }
    bench.add(fmt::format("{}: jobs with the JCT published", run_name(policy, run.workload)),
              static_cast<double>(expected.jcts.size()), equal, "jobs");
  }
  add_means(bench, policy, published, played);
}

}  // namespace almanac::reproduce
