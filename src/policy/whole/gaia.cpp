// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs wait once, for a good hour to start, and then run to their end. A signal of the host gives
/// the price of power or its carbon intensity. When a job arrives, its candidates are the starts
/// each hour from then on that it can wait for. By the sum of the signal over its estimated run
/// time, `start` takes
///
///   window     the candidate with the least sum;
///   saving     the one that saves most, compared with a start at once, for each second until the
///              job ends (Carbon-Time).
///
/// A job can wait for `wait_s`, and no longer than its deadline allows. Jobs that may run get GPUs
/// in order of arrival, and none passes another. Until a day of the signal is known, and without a
/// signal, jobs start at once.
///
/// With `buys`, it also chooses the contract under which a job runs. A GPU type is reserved if
/// there is a signal `reserved/TYPE`, spot if its name ends with "-spot", and on demand otherwise.
///
///   reserved   A job starts on reserved GPUs as soon as they have room for all of it, even before
///              its hour. Otherwise it starts on demand in its hour.
///   spot       Jobs that lose little with a node run on spot GPUs in their hour, and never on
///              reserved ones. All others run as with `reserved`.
///
/// A job loses little if its estimated run time, or its checkpoint interval if that is shorter, is
/// at most `spot_s`, and if it can lose that much once and still meet its deadline. No job passes
/// another one that waits for the same GPU types. A job that accepts none of the types of its
/// contract runs on those that it accepts.
///
/// Source   Hanafy et al., ASPLOS'24 (GAIA), section 4: Lowest-Window, Carbon-Time, RES-First and
///          Spot-First (4.3).
/// Differs  GAIA looks one day ahead. A policy gets no forecast, so this one uses the past day. If
///          all days are equal, both decide the same. GAIA's on-demand and spot capacity has no
///          end, and only the length of a job decides about spot: checkpoints and deadlines are
///          ours.
/// Cost     O(n) per decision with n jobs; O(w h) for an arrival, with w hours of waiting and h
///          changes of the signal in a day
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "policy/kit/allocator.h"
#include "policy/kit/past_signal.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

constexpr std::uint64_t kAnyType = ~std::uint64_t{0};

class Gaia final : public Allocator {
 public:
  Gaia(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
       const Parameters& told)
      : Allocator(std::move(placement), std::move(estimator)),
        by_saving_(told.word("start") == "saving"),
        wait_(told.duration("wait_s")),
        buys_(told.word("buys")),
        spot_(told.duration("spot_s")),
        signal_(static_cast<std::uint32_t>(told.whole("signal") - 1)),
        past_(told.duration("day_s")) {}

 private:
  void signalled(const Event& event, const View& view) override {
    if (event.subject == signal_) past_.hear(view.now, event.value);
  }
  bool rests(JobId job) const override { return resting_.contains(job); }
  ReasonKind rests_for() const override { return ReasonKind::awaits_signal; }
  void left(JobId job, const View& view) override {
    resting_.erase(job);
    // A job whose node failed has waited and goes on at once.
    const Phase phase = view.progress(job).phase;
    if (phase != Phase::running && phase != Phase::waiting) starts_.erase(job);
  }

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    if (buys_ != "any") return allocate_by_contract(vc, jobs, view, plan, wishes);
    const auto runs = [&](JobId job) { return view.progress(job).phase == Phase::running; };
    Time next = kNever;
    std::vector<JobId> line;
    for (const JobId job : jobs) {
      const Time start = start_of(job, view);
      const bool may_run = runs(job) || start <= view.now;
      if (may_run) {
        resting_.erase(job);
        line.push_back(job);
      } else {
        resting_.insert(job);
        next = std::min(next, start);
      }
    }
    if (next != kNever) plan.wake(next);
    std::stable_partition(line.begin(), line.end(), runs);
    std::vector<Stock> left = stock(vc, plan.ledger);
    for (const JobId job : line) {
      if (!take(left, job, view) && !runs(job)) break;
      wishes.push_back({.job = job});
    }
  }

  /// Bits of the GPU types of each contract.
  struct Contracts {
    std::uint64_t reserved = 0;
    std::uint64_t spot = 0;
    std::uint64_t on_demand = 0;
  };

  static Contracts contracts_of(const View& view) {
    Contracts made;
    std::uint64_t bit = 1;
    for (const std::string& type : view.cluster.gpu_types()) {
      const bool is_reserved =
          std::any_of(view.signals.begin(), view.signals.end(),
                      [&](const Signal& signal) { return signal.name == "reserved/" + type; });
      (is_reserved ? made.reserved : type.ends_with("-spot") ? made.spot : made.on_demand) |= bit;
      bit <<= 1;
    }
    return made;
  }

  void allocate_by_contract(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                            std::vector<Wish>& wishes) {
    const Contracts contracts = contracts_of(view);
    std::vector<Stock> left = stock(vc, plan.ledger);
    for (const JobId job : jobs) {
      if (view.progress(job).phase != Phase::running) continue;
      take(left, job, view);
      wishes.push_back({.job = job});
    }
    Time next = kNever;
    std::uint64_t awaited = 0;  // types for which a job waits whose hour has come
    for (const JobId job : jobs) {
      if (view.progress(job).phase == Phase::running) continue;
      const Time start = start_of(job, view);
      const bool is_due = start <= view.now;
      const std::uint64_t may_have = types_for(job, is_due, contracts, view);
      const cluster::Demand& demand = asked(job, view);
      const std::uint64_t type =
          demand.is_cpu_job() ? (is_due ? kAnyType : 0)
                              : take_one(left, demand, may_have & ~awaited, contracts.reserved);
      if (type != 0) {
        resting_.erase(job);
        wishes.push_back({.job = job, .gpu_types = type});
      } else if (is_due) {
        resting_.erase(job);
        awaited |= may_have;
      } else {
        resting_.insert(job);
        next = std::min(next, start);
      }
    }
    if (next != kNever) plan.wake(next);
  }

  /// Returns the GPU types on which a job may start now.
  std::uint64_t types_for(JobId job, bool is_due, const Contracts& contracts,
                          const View& view) const {
    const std::uint64_t accepted = asked(job, view).gpu_types;
    if (buys_ == "spot" && (accepted & contracts.spot) != 0 && loses_little(job, view)) {
      return is_due ? accepted & contracts.spot : 0;
    }
    const std::uint64_t reserved = accepted & contracts.reserved;
    if (!is_due) return reserved;
    const std::uint64_t safe = reserved | (accepted & contracts.on_demand);
    return safe != 0 ? safe : accepted;
  }

  bool loses_little(JobId job, const View& view) const {
    const trace::Request& request = view.request(job);
    const Duration length = work_left(job, view);
    Duration lost = length;
    if (request.checkpoint_s > 0) {
      lost = std::min(lost, Duration{std::llround(double{request.checkpoint_s} * 1e3)});
    }
    if (lost > spot_) return false;
    const Duration restart = std::isnan(request.restart_s)
                                 ? view.restart.of(request.gpus)
                                 : Duration{std::llround(double{request.restart_s} * 1e3)};
    const Duration again = lost + restart;
    return request.deadline == kNoTime || view.now + length + again <= request.deadline;
  }

  /// Takes what a job requests of one type among `types`: of `first`, if these have room, otherwise
  /// of the type with most left. Returns the type; 0 = changed nothing.
  static std::uint64_t take_one(std::vector<Stock>& left, const cluster::Demand& demand,
                                std::uint64_t types, std::uint64_t first) {
    const std::int64_t milli = std::int64_t{demand.gpus} * demand.gpu_milli;
    Stock* best = nullptr;
    for (Stock& each : left) {
      if ((each.gpu_type & types) == 0 || each.milli < milli) continue;
      const bool is_first = (each.gpu_type & first) != 0;
      const bool best_is_first = best != nullptr && (best->gpu_type & first) != 0;
      if (best != nullptr && is_first < best_is_first) continue;
      if (best == nullptr || is_first > best_is_first || each.milli > best->milli) best = &each;
    }
    if (best == nullptr) return 0;
    best->milli -= milli;
    return best->gpu_type;
  }

  Time start_of(JobId job, const View& view) {
    const auto known = starts_.find(job);
    if (known != starts_.end()) return known->second;
    return starts_.emplace(job, best_start(job, view)).first->second;
  }

  Time best_start(JobId job, const View& view) const {
    if (!past_.knows_day(view.now) || view.progress(job).phase == Phase::running) return view.now;
    const Duration length = std::max(Duration{1}, work_left(job, view));
    Time latest = std::max(view.now, view.request(job).submit + wait_);
    if (const Time deadline = view.request(job).deadline; deadline != kNoTime) {
      latest = std::min(latest, deadline - length);
    }
    const auto sum = [&](Time at) {
      return past_.expect(at, at + length, view.now) * seconds(length);
    };
    const double at_once = sum(view.now);
    double best = 0;
    Time start = view.now;
    for (Time at = view.now + 1h; at <= latest; at += 1h) {
      const double saved = at_once - sum(at);
      const double score = by_saving_ ? saved / seconds(at + length - view.now) : saved;
      if (score <= best) continue;
      best = score;
      start = at;
    }
    return start;
  }

  bool by_saving_;
  Duration wait_;
  std::string buys_;
  Duration spot_;  // longest work that a job on spot GPUs may lose
  std::uint32_t signal_;
  PastSignal past_;
  std::map<JobId, Time> starts_;
  std::set<JobId> resting_;
};

}  // namespace

void register_gaia(Registry& registry) {
  registry.wholes.add(
      {.name = "gaia",
       .summary = "jobs wait for the hour in which their run costs least money or carbon",
       .source = "Hanafy et al. ASPLOS'24 (GAIA)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_signals, Trait::keeps_line}},
       .parameters = {word("start", "which hour a job waits for", {"window", "saving"}),
                      number("day_s", "length of the past that stands for the time ahead", 86'400,
                             1, 1e9),
                      number("wait_s", "longest wait for an hour", 86'400, 0, 1e9),
                      whole_number("signal", "number of the signal, in the order of the input", 1,
                                   1, 1000),
                      word("buys", "contracts that it chooses between for each job",
                           {"any", "reserved", "spot"}),
                      number("spot_s", "most work that a job on spot GPUs may lose, with buys=spot",
                             7200, 0, 1e9)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Gaia>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
