// SPDX-License-Identifier: Apache-2.0

/// \file
/// Many simulations at once: every policy at every load with every seed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/experiment.h"
#include "experiment/summary.h"

namespace almanac::experiment {

struct SweepPoint {
  double load = 1;
  std::uint64_t seed = 0;
  Summary summary{};
};

/// Every `of`-th (load, seed) pair from the `number`-th on: each part has its share of every load.
struct SweepPart {
  std::size_t number = 1;  ///< 1 .. of.
  std::size_t of = 1;
};

struct SweepPlan {
  std::vector<double> loads{1};
  std::vector<std::uint64_t> seeds{0};
  /// Makes the prepared run of one load and seed; called from several threads at once.
  std::function<Result<Prepared>(double load, std::uint64_t seed)> prepare;
  SweepPart part{};
  int threads = 0;  ///< 0 for all cores.
  const std::atomic<bool>* stop = nullptr;
  std::atomic<std::uint32_t>* done = nullptr;  ///< Counts finished (load, seed) pairs.

  /// Of all parts.
  std::size_t pairs() const { return loads.size() * seeds.size(); }
};

/// All points of the part, by load, then seed, then policy; fewer when stopped. Does not depend on
/// the number of threads.
Result<std::vector<SweepPoint>> sweep(const SweepPlan& plan);

/// One row per point: load, seed, then the columns of summary_csv_header().
std::string to_csv(const std::vector<SweepPoint>& points);

}  // namespace almanac::experiment
