// SPDX-License-Identifier: Apache-2.0

/// \file
/// The routes of sweeps: groups of jobs that are compared by a reported metric.
#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "serve/answers.h"
#include "serve/api.h"
#include "serve/query.h"
#include "serve/view_json.h"

namespace almanac::serve {
namespace {

constexpr std::int64_t kMostSweeps = 200;
/// Beyond, an answer would be tens of megabytes.
constexpr std::int64_t kMostTrials = 10'000;

/// Adds what the trial has reported, and which of it was best.
void hear(Trial& trial, std::vector<store::Report> reports) {
  if (reports.empty()) return;
  const bool smaller = trial.view.job.asked->smaller_is_better;
  trial.best = *std::max_element(reports.begin(), reports.end(), [&](const auto& a, const auto& b) {
    return smaller ? a.metric > b.metric : a.metric < b.metric;
  });
  // One that runs says its step itself.
  const store::Report& last = reports.back();
  if (!trial.view.step) trial.view.step = last.step;
  if (!trial.view.metric) trial.view.metric = last.metric;
  if (!trial.view.metric_step) trial.view.metric_step = last.step;
  trial.reports = std::move(reports);
}

/// The best first; those that have reported nothing last, by number.
auto rank(const Trial& trial) {
  const double sign = trial.view.job.asked->smaller_is_better ? 1 : -1;
  return std::tuple(!trial.best, trial.best ? sign * trial.best->metric : 0, trial.view.job.number);
}

}  // namespace

void Api::add_sweeps() {
  on("GET", "/v1/sweeps", [this](const Ask& ask, const std::string&) { return list_sweeps(ask); });
  on("GET", "/v1/sweeps/{name}",
     [this](const Ask& ask, const std::string& part) { return sweep(ask, part); });
}

Answer Api::list_sweeps(const Ask& ask) const {
  if (const auto known = knows(ask, {}); !known) return problem(known.error());
  const auto found = service_.store().sweeps(kMostSweeps);
  return found ? json(to_json(*found)) : problem(found.error());
}

Answer Api::sweep(const Ask& ask, const std::string& name) const {
  if (const auto known = knows(ask, {}); !known) return problem(known.error());
  auto jobs = service_.store().jobs({.group = name, .limit = kMostTrials});
  if (!jobs) return problem(jobs.error());
  if (jobs->empty()) {
    return problem(404, fmt::format("there is no tuning run {}", name),
                   "GET /v1/sweeps lists them");
  }
  const auto reports = service_.store().reports(name);
  if (!reports) return problem(reports.error());
  std::map<store::JobNumber, std::vector<store::Report>> of;
  for (const store::Report& each : *reports) of[each.job].push_back(each);
  // The service knows more than the store about waiting and running jobs.
  std::map<store::JobNumber, service::JobView> present;
  const auto is_of_it = [&](const store::Job& job) { return job.asked->group == name; };
  auto unfinished = service_.jobs({.wanted = is_of_it});
  if (!unfinished) return problem(unfinished.error());
  for (service::JobView& each : *unfinished) {
    present.emplace(each.job.number, std::move(each));
  }
  std::vector<Trial> trials;
  for (store::Job& job : *jobs) {
    const auto here = present.find(job.number);
    Trial& made = trials.emplace_back();
    made.view = here != present.end() ? std::move(here->second) : service::JobView{std::move(job)};
    if (const auto said = of.find(made.view.job.number); said != of.end()) {
      hear(made, std::move(said->second));
    }
  }
  std::sort(trials.begin(), trials.end(),
            [](const Trial& a, const Trial& b) { return rank(a) < rank(b); });
  return json(to_json(name, trials, *service_.cluster()));
}

}  // namespace almanac::serve
