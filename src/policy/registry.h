// SPDX-License-Identifier: Apache-2.0

/// \file
/// All choices for each slot, all named policies and all whole schedulers. The folders of this room
/// are the content: a new file there adds an entry.
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
  /// Fails if the log lacks what the estimate reads.
  Shelf<Result<std::unique_ptr<predict::Estimator>>, const History&> estimates{"estimate"};
  /// Null if every job gets the GPUs that it requests.
  Shelf<std::unique_ptr<Shape>> shapes{"shape"};
  /// Null if every job gets the cores and memory that it requests.
  Shelf<std::unique_ptr<Size>> sizes{"size"};
  Shelf<std::unique_ptr<Pass>, Desk&> passes{"pass"};
  /// Null if no whole GPUs are shared.
  Shelf<std::unique_ptr<Packing>, Desk&, MayShare> packings{"packing"};
  /// Null if every node stays on.
  Shelf<std::unique_ptr<Capacity>> capacities{"capacity"};
  /// Null if no job is throttled.
  Shelf<std::unique_ptr<Throttle>> throttles{"throttle"};
  /// Null if one policy decides for all nodes; the host is then unchanged.
  Shelf<std::unique_ptr<Policy>, const Composition&, Host&> divisions{"division"};
  /// Schedulers that are not a composition of slots.
  Shelf<std::unique_ptr<Policy>, const Composition&, Host> wholes{"whole"};

  void add_policy(Composition composition);
  const std::vector<Composition>& policies() const { return policies_; }

  /// A slot of a composition and its possible choices.
  struct Slot {
    const Choices* choices;
    Choice Composition::*choice;
    const std::string& name() const { return choices->slot(); }
  };
  /// Returns the slots of a composed policy in listing order.
  std::array<Slot, 10> slots() const;

  /// Returns the length of a lease; 0 if the policy decides on every event. A choice that decides
  /// in leases has the parameter lease_s.
  Duration lease(const Composition& composition) const;
  /// Returns the traits of all choices of a composition. An estimate only counts if another choice
  /// reads it, and that jobs may join others only if a choice lets jobs share GPUs.
  TraitSet traits(const Composition& composition) const;

  /// Returns a policy by name ("qssf"), with other slots or parameters ("qssf+easy:4+first_fit"),
  /// or from a TOML file ("mine.toml"). Fails with usage and the nearest known name.
  Result<Composition> compose(const std::string& text) const;
  /// Returns the composition if its choices are compatible. Fails with usage and a sentence derived
  /// from their traits.
  Result<Composition> checked(Composition composition) const;

  /// Makes a policy. Every host makes its policies here.
  std::unique_ptr<Policy> make(const Composition& composition, Host host) const;

 private:
  Result<Composition> checked_whole(Composition composition) const;
  Result<void> replace_slot(Composition& composition, const std::string& text) const;
  Result<Composition> load(const std::string& path) const;

  std::vector<Composition> policies_;
};

/// Returns the registry with everything that the build collected.
const Registry& registry();

/// Adds choices that are not part of the product, such as passes that repeat published simulators.
/// Not thread-safe: call it before any policy is made. Aborts if a name is taken.
void extend_registry(void (*add)(Registry&));

}  // namespace almanac::policy
