// SPDX-License-Identifier: Apache-2.0

/// \file
/// The workloads published with Pollux, and what they give in its simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reproduce/bench.h"
#include "rules/elastic/application.h"
#include "tick/engine.h"
#include "tick/policies.h"

namespace almanac::reproduce {

constexpr const char* kApplications = "data/elastic/pollux/*applications*.json";
constexpr const char* kWorkloads = "data/elastic/pollux/*workloads*.csv";
constexpr const char* kTickJcts = "golden/elastic/pollux/*jcts.csv";
constexpr const char* kTickMeans = "golden/elastic/pollux/means*.csv";

/// What the recipes of these workloads need.
std::vector<Need> tick_needs();

/// A load and one of its workloads.
using WorkloadKey = std::pair<std::string, std::string>;

struct TickWorkloads {
  std::map<std::string, elastic::Application> applications{};
  std::map<WorkloadKey, std::vector<elastic::TickJob>> workloads{};

  /// Throws Malformed unless it is there.
  const elastic::Application& application(std::string_view name) const;
};

/// All that the bench has.
TickWorkloads read_tick_workloads(Bench& bench);

/// A policy on a workload, and how.
struct TickRun {
  WorkloadKey workload{};
  elastic::TickOptions options{};
  bool avoids_interference = true;

  auto key() const {
    return std::tuple(workload, options.tick_s, options.interference, avoids_interference);
  }
  bool operator<(const TickRun& other) const { return key() < other.key(); }
};

/// Each workload once, those of which nothing is published too.
std::set<TickRun> all_runs(const TickWorkloads& data);

/// Seconds from submission to completion of each job, in order; or why there are none.
using TickOutcome = Result<std::vector<std::int64_t>>;

/// Each of `runs` under a policy of its own, on all cores; the same for any number of them.
std::map<TickRun, TickOutcome> play_ticks(
    const TickWorkloads& data, const std::set<TickRun>& runs,
    const std::function<std::unique_ptr<elastic::TickPolicy>(const TickRun&)>& make);

/// What is published of a run: times of jobs, or their mean alone.
struct PublishedRun {
  std::map<std::string, double> jcts{};
  std::optional<double> mean{};
};

struct PublishedRuns {
  std::map<WorkloadKey, PublishedRun> runs{};
  /// Of each setting of a sweep, each workload.
  std::map<std::string, std::map<std::string, PublishedRun>> sweeps{};
};

/// Of one policy; sweeps are of Pollux, and are read whatever the policy.
PublishedRuns read_published(Bench& bench, std::string_view policy);

/// Mean over jobs; NaN where the run has failed.
double mean_of(const TickOutcome& outcome);

/// The mean of each workload, and of each load over those of its workloads that are published, or
/// over all where none is. Notes runs that failed.
void add_means(Bench& bench, std::string_view policy,
               const std::map<WorkloadKey, PublishedRun>& published,
               const std::map<TickRun, TickOutcome>& played);

/// The time below which 99 of 100 jobs lie, over all workloads of a load.
void add_percentiles(Bench& bench, std::string_view policy,
                     const std::map<WorkloadKey, PublishedRun>& published,
                     const std::map<TickRun, TickOutcome>& played);

/// Lays out a policy whose every job is to end as published.
void compare_exactly(Bench& bench, std::string_view policy,
                     const std::function<std::unique_ptr<elastic::TickPolicy>()>& make);

}  // namespace almanac::reproduce
