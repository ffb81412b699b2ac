// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `order`: puts the manager's queue in the order of the policy, by the site factors of
/// jobs, or by their priorities if the manager has no site factors.
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "steer/claims.h"
#include "steer/lever_registry.h"
#include "steer/mark.h"
#include "steer/order_values.h"

namespace almanac::steer::lever {
namespace {

/// The jobs of a line with those in front that have waited longer than the age cap, the oldest
/// first; without those that have priorities of their own, which are counted.
std::vector<const manager::Job*> with_aged_first(const Decision::Line& line, const Scene& scene,
                                                 std::int64_t& own_priorities) {
  std::vector<const manager::Job*> aged;
  std::vector<const manager::Job*> others;
  for (const manager::JobNumber number : line.ranked) {
    const manager::Job* const job = scene.decision.find(number, scene.mirror);
    // The job may have changed since the decision. The place of a held job does not count.
    if (job == nullptr || !waits(*job) || job->held || is_leased(*job, scene.mirror.at())) continue;
    if (scene.claims->of<QueueChange>().has_own_priority(*job)) {
      ++own_priorities;
      continue;
    }
    (is_aged(*job, scene.mirror.at(), scene.settings.order.age_cap) ? aged : others).push_back(job);
  }
  std::stable_sort(aged.begin(), aged.end(), [](const manager::Job* a, const manager::Job* b) {
    return waits_since(*a) < waits_since(*b);
  });
  aged.insert(aged.end(), others.begin(), others.end());
  return aged;
}

class OrderLever final : public Lever {
 public:
  bool decides_queue() const override { return true; }

  std::optional<std::string> obstacle(const manager::Site& site,
                                      const manager::Abilities&) const override {
    if (site.is_operator == false) return "Almanac has no operator rights on this Slurm cluster";
    if (!site.facts.order_obstacle.empty()) return site.facts.order_obstacle;
    return std::nullopt;
  }

  std::vector<Action> want(const Scene& scene) override {
    by_site_factor_ = uses_site_factor(scene.site, scene.can);
    own_priorities_ = 0;
    struct Wanted {
      std::size_t place;
      Action action;
    };
    std::vector<Wanted> wanted;
    for (const Decision::Line& line : scene.decision.lines) {
      const std::vector<const manager::Job*> jobs = with_aged_first(line, scene, own_priorities_);
      std::vector<std::int64_t> present;
      for (const manager::Job* const job : jobs) present.push_back(number_of(*job));
      const std::vector<std::int64_t> numbers = renumber(present, window(scene.settings.order));
      const std::string& vc = scene.decision.world->cluster.vcs[index(line.vc)].name;
      for (std::size_t at = 0; at < jobs.size(); ++at) {
        // An announced job only has a place until the manager shows the job.
        if (present[at] == numbers[at] || !scene.mirror.find(jobs[at]->number)) continue;
        manager::JobChange change{.job = jobs[at]->number};
        if (by_site_factor_) {
          change.site_factor = numbers[at];
        } else {
          change.priority = static_cast<std::uint32_t>(numbers[at]);
        }
        wanted.push_back(
            {at,
             {std::move(change), fmt::format("place {} of {} in {} under {}", at + 1, jobs.size(),
                                             vc, scene.policy.composition.name)}});
      }
    }
    // Jobs that are first in their virtual clusters come first.
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Wanted& a, const Wanted& b) { return a.place < b.place; });
    std::vector<Action> made;
    for (Wanted& each : wanted) made.push_back(std::move(each.action));
    return made;
  }

  std::vector<std::string> warnings() const override {
    if (own_priorities_ == 0) return {};
    return {
        fmt::format("{} waiting jobs have a priority set by an administrator: lever order "
                    "leaves them unchanged",
                    own_priorities_)};
  }

 private:
  std::int64_t number_of(const manager::Job& job) const {
    return by_site_factor_ ? job.site_factor : std::int64_t{job.priority};
  }

  Window window(const OrderSettings& settings) const {
    if (by_site_factor_) return {settings.lowest, settings.highest};
    // 0 holds a job, and the highest number is a word of its own.
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;
    const std::int64_t lowest = std::clamp<std::int64_t>(settings.lowest, 1, kMost);
    return {lowest, std::clamp(settings.highest, lowest, kMost)};
  }

  bool by_site_factor_ = true;
  std::int64_t own_priorities_ = 0;  // of jobs in line, at last look
};

}  // namespace

void register_order(LeverRegistry& registry) {
  registry.add({.name = "order", .priority = 10, .make = [](const LeverParts&) {
                  return std::make_unique<OrderLever>();
                }});
}

}  // namespace almanac::steer::lever
