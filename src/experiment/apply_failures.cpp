// SPDX-License-Identifier: Apache-2.0
#include "experiment/apply_failures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "faults/model.h"
#include "text/human.h"

namespace almanac::experiment {
namespace {

/// Of the largest nodes.
int gpus_per_node(const cluster::Cluster& cluster) {
  int most = 1;
  for (const cluster::NodeClass& each : cluster.classes) most = std::max(most, each.gpus);
  return most;
}

}  // namespace

void apply_failures(const faults::Model& model, const cluster::Cluster& cluster,
                    trace::Trace& trace, std::vector<std::string>& notes) {
  const int per_node = gpus_per_node(cluster);
  std::size_t silent = 0;
  float least_s = std::numeric_limits<float>::infinity();
  float most_s = 0;
  for (trace::Job& job : trace.jobs) {
    trace::Request& request = job.request;
    if (std::isnan(request.restart_s)) {
      request.restart_s = static_cast<float>(seconds(model.restart));
    }
    if (!std::isnan(request.checkpoint_s)) continue;
    const Duration interval = model.interval(std::max(1, request.gpus), per_node);
    if (interval == kNoDuration) continue;
    ++silent;
    request.checkpoint_s = static_cast<float>(seconds(interval));
    least_s = std::min(least_s, request.checkpoint_s);
    most_s = std::max(most_s, request.checkpoint_s);
  }
  if (silent == 0) return;
  const std::string least = text::human_time(double{least_s});
  const std::string most = text::human_time(double{most_s});
  notes.push_back(fmt::format(
      "{} of {} jobs do not say how often they write a checkpoint (column checkpoint_s): assumed "
      "every {}, as failure model {} says; a checkpoint stops training for {}",
      silent, trace.jobs.size(), least == most ? least : fmt::format("{} to {}", least, most),
      model.name, text::human_time(seconds(model.checkpoints.write))));
}

FailureReport failures_of(const Prepared& prepared, const sim::Schedule& schedule) {
  std::vector<double> intervals_s;
  for (const faults::JobToll& each : schedule.failures.jobs) {
    intervals_s.push_back(double{prepared.trace.jobs[index(each.job)].request.checkpoint_s});
  }
  return report_failures(schedule.failures, *prepared.failures, intervals_s,
                         gpus_per_node(prepared.cluster), schedule.finish);
}

}  // namespace almanac::experiment
