// SPDX-License-Identifier: Apache-2.0

#include "inference/adapters.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::inference {

const Adapters::Known* Adapters::find(std::uint32_t adapter) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& each) { return each.adapter == adapter; });
  return found == known_.end() ? nullptr : &*found;
}

Adapters::Known& Adapters::known(std::uint32_t adapter) {
  for (Known& each : known_) {
    if (each.adapter == adapter) return each;
  }
  return known_.emplace_back(Known{.adapter = adapter});
}

void Adapters::forget_unknown() {
  std::erase_if(known_, [](const Known& each) { return !each.loaded && each.waiting == 0; });
}

bool Adapters::has_room(std::uint32_t adapter) const {
  if (adapter == 0) return true;
  const Known* const it = find(adapter);
  return (it != nullptr && it->loaded) || static_cast<std::size_t>(in_use_) < places_;
}

bool Adapters::use(std::uint32_t adapter) {
  if (adapter == 0) return false;
  ALMANAC_CHECK(has_room(adapter), "no place is left for adapter {}", adapter);
  Known& it = known(adapter);
  it.used = ++uses_;
  if (it.running++ == 0) ++in_use_;
  if (it.loaded) return false;
  it.loaded = true;
  if (loaded_ < places_) {
    ++loaded_;
    return true;
  }
  Known* oldest = nullptr;
  for (Known& each : known_) {
    if (!each.loaded || each.running > 0) continue;
    if (oldest == nullptr || each.used < oldest->used) oldest = &each;
  }
  oldest->loaded = false;
  forget_unknown();
  return true;
}

void Adapters::release(std::uint32_t adapter) {
  if (adapter == 0) return;
  Known& it = known(adapter);
  it.used = ++uses_;
  if (--it.running == 0) --in_use_;
}

void Adapters::expect(std::uint32_t adapter, int more) {
  if (adapter == 0) return;
  known(adapter).waiting += more;
  if (more < 0) forget_unknown();
}

bool Adapters::knows(std::uint32_t adapter) const {
  return adapter == 0 || find(adapter) != nullptr;
}

bool Adapters::has_free_place() const {
  const auto wanted = std::count_if(known_.begin(), known_.end(), [](const Known& each) {
    return each.running > 0 || each.waiting > 0;
  });
  return static_cast<std::size_t>(wanted) < places_;
}

}  // namespace almanac::inference
