// SPDX-License-Identifier: Apache-2.0

/// \file
/// Histograms of waits for the metrics, by partition and job size, and by user.
///
/// A wait lasts from when a job becomes eligible (its hold is released, its dependencies have
/// ended, its begin time has come) to its start. The number of histograms is bounded, whatever
/// users submit: the first kMostPartitions partitions and kMostUsers users have their own, and all
/// later ones share one called "other".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace almanac::service {

/// Counts of waits up to each bound. Values only grow.
struct WaitHistogram {
  /// Seconds: 10 s, 1 min, 5, 15, 30 min, 1 h, 2, 4, 8, 16 h, 1 day, 2, 4, 7 days.
  static constexpr std::array<double, 14> kBounds_s{
      10, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800};
  /// Waits above the bound before and up to this one; the last has those above all bounds.
  std::array<std::uint64_t, kBounds_s.size() + 1> counts{};
  double sum_s = 0;

  void add(double wait_s);
};

/// Names of the size classes by GPUs requested: "0", "1", "2-4", "5-8", "9-64", "65+".
std::string_view size_class(int gpus);

class Waits {
 public:
  static constexpr std::size_t kMostPartitions = 20;
  static constexpr std::size_t kMostUsers = 50;
  static constexpr std::string_view kOther = "other";

  struct Place {
    std::string partition{};
    std::string_view size{};  ///< A name of size_class().
    auto operator<=>(const Place&) const = default;
  };

  /// Adds a wait of a job that requested `gpus`. A negative wait, from clocks that differ, is 0.
  void add(const std::string& partition, const std::string& user, int gpus, Duration wait);

  const std::map<Place, WaitHistogram>& by_place() const { return by_place_; }
  const std::map<std::string, WaitHistogram>& by_user() const { return by_user_; }
  /// Jobs added, by GPUs requested. 64 stands for 64 and more: no node has more GPUs.
  const std::map<int, std::uint64_t>& by_gpus() const { return by_gpus_; }

 private:
  std::set<std::string> partitions_;
  std::map<Place, WaitHistogram> by_place_;
  std::map<std::string, WaitHistogram> by_user_;
  std::map<int, std::uint64_t> by_gpus_;
};

}  // namespace almanac::service
