// SPDX-License-Identifier: Apache-2.0
#include "experiment/fitted_failures.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

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
  for (const trace::Job& job : trace.jobs) {
    faults::PastRun& run = made.emplace_back(
        faults::PastRun{.gpus = job.request.gpus, .days = seconds(job.outcome.run) / seconds(24h)});
    run.nodes = job.request.nodes > 0 ? job.request.nodes : nodes_needed(run.gpus, cluster);
    if (job.outcome.node_list != kNoName) {
      const auto hosts = text::expand_hosts(trace.names[job.outcome.node_list]);
      if (hosts && !hosts->empty()) {
        run.nodes = static_cast<int>(hosts->size());
        if (hosts->size() == 1) {
          const auto next = static_cast<int>(numbers.size());
          run.node = numbers.try_emplace(hosts->front(), next).first->second;
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
  if (fit.node.failures + fit.user.failures == 0) {
    return fail(Code::usage,
                "--failures fitted: no job of the log with GPUs is FAILED or NODE_FAIL", {},
                "add the column state, or give a preset");
  }
  return faults::to_toml(fit, fmt::format("a log of {}", text::counted(trace.jobs.size(), "job")));
}

std::string fit_in_words(const faults::Fit& fit) {
  std::string said =
      "failures fitted to the log: " + rate_in_words("nodes fail", fit.node, "node-days") + "; " +
      rate_in_words("jobs fail", fit.user, "job-days") + " and " +
      rate_in_words("", fit.software, "GPU-days").substr(1);
  if (!fit.lemons.empty()) {
    said += fmt::format("; {} of {} nodes fail {:.0f} times as often", fit.lemons.size(), fit.nodes,
                        fit.lemon_factor);
  }
  const auto few = [&](const char* what, std::uint64_t failures) {
    if (failures >= faults::Rate::kEnough) return;
    said += fmt::format(". Too few to rely on: {} ({})", what, failures);
  };
  few("failures of nodes", fit.node.failures);
  few("failures of jobs", fit.user.failures);
  return said + ". The log does not show repairs, so nodes return at once";
}

}  // namespace almanac::experiment
