// SPDX-License-Identifier: Apache-2.0
#include "steer/guards.h"

#include <fmt/format.h>

#include "steer/aside.h"
#include "steer/mark.h"
#include "steer/ours.h"
#include "steer/power_facts.h"

namespace almanac::steer {
namespace {

std::optional<std::string> forbidden_for(slurm::JobNumber number, bool of_waiting,
                                         const Scene& scene) {
  const slurm::Job* const job = scene.mirror.find(number);
  if (job == nullptr) return "it is not there any more";
  if (is_exempt(*job, scene.settings.exempt)) return "it is exempt";
  if (of_waiting && !waits(*job)) return "it does not wait any more";
  if (!of_waiting && !holds_nodes(*job)) return "it does not run";
  return std::nullopt;
}

std::optional<std::string> forbidden_change(const FateChange& change, const Scene& scene) {
  if (auto why = forbidden_for(change.job, false, scene)) return why;
  if (change.fate == slurm::Fate::cancel) return "no lever cancels jobs";
  const bool stops = change.fate == slurm::Fate::requeue || change.fate == slurm::Fate::suspend;
  if (stops && !scene.mirror.find(change.job)->requeueable) return "it may not be requeued";
  return std::nullopt;
}

std::optional<std::string> forbidden_change(const CoresChange& change, const Scene& scene) {
  // What is given back may belong to any job.
  if (change.cores.empty()) return std::nullopt;
  if (auto why = forbidden_for(change.job, false, scene)) return why;
  constexpr double kLeastCores = 1;
  const slurm::Job& job = *scene.mirror.find(change.job);
  for (const auto& [node, cores] : change.cores) {
    double slurms = 0;
    for (const slurm::Held& held : job.holds) slurms += held.node == node ? held.cpus : 0;
    if (cores < kLeastCores) return "a job keeps a core on each node";
    if (cores >= slurms) return fmt::format("Slurm gave it {:g} cores on {}", slurms, node);
  }
  return std::nullopt;
}

std::optional<std::string> forbidden_change(const PowerChange& change, const Scene& scene) {
  for (const std::string& name : change.nodes) {
    const auto found = scene.mirror.nodes().find(name);
    if (found == scene.mirror.nodes().end()) return fmt::format("there is no node {}", name);
    const slurm::Node& node = found->second;
    if (change.on) continue;
    if (node.busy) return fmt::format("node {} runs a job", name);
    if (node.reserved || is_due(name, scene.mirror, power_facts(scene.site).back)) {
      return fmt::format("node {} is reserved", name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> forbidden_change(const WeightChange& change, const Scene& scene) {
  for (const std::string& name : change.nodes) {
    if (!scene.mirror.nodes().contains(name)) return fmt::format("there is no node {}", name);
  }
  return std::nullopt;
}

std::optional<std::string> forbidden_change(const slurm::JobChange& change, const Scene& scene) {
  const slurm::Job* const job = scene.mirror.find(change.job);
  // What is given back to Slurm may belong to any job.
  if (job != nullptr && waits(*job) && scene.ours->without_mark(*job) == change)
    return std::nullopt;
  if (auto why = forbidden_for(change.job, true, scene)) return why;
  if (change.required_nodes && !job->required_nodes.empty() &&
      !(is_marked(*job) && scene.ours->chose_nodes_of(*job))) {
    return "somebody else has chosen its nodes";
  }
  if (change.shards && (job->gpus > 0 || job->shards == 0)) return "it asks no shards";
  if (change.held == false && job->held && !is_held_by_us(*job)) {
    return "its user or an administrator holds it";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> forbidden(const Action& action, const Scene& scene) {
  return std::visit([&](const auto& change) { return forbidden_change(change, scene); },
                    action.change);
}

}  // namespace almanac::steer
