// SPDX-License-Identifier: Apache-2.0

#include "deployment/replay.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace almanac::deployment {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// What computes a batch at a time: an instance by itself, or those that take turns.
struct Unit {
  std::vector<std::size_t> instances{};
  std::size_t next = 0;  // whose turn it is
  double free_ms = 0;
};

class Deployed {
 public:
  Deployed(const PlanningCase& asked, const Deployment& deployment,
           const std::vector<TaskArrival>& arrivals)
      : asked_(asked),
        deployment_(deployment),
        arrivals_(arrivals),
        queues_(deployment.instances.size()),
        credit_(deployment.instances.size()),
        late_(arrivals.size()) {
    std::map<std::pair<int, int>, std::size_t> parts;
    for (std::size_t each = 0; each < deployment.instances.size(); ++each) {
      const Instance& it = deployment.instances[each];
      slower_.push_back(slower_beside(asked, deployment, it));
      rates_.push_back(instance_rate(asked, deployment, it));
      std::size_t unit = units_.size();
      if (it.part >= 0) unit = parts.try_emplace({it.gpu, it.part}, unit).first->second;
      if (unit == units_.size()) units_.emplace_back();
      units_[unit].instances.push_back(each);
    }
  }

  DeploymentRun run() {
    for (std::size_t request = 0; request < arrivals_.size(); ++request) {
      for (std::size_t unit = 0; unit < units_.size(); ++unit) {
        compute(units_[unit], arrivals_[request].at_ms);
      }
      deal(request);
    }
    for (Unit& unit : units_) compute(unit, kNone);
    DeploymentRun made{.services = std::vector<DeploymentRun::OfService>(asked_.services.size())};
    for (std::size_t request = 0; request < arrivals_.size(); ++request) {
      auto& service = made.services[arrivals_[request].service];
      ++service.requests;
      service.in_time += !late_[request];
    }
    return made;
  }

 private:
  /// To one instance of its service, or of each variant that votes.
  void deal(std::size_t request) {
    const std::size_t service = arrivals_[request].service;
    const bool votes = service < deployment_.votes.size() && deployment_.votes[service];
    std::map<std::size_t, std::vector<std::size_t>> groups;  // by variant, where they vote
    for (std::size_t each = 0; each < deployment_.instances.size(); ++each) {
      const Instance& it = deployment_.instances[each];
      if (it.service == service) groups[votes ? it.variant : 0].push_back(each);
    }
    if (groups.empty()) late_[request] = true;
    for (const auto& [variant, group] : groups) {
      double all = 0;
      for (const std::size_t each : group) all += rates_[each];
      std::size_t most = group.front();
      for (const std::size_t each : group) {
        credit_[each] += rates_[each] / all;
        if (credit_[each] > credit_[most]) most = each;
      }
      credit_[most] -= 1;
      queues_[most].push_back(request);
    }
  }

  /// All batches that begin before `until_ms`.
  void compute(Unit& unit, double until_ms) {
    while (true) {
      double first = kNone;
      for (const std::size_t each : unit.instances) {
        if (!queues_[each].empty()) {
          first = std::min(first, arrivals_[queues_[each].front()].at_ms);
        }
      }
      const double start = std::max(unit.free_ms, first);
      if (start >= until_ms || first == kNone) return;
      // The next in turn that has something by then.
      std::size_t tried = 0;
      while (!has_by(unit.instances[unit.next], start) && tried++ < unit.instances.size()) {
        unit.next = (unit.next + 1) % unit.instances.size();
      }
      unit.free_ms = start + answer(unit.instances[unit.next], start);
      unit.next = (unit.next + 1) % unit.instances.size();
    }
  }

  bool has_by(std::size_t instance, double at_ms) const {
    const auto& queue = queues_[instance];
    return !queue.empty() && arrivals_[queue.front()].at_ms <= at_ms;
  }

  /// A batch of what has come; how long it takes.
  double answer(std::size_t instance, double start_ms) {
    const Instance& it = deployment_.instances[instance];
    auto& queue = queues_[instance];
    std::vector<std::size_t> batch;
    while (static_cast<int>(batch.size()) < it.batch && has_by(instance, start_ms)) {
      batch.push_back(queue.front());
      queue.pop_front();
    }
    const double takes_ms = slower_[instance] * asked_.variants[it.variant].batch_ms(
                                                    static_cast<int>(batch.size()), it.share);
    constexpr double kAlmost = 1 + 1e-9;
    for (const std::size_t each : batch) {
      const double took = start_ms + takes_ms - arrivals_[each].at_ms;
      if (took > asked_.services[it.service].slo_ms * kAlmost) late_[each] = true;
    }
    return takes_ms;
  }

  const PlanningCase& asked_;
  const Deployment& deployment_;
  const std::vector<TaskArrival>& arrivals_;
  std::vector<std::deque<std::size_t>> queues_;  // by instance
  std::vector<double> credit_, slower_, rates_;  // by instance
  std::vector<Unit> units_;
  std::vector<bool> late_;
};

}  // namespace

double DeploymentRun::worst() const {
  double least = 1;
  for (const OfService& each : services) {
    if (each.requests == 0) continue;
    least = std::min(least, static_cast<double>(each.in_time) / static_cast<double>(each.requests));
  }
  return least;
}

DeploymentRun play_deployment(const PlanningCase& asked, const Deployment& deployment,
                              const std::vector<TaskArrival>& arrivals) {
  return Deployed(asked, deployment, arrivals).run();
}

namespace {

Result<Replayed> replay(const PlannerChoice& planner, const PlanningCase& asked,
                        const std::vector<TaskArrival>& arrivals, double rates) {
  PlanningCase busier = asked;
  for (TaskService& each : busier.services) {
    each.rate *= rates;
    for (double& rate : each.rates) rate *= rates;
  }
  auto plan = planner.plan(busier);
  if (!plan) return tl::unexpected(plan.error());
  Replayed made{.rates = rates, .plan = *std::move(plan)};
  made.run = play_deployment(asked, made.plan, arrivals);
  return made;
}

}  // namespace

Result<Replayed> plan_and_replay(const PlannerChoice& planner, const PlanningCase& asked,
                                 const std::vector<TaskArrival>& arrivals) {
  return replay(planner, asked, arrivals, 1);
}

Result<Replayed> plan_in_time(const PlannerChoice& planner, const PlanningCase& asked,
                              const std::vector<TaskArrival>& arrivals, double share) {
  constexpr int kMostTenths = 40;
  double best = 0;
  std::string why;
  for (int tenths = 10; tenths <= kMostTenths; ++tenths) {
    auto tried = replay(planner, asked, arrivals, tenths / 10.0);
    if (!tried) {
      if (tenths == 10) return tried;
      why = fmt::format("; for {:.1f} times the rates: {}", tenths / 10.0, tried.error().message);
      break;
    }
    if (tried->run.worst() >= share) return tried;
    best = std::max(best, tried->run.worst());
  }
  return fail(Code::unavailable,
              fmt::format("no plan serves {:.4g} % of the requests in time, the best {:.1f} %{}",
                          100 * share, 100 * best, why),
              {}, "use more GPUs, a longer objective or a smaller --share");
}

}  // namespace almanac::deployment
