// SPDX-License-Identifier: Apache-2.0

/// \file
/// The published Helios simulator, job by job: random cases and a real virtual cluster.
///
/// FIFO and SJF must be equal as they are; SRTF and QSSF under `--profile helios`, whose options
/// are the published simulator's peculiarities.
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policy/registry.h"
#include "sim/profile.h"
#include "sim/simulation.h"
#include "support/shared_data.h"
#include "table/csv_reader.h"
#include "table/stream.h"

namespace almanac {
namespace {

using nlohmann::json;

/// How a case's input looks in our terms; jobs keep the order of arrival.
struct Case {
  trace::Trace trace;
  cluster::Cluster cluster;
};

Time at_second(std::int64_t second) { return Time{Duration{second * 1000}}; }
std::int64_t whole_seconds(Duration d) { return d / 1s; }

void add_job(trace::Trace& trace, std::int64_t id, int gpus, std::int64_t submit, std::int64_t run,
             double predicted) {
  trace::Job job;
  job.id = trace.key(std::to_string(id));
  job.request.gpus = gpus;
  job.request.submit = at_second(submit);
  job.request.predicted = Duration{static_cast<Duration::rep>(std::llround(predicted * 1000))};
  job.outcome.run = Duration{run * 1000};
  trace.jobs.push_back(job);
}

sim::Schedule run(const Case& input, const std::string& policy_name) {
  const std::string profile = policy_name == "fifo" || policy_name == "sjf" ? "" : "helios";
  Result<policy::Composition> composition =
      policy::registry().compose(policy_name == "qssf" ? std::string("qssf+given") : policy_name);
  EXPECT_TRUE(composition) << to_string(composition.error());
  sim::Options options{.timeline_interval = 60s};
  sim::PolicyRun run{.composition = *composition, .restart = options.restart};
  EXPECT_TRUE(sim::apply_profile(profile, run));
  options.restart = run.restart;
  auto policy = sim::make_policy(run, input.trace);
  EXPECT_TRUE(policy);
  return sim::simulate(input.trace, input.cluster, **policy, options);
}

json placed(const sim::Schedule& result, std::size_t job) {
  json nodes = json::array();
  const sim::JobResult& record = result.jobs[job];
  for (std::uint32_t at = 0; at < record.num_grants; ++at) {
    const cluster::Grant& grant = result.grants[record.first_grant + at];
    nodes.push_back({index(grant.node), grant.count()});
  }
  return nodes;
}

json as_golden(const Case& input, const sim::Schedule& result, std::size_t job) {
  const sim::JobResult& record = result.jobs[job];
  const Time submit = input.trace.jobs[job].request.submit;
  return {std::stoll(input.trace.id(input.trace.jobs[job].id)),
          whole_seconds(record.start.time_since_epoch()),
          whole_seconds(record.end.time_since_epoch()),
          whole_seconds(record.end - submit - record.ran),
          record.preemptions,
          placed(result, job)};
}

TEST(HeliosSimulator, AgreesOnEveryRandomCase) {
  const auto path = shared_path("golden/helios_simulator/fuzz_cases.jsonl.gz");
  if (!path) GTEST_SKIP() << "no shared golden data: set ALMANAC_SHARED";
  const Result<std::string> text = table::read_file(*path);
  ASSERT_TRUE(text);
  std::istringstream lines(*text);
  int cases = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++cases) {
    const json golden = json::parse(line);
    Case input;
    input.cluster = cluster::uniform(golden["nodes"].get<std::uint32_t>(), 8);
    for (const json& job : golden["jobs"]) {
      add_job(input.trace, job[0], job[1], job[2], job[3], job[4]);
    }
    std::stable_sort(input.trace.jobs.begin(), input.trace.jobs.end(),
                     [](const trace::Job& a, const trace::Job& b) {
                       return a.request.submit < b.request.submit;
                     });
    for (const auto& [policy, expected] : golden["out"].items()) {
      const sim::Schedule result = run(input, policy);
      std::map<std::int64_t, json> by_id;
      for (const json& job : expected["jobs"]) by_id[job[0]] = job;
      ASSERT_EQ(by_id.size(), input.trace.jobs.size());
      for (std::size_t job = 0; job < input.trace.jobs.size(); ++job) {
        const json ours = as_golden(input, result, job);
        ASSERT_EQ(ours, by_id.at(ours[0]))
            << "seed " << golden["seed"] << " policy " << policy << " nodes " << golden["nodes"];
      }
      // Samples: time, idle GPUs, waiting GPUs, running jobs, waiting jobs.
      std::map<std::int64_t, const sim::Sample*> samples;
      for (const sim::Sample& sample : result.timeline) {
        samples[whole_seconds(sample.at.time_since_epoch())] = &sample;
      }
      for (const json& row : expected["seq"]) {
        const auto found = samples.find(row[0]);
        if (found == samples.end()) continue;  // before the first arrival
        const sim::Sample& sample = *found->second;
        const json ours = {row[0], sample.gpus_total - sample.gpus_busy, sample.gpus_waiting,
                           sample.jobs_running, sample.jobs_waiting};
        ASSERT_EQ(ours, json(std::vector<json>(row.begin(), row.begin() + 5)))
            << "seed " << golden["seed"] << " policy " << policy;
      }
    }
  }
  EXPECT_GT(cases, 0);
}

/// One row of a golden log of the real virtual cluster.
struct GoldenRow {
  std::int64_t id = 0, gpus = 0, submit = 0, run = 0, start = 0, end = 0, queue = 0, stops = 0;
  std::string nodes;
};

std::vector<GoldenRow> read_golden(const std::string& path) {
  Result<table::CsvReader> csv = table::CsvReader::open(path);
  std::vector<GoldenRow> rows;
  while (csv && *csv->next()) {
    const auto whole = [&](const char* column) {
      return std::stoll(std::string((*csv)[*csv->find(column)]));
    };
    rows.push_back({whole("job_id"), whole("gpu_num"), whole("submit_time"), whole("duration"),
                    whole("start_time"), whole("end_time"), whole("queue"), whole("ckpt_times"),
                    std::string((*csv)[*csv->find("nodes")])});
  }
  return rows;
}

TEST(HeliosSimulator, AgreesOnARealVirtualCluster) {
  for (const std::string policy : {"fifo", "sjf", "srtf"}) {
    const auto path = shared_path("golden/helios_simulator/venus_vcvlY_" + policy + ".csv");
    if (!path) GTEST_SKIP() << "no shared golden data: set ALMANAC_SHARED";
    std::vector<GoldenRow> rows = read_golden(*path);
    ASSERT_FALSE(rows.empty());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const GoldenRow& a, const GoldenRow& b) { return a.submit < b.submit; });
    Case input;
    input.cluster = cluster::uniform(2, 8);
    for (const GoldenRow& row : rows) {
      add_job(input.trace, row.id, static_cast<int>(row.gpus), row.submit, row.run, 0);
    }
    const sim::Schedule result = run(input, policy);
    for (std::size_t job = 0; job < rows.size(); ++job) {
      const GoldenRow& row = rows[job];
      std::string nodes;
      for (const json& piece : placed(result, job)) {
        nodes += (nodes.empty() ? "" : ";") + piece[0].dump() + ":" + piece[1].dump();
      }
      const json expected = {row.id, row.start, row.end, row.queue, row.stops, row.nodes};
      json ours = as_golden(input, result, job);
      ours[5] = nodes;
      ASSERT_EQ(ours, expected) << policy;
    }
  }
}

}  // namespace
}  // namespace almanac
