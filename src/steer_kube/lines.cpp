// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/lines.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "kueue/order.h"
#include "kueue/order_guard.h"

namespace almanac::steer_kube {
namespace {

/// Returns, by queue, why no rank may be given there.
std::vector<std::string> obstacles_of(const kube::Picture& picture, const Settings& settings) {
  const kueue::Setup& setup = picture.objects.setup;
  std::vector<std::string> made = kueue::rank_obstacles(setup, picture.objects.ordered_by_usage);
  for (std::size_t at = 0; at < made.size(); ++at) {
    const std::string& name = setup.queues[at].name;
    if (!made[at].empty()) continue;
    if (!settings.canary.empty() && !settings.canary.contains(name)) {
      made[at] = "it is no canary queue";
    } else if (setup.queues[at].is_strict && !settings.backfill.contains(name)) {
      made[at] = "it is StrictFIFO, and --backfill does not name it";
    }
  }
  return made;
}

/// The priorities, without ranks, of all workloads that wait in a queue.
struct Priorities {
  std::set<std::int64_t> all{};
  std::set<std::int64_t> of_others{};  ///< Of those that Almanac must not order.

  /// Why ranks would mix workloads that must stay apart; "" if they would not.
  std::string too_near(const std::vector<Place>& line) const {
    for (auto above = all.begin(); above != all.end(); ++above) {
      if (above == all.begin()) continue;
      const std::int64_t below = *std::prev(above);
      if (*above - below > kueue::kHighestRank) continue;
      return fmt::format("priorities {} and {} are too near: ranks need a distance of {}", below,
                         *above, kueue::kHighestRank + 1);
    }
    for (const Place& place : line) {
      if (!of_others.contains(place.base)) continue;
      return fmt::format(
          "ranks of priority {} would overtake workloads that are exempt or ranked by another",
          place.base);
    }
    return "";
  }
};

class Liner {
 public:
  Liner(const kube::Picture& picture, const RunTimes& run_times)
      : picture_(picture),
        run_times_(run_times),
        world_(kube::world_of(picture, picture.objects.setup)) {}

  double gpu_time_s(const kube::Workload& workload) const {
    const Duration run = run_times_.expect(workload);
    if (run == kNoDuration || run == kube::Lifetimes::kForever) {
      return std::numeric_limits<double>::infinity();
    }
    return static_cast<double>(std::max<std::int64_t>(1, workload.gpus())) * seconds(run);
  }
  /// Removes workloads that can never start from those that would get a rank.
  void drop_hopeless(std::vector<Place>& line) {
    constexpr auto kMost = static_cast<std::ptrdiff_t>(kueue::kBandEnds.back());
    auto kept = line.begin();
    auto next = line.begin();
    for (; next != line.end() && kept - line.begin() < kMost; ++next) {
      const kube::Workload& workload = picture_.workloads[next->workload];
      const auto resolved = world_.resolve(kube::submission_of(picture_, workload));
      const bool is_hopeless = !resolved || kueue::never_starts(world_, *resolved);
      if (!is_hopeless) *kept++ = *next;
    }
    line.erase(kept, next);
  }
  /// Puts those first that start now, and then the one that the queue waits for.
  void backfill(kueue::QueueAt queue, Line& line) {
    const std::size_t looked = std::min(line.places.size(), kueue::kMostLined);
    std::vector<kueue::Workload> resolved;
    resolved.reserve(looked);
    std::vector<kueue::Waiting> waiting;
    for (const Place& place : std::span(line.places).first(looked)) {
      const kube::Workload& workload = picture_.workloads[place.workload];
      resolved.push_back(world_.resolve(kube::submission_of(picture_, workload)).value());
      const Duration run = run_times_.bound(workload);
      waiting.push_back(
          {&resolved.back(), place.base, run == kube::Lifetimes::kForever ? kNoDuration : run});
    }
    kueue::Front front = kueue::front_of(world_, queue, holding_of(queue), waiting);
    line.bands = std::move(front.bands);
    std::vector<std::size_t> first = std::move(front.first);
    std::vector<Place> ordered;
    for (const std::size_t at : first) ordered.push_back(line.places[at]);
    std::sort(first.begin(), first.end());
    for (std::size_t at = 0; at < line.places.size(); ++at) {
      if (!std::binary_search(first.begin(), first.end(), at)) ordered.push_back(line.places[at]);
    }
    line.places = std::move(ordered);
  }

 private:
  std::vector<kueue::Holding> holding_of(kueue::QueueAt queue) const {
    std::vector<kueue::Holding> made;
    for (const kube::Workload& each : picture_.workloads) {
      if (!each.holds_quota() || picture_.queue_at(picture_.cluster_queue(each)) != queue) continue;
      const Duration age = each.admitted == kNoTime ? Duration{0} : picture_.at - each.admitted;
      const Duration run = run_times_.bound(each);
      const Duration limit = each.limit == kNoDuration ? kNoDuration : each.limit - each.earlier;
      made.push_back({kube::held_quota(world_, picture_, each),
                      run == kube::Lifetimes::kForever
                          ? kNoDuration
                          : kueue::expected_rest(run, limit, std::max(Duration{0}, age))});
    }
    return made;
  }

  const kube::Picture& picture_;
  const RunTimes& run_times_;
  kueue::World world_;
};

}  // namespace

std::optional<Claim> marked_claim(const kube::Workload& workload) {
  const auto& mark = workload.mark;
  if (!mark) return std::nullopt;
  const bool is_boost = mark->field == Field::boost;
  if (is_boost && !workload.boost) return std::nullopt;
  if ((is_boost ? *workload.boost : workload.priority) != mark->value) return std::nullopt;
  return Claim{.name_space = workload.name_space,
               .name = workload.name,
               .field = mark->field,
               .base = mark->base,
               .value = mark->value};
}

Number number_of(const kube::Workload& workload, Field field, const Claim* claim) {
  const bool is_boost = field == Field::boost;
  const std::int64_t now = is_boost ? workload.boost.value_or(0) : workload.priority;
  const auto has_written = [&](const Claim* of) {
    return of != nullptr && of->field == field && of->is_ours(now) &&
           (!is_boost || workload.boost.has_value());
  };
  const std::optional<Claim> marked = has_written(claim) ? std::nullopt : marked_claim(workload);
  if (marked) claim = &*marked;
  const bool is_ours = has_written(claim);
  if (!is_boost) return {.now = now, .base = is_ours ? claim->base : now, .is_foreign = false};
  return {.now = now, .base = 0, .is_foreign = workload.has_boost_text && !is_ours};
}

std::vector<Line> lines_of(const kube::Picture& picture, const RunTimes& run_times,
                           const std::map<std::string, Claim>& claims,
                           const std::set<std::string>& foreign, const Settings& settings) {
  const kueue::Setup& setup = picture.objects.setup;
  std::vector<std::string> obstacles = obstacles_of(picture, settings);
  std::vector<Line> made;
  std::vector<Priorities> priorities(setup.queues.size());
  std::unordered_map<std::string, std::size_t> queue_at;
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    made.push_back({.queue = setup.queues[at].name, .obstacle = std::move(obstacles[at])});
    queue_at.emplace(setup.queues[at].name, at);
  }
  Liner liner(picture, run_times);
  for (std::size_t at = 0; at < picture.workloads.size(); ++at) {
    const kube::Workload& workload = picture.workloads[at];
    if (workload.stage != kube::Stage::pending) continue;
    const auto queue = queue_at.find(picture.cluster_queue(workload));
    if (queue == queue_at.end()) continue;
    const auto known = claims.find(workload.uid);
    const Claim* const claim = known == claims.end() ? nullptr : &known->second;
    const Number number = number_of(workload, settings.field, claim);
    const std::int64_t base = number_of(workload, Field::priority, claim).base;
    const Number boost = number_of(workload, Field::boost, claim);
    // Whether boosts count is known to nobody but Kueue.
    const std::int64_t boosted = boost.is_foreign ? kueue::ranked_priority(base, boost.now) : base;
    Priorities& of_queue = priorities[queue->second];
    of_queue.all.insert({base, boosted});
    const bool is_others = settings.exempt.contains(workload.name_space) ||
                           foreign.contains(workload.uid) || number.is_foreign;
    if (is_others) of_queue.of_others.insert({base, boosted});
    if (is_others || !kube::obstacle_of(picture, workload).empty()) continue;
    made[queue->second].places.push_back({.workload = at,
                                          .base = base,
                                          .rank = number.now - number.base,
                                          .gpu_time_s = liner.gpu_time_s(workload)});
  }
  for (std::size_t queue = 0; queue < made.size(); ++queue) {
    Line& line = made[queue];
    const auto key = [&](const Place& place) {
      const kube::Workload& workload = picture.workloads[place.workload];
      const bool is_old = picture.at - workload.created > settings.age_cap;
      // The index is in order of creation.
      return kueue::OrderKey(place.base, is_old, place.gpu_time_s, place.workload);
    };
    std::sort(line.places.begin(), line.places.end(),
              [&](const Place& a, const Place& b) { return key(a) < key(b); });
    line.is_strict = setup.queues[queue].is_strict && settings.backfill.contains(line.queue);
    if (line.is_strict && line.obstacle.empty()) {
      liner.backfill(static_cast<kueue::QueueAt>(queue), line);
    } else {
      liner.drop_hopeless(line.places);
    }
    if (line.obstacle.empty()) line.obstacle = priorities[queue].too_near(line.places);
  }
  return made;
}

}  // namespace almanac::steer_kube
