// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `preemption`: requeues or suspends the running jobs that the policy stops.
///
/// It touches only jobs that the manager may requeue, and each at most once in a while: not before
/// the job has run for that time, unless the policy moves jobs by what they lose
/// (Chosen::only_moves). A suspended job keeps its GPUs in Slurm, so only jobs without GPUs are
/// suspended; they resume when the job that replaced them is gone.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "steer/claims.h"
#include "steer/lever_registry.h"

namespace almanac::steer::lever {
namespace {

using manager::Fate;
using manager::JobNumber;
using manager::State;

/// A job that is to come in the place of a suspended one needs a moment to do so.
constexpr Duration kComes = 1min;

class PreemptionLever final : public Lever {
 public:
  std::optional<std::string> obstacle(const manager::Site& site,
                                      const manager::Abilities& can) const override {
    if (site.is_operator == false) return "Almanac has no operator rights on this Slurm cluster";
    if (!can.requeue) return "this connection to Slurm cannot requeue jobs";
    return std::nullopt;
  }

  std::vector<Action> want(const Scene& scene) override {
    std::vector<Action> made;
    for (const JobNumber number : scene.decision.stops) {
      const manager::Job* const job = scene.mirror.find(number);
      if (job == nullptr || job->state != State::running || !job->requeueable) continue;
      // A job that restarted within a lease is not the run that the policy saw.
      if (job->start != kNoTime && job->start > scene.decision.at) continue;
      if (scene.mirror.at() - last_change(*job, scene) < scene.settings.preemption.once_in)
        continue;
      const bool suspends = scene.settings.preemption.suspends && job->gpus == 0;
      made.push_back({FateChange{number, suspends ? Fate::suspend : Fate::requeue},
                      fmt::format("makes room under {}", scene.policy.composition.name)});
    }
    for (const auto& [number, job] : scene.mirror.jobs()) {
      if (may_go_on(job, scene))
        made.push_back({FateChange{number, Fate::resume}, "it has room again"});
    }
    return made;
  }

  std::vector<Action> let_go(const Scene& scene) override {
    std::vector<Action> made;
    for (const auto& [number, job] : scene.mirror.jobs()) {
      if (job.state != State::suspended ||
          scene.claims->of<FateChange>().suspended_at(job) == kNoTime)
        continue;
      made.push_back({FateChange{number, Fate::resume}, "preemption is not on"});
    }
    left_.clear();
    if (scene.can.requeue) return made;
    for (const Action& each : made) {
      left_ += fmt::format("{}{}", left_.empty() ? "" : ",", std::get<FateChange>(each.change).job);
    }
    return {};
  }

  std::vector<std::string> left() const override {
    if (left_.empty()) return {};
    return {fmt::format(
        "lever preemption: this connection to Slurm cannot resume suspended jobs: stop the "
        "service, then run almanac slurm undo --way commands, or scontrol resume {}",
        left_)};
  }

 private:
  /// Returns the time since which the job has run undisturbed. A change that the manager refused
  /// counts as made, so that Almanac does not request it again at once. A policy that only moves
  /// jobs moves those that started recently and so lose little; it moves no job twice (Decider).
  static Time last_change(const manager::Job& job, const Scene& scene) {
    Time start = job.start == kNoTime ? scene.mirror.at() : job.start;
    if (scene.policy.only_moves) start = Time{};
    return std::max(start, scene.claims->of<FateChange>().tried_at(job));
  }

  /// Whether no job has begun since on the nodes of one that we have suspended.
  static bool may_go_on(const manager::Job& job, const Scene& scene) {
    const Time since = scene.claims->of<FateChange>().suspended_at(job);
    if (job.state != State::suspended || since == kNoTime) return false;
    if (scene.mirror.at() - since < kComes) return false;
    std::set<std::string> own;
    for (const manager::Held& held : job.holds) own.insert(held.node);
    return std::none_of(
        scene.mirror.jobs().begin(), scene.mirror.jobs().end(), [&](const auto& each) {
          const manager::Job& other = each.second;
          if (other.number == job.number || !holds_nodes(other) || other.start < since)
            return false;
          return std::any_of(other.holds.begin(), other.holds.end(),
                             [&](const manager::Held& held) { return own.contains(held.node); });
        });
  }

  std::string left_;  // that this way cannot resume
};

}  // namespace

void register_preemption(LeverRegistry& registry) {
  registry.add({.name = "preemption", .priority = 60, .make = [](const LeverParts&) {
                  return std::make_unique<PreemptionLever>();
                }});
}

}  // namespace almanac::steer::lever
