// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/lines.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "kueue/order_guard.h"
#include "kueue/quota_tree.h"
#include "kueue/shortage.h"
#include "steer_kube/ranks.h"

namespace almanac::steer_kube {
namespace {

/// A queue of the tree of `queue` that is no canary; "" = there is none.
std::string stranger_in_tree(const kueue::Setup& setup, const kueue::QuotaTree& tree,
                             std::size_t queue, const std::set<std::string>& canary) {
  const auto root = tree.root(static_cast<kueue::NodeAt>(queue));
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    const std::string& name = setup.queues[at].name;
    if (tree.root(static_cast<kueue::NodeAt>(at)) == root && !canary.contains(name)) return name;
  }
  return "";
}

/// Returns, by queue, why no rank may be given there.
std::vector<std::string> obstacles_of(const kube::Picture& picture, const Settings& settings) {
  const kueue::Setup& setup = picture.objects.setup;
  std::vector<std::string> made = kueue::unsafe_orders(setup);
  const kueue::QuotaTree tree(setup);
  for (std::size_t at = 0; at < made.size(); ++at) {
    const std::string& name = setup.queues[at].name;
    if (!made[at].empty()) {
      made[at] = "a rank could evict running workloads: " + made[at];
      continue;
    }
    const std::string scope = fmt::format("ClusterQueue {}: admissionScope", name);
    for (const std::string& note : picture.objects.not_modelled) {
      if (note.starts_with(scope)) made[at] = "usage-based sharing comes before priorities";
    }
    if (!made[at].empty() || settings.canary.empty()) continue;
    if (!settings.canary.contains(name)) {
      made[at] = "it is no canary queue";
    } else if (const std::string other = stranger_in_tree(setup, tree, at, settings.canary);
               !other.empty()) {
      made[at] =
          fmt::format("a canary queue may share no cohort with others, as it does with {}", other);
    }
  }
  return made;
}

/// Ranks of one priority must not reach the next.
std::string too_near(const std::vector<Place>& line) {
  for (std::size_t at = 1; at < line.size(); ++at) {
    const std::int64_t above = line[at - 1].base;
    const std::int64_t below = line[at].base;
    if (above != below && above - below <= kHighestRank) {
      return fmt::format("priorities {} and {} are too near: ranks need a distance of {}", below,
                         above, kHighestRank + 1);
    }
  }
  return "";
}

class Liner {
 public:
  Liner(const kube::Picture& picture, const kube::Lifetimes& lifetimes)
      : picture_(picture),
        lifetimes_(lifetimes),
        world_(kube::world_of(picture, picture.objects.setup)) {}

  double gpu_time_s(const kube::Workload& workload) const {
    const Duration run = lifetimes_.expect(workload);
    if (run == kNoDuration || run == kube::Lifetimes::kForever) {
      return std::numeric_limits<double>::infinity();
    }
    return static_cast<double>(std::max<std::int64_t>(1, workload.gpus())) * seconds(run);
  }
  /// Removes workloads that can never start from those that would get a rank.
  void drop_hopeless(std::vector<Place>& line) {
    const std::size_t most = kBandEnds.back();
    for (std::size_t at = 0; at < std::min(most, line.size());) {
      const kube::Workload& workload = picture_.workloads[line[at].workload];
      const auto resolved = world_.resolve(kube::submission_of(picture_, workload));
      const bool is_hopeless = !resolved || never_starts(*resolved);
      if (is_hopeless) {
        line.erase(line.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        ++at;
      }
    }
  }

 private:
  bool never_starts(const kueue::Workload& workload) {
    const auto shortages = kueue::shortages_of(world_, workload);
    return !shortages.empty() &&
           std::all_of(shortages.begin(), shortages.end(),
                       [](const kueue::Shortage& of) { return of.is_for_ever(); });
  }

  const kube::Picture& picture_;
  const kube::Lifetimes& lifetimes_;
  kueue::World world_;
};

}  // namespace

Number number_of(const kube::Workload& workload, Field field, const Claim* claim) {
  if (claim != nullptr && claim->field != field) claim = nullptr;
  if (field == Field::boost) {
    const bool is_there = !workload.boost_text.empty();
    const std::int64_t now = workload.boost.value_or(0);
    const bool is_ours = claim != nullptr && workload.boost && claim->is_ours(now);
    return {.now = now, .base = 0, .is_foreign = is_there && !is_ours};
  }
  const std::int64_t now = workload.priority;
  const bool is_ours = claim != nullptr && claim->is_ours(now);
  return {.now = now, .base = is_ours ? claim->base : now, .is_foreign = false};
}

std::vector<Line> lines_of(const kube::Picture& picture, const kube::Lifetimes& lifetimes,
                           const std::map<std::string, Claim>& claims,
                           const std::set<std::string>& foreign, const Settings& settings) {
  const kueue::Setup& setup = picture.objects.setup;
  std::vector<std::string> obstacles = obstacles_of(picture, settings);
  std::vector<Line> made;
  std::unordered_map<std::string, std::size_t> queue_at;
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    made.push_back({.queue = setup.queues[at].name, .obstacle = std::move(obstacles[at])});
    queue_at.emplace(setup.queues[at].name, at);
  }
  Liner liner(picture, lifetimes);
  for (std::size_t at = 0; at < picture.workloads.size(); ++at) {
    const kube::Workload& workload = picture.workloads[at];
    if (workload.stage != kube::Stage::pending || settings.exempt.contains(workload.name_space)) {
      continue;
    }
    const auto queue = queue_at.find(picture.cluster_queue(workload));
    if (queue == queue_at.end() || foreign.contains(workload.uid)) continue;
    if (!kube::obstacle_of(picture, workload).empty()) continue;
    const auto claim = claims.find(workload.uid);
    const Number number =
        number_of(workload, settings.field, claim == claims.end() ? nullptr : &claim->second);
    if (number.is_foreign) continue;
    const bool is_boost = settings.field == Field::boost;
    made[queue->second].places.push_back({.workload = at,
                                          .base = is_boost ? workload.priority : number.base,
                                          .rank = number.now - number.base,
                                          .gpu_time_s = liner.gpu_time_s(workload)});
  }
  for (Line& line : made) {
    const auto key = [&](const Place& place) {
      const kube::Workload& workload = picture.workloads[place.workload];
      const bool is_old = picture.at - workload.created > settings.age_cap;
      // Old ones go by age, as do those of equal GPU time. The index is in order of creation.
      return std::tuple(-place.base, is_old ? 0 : 1, is_old ? 0.0 : place.gpu_time_s,
                        place.workload);
    };
    std::sort(line.places.begin(), line.places.end(),
              [&](const Place& a, const Place& b) { return key(a) < key(b); });
    liner.drop_hopeless(line.places);
    if (line.obstacle.empty()) line.obstacle = too_near(line.places);
  }
  return made;
}

}  // namespace almanac::steer_kube
