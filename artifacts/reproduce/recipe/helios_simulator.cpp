// SPDX-License-Identifier: Apache-2.0

/// \file
/// The schedules of the simulator that came with the Helios study, job by job: random cases and
/// virtual clusters of the real log.
///
/// FIFO and SJF are played as they are, SRTF and QSSF with that simulator's peculiarities
/// (passes/helios.h).
///
/// Source   Hu et al., SC'21, artifact: framework/QSSF Service, `consolidate` placement.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "experiment/profile.h"
#include "passes/helios.h"
#include "policy/registry.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "sim/simulation.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_helios_simulator(Recipes& registry);

namespace helios_simulator_recipe {
namespace {

constexpr const char* kCases = "golden/helios_simulator/*.json";
constexpr const char* kLogs = "golden/helios_simulator/*.csv";
constexpr std::array<std::string_view, 4> kPolicies{"fifo", "sjf", "qssf", "srtf"};
constexpr int kGpusPerNode = 8;
constexpr std::int64_t kLatest = 4'000'000'000;

/// A job as it went; times in whole seconds.
struct Played {
  std::int64_t start = 0, end = 0, queue = 0, stops = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;  ///< Node and GPUs, as it ran last.

  bool operator==(const Played&) const = default;
};

struct Asked {
  std::int64_t id = 0, gpus = 0, submit = 0, run = 0;
  double predicted = 0;  ///< GPUs x this is QSSF's priority.
};

/// Idle GPUs, GPUs asked by waiting jobs, running and waiting jobs.
using Sampled = std::array<std::int64_t, 4>;

struct Case {
  std::int64_t nodes = 0;
  std::vector<Asked> jobs;
  std::vector<Played> published;                 ///< One a job.
  std::map<std::int64_t, Sampled> samples = {};  ///< By time.
};

/// What many jobs add up to.
struct Sum {
  double jct_s = 0, queue_s = 0, stops = 0;

  void add(const Asked& asked, const Played& job) {
    jct_s += static_cast<double>(job.end - asked.submit);
    queue_s += static_cast<double>(job.queue);
    stops += static_cast<double>(job.stops);
  }
};

struct Tally {
  double jobs = 0, equal_jobs = 0, samples = 0, equal_samples = 0;
  Sum published, ours;
};

void check(const Asked& job, std::int64_t nodes) {
  require(nodes >= 1 && nodes <= 100'000, "expected 1 to 100,000 nodes");
  require(job.gpus >= 1 && job.gpus <= nodes * kGpusPerNode,
          fmt::format("job {} asks {} GPUs of {} nodes", job.id, job.gpus, nodes));
  require(job.run >= 1 && job.run <= kLatest, fmt::format("job {} runs {} s", job.id, job.run));
  require(job.submit >= 0 && job.submit <= kLatest,
          fmt::format("job {} is submitted at {} s", job.id, job.submit));
  require(std::abs(job.predicted) <= 1e12, fmt::format("job {} has no priority", job.id));
}

std::int64_t whole_seconds(Duration d) { return d / 1s; }

trace::Trace as_trace(const Case& input) {
  trace::Trace trace;
  for (const Asked& asked : input.jobs) {
    check(asked, input.nodes);
    trace::Job job;
    job.id = trace.key(std::to_string(asked.id));
    job.request.gpus = static_cast<int>(asked.gpus);
    job.request.submit = Time{asked.submit * 1s};
    job.request.predicted =
        Duration{static_cast<Duration::rep>(std::llround(asked.predicted * 1e3))};
    job.outcome.run = asked.run * 1s;
    trace.jobs.push_back(job);
  }
  return trace;
}

/// A log without samples may be of years, and gets none.
sim::Schedule play(const Case& input, const trace::Trace& trace, std::string_view policy) {
  sim::Options options;
  if (!input.samples.empty()) options.timeline_interval = 60s;
  experiment::PolicyRun run{
      .composition = value_or_throw(policy::registry().compose(
          policy == "qssf" ? std::string("qssf+given:always") : std::string(policy))),
      .restart = options.restart};
  const bool as_it_is = policy == "fifo" || policy == "sjf";
  if (!as_it_is) passes::as_helios(run);
  options.restart = run.restart;
  const auto made = value_or_throw(experiment::make_policy(run, trace));
  return sim::simulate(trace,
                       cluster::uniform(static_cast<std::uint32_t>(input.nodes), kGpusPerNode),
                       *made, options);
}

Played played(const sim::Schedule& schedule, const trace::Job& asked, std::size_t job) {
  const sim::JobResult result = schedule.jobs[job];
  Played made{.start = whole_seconds(result.start.time_since_epoch()),
              .end = whole_seconds(result.end.time_since_epoch()),
              .queue = whole_seconds(result.end - asked.request.submit - result.ran),
              .stops = result.preemptions,
              .nodes = {}};
  for (std::uint32_t at = 0; at < result.num_grants; ++at) {
    const cluster::Grant& grant = schedule.grants[result.first_grant + at];
    made.nodes.emplace_back(index(grant.node), grant.count());
  }
  return made;
}

/// Jobs of `input` must be in order of arrival.
void compare(const Case& input, std::string_view policy, Tally& tally) {
  const trace::Trace trace = as_trace(input);
  const sim::Schedule schedule = play(input, trace, policy);
  for (std::size_t job = 0; job < input.jobs.size(); ++job) {
    const Played ours = played(schedule, trace.jobs[job], job);
    ++tally.jobs;
    tally.equal_jobs += ours == input.published[job] ? 1 : 0;
    tally.published.add(input.jobs[job], input.published[job]);
    tally.ours.add(input.jobs[job], ours);
  }
  for (const sim::Sample& sample : schedule.timeline) {
    const auto found = input.samples.find(whole_seconds(sample.at.time_since_epoch()));
    if (found == input.samples.end()) continue;  // the other one has samples before the first job
    ++tally.samples;
    const Sampled ours{sample.gpus_total - sample.gpus_busy, sample.gpus_waiting,
                       sample.jobs_running, sample.jobs_waiting};
    tally.equal_samples += ours == found->second ? 1 : 0;
  }
}

void lay(Bench& bench, const std::string& what, const Tally& tally) {
  if (tally.jobs == 0) return;
  bench.add(what + ": jobs with start, end, queue, preemptions and nodes as published", tally.jobs,
            tally.equal_jobs, "jobs");
  if (tally.samples > 0) {
    bench.add(what + ": samples of idle and waiting GPUs and jobs as published", tally.samples,
              tally.equal_samples, "samples");
  }
  bench.add(what + ": mean JCT", tally.published.jct_s / tally.jobs, tally.ours.jct_s / tally.jobs,
            "s");
  bench.add(what + ": mean queuing", tally.published.queue_s / tally.jobs,
            tally.ours.queue_s / tally.jobs, "s");
  bench.add(what + ": preemptions", tally.published.stops, tally.ours.stops, "");
}

/// Puts jobs into the order in which they come, each with its result.
void sort_by_arrival(Case& input) {
  std::vector<std::pair<Asked, Played>> all;
  for (std::size_t job = 0; job < input.jobs.size(); ++job) {
    all.emplace_back(input.jobs[job], input.published[job]);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first.submit < b.first.submit; });
  for (std::size_t job = 0; job < all.size(); ++job) {
    std::tie(input.jobs[job], input.published[job]) = all[job];
  }
}

Case read_case(const Json& golden, const Json& of_policy) {
  Case input{.nodes = golden.at("nodes"), .jobs = {}, .published = {}};
  std::map<std::int64_t, Played> by_id;
  for (const Json& job : of_policy.at("jobs")) {
    by_id[job.at(0)] = {.start = job.at(1),
                        .end = job.at(2),
                        .queue = job.at(3),
                        .stops = job.at(4),
                        .nodes = job.at(5)};
  }
  for (const Json& job : golden.at("jobs")) {
    input.jobs.push_back({.id = job.at(0),
                          .gpus = job.at(1),
                          .submit = job.at(2),
                          .run = job.at(3),
                          .predicted = job.at(4)});
    const auto found = by_id.find(input.jobs.back().id);
    require(found != by_id.end(), fmt::format("job {} has no result", input.jobs.back().id));
    input.published.push_back(found->second);
  }
  for (const Json& row : of_policy.value("seq", Json::array())) {
    input.samples[row.at(0)] = {row.at(1), row.at(2), row.at(3), row.at(4)};
  }
  sort_by_arrival(input);
  constexpr std::int64_t kLongest = 100'000'000;
  for (const Asked& job : input.jobs) {
    require(
        job.submit + job.run - input.jobs.front().submit <= kLongest,
        fmt::format("job {} ends {} s or more after the first one's arrival", job.id, kLongest));
  }
  return input;
}

void compare_cases(Bench& bench, const File& file) {
  std::map<std::string, Tally> by_policy;
  std::map<std::string, std::int64_t> others;
  each_case(file, [&](const Json& golden) {
    for (const auto& [policy, of_policy] : golden.at("out").items()) {
      if (std::find(kPolicies.begin(), kPolicies.end(), policy) == kPolicies.end()) {
        ++others[policy];
        continue;
      }
      compare(read_case(golden, of_policy), policy, by_policy[policy]);
    }
  });
  for (const auto& [policy, tally] : by_policy) {
    lay(bench, fmt::format("{} {}", file.name, policy), tally);
  }
  for (const auto& [policy, cases] : others) {
    bench.note(fmt::format("{}: {} cases of {} are left out, which is none of {}", file.name, cases,
                           policy, fmt::join(kPolicies, ", ")));
  }
}

/// "0:8;1:4": node and GPUs.
std::vector<std::pair<std::int64_t, std::int64_t>> parse_nodes(const Rows& rows) {
  std::vector<std::pair<std::int64_t, std::int64_t>> made;
  std::string_view rest = rows.text("nodes");
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
    const auto colon = piece.find(':');
    const auto node = text::parse_whole(piece.substr(0, colon));
    const auto gpus =
        text::parse_whole(colon == std::string_view::npos ? "" : piece.substr(colon + 1));
    rows.require(node && gpus && *node >= 0, "expected nodes as 0:8;1:4");
    made.emplace_back(*node, *gpus);
  }
  return made;
}

/// The log of one virtual cluster under the policy that ends the file's name. Its nodes are as many
/// as were used: one that the published simulator never needed changes nothing.
void compare_log(Bench& bench, const File& file) {
  const std::string policy = file.stem.substr(file.stem.rfind('_') + 1);
  require(std::find(kPolicies.begin(), kPolicies.end(), policy) != kPolicies.end(),
          fmt::format("the file's name ends in none of _{}", fmt::join(kPolicies, ", _")));
  Rows rows(file.path, {"job_id", "gpu_num", "submit_time", "duration", "start_time", "end_time",
                        "queue", "ckpt_times", "nodes"});
  require(policy != "qssf" || rows.has("priority"), "qssf needs a column priority");
  Case input;
  while (rows.next()) {
    const Played published{.start = rows.whole("start_time"),
                           .end = rows.whole("end_time"),
                           .queue = rows.whole("queue"),
                           .stops = rows.whole("ckpt_times"),
                           .nodes = parse_nodes(rows)};
    Asked asked{.id = rows.whole("job_id"),
                .gpus = rows.whole("gpu_num"),
                .submit = rows.whole("submit_time"),
                .run = rows.whole("duration")};
    rows.require(asked.gpus >= 1, "expected GPUs");
    if (policy == "qssf") {
      asked.predicted = rows.number("priority") / static_cast<double>(asked.gpus);
    }
    for (const auto& [node, gpus] : published.nodes) input.nodes = std::max(input.nodes, node + 1);
    input.jobs.push_back(asked);
    input.published.push_back(published);
  }
  sort_by_arrival(input);
  Tally tally;
  compare(input, policy, tally);
  lay(bench, file.name, tally);
}

}  // namespace
}  // namespace helios_simulator_recipe

void register_helios_simulator(Recipes& registry) {
  using namespace helios_simulator_recipe;
  constexpr const char* kFrom =
      "the simulator of github.com/S-Lab-System-Group/HeliosArtifact, run on random cases and on "
      "the "
      "log of github.com/S-Lab-System-Group/HeliosData";
  registry.add({.name = "helios-simulator",
                .summary = "Schedules of the Helios simulator, job by job: fifo, sjf, qssf, srtf",
                .paper = "Hu et al., SC'21, artifact",
                .kind = Kind::rerun,
                .needs = {{kCases, kFrom}, {kLogs, kFrom}},
                .make = [](Bench& bench) {
                  bench.each(kCases, [&](const File& file) { compare_cases(bench, file); });
                  bench.each(kLogs, [&](const File& file) { compare_log(bench, file); });
                }});
}

}  // namespace almanac::reproduce
