// SPDX-License-Identifier: Apache-2.0

/// \file
/// Knows every choice for every slot, every named policy and every whole scheduler. The folders of
/// this room are its content: adding a file there adds an entry.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/composition.h"
#include "policy/contract/host.h"
#include "policy/shelf.h"
#include "policy/slots.h"
#include "predict/estimator.h"

namespace almanac::policy {

class Desk;
class Pass;

class Registry {
 public:
  Shelf<std::unique_ptr<Order>> orders{"order"};
  Shelf<std::unique_ptr<Placement>, const Host&> placements{"placement"};
  /// Fails where the log lacks what the estimate reads.
  Shelf<Result<std::unique_ptr<predict::Estimator>>, const History&> estimates{"estimate"};
  /// Null = every job gets the GPUs that it asks.
  Shelf<std::unique_ptr<Shape>> shapes{"shape"};
  /// Null = every job gets the cores and memory that it asks.
  Shelf<std::unique_ptr<Size>> sizes{"size"};
  Shelf<std::unique_ptr<Pass>, Desk&> passes{"pass"};
  /// Null = every GPU that is asked for whole is.
  Shelf<std::unique_ptr<Packing>, Desk&, MayShare> packings{"packing"};
  /// Null = every node stays on.
  Shelf<std::unique_ptr<Capacity>> capacities{"capacity"};
  /// Null = no job is slowed.
  Shelf<std::unique_ptr<Throttle>> throttles{"throttle"};
  /// Null = one policy decides for all nodes, and the host is left as it was.
  Shelf<std::unique_ptr<Policy>, const Composition&, Host&> divisions{"division"};
  /// Schedulers that are no composition of slots.
  Shelf<std::unique_ptr<Policy>, const Composition&, Host> wholes{"whole"};

  void add_policy(Composition composition);
  const std::vector<Composition>& policies() const { return policies_; }

  /// A slot of a composition and what there is to fill it with.
  struct Slot {
    const Choices* choices;
    Choice Composition::*choice;
    const std::string& name() const { return choices->slot(); }
  };
  /// The slots of a composed policy, in the order in which they are listed.
  std::array<Slot, 10> slots() const;

  /// How long a lease is; 0 = the policy decides whenever something happens. A choice that decides
  /// in leases has the parameter lease_s.
  Duration lease(const Composition& composition) const;
  /// Everything that the choices of a composition say of themselves. An estimate counts only if a
  /// choice reads it, and that jobs may join others only if a choice lets jobs share GPUs.
  TraitSet traits(const Composition& composition) const;

  /// A policy by name ("qssf"), with slots replaced or told something ("qssf+easy:4+first_fit"), or
  /// from a TOML file ("mine.toml"). Fails with usage and the nearest known name.
  Result<Composition> compose(const std::string& text) const;
  /// The composition itself if its choices go together; else usage, with a sentence derived from
  /// their traits.
  Result<Composition> checked(Composition composition) const;

  /// Makes a policy: the one call by which every host comes to one.
  std::unique_ptr<Policy> make(const Composition& composition, Host host) const;

 private:
  Result<Composition> checked_whole(Composition composition) const;
  Result<void> replace_slot(Composition& composition, const std::string& text) const;
  Result<Composition> load(const std::string& path) const;

  std::vector<Composition> policies_;
};

/// The registry with everything that the build collected.
const Registry& registry();

/// Adds choices that are not part of the product, such as passes that repeat published simulators.
/// Not thread-safe: call it before any policy is made. Aborts if a name is taken.
void extend_registry(void (*add)(Registry&));

}  // namespace almanac::policy
