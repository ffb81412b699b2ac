// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/gavel/time_objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "policy/kit/owner.h"
#include "policy/kit/prices.h"
#include "policy/kit/tree_parts.h"
#include "rules/timeshare/partition.h"
#include "rules/timeshare/programs.h"

namespace almanac::policy {
namespace {

using timeshare::Fractions;
using timeshare::Problem;
using Program = Fractions (*)(const Problem&);

Fractions most_throughput(const Problem& problem) { return timeshare::max_sum_throughput(problem); }

/// So many parts that all programs together take no longer than one of kWhole jobs does, well below
/// a second. Those that count alike jobs once need no parts.
std::size_t enough_parts(Program program, std::size_t jobs) {
  if (program != &timeshare::finish_time_fairness && program != &timeshare::min_total_duration) {
    return 1;
  }
  constexpr double kWhole = 1'000;
  const double times = static_cast<double>(jobs) / kWhole;
  return static_cast<std::size_t>(std::ceil(times * times));
}

TimeObjective by_jobs(Program program, std::size_t parts) {
  return [=](const Problem& problem, std::span<const JobId> jobs, const std::vector<Stock>&,
             const View&) {
    const std::size_t most = std::max<std::size_t>(1, jobs.size());
    const std::size_t wanted = parts > 0 ? parts : enough_parts(program, most);
    return timeshare::by_parts(problem, std::clamp<std::size_t>(wanted, 1, most), program);
  };
}

Fractions divided_by_tenants(const Problem& problem, std::span<const JobId> jobs,
                             const View& view) {
  Problem kinds{.gpus = problem.gpus, .jobs = {}};  // jobs of one owner that are alike are one
  std::vector<std::size_t> kind_of;
  std::map<std::tuple<Owner, int, std::vector<double>>, std::size_t> known;
  std::map<Owner, timeshare::Entity> owners;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const timeshare::Job& job = problem.jobs[at];
    const Owner owner = owner_of(jobs[at], view);
    const auto [kind, is_new] = known.try_emplace({owner, job.gpus, job.rates}, kinds.jobs.size());
    if (is_new) {
      kinds.jobs.push_back(job);
      owners[owner].jobs.push_back(kind->second);
    } else {
      ++kinds.jobs[kind->second].count;
    }
    kind_of.push_back(kind->second);
  }
  std::vector<Owner> present;
  std::vector<timeshare::Entity> entities;
  for (auto& [owner, entity] : owners) {
    present.push_back(owner);
    entities.push_back(std::move(entity));
  }
  constexpr double kLeastPart = 1e-3;
  const std::vector<double> parts = parts_of_tree(present, view);
  for (std::size_t at = 0; at < entities.size(); ++at) {
    entities[at].weight = std::max(parts[at], kLeastPart / static_cast<double>(parts.size()));
  }
  const Fractions filled = timeshare::water_filling(kinds, entities);
  Fractions made;
  for (const std::size_t kind : kind_of) made.push_back(filled[kind]);
  return made;
}

}  // namespace

TimeObjective objective_of(const std::string& name, std::size_t parts) {
  if (name == "tenants") return by_tenants();
  if (name == "finish_time") return by_jobs(&timeshare::finish_time_fairness, parts);
  if (name == "duration") return by_jobs(&timeshare::min_total_duration, parts);
  if (name == "throughput") return by_jobs(&most_throughput, parts);
  return by_jobs(&timeshare::max_min_fairness, parts);
}

TimeObjective by_tenants() {
  return [](const Problem& problem, std::span<const JobId> jobs, const std::vector<Stock>&,
            const View& view) { return divided_by_tenants(problem, jobs, view); };
}

TimeObjective by_prices() {
  return [](const Problem& problem, std::span<const JobId> jobs, const std::vector<Stock>& stock,
            const View& view) {
    std::vector<double> prices;
    for (const Stock& each : stock) prices.push_back(price_of(each.gpu_type, view));
    std::vector<double> to_deadline_s;
    for (const JobId job : jobs) {
      const Time deadline = view.request(job).deadline;
      to_deadline_s.push_back(deadline == kNoTime ? std::numeric_limits<double>::infinity()
                                                  : seconds(deadline - view.now));
    }
    return timeshare::max_sum_throughput(problem, prices, to_deadline_s);
  };
}

}  // namespace almanac::policy
