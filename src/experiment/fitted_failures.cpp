// SPDX-License-Identifier: Apache-2.0
#include "experiment/fitted_failures.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/host_list.h"
#include "text/human.h"

namespace almanac::experiment {
namespace {

int nodes_needed(int gpus, const cluster::Cluster& cluster) {
  int most = 1;
  for (const cluster::NodeClass& each : cluster.classes) most = std::max(most, each.gpus);
  return std::max(1, (gpus + most - 1) / most);
}

std::string rate_in_words(const char* what, const faults::Rate& rate, const char* unit) {
  return fmt::format("{} {:.3g} per 1,000 {} (95 %: {:.3g} to {:.3g})", what, 1000 * rate.per_day,
                     unit, 1000 * rate.low, 1000 * rate.high);
}

}  // namespace

std::vector<faults::PastRun> runs_of(const trace::Trace& trace, const cluster::Cluster& cluster) {
  using End = faults::PastRun::End;
  std::vector<faults::PastRun> made;
  std::unordered_map<std::string, int> numbers;
  const auto number_of = [&](const std::string& host) {
    return numbers.try_emplace(host, static_cast<int>(numbers.size())).first->second;
  };
  for (const trace::Job& job : trace.jobs) {
    faults::PastRun& run = made.emplace_back(
        faults::PastRun{.gpus = job.request.gpus, .days = seconds(job.outcome.run) / seconds(24h)});
    run.nodes = job.request.nodes > 0 ? job.request.nodes : nodes_needed(run.gpus, cluster);
    if (job.outcome.node_list != kNoName) {
      const auto hosts = text::expand_hosts(trace.names[job.outcome.node_list]);
      if (hosts && !hosts->empty()) {
        run.nodes = static_cast<int>(hosts->size());
        if (job.outcome.start != kNoTime) {
          run.start = job.outcome.start;
          for (const std::string& host : *hosts) run.on.push_back(number_of(host));
        }
      }
    }
    run.end = job.outcome.state == trace::JobState::node_fail ? End::node_failed
              : job.outcome.state == trace::JobState::failed  ? End::failed
                                                              : End::other;
  }
  return made;
}

Result<std::string> fitted_failures(const trace::Trace& trace, const cluster::Cluster& cluster) {
  const faults::Fit fit = faults::fit(runs_of(trace, cluster));
  if (fit.node.failures > 0 || fit.software.any()) {
    return faults::to_toml(fit,
                           fmt::format("a log of {}", text::counted(trace.jobs.size(), "job")));
  }
  if (fit.user.failures == 0) {
    return fail(Code::usage,
                "--failures fitted: no job of the log with GPUs is FAILED or NODE_FAIL", {},
                "add the column state, or give a preset");
  }
  return fail(
      Code::usage,
      fmt::format("--failures fitted: no job is NODE_FAIL, and {}. The {} FAILED jobs "
                  "therefore count as errors of users",
                  fit.is_one_size ? "all jobs have the same number of GPUs, so it is unknown how "
                                    "failures depend on it"
                                  : "jobs with more GPUs do not fail more often per day of running",
                  fit.user.failures),
      {}, "give a preset or a model of your own");
}

std::string fit_in_words(const faults::Fit& fit) {
  std::string said =
      "failures fitted to the log: " + rate_in_words("nodes fail", fit.node, "node-days");
  if (fit.software.any()) {
    said += "; " + rate_in_words("jobs fail", fit.software, "GPU-days");
  }
  if (!fit.lemons.empty()) {
    said += fmt::format("; {} of {} nodes fail {:.0f} times as often", fit.lemons.size(), fit.nodes,
                        fit.lemon_factor);
  }
  std::vector<std::string> few;
  if (fit.node.failures < faults::Rate::kEnough) {
    few.push_back(fmt::format("failures of nodes ({})", fit.node.failures));
  }
  if (fit.software.any() && fit.software.failures < faults::Rate::kEnough) {
    few.push_back(fmt::format("failures of jobs ({})", fit.software.failures));
  }
  if (!few.empty()) said += fmt::format(". Too few to rely on: {}", fmt::join(few, ", "));
  if (fit.user.any()) {
    said += fmt::format(
        ". {:.3g} FAILED jobs per 1,000 days of running, whatever the number of GPUs, count as "
        "errors of users, which are not simulated",
        1000 * fit.user.per_day);
  }
  return said + ". The log does not show repairs, so nodes return at once";
}

}  // namespace almanac::experiment
