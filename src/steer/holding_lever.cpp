// SPDX-License-Identifier: Apache-2.0
#include "steer/holding_lever.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "policy/registry.h"
#include "steer/aside.h"
#include "steer/claims.h"
#include "steer/leases.h"
#include "steer/mark.h"
#include "steer/scope.h"

namespace almanac::steer {

using manager::JobChange;
using manager::JobNumber;

namespace {

/// Released in vain so often, a job is left to the manager; after the first time it may run
/// anywhere.
constexpr int kTries = 3;
/// A job may lose so much of the age that the manager's priorities count.
constexpr Duration kLittleAge = 2min;
/// How long one that was released in vain lets others go first.
constexpr Duration kRests = 2min;

bool is_early(Aside why) { return why == Aside::depends || why == Aside::begins_later; }

/// Whether a job that is to make room has some of the GPUs yet on which another is to start.
bool waits_for_room(const Decision::Start& start, const Scene& scene) {
  const cluster::Cluster& cluster = scene.decision.world->cluster;
  const auto is_taken = [&](const manager::Held& held) {
    return std::any_of(start.held.begin(), start.held.end(), [&](const cluster::Grant& grant) {
      const bool same_gpus = held.gpus == 0 || grant.gpus == 0 || (held.gpus & grant.gpus) != 0;
      return same_gpus && cluster.nodes[index(grant.node)].name == held.node;
    });
  };
  const auto& stops = scene.decision.stops;
  return std::any_of(stops.begin(), stops.end(), [&](JobNumber number) {
    const manager::Job* const job = scene.mirror.find(number);
    return job != nullptr && holds_nodes(*job) &&
           std::any_of(job->holds.begin(), job->holds.end(), is_taken);
  });
}

bool would_lose_age(const manager::Job& job, const Scene& scene) {
  return !is_marked(job) && job.eligible != kNoTime &&
         scene.mirror.at() - job.eligible > kLittleAge && scene.site.facts.loses_age_when_held;
}

QueueClaims::Tries tries_of(const manager::Job& job, const Scene& scene) {
  return scene.claims->of<QueueChange>().tries(job);
}

/// Whether a job that the manager may start is to be held.
bool is_to_be_held(const manager::Job& job, bool starts, const Scene& scene) {
  if (job.held || is_leased(job, scene.mirror.at())) return false;
  const Time released = tries_of(job, scene).released;
  if (released == kNoTime || !job.tasks.empty()) return !starts;
  return scene.mirror.at() - released >= scene.settings.placement.patience;
}

}  // namespace

std::optional<std::string> HoldingLever::obstacle(const manager::Site& site,
                                                  const manager::Abilities& can) const {
  if (site.is_operator == false) return "Almanac has no operator rights on this Slurm cluster";
  if (!can.begins) return "this connection to Slurm cannot delay the start of a job";
  return std::nullopt;
}

std::vector<Action> HoldingLever::want(const Scene& scene) {
  aged_ = 0;
  begin(scene);
  std::vector<Action> releases;
  std::vector<Action> holds;
  std::set<JobNumber> in_line;
  const bool decides_by_leases = policy::registry().lease(scene.policy.composition) > Duration{0};
  std::map<JobNumber, const Decision::Start*> starts;
  for (const Decision::Start& each : scene.decision.starts) starts.try_emplace(each.job, &each);
  for (const Decision::Line& line : scene.decision.lines) {
    for (const JobNumber number : line.jobs) {
      const manager::Job* const job = scene.mirror.find(number);
      if (job == nullptr || !waits(*job) || !is_for(*job, scene)) continue;
      in_line.insert(number);
      if (const std::string why = leave(*job, scene); !why.empty()) {
        aged_ += would_lose_age(*job, scene) ? 1 : 0;
        if (auto action = give_to_manager(*job, why, scene)) releases.push_back(*std::move(action));
        continue;
      }
      const auto start = starts.find(number);
      bool may_start = start != starts.end() && !waits_for_room(*start->second, scene);
      const bool is_released = tries_of(*job, scene).released != kNoTime;
      if (may_start && (is_leased(*job, scene.mirror.at()) || !is_released)) {
        bool waits_on = false;
        if (auto action = let_start(*job, *start->second, scene, waits_on)) {
          releases.push_back(*std::move(action));
        }
        if (!waits_on) continue;
        may_start = false;
      }
      if (is_to_be_held(*job, may_start, scene)) {
        holds.push_back(hold(*job, may_start, scene));
      }
    }
  }
  for (const auto& [number, job] : scene.mirror.jobs()) {
    if (!waits(job) || !is_for(job, scene) || in_line.contains(number)) continue;
    const Aside why = aside(job, scene.mirror, scene.settings.exempt, scene.mirror.at());
    const bool is_at_quota = scene.decision.quotas.contains(number);
    const bool is_new = why == Aside::no && !is_at_quota && !scene.decision.never.contains(number);
    // A job that has just been submitted waits for the next lease; one that was requeued, until we
    // look again; one that is at a quota, until the quota leaves enough; one whose nodes have no
    // room, or that was released in vain, until the policy sees it again.
    const bool was_requeued = is_early(why) && (is_marked(job) || job.restarts > 0);
    const auto seen = scene.decision.aside.find(number);
    const bool may_come = seen != scene.decision.aside.end() &&
                          (seen->second == Aside::elsewhere || seen->second == Aside::in_vain);
    const bool is_kept = (is_new && decides_by_leases) || was_requeued || is_at_quota || may_come;
    if (is_kept && leave(job, scene).empty()) {
      if (!job.held && !is_leased(job, scene.mirror.at())) holds.push_back(hold(job, false, scene));
      continue;
    }
    if (is_new) continue;
    if (auto action = give_to_manager(job, "the policy does not see it", scene)) {
      releases.push_back(*std::move(action));
    }
  }
  std::move(holds.begin(), holds.end(), std::back_inserter(releases));
  return releases;
}

std::vector<Action> HoldingLever::let_go(const Scene& scene) {
  std::vector<Action> made;
  for (const auto& [number, job] : scene.mirror.jobs()) {
    if (!waits(job) || !is_for(job, scene)) continue;
    if (auto action = give_to_manager(job, "its lever is not on", scene)) {
      made.push_back(*std::move(action));
    }
  }
  return made;
}

std::vector<std::string> HoldingLever::warnings() const {
  if (aged_ == 0) return {};
  return {
      fmt::format("{} waiting jobs are left to Slurm, which would reset their age after a "
                  "hold; PriorityFlags=ACCRUE_ALWAYS keeps it",
                  aged_)};
}

std::set<JobNumber> HoldingLever::in_vain(const Scene& scene) const {
  const Time now = scene.mirror.at();
  std::set<JobNumber> made;
  for (const auto& [number, job] : scene.mirror.jobs()) {
    if (!waits(job) || !is_for(job, scene)) continue;
    const QueueClaims::Tries known = tries_of(job, scene);
    const bool rests =
        known.in_vain > 0 && known.released == kNoTime && now - known.taken_back < kRests;
    if (known.in_vain >= kTries || rests) made.insert(number);
  }
  for (const auto& [number, since] : scene.decision.to_start_since) {
    const manager::Job* const job = scene.mirror.find(number);
    if (job == nullptr || !waits(*job) || !is_for(*job, scene)) continue;
    const bool is_late = now - since >= kTries * scene.settings.placement.patience;
    if (is_late && is_left(*job, scene)) made.insert(number);
  }
  return made;
}

/// Why a job is none of claims; "" = it is.
std::string HoldingLever::leave(const manager::Job& job, const Scene& scene) const {
  if (is_freed(job, scene.mirror.at())) return "another administrator or user released it";
  if (scene.claims->of<QueueChange>().is_left(job)) return "it is left to Slurm permanently";
  if (!is_in_scope(job, scene.settings)) return "it is outside the canary";
  if (!job.comment.empty() && !is_marked(job)) return "it has a comment by an administrator";
  if (!job.required_nodes.empty() &&
      !(is_marked(job) && scene.claims->of<QueueChange>().chose_nodes_of(job, scene.mirror.at()))) {
    return "it requests specific nodes";
  }
  if (is_aged(job, scene.mirror.at(), scene.settings.order.age_cap))
    return "it has waited too long";
  if (would_lose_age(job, scene)) return "a hold would reset its age";
  return "";
}

std::optional<Action> HoldingLever::give_to_manager(const manager::Job& job, const std::string& why,
                                                    const Scene& scene, bool for_good) const {
  auto change = scene.claims->of<QueueChange>().without_mark(job, scene.mirror.at());
  if (!change) return std::nullopt;
  bring_back(job, scene, *change);
  QueueChange made(*std::move(change));
  made.leaves = for_good || is_freed(job, scene.mirror.at());
  return Action{std::move(made), fmt::format("left to Slurm: {}", why)};
}

std::optional<Action> HoldingLever::let_start(const manager::Job& job, const Decision::Start& start,
                                              const Scene& scene, bool& waits_on) {
  const QueueClaims::Tries known = tries_of(job, scene);
  auto released = release(job, start, known.in_vain > 0 || known.is_nodes_refused, scene);
  if (std::holds_alternative<NotYet>(released)) {
    waits_on = true;
    return std::nullopt;
  }
  auto& [change, where] = std::get<Release>(released);
  if (is_leased(job, scene.mirror.at()))
    change.begins = scene.claims->of<QueueChange>().may_begin(job);
  if (job.comment == kMark && change == JobChange{.job = job.number}) return std::nullopt;
  change.comment = std::string(kMark);
  return Action{change, fmt::format("{} under {}", where, scene.policy.composition.name)};
}

Action HoldingLever::hold(const manager::Job& job, bool starts, const Scene& scene) const {
  // Slurm lets a job that it requeues begin a while later, which stays so.
  const Time now = scene.mirror.at();
  const Time may_begin = job.eligible == kNoTime ? now : std::max(now, job.eligible);
  QueueChange made(held_until(job.number, may_begin + scene.lease));
  if (!job.required_nodes.empty()) made.becomes.required_nodes = "";
  bring_back(job, scene, made.becomes);
  const QueueClaims::Tries known = tries_of(job, scene);
  if (!starts || known.released == kNoTime) return {made, "the policy does not start it yet"};
  made.in_vain = known.in_vain + 1;
  if (made.in_vain >= kTries && is_marked(job)) {
    Action given = *give_to_manager(
        job, fmt::format("Slurm did not start it after {} releases", kTries), scene, true);
    std::get<QueueChange>(given.change).in_vain = made.in_vain;
    return given;
  }
  return {made, "Slurm did not start it, so it waits again"};
}

}  // namespace almanac::steer
