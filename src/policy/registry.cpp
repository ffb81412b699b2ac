// SPDX-License-Identifier: Apache-2.0
#include "policy/registry.h"

#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace almanac::policy {

namespace order {
void register_order(Registry& registry);
}
namespace placement {
void register_placement(Registry& registry);
}
namespace shape {
void register_shape(Registry& registry);
}
namespace size {
void register_size(Registry& registry);
}
namespace capacity {
void register_capacity(Registry& registry);
}
namespace throttle {
void register_throttle(Registry& registry);
}
namespace builtin {
void register_builtin(Registry& registry);
}

void Registry::add_order(Entry entry, MakeOrder make) {
  make_order_.emplace(entry.name, std::move(make));
  orders_.push_back(std::move(entry));
}

void Registry::add_placement(Entry entry, MakePlacement make) {
  make_placement_.emplace(entry.name, std::move(make));
  placements_.push_back(std::move(entry));
}

void Registry::add_shape(Entry entry, MakeShape make) {
  make_shape_.emplace(entry.name, std::move(make));
  shapes_.push_back(std::move(entry));
}

void Registry::add_size(Entry entry, MakeSize make) {
  make_size_.emplace(entry.name, std::move(make));
  sizes_.push_back(std::move(entry));
}

void Registry::add_capacity(Entry entry, MakeCapacity make) {
  make_capacity_.emplace(entry.name, std::move(make));
  capacities_.push_back(std::move(entry));
}

void Registry::add_throttle(Entry entry, MakeThrottle make) {
  make_throttle_.emplace(entry.name, std::move(make));
  throttles_.push_back(std::move(entry));
}

void Registry::add_policy(Composition composition) {
  ALMANAC_CHECK(make_order_.contains(composition.order), "policy {}: no order {}", composition.name,
                composition.order);
  ALMANAC_CHECK(make_placement_.contains(composition.placement), "policy {}: no placement {}",
                composition.name, composition.placement);
  policies_.push_back(std::move(composition));
}

const std::vector<Entry>& Registry::estimates() {
  static const std::vector<Entry> kEstimates = {
      {"oracle", "the true run time; only a simulation can have it", "Hu et al. SC'21 §4.2.3"},
      {"history", "decaying mean of the user's jobs of the same name, else of the same GPU demand",
       "Hu et al. SC'21 §4.2"},
      {"rolling", "the same, and where the name is new to the user, the user's most similar name",
       "Hu et al. SC'21 §4.2"},
      {"learned", "boosted trees and the closest earlier jobs, learned anew each week as jobs end",
       "Hu et al. SC'21 §4.2"},
      {"learned_90",
       "the run time that nine in ten such jobs stay below, learned likewise: for easy",
       "Chernozhukov et al. PNAS 2021"},
      {"noisy", "the true run time with the paper's error mixture", "Hu et al. SC'21 §4.2.3"},
      {"limit", "the user's time limit; where a job has none, history", "Mu'alem & Feitelson 2001"},
      {"given", "the trace's own column predicted_s", "the trace"},
  };
  return kEstimates;
}

std::unique_ptr<Order> Registry::make_order(const Composition& composition) const {
  return make_order_.at(composition.order)(composition);
}

std::unique_ptr<Placement> Registry::make_placement(const Composition& composition) const {
  return make_placement_.at(composition.placement)();
}

std::unique_ptr<Shape> Registry::make_shape(const Composition& composition) const {
  return make_shape_.at(composition.shape)(composition);
}

std::unique_ptr<Size> Registry::make_size(const Composition& composition) const {
  return make_size_.at(composition.size)(composition);
}

std::unique_ptr<Capacity> Registry::make_capacity(const Composition& composition) const {
  return make_capacity_.at(composition.capacity)(composition);
}

std::unique_ptr<Throttle> Registry::make_throttle(const Composition& composition) const {
  return make_throttle_.at(composition.throttle)(composition);
}

const Registry& registry() {
  static const Registry kRegistry = [] {
    Registry made;
    order::register_order(made);
    placement::register_placement(made);
    shape::register_shape(made);
    size::register_size(made);
    capacity::register_capacity(made);
    throttle::register_throttle(made);
    builtin::register_builtin(made);
    return made;
  }();
  return kRegistry;
}

std::string reserve_name(int reserve) {
  if (reserve == kNobodyHolds) return "scan";
  if (reserve == 0) return "strict";
  if (reserve == kEveryJob) return "conservative";
  return fmt::format("easy:{}", reserve);
}

std::string preempt_name(Preempt preempt) {
  switch (preempt) {
    case Preempt::never:
      return "never";
    case Preempt::by_rank:
      return "by_rank";
    case Preempt::late:
      return "late";
    case Preempt::quota:
      return "quota";
  }
  return "";
}

std::string colocate_name(Colocate colocate) {
  return colocate == Colocate::alone ? "alone" : "harmless";
}

std::string admit_name(Admit admit) {
  switch (admit) {
    case Admit::nobody:
      return "nobody";
    case Admit::leases:
      return "leases";
    case Admit::shares:
      return "shares";
    case Admit::cheapest:
      return "cheapest";
  }
  return "";
}

std::string share_name(Share share) {
  switch (share) {
    case Share::queue:
      return "queue";
    case Share::users:
      return "users";
    case Share::arrays:
      return "arrays";
    case Share::models:
      return "models";
  }
  return "";
}

}  // namespace almanac::policy
