// SPDX-License-Identifier: Apache-2.0

/// \file
/// The factors of a job's priority and their weighted sum, with Slurm's operations in their order.
///
/// Source   Slurm 22.05 to 25.11, priority_multifactor.c: set_priority_factors(),
///          _get_priority_internal().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "site/site.h"

namespace almanac::slurmctld {

/// What a job requests and holds, as far as its priority depends on it.
struct Size {
  std::uint32_t min_nodes = 1;
  std::uint32_t cpus = 1;  ///< At most, if the job says so, else at least.
  /// CPUs of the nodes that the select plugin found for it: 0 until its first backfill test or
  /// start.
  std::uint32_t total_cpus = 0;
  /// Time limit in minutes; nothing: the maximum of the partition counts.
  std::optional<std::uint32_t> limit_min{};
  site::TresCounts requested{};
  site::TresCounts held{};  ///< Empty until it starts.
};

/// UNLIMITED as a number of minutes.
inline constexpr std::uint32_t kUnlimitedMinutes = 0xffff'ffff;

/// Factors before they are weighted: 0 to 1, or raw with PriorityFlags=NO_NORMAL_*. A factor
/// without a weight stays 0.
struct Factors {
  double age = 0;
  double association = 0;
  double fair_share = 0;
  double size = 0;
  double partition = 0;
  double qos = 0;
  /// One for each of PrioritySettings::weight_tres.
  std::vector<double> tres{};
  std::int64_t site = 0;
  std::int64_t nice = 0;
};

/// Computes the factors that depend on the site alone.
class Scales {
 public:
  explicit Scales(const site::Site& site);

  const site::PrioritySettings& settings() const { return settings_; }
  /// Replaces weights, flags and periods.
  void configure(const site::PrioritySettings& settings);

  double age(Duration age) const;
  double association(std::uint32_t priority) const;
  double qos(std::uint32_t priority) const;
  /// `partition` is a position in Site::partitions.
  double partition(std::uint32_t partition) const;
  double size(const Size& size, std::uint32_t partition) const;
  /// Sets the factor of each weighted resource.
  void tres(const Size& size, std::uint32_t partition, std::vector<double>& factors) const;

  /// Returns the priority of a job in its partition: at least 1, cut to a whole number of 32 bits.
  std::uint32_t sum(const Factors& factors) const;
  /// Returns the priority of the same job in another of its partitions, whose partition and TRES
  /// factors are in `factors`. Slurm adds in another order there.
  std::uint32_t sum_in_other_partition(const Factors& factors) const;

 private:
  struct PartitionScale {
    std::uint32_t job_factor = 0;
    std::uint32_t max_time_min = kUnlimitedMinutes;
    std::vector<std::int64_t> tres{};  // amount of each resource of Site::tres
  };

  double weighted_tres(const Factors& factors) const;

  site::PrioritySettings settings_;
  std::uint32_t nodes_ = 0;
  std::uint32_t cpus_ = 0;
  std::uint32_t largest_association_ = 0;
  std::uint32_t largest_qos_ = 0;
  std::uint32_t largest_partition_ = 1;
  std::vector<PartitionScale> partitions_;
};

}  // namespace almanac::slurmctld
