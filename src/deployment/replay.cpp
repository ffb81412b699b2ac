// SPDX-License-Identifier: Apache-2.0

#include "deployment/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "deployment/pipeline.h"

namespace almanac::deployment {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// What computes a batch at a time: an instance by itself, or those that take turns.
struct Unit {
  std::vector<std::size_t> instances{};
  std::size_t next = 0;  // whose turn it is
  double free_ms = 0;

  /// Position of the instance that computed the last batch.
  std::size_t last() const { return (next + instances.size() - 1) % instances.size(); }
};

class Deployed {
 public:
  Deployed(const PlanningCase& asked, const std::vector<TaskArrival>& arrivals)
      : asked_(asked), arrivals_(arrivals), stages_(asked.services.size()), late_(arrivals.size()) {
    for (std::size_t each = 0; each < asked.services.size(); ++each) {
      if (asked.services[each].after) stages_[*asked.services[each].after].push_back(each);
    }
    requests_.reserve(arrivals.size());
    for (std::size_t each = 0; each < arrivals.size(); ++each) {
      requests_.push_back({.at_ms = arrivals[each].at_ms,
                           .service = arrivals[each].service,
                           .root = each,
                           .key = each});
    }
  }

  DeploymentRun run(const std::vector<Phase>& phases) {
    auto phase = phases.begin();
    const auto change_until = [&](double until_ms) {
      for (; phase != phases.end() && phase->from_ms <= until_ms; ++phase) change(*phase);
    };
    change_until(phase->from_ms);
    for (std::size_t request = 0; request < arrivals_.size(); ++request) {
      change_until(arrivals_[request].at_ms);
      compute_all(arrivals_[request].at_ms);
      deal(request, kAnyVariant, arrivals_[request].at_ms);
    }
    change_until(kNone);
    compute_all(kNone);
    DeploymentRun made{.services = std::vector<DeploymentRun::OfService>(asked_.services.size())};
    for (std::size_t request = 0; request < arrivals_.size(); ++request) {
      auto& service = made.services[arrivals_[request].service];
      ++service.requests;
      service.in_time += !late_[request];
    }
    made.busy_j = busy_j_;
    made.busy_g = busy_g_;
    if (!arrivals_.empty()) made.span_ms = std::max(0.0, last_ms_ - arrivals_.front().at_ms);
    return made;
  }

 private:
  /// A request of a client, or one that an answer made.
  struct Request {
    double at_ms = 0;
    std::size_t service = 0;
    std::size_t root = 0;   // the client's request that led to it
    std::uint64_t key = 0;  // of the random numbers of the requests that its answer makes
    int missing = 0;        // answers: one, or one of each variant that votes
    double done_ms = 0;     // the last answer so far
  };
  using Made = std::pair<double, std::size_t>;  // when, and which request

  static constexpr std::size_t kAnyVariant = std::numeric_limits<std::size_t>::max();

  void change(const Phase& phase) {
    compute_all(phase.from_ms);
    std::map<std::size_t, std::vector<std::size_t>> waiting;  // by request: variants yet to vote
    for (std::size_t each = 0; each < queues_.size(); ++each) {
      const Instance& it = deployment_->instances[each];
      for (const std::size_t request : queues_[each]) {
        auto& variants = waiting[request];
        if (votes(it.service)) variants.push_back(it.variant);
      }
    }
    set_up(phase);
    for (auto& [request, variants] : waiting) {
      const std::size_t service = requests_[request].service;
      requests_[request].missing = 0;
      std::erase_if(variants, [&, service = service](std::size_t variant) {
        return !votes(service) || !runs(service, variant);
      });
      if (variants.empty()) deal(request, kAnyVariant, phase.from_ms);
      for (const std::size_t variant : variants) deal(request, variant, phase.from_ms);
    }
  }

  void set_up(const Phase& phase) {
    const Deployment* const before = std::exchange(deployment_, &phase.running);
    const std::vector<Unit> units_before = std::exchange(units_, {});
    const std::size_t count = phase.running.instances.size();
    queues_.assign(count, {});
    credit_.assign(count, 0);
    ready_ms_ = phase.ready_ms.empty() ? std::vector<double>(count, phase.from_ms) : phase.ready_ms;
    slower_.clear();
    rates_.clear();
    std::map<std::pair<int, int>, std::size_t> parts;
    for (std::size_t each = 0; each < count; ++each) {
      const Instance& it = phase.running.instances[each];
      slower_.push_back(slower_beside(asked_, phase.running, it));
      rates_.push_back(instance_rate(asked_, phase.running, it));
      std::size_t unit = units_.size();
      if (it.part >= 0) unit = parts.try_emplace({it.gpu, it.part}, unit).first->second;
      if (unit == units_.size()) units_.push_back({.free_ms = phase.from_ms});
      units_[unit].instances.push_back(each);
    }
    if (before != nullptr) carry_on(*before, units_before);
  }

  /// Lets each copy that both plans have finish its current batch. Equal copies are paired in
  /// order.
  void carry_on(const Deployment& before, const std::vector<Unit>& units_before) {
    std::vector<const Unit*> computing(before.instances.size(), nullptr);
    for (const Unit& old : units_before) computing[old.instances[old.last()]] = &old;
    std::vector<bool> is_paired(before.instances.size(), false);
    for (Unit& unit : units_) {
      for (std::size_t turn = 0; turn < unit.instances.size(); ++turn) {
        const Instance& it = deployment_->instances[unit.instances[turn]];
        std::size_t old = 0;
        while (old < is_paired.size() &&
               (is_paired[old] || !is_same_copy(before.instances[old], it))) {
          ++old;
        }
        if (old == is_paired.size()) continue;
        is_paired[old] = true;
        if (computing[old] == nullptr || computing[old]->free_ms <= unit.free_ms) continue;
        unit.free_ms = computing[old]->free_ms;
        unit.next = (turn + 1) % unit.instances.size();
      }
    }
  }

  bool runs(std::size_t service, std::size_t variant) const {
    return std::any_of(
        deployment_->instances.begin(), deployment_->instances.end(),
        [&](const Instance& each) { return each.service == service && each.variant == variant; });
  }

  bool votes(std::size_t service) const {
    return service < deployment_->votes.size() && deployment_->votes[service];
  }

  /// Computes all batches that begin before `until_ms`, in the order in which they begin, and deals
  /// the requests that their answers make.
  void compute_all(double until_ms) {
    while (true) {
      double begin_ms = until_ms;
      Unit* first = nullptr;
      for (Unit& unit : units_) {
        const double unit_ms = begins_ms(unit);
        if (unit_ms >= begin_ms) continue;
        begin_ms = unit_ms;
        first = &unit;
      }
      if (!made_.empty() && made_.top().first < until_ms && made_.top().first <= begin_ms) {
        const auto [at_ms, request] = made_.top();
        made_.pop();
        deal(request, kAnyVariant, at_ms);
      } else if (first != nullptr) {
        compute(*first, begin_ms);
      } else {
        return;
      }
    }
  }

  /// Queues a request at an instance of its service; where variants vote, at one of each, or of
  /// `only`.
  void deal(std::size_t request, std::size_t only, double now_ms) {
    const std::size_t service = requests_[request].service;
    std::map<std::size_t, std::vector<std::size_t>> groups;  // by variant, where they vote
    for (std::size_t each = 0; each < deployment_->instances.size(); ++each) {
      const Instance& it = deployment_->instances[each];
      if (it.service != service) continue;
      if (only != kAnyVariant && it.variant != only) continue;
      groups[votes(service) ? it.variant : 0].push_back(each);
    }
    if (groups.empty()) late_[requests_[request].root] = true;
    for (auto& [variant, group] : groups) {
      double first_ms = kNone;
      for (const std::size_t each : group) first_ms = std::min(first_ms, ready_ms_[each]);
      std::erase_if(group,
                    [&](std::size_t each) { return ready_ms_[each] > std::max(first_ms, now_ms); });
      double all = 0;
      for (const std::size_t each : group) all += rates_[each];
      std::size_t most = group.front();
      for (const std::size_t each : group) {
        credit_[each] += rates_[each] / all;
        if (credit_[each] > credit_[most]) most = each;
      }
      credit_[most] -= 1;
      queues_[most].push_back(request);
      ++requests_[request].missing;
    }
  }

  /// When the next batch of a unit begins; never if it has no requests.
  double begins_ms(const Unit& unit) const {
    double first_ms = kNone;
    for (const std::size_t each : unit.instances) {
      if (!queues_[each].empty()) first_ms = std::min(first_ms, begins_ms(each));
    }
    return std::max(unit.free_ms, first_ms);
  }

  /// The batch of the next in turn that has something by then.
  void compute(Unit& unit, double start_ms) {
    std::size_t tried = 0;
    while (!has_by(unit.instances[unit.next], start_ms) && tried++ < unit.instances.size()) {
      unit.next = (unit.next + 1) % unit.instances.size();
    }
    unit.free_ms = start_ms + answer(unit.instances[unit.next], start_ms);
    unit.next = (unit.next + 1) % unit.instances.size();
  }

  bool has_by(std::size_t instance, double at_ms) const {
    return !queues_[instance].empty() && begins_ms(instance) <= at_ms;
  }

  /// When an instance with waiting requests can begin, as far as its own readiness goes.
  double begins_ms(std::size_t instance) const {
    return std::max(requests_[queues_[instance].front()].at_ms, ready_ms_[instance]);
  }

  /// A batch of what has come; how long it takes.
  double answer(std::size_t instance, double start_ms) {
    const Instance& it = deployment_->instances[instance];
    auto& queue = queues_[instance];
    std::vector<std::size_t> batch;
    while (static_cast<int>(batch.size()) < it.batch && has_by(instance, start_ms)) {
      batch.push_back(queue.front());
      queue.pop_front();
    }
    const double takes_ms = slower_[instance] * asked_.variants[it.variant].batch_ms(
                                                    static_cast<int>(batch.size()), it.share);
    const Variant& variant = asked_.variants[it.variant];
    const double joules = variant.busy_w * std::min(it.share, variant.knee) * takes_ms / 1000;
    constexpr double kJoulesOfKwh = 3.6e6;
    busy_j_ += joules;
    busy_g_ += joules / kJoulesOfKwh * grams_at(asked_.fleet, start_ms);
    last_ms_ = std::max(last_ms_, start_ms + takes_ms);
    constexpr double kAlmost = 1 + 1e-9;
    for (const std::size_t each : batch) {
      Request& request = requests_[each];
      const double took = start_ms + takes_ms - requests_[request.root].at_ms;
      if (took > asked_.services[it.service].slo_ms * kAlmost) late_[request.root] = true;
      request.done_ms = std::max(request.done_ms, start_ms + takes_ms);
      if (--request.missing == 0) send_on(each);
    }
    return takes_ms;
  }

  /// Makes the requests of the stages after an answer. Their numbers do not depend on the plan.
  void send_on(std::size_t answered) {
    const Request from = requests_[answered];
    for (const std::size_t stage : stages_[from.service]) {
      Rng rng(asked_.seed ^ from.key, stage);
      const double whole = std::floor(asked_.services[stage].per_answer);
      const bool more = rng.uniform() < asked_.services[stage].per_answer - whole;
      const auto count = static_cast<std::size_t>(whole) + (more ? 1 : 0);
      for (std::size_t nth = 0; nth < count; ++nth) {
        made_.emplace(from.done_ms, requests_.size());
        requests_.push_back(
            {.at_ms = from.done_ms, .service = stage, .root = from.root, .key = rng.next()});
      }
    }
  }

  const PlanningCase& asked_;
  const std::vector<TaskArrival>& arrivals_;
  std::vector<Request> requests_;                 // those of clients first
  std::vector<std::vector<std::size_t>> stages_;  // by service: those that its answers feed
  std::priority_queue<Made, std::vector<Made>, std::greater<>> made_;  // not yet dealt
  const Deployment* deployment_ = nullptr;                             // of the phase
  std::vector<std::deque<std::size_t>> queues_;                        // by instance
  std::vector<double> credit_, slower_, rates_, ready_ms_;             // by instance
  std::vector<Unit> units_;
  std::vector<bool> late_;
  double busy_j_ = 0, busy_g_ = 0, last_ms_ = 0;
};

}  // namespace

double DeploymentRun::in_time(std::size_t service) const {
  const OfService& of = services[service];
  return of.requests == 0 ? 1 : static_cast<double>(of.in_time) / static_cast<double>(of.requests);
}

double DeploymentRun::worst() const {
  double least = 1;
  for (std::size_t each = 0; each < services.size(); ++each) least = std::min(least, in_time(each));
  return least;
}

bool is_same_copy(const Instance& one, const Instance& other) {
  return one.gpu == other.gpu && one.service == other.service && one.variant == other.variant &&
         std::abs(one.share - other.share) < 1e-9;
}

DeploymentRun play_phases(const PlanningCase& asked, const std::vector<Phase>& phases,
                          const std::vector<TaskArrival>& arrivals) {
  return Deployed(asked, arrivals).run(phases);
}

DeploymentRun play_deployment(const PlanningCase& asked, const Deployment& deployment,
                              const std::vector<TaskArrival>& arrivals) {
  return play_phases(asked, {{.running = deployment}}, arrivals);
}

namespace {

Result<Replayed> replay(const PlannerChoice& planner, const PlanningCase& asked,
                        const std::vector<TaskArrival>& arrivals,
                        const std::vector<double>& factors) {
  PlanningCase busier = asked;
  for (std::size_t each = 0; each < factors.size(); ++each) {
    TaskService& service = busier.services[each];
    service.rate *= factors[each];
    for (double& rate : service.rates) rate *= factors[each];
  }
  set_stage_rates(busier.services);
  auto plan = plan_with(planner, busier);
  if (!plan) return tl::unexpected(plan.error());
  Replayed made{.rates = *std::max_element(factors.begin(), factors.end()),
                .plan = *std::move(plan)};
  made.run = play_deployment(asked, made.plan, arrivals);
  return made;
}

}  // namespace

Result<Replayed> plan_and_replay(const PlannerChoice& planner, const PlanningCase& asked,
                                 const std::vector<TaskArrival>& arrivals) {
  return replay(planner, asked, arrivals, std::vector<double>(asked.services.size(), 1));
}

Result<Replayed> plan_in_time(const PlannerChoice& planner, const PlanningCase& asked,
                              const std::vector<TaskArrival>& arrivals, double share) {
  constexpr int kMostTenths = 40;
  std::vector<int> tenths(asked.services.size(), 10);
  double best = 0;
  std::string why;
  while (true) {
    std::vector<double> factors;
    for (const int each : tenths) factors.push_back(each / 10.0);
    auto tried = replay(planner, asked, arrivals, factors);
    if (!tried) {
      const int most = *std::max_element(tenths.begin(), tenths.end());
      if (most == 10) return tried;
      why = fmt::format("; for {:.1f} times the rates: {}", most / 10.0, tried.error().message);
      break;
    }
    if (tried->run.worst() >= share) return tried;
    best = std::max(best, tried->run.worst());
    bool is_too_much = false;
    for (std::size_t each = 0; each < tenths.size(); ++each) {
      if (tried->run.in_time(each) >= share) continue;
      is_too_much = is_too_much || ++tenths[each] > kMostTenths;
    }
    if (is_too_much) break;
  }
  return fail(Code::unavailable,
              fmt::format("no plan serves {:.4g} % of the requests in time, the best {:.1f} %{}",
                          100 * share, 100 * best, why),
              {}, "use more GPUs, a longer objective or a smaller --share");
}

}  // namespace almanac::deployment
