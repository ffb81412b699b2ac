// SPDX-License-Identifier: Apache-2.0

#include "deployment/transition.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace almanac::deployment {
namespace {

/// An instance on a GPU.
struct Copy {
  Instance instance{};
  double ready_ms = 0;
  bool stays = false;  ///< In the plan.
  Instance planned{};  ///< What it becomes when everything has loaded, if it stays.
};
using Gpu = std::vector<Copy>;

class Change {
 public:
  Change(const PlanningCase& asked, const Phase& now, const Deployment& plan, double at_ms)
      : asked_(asked), now_(now), plan_(plan), at_ms_(at_ms) {
    for (std::size_t each = 0; each < now.running.instances.size(); ++each) {
      const Instance& it = now.running.instances[each];
      const double ready_ms = now.ready_ms.empty() ? now.from_ms : now.ready_ms[each];
      gpus_[it.gpu].push_back({.instance = it, .ready_ms = ready_ms});
    }
    for (const Instance& each : plan.instances) planned_[each.gpu].push_back(each);
  }

  Transition steps() {
    keep_equal_gpus();
    keep_what_both_have();
    create_on_free_gpus();
    while (!planned_.empty()) {
      next_step();
      make_room();
      create_on_free_gpus();
    }
    if (loads_ > 0 || has_old()) next_step();
    finish();
    return std::move(made_);
  }

 private:
  double load_ms(const Instance& it) const { return 1000 * asked_.variants[it.variant].load_s; }

  /// The copies of `planned`, as far as they run on `gpu` already, then what else runs there.
  Gpu merged(const Gpu& gpu, std::vector<Instance> planned, int number, int& common) const {
    Gpu old = gpu, made;
    common = 0;
    for (Instance& each : planned) {
      each.gpu = number;
      const auto same = std::find_if(old.begin(), old.end(), [&](const Copy& copy) {
        return is_same_copy(copy.instance, each);
      });
      if (same == old.end()) {
        made.push_back({each, at_ms_ + load_ms(each), true, each});
        continue;
      }
      Instance running = each;
      running.batch = same->instance.batch;
      running.duty_ms = same->instance.duty_ms;
      made.push_back({running, same->ready_ms, true, each});
      ++common;
      old.erase(same);
    }
    for (Copy& each : old) {
      // Goes on taking turns if its part is still there, and else is by itself.
      const bool has_part = std::any_of(planned.begin(), planned.end(), [&](const Instance& other) {
        return other.part == each.instance.part && other.share == each.instance.share;
      });
      if (each.instance.part >= 0 && !has_part) each.instance.part += kOldParts;
      made.push_back(each);
    }
    return made;
  }

  bool fits(const Gpu& gpu) const {
    Deployment one;
    for (const Copy& each : gpu) {
      one.instances.push_back(each.instance);
      one.instances.back().gpu = 0;
    }
    return check(asked_, one).has_value();
  }

  /// The copies of a GPU, in any order.
  using Shape = std::vector<std::tuple<std::size_t, std::size_t, double>>;
  static void add(const Instance& it, Shape& shape) {
    shape.emplace_back(it.service, it.variant, it.share);
  }

  /// Takes GPUs that hold the copies of one of the plan: most do, and they need no search.
  void keep_equal_gpus() {
    std::map<Shape, std::vector<int>> running;
    for (auto each = gpus_.rbegin(); each != gpus_.rend(); ++each) {
      Shape shape;
      for (const Copy& copy : each->second) add(copy.instance, shape);
      std::sort(shape.begin(), shape.end());
      running[std::move(shape)].push_back(each->first);
    }
    for (auto each = planned_.begin(); each != planned_.end();) {
      Shape shape;
      for (const Instance& it : each->second) add(it, shape);
      std::sort(shape.begin(), shape.end());
      const auto equal = running.find(shape);
      const auto planned = each++;
      if (equal == running.end() || equal->second.empty()) continue;
      keep(equal->second.back(), planned);
      equal->second.pop_back();
    }
  }

  /// Puts a GPU of the plan where `number` is, with what runs there.
  void keep(int number, std::map<int, std::vector<Instance>>::iterator planned) {
    int common = 0;
    Gpu& gpu = gpus_[number];
    gpu = merged(gpu, planned->second, number, common);
    loads_ += static_cast<int>(planned->second.size()) - common;
    planned_.erase(planned);
    kept_.insert(number);
  }

  void keep_what_both_have() {
    struct Pair {
      int common, number, planned;
    };
    std::vector<Pair> pairs;
    for (const auto& [number, gpu] : gpus_) {
      if (kept_.contains(number)) continue;
      for (const auto& [planned, instances] : planned_) {
        int common = 0;
        const Gpu both = merged(gpu, instances, number, common);
        if (common > 0 && fits(both)) pairs.push_back({common, number, planned});
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.common > b.common; });
    for (const Pair& each : pairs) {
      const auto planned = planned_.find(each.planned);
      if (planned != planned_.end() && !kept_.contains(each.number)) keep(each.number, planned);
    }
  }

  void create_on_free_gpus() {
    for (int number = 0; number < asked_.fleet.gpus && !planned_.empty(); ++number) {
      if (gpus_.contains(number)) continue;
      const auto first = planned_.begin();
      int common = 0;
      gpus_[number] = merged({}, first->second, number, common);
      loads_ += static_cast<int>(first->second.size());
      planned_.erase(first);
    }
  }

  static bool is_old(const Gpu& gpu) {
    return std::none_of(gpu.begin(), gpu.end(), [](const Copy& each) { return each.stays; });
  }
  bool has_old() const {
    return std::any_of(gpus_.begin(), gpus_.end(), [](const auto& each) {
      return std::any_of(each.second.begin(), each.second.end(),
                         [](const Copy& copy) { return !copy.stays; });
    });
  }

  /// Deletes the old GPUs that no service needs, at most as many as the plan lacks; the first old
  /// one if all are needed.
  void make_room() {
    std::size_t wanted = planned_.size();
    std::optional<int> first;
    for (auto each = gpus_.begin(); each != gpus_.end() && wanted > 0;) {
      const int number = each->first;
      ++each;
      if (!is_old(gpus_[number])) continue;
      if (!first) first = number;
      if (!is_enough_without(number)) continue;
      gpus_.erase(number);
      --wanted;
    }
    if (wanted < planned_.size()) return;
    made_.interrupts = true;
    gpus_.erase(*first);
  }

  bool is_enough_without(int number) {
    Gpu without = std::exchange(gpus_[number], {});
    const Deployment running = deployment();
    bool enough = true;
    for (const Copy& copy : without) {
      const std::size_t service = copy.instance.service;
      const double needed = std::min(rate_of(now_.running, service), rate_of(plan_, service));
      enough = enough && rate_of(running, service) >= needed * (1 - 1e-9);
    }
    gpus_[number] = std::move(without);
    return enough;
  }

  double rate_of(const Deployment& deployment, std::size_t service) const {
    double sum = 0;
    for (const Instance& each : deployment.instances) {
      if (each.service == service) sum += instance_rate(asked_, deployment, each);
    }
    return sum;
  }

  double all_ready_ms() const {
    double last = 0;
    for (const auto& [number, gpu] : gpus_) {
      for (const Copy& each : gpu) last = std::max(last, each.ready_ms);
    }
    return last;
  }

  Deployment deployment() const {
    Deployment made{.votes = plan_.votes};
    for (const auto& [number, gpu] : gpus_) {
      for (const Copy& each : gpu) made.instances.push_back(each.instance);
    }
    return made;
  }

  /// What runs until all of it has loaded, which is when the next step begins.
  void next_step() {
    emit();
    at_ms_ = std::max(at_ms_, all_ready_ms());
  }

  void finish() {
    for (auto each = gpus_.begin(); each != gpus_.end();) {
      std::erase_if(each->second, [](const Copy& copy) { return !copy.stays; });
      for (Copy& copy : each->second) copy.instance = copy.planned;
      each = each->second.empty() ? gpus_.erase(each) : std::next(each);
    }
    emit();
  }

  void emit() {
    Phase phase{.from_ms = at_ms_, .running = deployment(), .loads = std::exchange(loads_, 0)};
    for (const auto& [number, gpu] : gpus_) {
      for (const Copy& each : gpu) phase.ready_ms.push_back(each.ready_ms);
    }
    made_.phases.push_back(std::move(phase));
  }

  static constexpr int kOldParts = 1000;

  const PlanningCase& asked_;
  const Phase& now_;
  const Deployment& plan_;
  double at_ms_;
  std::map<int, Gpu> gpus_;                       // by number, as they run
  std::map<int, std::vector<Instance>> planned_;  // GPUs of the plan that are not made yet
  std::set<int> kept_;                            // numbers of GPUs that both have
  int loads_ = 0;                                 // instances that begin to load at at_ms_
  Transition made_;
};

}  // namespace

int Transition::loads() const {
  int sum = 0;
  for (const Phase& each : phases) sum += each.loads;
  return sum;
}

Transition transition(const PlanningCase& asked, const Phase& now, const Deployment& plan,
                      double at_ms) {
  return Change(asked, now, plan, at_ms).steps();
}

}  // namespace almanac::deployment
