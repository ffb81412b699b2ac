// SPDX-License-Identifier: Apache-2.0

/// \file
/// What associations and QOS have used: billing-seconds, seconds of each resource and run time,
/// with Slurm's decay.
///
/// Source   Slurm 22.05 to 25.11, priority_multifactor.c: _apply_decay(), _apply_new_usage().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "site/site.h"
#include "slurmctld/priority/association_tree.h"

namespace almanac::slurmctld {

/// Usage of an association (all below it included) or of a QOS.
struct Used {
  /// Billing-seconds. Slurm's type: fair tree compares quotients of these exactly, so that rounding
  /// decides who ties.
  long double raw = 0;
  std::vector<long double> tres{};  ///< Seconds of each resource of Site::tres.
  double wall_s = 0;                ///< Run time of all jobs.
};

/// What is charged for a time that a job ran.
struct Charge {
  AssociationAt association = kNowhere;
  std::uint32_t qos = kNowhere;            ///< Position in Site::qos.
  std::uint32_t partition_qos = kNowhere;  ///< The QOS of its partition.
  std::int64_t seconds = 0;
  double billable = 0;  ///< billable() of what the job holds.
  const site::TresCounts* held = nullptr;
};

class UsageLedger {
 public:
  /// Begins with the usage that the site's files report.
  explicit UsageLedger(const site::Site& site);

  /// Takes usage factors and flags of the same QOS.
  void change_qos(std::span<const site::Qos> qos);
  /// Half-life of 0: no decay.
  void set_half_life(Duration half_life);
  /// What is left of usage after `seconds`. Slurm's d^seconds with d = 1 - 0.693 / half-life.
  double remaining(std::int64_t seconds) const;

  /// Decays everything but the usage of QOS with the flag NoDecay.
  void decay(std::int64_t seconds);
  /// Adds a charge to the QOS, the association and all accounts above it, decayed as if all of it
  /// lay at the start of the charged time.
  void add(const Charge& charge, const AssociationTree& tree);
  /// Sets all usage to 0.
  void reset();

  const Used& of(AssociationAt at) const { return associations_[at]; }
  const Used& of_qos(std::uint32_t at) const { return qos_[at]; }
  /// Usage of all jobs.
  const Used& total() const { return associations_.front(); }

 private:
  struct QosRules {
    double usage_factor = 1;
    bool no_decay = false;
  };

  std::vector<Used> associations_;
  std::vector<Used> qos_;
  std::vector<QosRules> rules_;
  double second_ = 1;  // what is left after a second
  // Most jobs are charged for the same time: the length of a period.
  mutable std::int64_t known_seconds_ = 0;
  mutable double known_remaining_ = 1;
};

}  // namespace almanac::slurmctld
