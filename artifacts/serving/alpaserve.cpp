// SPDX-License-Identifier: Apache-2.0

#include "serving/alpaserve.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace almanac::serving {
namespace {

constexpr double kOverhead = 0.011;  // s a request
constexpr double kPenalty = 0.009;   // of a latency, a stage
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The groups of a placement with the latencies of what they hold.
class Groups {
 public:
  Groups(const AlpaPlacement& placement, const std::vector<const AlpaModel*>& models)
      : holders_(models.size()) {
    for (std::size_t group = 0; group < placement.size(); ++group) {
      clocks_.emplace_back(static_cast<std::size_t>(placement[group].cut.pp), 0.0);
      models_.push_back(placement[group].models);
      for (const int model : placement[group].models) {
        const auto id = static_cast<std::size_t>(model);
        holders_[id].push_back(group);
        for (const auto& [batch, stages] : models[id]->at(placement[group].cut).latency) {
          auto& made = latency_[{group, model, batch}];
          for (const double each : stages) {
            made.push_back(
                static_cast<float>(each * (1 + kPenalty * static_cast<double>(stages.size()))));
          }
        }
      }
    }
  }

  std::size_t size() const { return clocks_.size(); }
  const std::vector<int>& models(std::size_t group) const { return models_[group]; }
  double first(std::size_t group) const { return clocks_[group].front(); }

  /// The group that holds the model and whose last stage is free first.
  std::optional<std::size_t> choose(int model) const {
    std::optional<std::size_t> best;
    for (const std::size_t group : holders_[static_cast<std::size_t>(model)]) {
      if (!best || clocks_[group].back() < clocks_[*best].back()) best = group;
    }
    return best;
  }

  bool has(std::size_t group, int model, int batch) const {
    return latency_.contains({group, model, batch});
  }

  /// When a batch that comes at `at` leaves each stage.
  std::vector<double> pass(std::size_t group, int model, int batch, double at) const {
    std::vector<double> ends = clocks_[group];
    const auto& latency = latency_.at({group, model, batch});
    for (std::size_t stage = 0; stage < ends.size(); ++stage) {
      at = ends[stage] = std::max(at, ends[stage]) + static_cast<double>(latency[stage]);
    }
    return ends;
  }
  void set(std::size_t group, std::vector<double> clocks) { clocks_[group] = std::move(clocks); }

 private:
  std::vector<std::vector<double>> clocks_;  // when each stage of each group is free
  std::vector<std::vector<int>> models_;
  std::vector<std::vector<std::size_t>> holders_;
  std::map<std::tuple<std::size_t, int, int>, std::vector<float>> latency_;
};

}  // namespace

std::vector<AlpaOutcome> simulate_alpa(const AlpaPlacement& placement,
                                       const std::vector<const AlpaModel*>& models,
                                       const std::vector<AlpaRequest>& requests) {
  Groups groups(placement, models);
  std::vector<AlpaOutcome> made;
  for (const AlpaRequest& each : requests) {
    AlpaOutcome& outcome = made.emplace_back(AlpaOutcome{.finish = each.arrival});
    const auto group = groups.choose(each.model);
    if (!group) continue;
    outcome.group = static_cast<int>(*group);
    auto ends = groups.pass(*group, each.model, 1, each.arrival);
    const double finish = ends.back() + kOverhead;
    if (finish - each.arrival > static_cast<double>(each.slo)) continue;
    outcome.finish = finish;
    outcome.good = true;
    groups.set(*group, std::move(ends));
  }
  return made;
}

namespace {

class BatchedPlay {
 public:
  BatchedPlay(const AlpaPlacement& placement, const std::vector<const AlpaModel*>& models,
              const std::vector<AlpaRequest>& requests)
      : requests_(requests), groups_(placement, models), queues_(models.size()) {}

  std::vector<AlpaOutcome> run() {
    for (const AlpaRequest& each : requests_) made_.push_back({.finish = each.arrival});
    for (std::size_t id = 0; id < requests_.size(); ++id) {
      const AlpaRequest& request = requests_[id];
      free_groups(request.arrival);
      const auto group = groups_.choose(request.model);
      if (!group) continue;
      made_[id].group = static_cast<int>(*group);
      queue(request.model).push_back(id);
      if (groups_.first(*group) <= request.arrival) serve(*group, request.model, request.arrival);
    }
    while (!free_.empty()) free_groups(kInfinity);
    return std::move(made_);
  }

 private:
  using Free = std::pair<double, std::size_t>;  // when, and the group

  std::deque<std::size_t>& queue(int model) { return queues_[static_cast<std::size_t>(model)]; }

  /// Lets groups whose first stage was to be free by `until` take what waits. One for which nothing
  /// waits ends it; one for which only what is too late waits does not.
  void free_groups(double until) {
    while (!free_.empty() && free_.top().first <= until) {
      const auto [now, group] = free_.top();
      free_.pop();
      bool served = false;
      for (bool some_waited = false; !served; some_waited = true) {
        int oldest = -1;
        for (const int model : groups_.models(group)) {
          if (queue(model).empty()) continue;
          if (oldest < 0 || queue(model).front() < queue(oldest).front()) oldest = model;
        }
        if (oldest < 0 && !some_waited) return;
        if (oldest < 0) break;
        served = serve(group, oldest, now);
      }
    }
  }

  /// False = all that waited was too late. As released the overhead comes at the beginning where a
  /// batch runs, and at the end where it is asked whether it is in time.
  bool serve(std::size_t group, int model, double now) {
    auto& waiting = queue(model);
    const auto meets = [&](int batch) {
      const AlpaRequest& oldest = requests_[waiting.front()];
      return groups_.pass(group, model, batch, now).back() + kOverhead - oldest.arrival <=
             static_cast<double>(oldest.slo);
    };
    while (!waiting.empty() && !meets(1)) waiting.pop_front();
    if (waiting.empty()) return false;
    int batch = 1;
    while (static_cast<int>(waiting.size()) >= 2 * batch && groups_.has(group, model, 2 * batch) &&
           meets(2 * batch)) {
      batch *= 2;
    }
    auto ends = groups_.pass(group, model, batch, now + kOverhead);
    for (int each = 0; each < batch; ++each) {
      AlpaOutcome& outcome = made_[waiting.front()];
      outcome.finish = ends.back();
      outcome.good = true;
      outcome.group = static_cast<int>(group);
      waiting.pop_front();
    }
    groups_.set(group, std::move(ends));
    free_.push({groups_.first(group), group});
    return true;
  }

  const std::vector<AlpaRequest>& requests_;
  Groups groups_;
  std::vector<std::deque<std::size_t>> queues_;  // by model
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free_;
  std::vector<AlpaOutcome> made_;
};

}  // namespace

std::vector<AlpaOutcome> simulate_alpa_batched(const AlpaPlacement& placement,
                                               const std::vector<const AlpaModel*>& models,
                                               const std::vector<AlpaRequest>& requests) {
  return BatchedPlay(placement, models, requests).run();
}

}  // namespace almanac::serving
