// SPDX-License-Identifier: Apache-2.0
#include "steer/lever_registry.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace almanac::steer {

void LeverRegistry::add(Entry entry) {
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), entry.priority,
                       [](const Entry& each, int priority) { return each.priority < priority; });
  ALMANAC_CHECK(at == entries_.end() || at->priority != entry.priority,
                "levers {} and {} have the same priority", at->name, entry.name);
  entries_.insert(at, std::move(entry));
}

std::unique_ptr<Lever> LeverRegistry::make(std::string_view name, const LeverParts& parts) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& each) { return each.name == name; });
  ALMANAC_CHECK(found != entries_.end(), "there is no lever {}", name);
  return found->make(parts);
}

const LeverRegistry& levers() {
  static const LeverRegistry made = [] {
    LeverRegistry all;
    lever::register_lever(all);
    return all;
  }();
  return made;
}

}  // namespace almanac::steer
