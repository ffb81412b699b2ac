// SPDX-License-Identifier: Apache-2.0

/// \file
/// Muri's simulator: jobs one by one under the schedulers that run them alone, means under Muri,
/// and its interleaving and grouping case by case.
///
/// Source   Zhao et al., SIGCOMM'22, sections 4 to 6; results and simulator published with it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "rounds/engine.h"
#include "rounds/schedulers.h"
#include "rules/interleave/groups.h"

namespace almanac::reproduce {

void register_muri(Recipes& registry);

namespace muri_recipe {
namespace {

constexpr const char* kTraces = "data/elastic/muri/*.csv";
constexpr const char* kJobs = "golden/elastic/muri/*_jobs.csv";
constexpr const char* kFigures = "golden/elastic/muri/figures_*.csv";
constexpr const char* kCases = "golden/elastic/muri/*.json";

struct Trace {
  std::vector<rounds::Job> jobs;  // by submission
  std::vector<std::string> ids;
};

/// Columns as published, milliseconds. The engine takes seconds.
Trace read_trace(const File& file) {
  Rows rows(file.path, {"job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration",
                        "iteration_time", "resource_time_0", "resource_time_1", "resource_time_2",
                        "priority"});
  std::vector<std::pair<rounds::Job, std::string>> read;
  while (rows.next()) {
    rounds::Job job;
    const std::int64_t gpus = rows.whole("num_gpu");
    rows.require(gpus >= 1 && gpus <= 100'000, "num_gpu must be from 1 to 100000");
    job.gpus = static_cast<int>(gpus);
    job.submit = rows.number("submit_time") / 1000;
    job.iterations = rows.number("iterations");
    job.iteration_s = rows.number("iteration_time") * 1.015 / 1000;
    rows.require(job.iteration_s > 0 && job.iterations >= 0, "iteration_time must be positive");
    job.duration_s = rows.number("duration") / 1000;
    job.overhead_s = rounds::restart_s(rows.text("model_name"), job.gpus);
    job.stages = {rows.number("resource_time_0") / 1000, rows.number("resource_time_1") / 1000,
                  rows.number("resource_time_2") / 1000};
    const interleave::Stages& stages = job.stages;
    rows.require((stages.load > 0) + (stages.compute > 0) + (stages.network > 0) >= 2 &&
                     std::min({stages.load, stages.compute, stages.network}) >= 0,
                 "at least two of the resource times must be positive");
    job.opportunistic = rows.whole("priority") > 0;
    read.emplace_back(job, rows.text("job_id"));
  }
  std::stable_sort(read.begin(), read.end(), [](const auto& one, const auto& other) {
    return one.first.submit < other.first.submit;
  });
  Trace trace;
  for (auto& [job, id] : read) {
    trace.jobs.push_back(job);
    trace.ids.push_back(std::move(id));
  }
  return trace;
}

using Run = Result<std::vector<rounds::Result>>;

/// Traces and what became of their jobs, worked out when asked for the first time.
class Runs {
 public:
  explicit Runs(Bench& bench) {
    bench.each(kTraces, [&](const File& file) { traces_[file.stem] = read_trace(file); });
  }
  const Trace& trace(const std::string& name) const {
    const auto found = traces_.find(name);
    require(found != traces_.end(), fmt::format("there is no data/elastic/muri/{}.csv", name));
    return found->second;
  }
  const Run& results(const std::string& trace, const std::string& policy) {
    const auto [run, is_new] = results_.try_emplace({trace, policy});
    if (is_new) {
      const auto scheduler = rounds::make_scheduler(policy, {});
      require(scheduler != nullptr,
              fmt::format("no scheduler of Muri's simulator is called {}", policy));
      run->second = rounds::simulate(this->trace(trace).jobs, *scheduler);
    }
    return run->second;
  }
  static bool knows(const std::string& policy) {
    return rounds::make_scheduler(policy, {}) != nullptr;
  }

 private:
  std::map<std::string, Trace> traces_;
  std::map<std::pair<std::string, std::string>, Run> results_;
};

/// A row of a run, which says so if the run has no result.
Row row_of(const Run& run, std::string what, double published, double ours, std::string unit) {
  return {.what = std::move(what),
          .published = published,
          .ours = run ? ours : std::nan(""),
          .unit = std::move(unit),
          .remark = run ? "" : no_result(run.error())};
}

/// <trace>_<policy>_jobs.csv
void compare_jobs(Bench& bench, Runs& runs, const File& file) {
  const std::string name = file.stem.substr(0, file.stem.size() - std::string_view("_jobs").size());
  // Names of traces and of policies have underscores too: the longest policy that ends the name.
  std::size_t cut = name.find('_');
  while (cut != std::string::npos && !Runs::knows(name.substr(cut + 1))) {
    cut = name.find('_', cut + 1);
  }
  if (cut == std::string::npos) {
    bench.note(fmt::format("{} was not read: it is no <trace>_<policy>_jobs of a known policy.",
                           file.path));
    return;
  }
  const std::string policy = name.substr(cut + 1);
  const Trace& trace = runs.trace(name.substr(0, cut));
  const Run& run = runs.results(name.substr(0, cut), policy);
  std::map<std::string, std::size_t> places;
  for (std::size_t at = 0; at < trace.ids.size(); ++at) places[trace.ids[at]] = at;

  Rows rows(file.path, {"job", "start_s", "end_s", "jct_s"});
  std::size_t count = 0;
  std::size_t equal = 0;
  double published = 0;
  double ours = 0;
  std::string first;
  while (rows.next()) {
    const auto place = places.find(std::string(rows.text("job")));
    rows.require(place != places.end(), "a job that is not in the trace");
    published += rows.number("jct_s");
    ++count;
    if (!run) continue;
    const rounds::Result& result = (*run)[place->second];
    const double submit = trace.jobs[place->second].submit;
    const auto near = [&](double value, std::string_view column) {
      const double there = rows.number(column);
      return std::abs(value - there) <= 1e-6 * std::max(1.0, std::abs(there));
    };
    const bool same = near(result.start, "start_s") && near(result.end, "end_s") &&
                      near(result.end - submit, "jct_s");
    if (!same && first.empty()) {
      first = fmt::format("job {}: {} to {}, published {} to {}", rows.text("job"), result.start,
                          result.end, rows.text("start_s"), rows.text("end_s"));
    }
    equal += same ? 1 : 0;
    ours += result.end - submit;
  }
  require(count > 0, "no job");
  const auto jobs = static_cast<double>(count);
  bench.add(row_of(run, fmt::format("{}: mean JCT", name), published / jobs, ours / jobs, "s"));
  bench.add(row_of(run, fmt::format("{}: jobs of equal start, end and JCT (1e-6)", name), jobs,
                   static_cast<double>(equal), "jobs"));
  if (!first.empty()) bench.note(fmt::format("{}: the first job that differs is {}.", name, first));
}

double measure(const Trace& trace, const std::vector<rounds::Result>& results,
               std::string_view metric) {
  std::vector<double> jcts;
  double first = std::numeric_limits<double>::infinity();
  double last = 0;
  for (std::size_t at = 0; at < results.size(); ++at) {
    jcts.push_back(results[at].end - trace.jobs[at].submit);
    first = std::min(first, trace.jobs[at].submit);
    last = std::max(last, results[at].end);
  }
  if (metric == "makespan_s") return last;
  std::sort(jcts.begin(), jcts.end());
  if (metric == "p99_jct_s")
    return jcts[static_cast<std::size_t>(0.99 * static_cast<double>(jcts.size()))];
  require(metric == "mean_jct_s", fmt::format("no metric is called {}", metric));
  double sum = 0;
  for (const double jct : jcts) sum += jct;
  return sum / static_cast<double>(jcts.size());
}

/// "Muri_L" and "Tiresias" of the figures, as the policy is called elsewhere.
std::string policy_of(std::string_view name) {
  std::string policy(name);
  std::transform(policy.begin(), policy.end(), policy.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return policy == "tiresias" ? "tiresias_l" : policy;
}

void compare_figures(Bench& bench, Runs& runs, const File& file) {
  Rows rows(file.path, {"trace", "metric", "value"});
  const char* const column = rows.has("policy") ? "policy" : "variant";
  std::map<std::string, int> left_out;
  while (rows.next()) {
    const std::string policy = policy_of(rows.text(column));
    if (!Runs::knows(policy)) {
      ++left_out[std::string(rows.text(column))];
      continue;
    }
    const std::string trace(rows.text("trace"));
    const Run& run = runs.results(trace, policy);
    const double ours = run ? measure(runs.trace(trace), *run, rows.text("metric")) : 0;
    bench.add(row_of(run,
                     fmt::format("{}: {} {} {}", file.stem, trace, policy, rows.text("metric")),
                     rows.number("value"), ours, "s"));
  }
  for (const auto& [policy, rows_left] : left_out) {
    bench.note(fmt::format("{}: {} rows of {} were not compared: no scheduler here is called so.",
                           file.stem, rows_left, policy));
  }
}

interleave::Candidate candidate(const Json& job) {
  const auto& times = job.at("resource_time");
  interleave::Candidate made;
  made.stages = {times.at(0), times.at(1), times.at(2)};
  made.iteration_s = job.at("iteration_time");
  require(made.stages.sum() > 0 && made.iteration_s > 0, "times must be positive");
  if (job.contains("num_gpu")) made.gpus = job.at("num_gpu");
  require(made.gpus > 0, "num_gpu must be positive");
  return made;
}

void compare_interleaving(Bench& bench, const File& file, const Json& cases) {
  std::size_t equal = 0;
  double worst = 0;
  for (const Json& each : cases) {
    std::vector<interleave::Candidate> jobs;
    std::vector<interleave::Stages> stages;
    interleave::Group group;
    for (const Json& job : each.at("jobs")) {
      group.push_back(jobs.size());
      jobs.push_back(candidate(job));
      stages.push_back(jobs.back().stages);
    }
    require(!jobs.empty() && jobs.size() <= interleave::kMaxGroup, "a group has one to four jobs");
    const interleave::Period period = interleave::period(stages);
    double furthest = 0;
    const auto compare = [&](double ours, const char* key) {
      furthest = std::max(furthest, std::abs(ours - each.at(key).get<double>()));
    };
    compare(period.best, "period_s");
    compare(period.worst, "worst_period_s");
    compare(interleave::iteration_of(group, jobs), "group_iteration_s");
    compare(interleave::weight_of(group, jobs), "used_ratio");
    worst = std::max(worst, furthest);
    equal += furthest <= 1e-9 && interleave::in_vain(group, jobs) == each.at("unpack") ? 1 : 0;
  }
  bench.add(
      fmt::format("{}: interleavings with equal periods, iterations and ratios (1e-9)", file.name),
      static_cast<double>(cases.size()), static_cast<double>(equal), "cases");
  bench.add(fmt::format("{}: largest difference of a period, iteration or ratio", file.name), 0,
            worst, "s");
}

void compare_grouping(Bench& bench, const File& file, const Json& cases) {
  std::size_t as_good = 0;
  double published = 0;
  double ours = 0;
  for (const Json& each : cases) {
    std::vector<interleave::Candidate> jobs;
    std::map<std::int64_t, std::size_t> places;
    for (const Json& job : each.at("jobs")) {
      places[job.at("job_idx")] = jobs.size();
      jobs.push_back(candidate(job));
    }
    double theirs = 0;
    for (const Json& group : each.at("groups")) {
      interleave::Group members;
      for (const Json& job : group) members.push_back(places.at(job));
      theirs += interleave::weight_of(members, jobs);
    }
    double here = 0;
    for (const interleave::Group& group : rounds::published_groups(jobs, each.at("cluster_gpus"))) {
      here += interleave::weight_of(group, jobs);
    }
    published += theirs;
    ours += here;
    as_good += here >= theirs - 1e-9 ? 1 : 0;
  }
  bench.add(fmt::format("{}: groupings of at least the published used ratio", file.name),
            static_cast<double>(cases.size()), static_cast<double>(as_good), "cases");
  bench.add(fmt::format("{}: used ratios of all groups of all cases", file.name), published, ours,
            "");
}

void make(Bench& bench) {
  Runs runs(bench);
  bench.each(kJobs, [&](const File& file) { compare_jobs(bench, runs, file); });
  bench.each(kFigures, [&](const File& file) { compare_figures(bench, runs, file); });
  bench.each(kCases, [&](const File& file) {
    const Json cases = read_json(file);
    if (cases.contains("interleave")) compare_interleaving(bench, file, cases.at("interleave"));
    if (cases.contains("matching")) compare_grouping(bench, file, cases.at("matching"));
  });
}

}  // namespace
}  // namespace muri_recipe

void register_muri(Recipes& registry) {
  using namespace muri_recipe;
  const std::string from =
      "Zhao et al., SIGCOMM'22: simulator, traces and results published with it";
  registry.add(
      {.name = "muri",
       .summary = "jobs under the schedulers of Muri's simulator, its periods and its groups",
       .paper = "Zhao et al., SIGCOMM'22, Figures 9 to 13",
       .kind = Kind::rerun,
       .needs = {{kTraces, from},
                 {kJobs, "the published simulator, run again"},
                 {kFigures, from, Kind::figure},
                 {kCases, "the published simulator, run again"}},
       .make = make});
}

}  // namespace almanac::reproduce
