// SPDX-License-Identifier: Apache-2.0
#include "gavel/engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "gavel/mersenne.h"

namespace almanac::gavel {
namespace {

constexpr int kMostFailures = 5;
/// What a job that received nothing has for its share is divided by.
constexpr double kNothing = 1e-9;
constexpr std::uint32_t kShuffleSeed = 5;

struct Live {
  Job job;
  double done = 0;
  int failures = 0;
  double run_s = 0;
  int first_round = 0;
  double active_before = 0;  ///< Sum over rounds of the jobs there were, until it came.
  double left() const { return job.steps - done; }
};

/// A job, or two that may share GPUs, in the ledger.
struct Unit {
  int one = 0;
  std::optional<int> other{};
  int gpus = 1;
  std::vector<double> received{};
  std::vector<double> deficit{};
  std::vector<double> part{};
  bool allocated = false;
};

struct Chosen {
  std::size_t unit = 0;
  std::size_t type = 0;
  std::vector<int> gpus{};
};

struct Running {
  std::size_t at = 0;  // in the ledger
  Unit unit;
  std::size_t type = 0;
  std::vector<double> steps{};
  double lost_s = 0;
  double finish_s = 0;
};

class Engine {
 public:
  Engine(const Cluster& cluster, const Speeds& speeds, const std::vector<Job>& jobs, Rule& rule,
         const Settings& settings, Training* training)
      : cluster_(cluster),
        speeds_(speeds),
        jobs_(jobs),
        rule_(rule),
        settings_(settings),
        training_(training),
        shuffler_(settings.seed + kShuffleSeed),
        total_(cluster.types.size(), 0.0) {
    for (const Job& job : jobs) {
      measured_left_ += is_measured(job.number) ? 1 : 0;
    }
  }

  Course play() {
    while (measured_left_ > 0) {
      const bool none_ran = running_.empty();
      const bool arrivals_left = next_ < jobs_.size();
      if (none_ran && !arrivals_left && idle_before_) break;  // nothing will ever run again
      idle_before_ = none_ran;
      if (!none_ran) {
        for (const Running& each : running_) now_s_ = std::max(now_s_, each.finish_s);
      } else if (arrivals_left) {
        // Fault: waiting jobs wait for the next arrival when none of them ran.
        now_s_ = std::max(now_s_, jobs_[next_].arrival_s);
      }
      // Fault: after a time in which nothing ran, the next round began with that time.
      for (const Running& each : running_) account(each, round_start_s_);
      strike_out();
      if (!none_ran) round_start_s_ = now_s_;
      running_.clear();
      if (training_ != nullptr) {
        for (const auto& [number, live] : live_) {
          training_->round_over(number, {live.job.kind, live.job.steps, live.done});
        }
      }
      while (next_ < jobs_.size() && jobs_[next_].arrival_s <= now_s_) arrive(jobs_[next_++]);
      if (none_ran && !arrivals_left) reset_s_ = 0;
      const bool is_due = now_s_ - reset_s_ >= settings_.reset_s || reset_s_ == 0;
      if (rule_.decides_rounds() || (changed_ && is_due)) allocate();
      start(choose());
    }
    course_.end_s = now_s_;
    const int gpus = std::accumulate(cluster_.gpus.begin(), cluster_.gpus.end(), 0);
    course_.utilisation = busy_s_ / (gpus * now_s_);
    std::sort(course_.ended.begin(), course_.ended.end(),
              [](const Ended& a, const Ended& b) { return a.number < b.number; });
    return std::move(course_);
  }

 private:
  std::size_t types() const { return cluster_.types.size(); }
  bool is_measured(int number) const {
    return number >= settings_.measured_from && number < settings_.measured_until;
  }

  void add_unit(int one, std::optional<int> other, int gpus) {
    units_.push_back({.one = one,
                      .other = other,
                      .gpus = gpus,
                      .received = std::vector<double>(types(), other ? 0 : settings_.round_s / 2),
                      .deficit = std::vector<double>(types(), 0.0),
                      .part = std::vector<double>(types(), 0.0)});
  }

  void arrive(const Job& job) {
    add_unit(job.number, std::nullopt, job.gpus);
    if (rule_.pairs()) {
      for (const auto& [number, other] : live_) {
        if (other.job.gpus == job.gpus) add_unit(number, job.number, job.gpus);
      }
    }
    live_.emplace(job.number,
                  Live{.job = job, .first_round = course_.rounds, .active_before = active_});
    changed_ = true;
  }

  void leave(int number, double at_s) {
    const Live& live = live_.at(number);
    const int rounds = course_.rounds - live.first_round;
    course_.ended.push_back({number, live.job.arrival_s, at_s - live.job.arrival_s,
                             rounds > 0 ? (active_ - live.active_before) / rounds : 0});
    measured_left_ -= is_measured(number) ? 1 : 0;
    live_.erase(number);
    changed_ = true;
  }

  /// Takes those that left out of the ledger.
  void strike_out() {
    const auto is_gone = [&](const Unit& unit) {
      return live_.count(unit.one) == 0 || (unit.other && live_.count(*unit.other) == 0);
    };
    if (changed_) units_.erase(std::remove_if(units_.begin(), units_.end(), is_gone), units_.end());
  }

  std::vector<double> rates(const Unit& unit, std::size_t type) const {
    const std::size_t kind = live_.at(unit.one).job.kind;
    if (!unit.other) return {speeds_.alone[kind][type]};
    const auto both = speeds_.beside(type, kind, live_.at(*unit.other).job.kind);
    return {both.begin(), both.end()};
  }

  static std::vector<int> members(const Unit& unit) {
    if (!unit.other) return {unit.one};
    return {unit.one, *unit.other};
  }

  void account(const Running& run, double round_start_s) {
    const double time_s = run.finish_s - round_start_s - run.lost_s;
    // Fault: what rounds to no step on one of its GPUs, or takes no time, counts as a failure.
    bool no_steps = false;
    for (const double steps : run.steps) {
      no_steps =
          no_steps || steps <= 0 || (run.unit.gpus > 1 && std::floor(steps / run.unit.gpus) <= 0);
    }
    const bool failed = settings_.fails_late ? no_steps && time_s <= 0 : no_steps || time_s <= 0;
    busy_s_ += time_s * run.unit.gpus;
    const std::vector<int> numbers = members(run.unit);
    if (failed) {
      changed_ = true;
      for (const int number : numbers) {
        if (++live_.at(number).failures >= kMostFailures) leave(number, run.finish_s);
      }
      return;
    }
    total_[run.type] += time_s;
    units_[run.at].received[run.type] += time_s;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      Live& live = live_.at(numbers[at]);
      live.failures = 0;
      live.done += run.steps[at];
      live.run_s += time_s;
      if (live.left() <= 0 ||
          (training_ != nullptr && training_->is_cut_off(numbers[at], live.run_s))) {
        leave(numbers[at], run.finish_s);
      } else if (training_ != nullptr) {
        Progress progress{live.job.kind, live.job.steps, live.done};
        training_->ran(numbers[at], progress);
        live.job.kind = progress.kind;
        live.job.steps = progress.steps;
        live.done = progress.done;
      }
    }
  }

  void allocate() {
    const double elapsed_s = now_s_ - reset_s_;
    const double half_s = settings_.round_s / 2;
    for (std::size_t type = 0; type < types(); ++type) {
      total_[type] = 0;
      for (Unit& unit : units_) {
        const double due_s = unit.allocated ? unit.part[type] * elapsed_s : 0;
        unit.deficit[type] += due_s - (unit.received[type] - half_s);
        unit.received[type] = half_s;
        total_[type] += half_s;
      }
    }
    reset_s_ = now_s_;
    changed_ = false;

    State state{.now_s = now_s_};
    state.problem.gpus.assign(cluster_.gpus.begin(), cluster_.gpus.end());
    std::map<int, std::size_t> place;
    for (const auto& [number, live] : live_) {
      place.emplace(number, state.numbers.size());
      state.numbers.push_back(number);
      state.kinds.push_back(live.job.kind);
      state.steps_done.push_back(live.done);
      state.run_s.push_back(live.run_s);
      state.profiled_s.push_back(live.job.profiled_s);
      state.problem.jobs.push_back({.rates = speeds_.alone[live.job.kind],
                                    .gpus = live.job.gpus,
                                    .weight = live.job.weight,
                                    .steps_left = std::max(live.left(), 0.0),
                                    .age_s = now_s_ - live.job.arrival_s});
    }
    const Allocation allocation = rule_.allocate(state);
    std::map<std::pair<int, int>, const std::vector<double>*> pairs;
    for (const Allocation::Pair& pair : allocation.pairs) {
      pairs[std::minmax(state.numbers[pair.one], state.numbers[pair.other])] = &pair.row;
    }
    for (Unit& unit : units_) {
      unit.allocated = true;
      if (!unit.other) {
        unit.part = allocation.alone[place.at(unit.one)];
        continue;
      }
      const auto pair = pairs.find(std::minmax(unit.one, *unit.other));
      if (pair == pairs.end()) {
        unit.part.assign(types(), 0.0);
      } else {
        unit.part = *pair->second;
      }
    }
  }

  double priority(const Unit& unit, std::size_t type) const {
    if (!unit.allocated || unit.part[type] == 0 || rates(unit, type)[0] == 0) return 0;
    const double received = total_[type] > 0 ? unit.received[type] / total_[type] : 0;
    return unit.part[type] / (received > 0 ? received : kNothing);
  }

  std::vector<std::size_t> type_order() {
    std::vector<std::size_t> order;
    for (std::size_t type = types(); type-- > 0;) {
      if (cluster_.gpus[type] > 0) order.push_back(type);
    }
    if (rule_.shuffles_types()) shuffler_.shuffle(order);
    return order;
  }

  std::vector<Chosen> choose() {
    using Wish = std::tuple<double, double, double, std::size_t>;
    std::vector<Chosen> chosen;
    std::vector<int> left = cluster_.gpus;
    std::map<int, bool> taken;
    for (const std::size_t type : type_order()) {
      std::vector<Wish> wishes;
      std::vector<Wish> fillers;  // without priority, of which there are many where jobs pair
      for (std::size_t at = 0; at < units_.size(); ++at) {
        const Unit& unit = units_[at];
        const double part = unit.allocated ? unit.part[type] : 0;
        const double rank = priority(unit, type);
        (rank > 0 ? wishes : fillers).emplace_back(rank, unit.deficit[type], part, at);
      }
      const auto serve = [&](std::vector<Wish>& line) {
        std::stable_sort(line.begin(), line.end(), [](const Wish& a, const Wish& b) {
          return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) >
                 std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
        });
        for (const auto& [rank, deficit, part, at] : line) {
          if (left[type] == 0) break;
          const Unit& unit = units_[at];
          if (taken[unit.one] || (unit.other && taken[*unit.other])) continue;
          if (unit.gpus > left[type] || rates(unit, type)[0] == 0) continue;
          left[type] -= unit.gpus;
          for (const int number : members(unit)) taken[number] = true;
          chosen.push_back({at, type, {}});
        }
      };
      serve(wishes);
      if (left[type] > 0 && !rule_.leaves_idle()) serve(fillers);
    }
    return chosen;
  }

  /// Larger jobs first; a job that was on the type keeps its GPUs where they are free, the others
  /// take the lowest numbers.
  void number_gpus(std::vector<Chosen>& chosen) {
    std::vector<std::size_t> order(chosen.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return units_[chosen[a].unit].gpus > units_[chosen[b].unit].gpus;
    });
    std::vector<std::vector<bool>> taken;
    for (const int gpus : cluster_.gpus) {
      taken.emplace_back(static_cast<std::size_t>(gpus), false);
    }
    for (std::size_t from = 0; from < order.size();) {
      std::size_t until = from;
      const int gpus = units_[chosen[order[from]].unit].gpus;
      while (until < order.size() && units_[chosen[order[until]].unit].gpus == gpus) ++until;
      for (std::size_t at = from; at < until; ++at) {
        Chosen& each = chosen[order[at]];
        const auto before = placed_.find(name_of(units_[each.unit]));
        if (before == placed_.end() || before->second.type != each.type) continue;
        std::vector<bool>& on_type = taken[each.type];
        const auto is_taken = [&](int gpu) { return bool{on_type[static_cast<std::size_t>(gpu)]}; };
        const std::vector<int>& held = before->second.gpus;
        if (std::any_of(held.begin(), held.end(), is_taken)) continue;
        each.gpus = held;
        for (const int gpu : held) on_type[static_cast<std::size_t>(gpu)] = true;
      }
      for (; from < until; ++from) {
        Chosen& each = chosen[order[from]];
        std::vector<bool>& on_type = taken[each.type];
        for (int gpu = 0; static_cast<int>(each.gpus.size()) < gpus; ++gpu) {
          if (on_type[static_cast<std::size_t>(gpu)]) continue;
          on_type[static_cast<std::size_t>(gpu)] = true;
          each.gpus.push_back(gpu);
        }
      }
    }
  }

  static std::pair<int, int> name_of(const Unit& unit) {
    return {unit.one, unit.other.value_or(-1)};
  }

  void start(std::vector<Chosen> chosen) {
    // Fault: a job that came after the last allocation was counted as it was chosen, and does not
    // start.
    chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                                [&](const Chosen& each) { return !units_[each.unit].allocated; }),
                 chosen.end());
    number_gpus(chosen);
    std::map<std::pair<int, int>, Chosen> placed;
    for (const Chosen& each : chosen) {
      const Unit& unit = units_[each.unit];
      placed.emplace(name_of(unit), each);
      Running run{.at = each.unit, .unit = unit, .type = each.type, .finish_s = now_s_};
      const std::vector<int> numbers = members(unit);
      const std::vector<double> speed = rates(unit, each.type);
      const bool restarts = course_.rounds > 0 && placed_.count(name_of(unit)) == 0;
      for (std::size_t at = 0; at < numbers.size(); ++at) {
        double steps = std::min(std::floor(speed[at] * settings_.round_s),
                                std::max(live_.at(numbers[at]).left(), 0.0));
        const double time_s = steps / speed[at];
        run.finish_s = std::max(run.finish_s, now_s_ + time_s);
        if (restarts && settings_.restart_s > 0 && time_s > settings_.restart_beyond_s) {
          run.lost_s = settings_.restart_s;
          steps = std::floor(steps * (time_s - settings_.restart_s) / time_s);
        }
        run.steps.push_back(steps);
        if (settings_.keeps_rounds) {
          course_.ran.push_back({course_.rounds, numbers[at], each.type, each.gpus});
        }
      }
      running_.push_back(std::move(run));
    }
    placed_ = std::move(placed);
    active_ += static_cast<double>(live_.size());
    ++course_.rounds;
  }

  const Cluster& cluster_;
  const Speeds& speeds_;
  const std::vector<Job>& jobs_;
  Rule& rule_;
  const Settings& settings_;
  Training* training_;
  Mersenne shuffler_;
  Course course_;
  std::map<int, Live> live_;
  std::vector<Unit> units_;
  std::vector<Running> running_;
  std::map<std::pair<int, int>, Chosen> placed_;  ///< In the round before.
  std::vector<double> total_;
  std::size_t next_ = 0;
  int measured_left_ = 0;
  double now_s_ = 0;
  double round_start_s_ = 0;
  double reset_s_ = 0;
  double busy_s_ = 0;
  double active_ = 0;  ///< Sum over rounds of the jobs there were.
  bool changed_ = false;
  bool idle_before_ = false;
};

}  // namespace

Course play(const Cluster& cluster, const Speeds& speeds, const std::vector<Job>& jobs, Rule& rule,
            const Settings& settings, Training* training) {
  return Engine(cluster, speeds, jobs, rule, settings, training).play();
}

}  // namespace almanac::gavel
