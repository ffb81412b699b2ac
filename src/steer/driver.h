// SPDX-License-Identifier: Apache-2.0

/// \file
/// Carries out what levers want, within guards and budget, one slice (slice.h) at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "steer/budget.h"
#include "steer/claims.h"
#include "steer/journal.h"
#include "steer/lever.h"
#include "steer/slice.h"

namespace almanac::steer {

class Driver {
 public:
  Driver(const Settings& settings, Journal journal, Claims claims);

  /// Adds a lever, whose changes go before those of the levers added earlier.
  void add(std::string name, std::unique_ptr<Lever> lever);
  /// Asks the levers what they want, and takes as much as may be done now. `now` is from a clock
  /// that never goes back.
  Slice plan(const Scene& scene, Time now);
  /// Carries a slice out. Needs no lock.
  void carry_out(Slice& slice, manager::Link& link,
                 const service::Clock& clock = service::machine_clock()) {
    steer::carry_out(slice, journal_, link, clock);
  }
  /// Notes the results of a slice; true if anything changed.
  bool settle(Slice& slice, Mirror& mirror);
  /// Undoes everything in one slice, except the changes `but`, given in words. Levers should be
  /// off.
  Slice plan_undo(const Mirror& mirror, const std::string& why,
                  const std::set<std::string>& but = {}) const;

  void set(const std::string& lever, Switch how);
  /// Lets all levers rest, as if they could not be used; "" ends that.
  void rest(std::string why) { rests_ = std::move(why); }
  bool knows(const std::string& lever) const;
  std::vector<std::string> names() const;
  std::vector<service::LeverView> states() const;
  /// Whether the manager's queue follows the policy.
  bool decides_queue() const;
  const Claims& claims() const { return claims_; }
  /// Jobs in vain of all acting levers (lever.h).
  std::set<manager::JobNumber> in_vain(const Scene& scene) const;
  /// Warnings for the operator, one line each.
  std::vector<std::string> warnings() const;
  double changes_per_s() const { return budget_.rate(); }
  /// Length of a hold made now.
  Duration lease() const { return lease_; }

 private:
  struct Mounted {
    std::unique_ptr<Lever> lever;
    service::LeverView state{};
  };

  /// Notices changes that others made, and returns what the journal must keep of them.
  std::vector<Entry> look_for_others(const Mirror& mirror);
  void look_whether_it_rests(Mounted& mounted, const Scene& scene) const;
  /// Whether a lever is on, and does not rest.
  static bool acts(const Mounted& mounted);
  /// Completes a scene with the facts of the driver.
  Scene seen_by_levers(Scene scene) const;
  void take(Mounted& mounted, const Scene& scene, std::int64_t& left, Slice& slice);
  static void put(Mounted& mounted, Entry entry, Slice& slice);
  void renew(const Scene& scene, std::int64_t left, Slice& slice) const;

  Budget budget_;
  Journal journal_;
  Claims claims_;
  std::vector<Mounted> levers_;
  /// The manager has refused to change them; until when they rest, by the controller's clock.
  std::map<manager::JobNumber, Time> resting_;
  struct TakenOver {
    Time at{};  // when that was seen, by the controller's clock
    std::string user{};
  };
  std::vector<TakenOver> taken_over_;
  std::string others_;  // why we stood down; "" = we did not
  std::string trouble_;
  std::string rests_;  // why none may act
  Duration lease_ = 2min;
};

}  // namespace almanac::steer
