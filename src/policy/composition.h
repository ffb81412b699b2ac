// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy as a choice for each slot, or as one whole.
#pragma once

#include <optional>
#include <string>

#include "policy/parameters.h"
#include "policy/traits.h"

namespace almanac::policy {

/// What the slots are filled with: names of the registry, and what each is told. An empty estimate
/// means that nothing is believed, which only choices that ask no estimate accept.
struct Composition {
  std::string name{};
  std::string summary{};
  std::string source{};
  Choice estimate = "oracle";
  Choice order = "fifo";
  Choice placement = "consolidate";
  Choice shape = "rigid";
  Choice size = "asked";
  Choice pass = "strict";
  Choice packing = "alone";
  Choice capacity = "all";
  Choice throttle = "none";
  Choice division = "undivided";
  /// Empty = the slots above decide; else a scheduler of its own (whole/), which asks the slots
  /// estimate and placement alone, and may be divided.
  Choice whole{};
  /// Told = another program decides (room `script`) and does this to jobs; of the slots it is asked
  /// the estimate and the placement alone, and registries make no such policy.
  std::optional<TraitSet> scripted{};
};

}  // namespace almanac::policy
