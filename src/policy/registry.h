// SPDX-License-Identifier: Apache-2.0

/// \file
/// Knows every slot choice and every named policy. The folders order/, placement/,
/// shape/, size/, capacity/, throttle/ and builtin/ are its content: adding a file there adds an
/// entry.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/composition.h"
#include "policy/slots.h"

namespace almanac::policy {

/// What `policy list` says of a choice.
struct Entry {
  std::string name;
  std::string summary;
  std::string source;  ///< Paper and section.
};

class Registry {
 public:
  using MakeOrder = std::function<std::unique_ptr<Order>(const Composition&)>;
  using MakePlacement = std::function<std::unique_ptr<Placement>()>;
  /// Null = every job gets the GPUs that it asks.
  using MakeShape = std::function<std::unique_ptr<Shape>(const Composition&)>;
  /// Null = every job gets the cores and memory that it asks.
  using MakeSize = std::function<std::unique_ptr<Size>(const Composition&)>;
  /// Null = every node stays on.
  using MakeCapacity = std::function<std::unique_ptr<Capacity>(const Composition&)>;

  /// Null = nobody is slowed.
  using MakeThrottle = std::function<std::unique_ptr<Throttle>(const Composition&)>;

  void add_order(Entry entry, MakeOrder make);
  void add_placement(Entry entry, MakePlacement make);
  void add_shape(Entry entry, MakeShape make);
  void add_size(Entry entry, MakeSize make);
  void add_capacity(Entry entry, MakeCapacity make);
  void add_throttle(Entry entry, MakeThrottle make);
  void add_policy(Composition composition);

  const std::vector<Entry>& orders() const { return orders_; }
  const std::vector<Entry>& placements() const { return placements_; }
  const std::vector<Entry>& shapes() const { return shapes_; }
  const std::vector<Entry>& sizes() const { return sizes_; }
  const std::vector<Entry>& capacities() const { return capacities_; }
  const std::vector<Entry>& throttles() const { return throttles_; }
  /// Estimates are not files of a folder here: the host makes them, since an oracle needs the
  /// truth.
  static const std::vector<Entry>& estimates();
  const std::vector<Composition>& policies() const { return policies_; }

  std::unique_ptr<Order> make_order(const Composition& composition) const;
  std::unique_ptr<Placement> make_placement(const Composition& composition) const;
  std::unique_ptr<Shape> make_shape(const Composition& composition) const;
  std::unique_ptr<Size> make_size(const Composition& composition) const;
  std::unique_ptr<Capacity> make_capacity(const Composition& composition) const;
  std::unique_ptr<Throttle> make_throttle(const Composition& composition) const;

  /// A policy by name ("qssf"), with slots replaced ("qssf+easy:4+first_fit"), or from a TOML file
  /// ("mine.toml"). Fails with usage and the nearest known name.
  Result<Composition> compose(const std::string& text) const;

 private:
  Result<void> replace_slot(Composition& composition, const std::string& choice) const;

  std::vector<Entry> orders_;
  std::vector<Entry> placements_;
  std::vector<Entry> shapes_;
  std::vector<Entry> sizes_;
  std::vector<Entry> capacities_;
  std::vector<Entry> throttles_;
  std::vector<Composition> policies_;
  std::map<std::string, MakeOrder, std::less<>> make_order_;
  std::map<std::string, MakePlacement, std::less<>> make_placement_;
  std::map<std::string, MakeShape, std::less<>> make_shape_;
  std::map<std::string, MakeSize, std::less<>> make_size_;
  std::map<std::string, MakeCapacity, std::less<>> make_capacity_;
  std::map<std::string, MakeThrottle, std::less<>> make_throttle_;
};

/// The registry with everything that the build collected.
const Registry& registry();

/// "strict", "easy:4", "conservative": how a reservation depth is written.
std::string reserve_name(int reserve);
/// "never", "by_rank", "late", "quota".
std::string preempt_name(Preempt preempt);
/// "queue", "users", "arrays", "models".
std::string share_name(Share share);
/// "nobody", "leases", "shares".
std::string admit_name(Admit admit);
/// "alone", "harmless".
std::string colocate_name(Colocate colocate);

}  // namespace almanac::policy
