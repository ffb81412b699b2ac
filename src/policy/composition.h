// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy as a choice for each slot, or as one whole.
#pragma once

#include <optional>
#include <string>

#include "policy/parameters.h"
#include "policy/traits.h"

namespace almanac::policy {

/// The choices that fill the slots, by their names in the registry and with their parameters. An
/// empty estimate means that no run time is estimated; only choices that read no estimate accept
/// that.
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
  /// A scheduler of its own (whole/), which reads only the slots estimate and placement and may be
  /// divided; empty if the slots above decide.
  Choice whole{};
  /// Set if an external program decides (room `script`): what it does to jobs. It reads only the
  /// slots estimate and placement, and registries do not make such a policy.
  std::optional<TraitSet> scripted{};
};

}  // namespace almanac::policy
