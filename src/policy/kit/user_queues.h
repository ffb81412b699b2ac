// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waiting jobs of competing users: of the highest priority tier that waits, the first job of the
/// user with the smallest dominant share is next, past demands that do not fit.
///
/// Jobs are filed by the least demand with which they start, and by user; those of one user and
/// demand are in order. A demand that could not be placed sleeps until something becomes free where
/// it might fit, so the cost of an event depends on what it changes, not on what waits.
///
/// Source   Ghodsi et al., NSDI'11 (dominant resource fairness).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "cluster/demand_table.h"
#include "cluster/ledger.h"

namespace almanac::policy {

class UserQueues {
 public:
  /// The position of a job among its user's.
  struct Place {
    std::int32_t below = 0;  ///< Minus its priority tier.
    double rank = 0;
    double tie = 0;
    JobId job{};

    auto operator<=>(const Place&) const = default;
  };
  /// GPUs, cores and MB of everything that is shared.
  using Totals = std::array<double, 3>;

  explicit UserQueues(const Totals& totals) : totals_(totals) {}

  void insert(NameId user, const cluster::Demand& least, const Place& place);
  void erase(NameId user, const cluster::Demand& least, const Place& place);
  /// Adds `demand` to what a user holds, or subtracts it if `sign` is -1.
  void use(NameId user, const cluster::Demand& demand, int sign);

  /// Returns the dominant share that a user holds.
  double share(NameId user) const;
  bool empty() const { return waiting_ == 0; }
  /// Returns the next job among demands that do not sleep; kNoJob if there is none.
  JobId next() const;
  /// Returns the next job of the demand `least`, which must have a waiting job.
  JobId next_of(const cluster::Demand& least) const;
  /// Puts the demand of next(), which cannot be placed, to sleep.
  void sleep();
  /// Wakes the demands for which `might_fit(demand)` is true.
  template <typename MightFit>
  void wake(MightFit&& might_fit) {
    for (std::size_t at = 0; at < asleep_.size();) {
      const std::uint32_t number = asleep_[at];
      if (!might_fit(classes_[number].least)) {
        ++at;
        continue;
      }
      asleep_[at] = asleep_.back();
      asleep_.pop_back();
      classes_[number].asleep = false;
      if (!classes_[number].fronts.empty()) awake_.push_back(number);
    }
  }

 private:
  /// A user with jobs of one demand; the smallest is next.
  struct Front {
    double share = 0;
    Place first{};
    std::uint32_t user = 0;

    friend auto operator<=>(const Front& a, const Front& b) {
      return std::tie(a.first.below, a.share, a.first, a.user) <=>
             std::tie(b.first.below, b.share, b.first, b.user);
    }
  };
  struct Class {
    cluster::Demand least{};
    bool asleep = false;
    std::set<Front> fronts{};
    std::unordered_map<std::uint32_t, std::set<Place>> jobs{};  // by user
  };
  struct User {
    std::array<double, 3> used{};
    double share = 0;
    std::vector<std::uint32_t> classes{};  // those with waiting jobs of the user
  };

  std::uint32_t number_of(NameId user);
  const Class* least_awake(std::uint32_t& number) const;
  void refile(std::uint32_t user, double share);

  Totals totals_;
  std::vector<User> users_;
  std::unordered_map<NameId, std::uint32_t> number_of_;
  cluster::DemandTable numbers_;  // of the classes
  std::vector<Class> classes_;
  std::vector<std::uint32_t> awake_;   // classes with jobs that do not sleep
  std::vector<std::uint32_t> asleep_;  // classes that sleep
  std::size_t waiting_ = 0;
};

}  // namespace almanac::policy
