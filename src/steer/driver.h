// SPDX-License-Identifier: Apache-2.0

/// \file
/// Does what levers want: as far as guards let it, as fast as the budget allows, a slice (slice.h)
/// at a time.
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
  /// Asks the levers what they want, and takes as much as may be done now. `now` is a clock that
  /// never goes back.
  Slice plan(const Scene& scene, Time now);
  /// Does it, without the lock that the others want.
  void carry_out(Slice& slice, slurm::Link& link,
                 const service::Clock& clock = service::machine_clock()) {
    steer::carry_out(slice, journal_, link, clock);
  }
  /// Notes what has become of it; whether anything was changed.
  bool settle(Slice& slice, Mirror& mirror);
  /// All that is to be undone, as a slice, but for what is said so in words; levers should be off.
  Slice plan_undo(const Mirror& mirror, const std::string& why,
                  const std::set<std::string>& but = {}) const;

  void set(const std::string& lever, Switch how);
  /// All of them rest, as if they could not be used; "" = they do not.
  void rest(std::string why) { rests_ = std::move(why); }
  bool knows(const std::string& lever) const;
  std::vector<std::string> names() const;
  std::vector<service::LeverView> states() const;
  /// Whether Slurm's queue follows the policy.
  bool decides_queue() const;
  const Claims& claims() const { return claims_; }
  /// Of all levers that act (lever.h).
  std::set<slurm::JobNumber> in_vain(const Scene& scene) const;
  /// What an operator should know; one line each.
  std::vector<std::string> warnings() const;
  double changes_per_s() const { return budget_.rate(); }
  /// How long a job is held that is held now.
  Duration lease() const { return lease_; }

 private:
  struct Mounted {
    std::unique_ptr<Lever> lever;
    service::LeverView state{};
  };

  /// What the journal is to keep of that.
  std::vector<Entry> look_for_others(const Mirror& mirror);
  void look_whether_it_rests(Mounted& mounted, const Scene& scene) const;
  /// Whether a lever is on, and does not rest.
  static bool acts(const Mounted& mounted);
  /// With what the driver says.
  Scene seen_by_levers(Scene scene) const;
  void take(Mounted& mounted, const Scene& scene, std::int64_t& left, Slice& slice);
  static void put(Mounted& mounted, Entry entry, Slice& slice);
  void renew(const Scene& scene, std::int64_t left, Slice& slice) const;

  Budget budget_;
  Journal journal_;
  Claims claims_;
  std::vector<Mounted> levers_;
  /// Slurm has refused to change them; until when they rest, by the controller's clock.
  std::map<slurm::JobNumber, Time> resting_;
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
