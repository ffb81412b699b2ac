// SPDX-License-Identifier: Apache-2.0
#include "policy/registry.h"

#include <utility>

#include "policy/kit/desk.h"
#include "policy/kit/nvlink_placement.h"
#include "policy/kit/pipeline.h"

namespace almanac::policy {

namespace order {
void register_order(Registry& registry);
}
namespace placement {
void register_placement(Registry& registry);
}
namespace estimate {
void register_estimate(Registry& registry);
}
namespace shape {
void register_shape(Registry& registry);
}
namespace size {
void register_size(Registry& registry);
}
namespace pass {
void register_pass(Registry& registry);
}
namespace packing {
void register_packing(Registry& registry);
}
namespace capacity {
void register_capacity(Registry& registry);
}
namespace throttle {
void register_throttle(Registry& registry);
}
namespace division {
void register_division(Registry& registry);
}
namespace whole {
void register_whole(Registry& registry);
}
namespace builtin {
void register_builtin(Registry& registry);
}

void Registry::add_policy(Composition composition) { policies_.push_back(std::move(composition)); }

std::array<Registry::Slot, 10> Registry::slots() const {
  return {{{&orders, &Composition::order},
           {&placements, &Composition::placement},
           {&estimates, &Composition::estimate},
           {&shapes, &Composition::shape},
           {&sizes, &Composition::size},
           {&passes, &Composition::pass},
           {&packings, &Composition::packing},
           {&capacities, &Composition::capacity},
           {&throttles, &Composition::throttle},
           {&divisions, &Composition::division}}};
}

namespace {

/// Returns the traits of a choice with its parameters.
TraitSet traits_of(const Choices& choices, const Choice& choice) {
  const Entry& entry = choices.at(choice);
  TraitSet traits = entry.traits.has;
  if (entry.adjust_traits) entry.adjust_traits(Parameters(entry.parameters, choice), traits);
  return traits;
}

}  // namespace

TraitSet Registry::traits(const Composition& composition) const {
  TraitSet all;
  if (composition.scripted) {
    all.add(*composition.scripted);
  } else if (!composition.whole.name.empty()) {
    all.add(traits_of(wholes, composition.whole));
  } else {
    for (const Slot& slot : slots()) {
      if (slot.choices != &estimates) {
        all.add(traits_of(*slot.choices, composition.*slot.choice));
      }
    }
  }
  all.add(traits_of(divisions, composition.division));
  if (!all.has(Trait::shares_gpus)) all.remove({Trait::lets_join});
  if (all.has(Trait::reads_run_times)) all.add(traits_of(estimates, composition.estimate));
  return all;
}

std::unique_ptr<Policy> Registry::make(const Composition& composition, Host host) const {
  ALMANAC_CHECK(!composition.scripted, "policy {} belongs to another program", composition.name);
  if (auto divided = divisions.make(composition.division, composition, host)) return divided;
  if (composition.whole.name.empty()) return make_pipeline(composition, std::move(host));
  return wholes.make(composition.whole, composition, std::move(host));
}

Duration Registry::lease(const Composition& composition) const {
  if (composition.scripted) return Duration{0};
  const bool is_whole = !composition.whole.name.empty();
  const Choice& choice = is_whole ? composition.whole : composition.pass;
  const Entry& entry = is_whole ? wholes.at(choice) : passes.at(choice);
  if (!entry.traits.has.has(Trait::leases)) return Duration{0};
  return Parameters(entry.parameters, choice).duration("lease_s");
}

namespace {

Registry& all() {
  static Registry kRegistry = [] {
    Registry made;
    order::register_order(made);
    placement::register_placement(made);
    made.placements.set_wrap(make_nvlink_placement);
    estimate::register_estimate(made);
    shape::register_shape(made);
    size::register_size(made);
    pass::register_pass(made);
    packing::register_packing(made);
    capacity::register_capacity(made);
    throttle::register_throttle(made);
    division::register_division(made);
    builtin::register_builtin(made);
    whole::register_whole(made);
    for (const Entry& each : made.wholes.entries()) {
      made.add_policy(
          {.name = each.name, .summary = each.summary, .source = each.source, .whole = each.name});
    }
    return made;
  }();
  return kRegistry;
}

}  // namespace

const Registry& registry() { return all(); }

void extend_registry(void (*add)(Registry&)) { add(all()); }

}  // namespace almanac::policy
