// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waiting jobs that users compete for: of the highest priority tier that waits, the first job of
/// the user with the least dominant share is next, past demands that do not fit.
///
/// Jobs are filed by the least demand with which they start, and by user; those of one user and
/// demand go in order. A demand that could not be placed sleeps until something comes free where it
/// might fit, so that an event costs what it changes and not what waits.
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
  /// Where a job stands among its user's.
  struct Place {
    std::int32_t below = 0;  ///< Minus its priority tier.
    double rank = 0;
    double tie = 0;
    JobId job{};

    auto operator<=>(const Place&) const = default;
  };
  /// GPUs, cores, MB of all that is shared.
  using Totals = std::array<double, 3>;

  explicit UserQueues(const Totals& totals) : totals_(totals) {}

  void insert(NameId user, const cluster::Demand& least, const Place& place);
  void erase(NameId user, const cluster::Demand& least, const Place& place);
  /// What a user holds grows by `amount`, or shrinks with `sign` -1.
  void use(NameId user, const cluster::Demand& demand, int sign);

  bool empty() const { return waiting_ == 0; }
  /// The job that is next, of the demands that do not sleep; kNoJob = none.
  JobId next() const;
  /// The job that is next of the demand of `least`, which waits.
  JobId next_of(const cluster::Demand& least) const;
  /// The demand of next() cannot be placed as things are.
  void sleep();
  /// Wakes the demands of which `might_fit(demand)`.
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
  /// A user with jobs of one demand; the least of them is next.
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
    std::unordered_map<std::uint32_t, std::set<Place>> jobs{};  // of each user
  };
  struct User {
    std::array<double, 3> used{};
    double share = 0;
    std::vector<std::uint32_t> classes{};  // of which it has jobs waiting
  };

  std::uint32_t number_of(NameId user);
  const Class* least_awake(std::uint32_t& number) const;
  void refile(std::uint32_t user, double share);

  Totals totals_;
  std::vector<User> users_;
  std::unordered_map<NameId, std::uint32_t> number_of_;
  cluster::DemandTable numbers_;  // of the classes
  std::vector<Class> classes_;
  std::vector<std::uint32_t> awake_;   // classes that have jobs and do not sleep
  std::vector<std::uint32_t> asleep_;  // classes that sleep
  std::size_t waiting_ = 0;
};

}  // namespace almanac::policy
