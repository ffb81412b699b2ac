// SPDX-License-Identifier: Apache-2.0

/// \file
/// What MIG instances do for services, and GPUs that add the most to what services have.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "deployment/deployment.h"

namespace almanac::deployment::planner {

/// A GPU: its instances, and the service of each.
struct ServedGpu {
  std::vector<int> slices{};
  std::vector<std::size_t> services{};

  bool operator==(const ServedGpu&) const = default;
};

/// Part of its rate that each service lacks, 0 to 1.
using Lacking = std::vector<double>;

/// Services and what an instance of each size completes of their rates.
///
/// Source   Tan et al., 2021 (Serving DNN models with multi-instance GPUs): a service's completion
///          rate is 1 when it has its throughput. A GPU's score is the sum of the completion that
///          it adds to each service, weighted by what the service lacks. A GPU has at most two
///          services, unless each lacks less than a GPU gives.
/// Differs  Throughput beyond a service's objective does not count.
class MigCase {
 public:
  explicit MigCase(const PlanningCase& asked);

  /// Fails with unavailable if a service has no variant that fits an instance in time.
  Result<void> check() const;
  Lacking lacking(const std::vector<ServedGpu>& gpus) const;
  static bool is_done(const Lacking& lacking);
  /// Returns a number of GPUs below which no plan gives services what they lack.
  std::size_t least_gpus(const Lacking& lacking) const;
  /// Subtracts what a GPU gives.
  void give(const ServedGpu& gpu, Lacking& lacking) const;

  /// Returns up to `most` GPUs with the highest scores, best first, for the five services that lack
  /// most; empty if these lack nothing. O(divisions of a GPU).
  std::vector<ServedGpu> best_gpus(const Lacking& lacking, std::size_t most) const;
  /// Returns one GPU that gives services all that they lack; nothing if none was found in 20,000
  /// tries of each division.
  std::optional<ServedGpu> last_gpu(const Lacking& lacking) const;
  /// Adds the GPU with the highest score until no service lacks anything.
  std::vector<ServedGpu> greedy(std::vector<ServedGpu> gpus) const;

  Deployment deployment_of(const std::vector<ServedGpu>& gpus) const;

 private:
  /// The best that an instance with a number of slices can do for a service.
  struct Use {
    std::size_t variant = 0;
    int batch = 0;    ///< 0 = nothing fits, or is in time.
    double part = 0;  ///< Of the service's rate.
  };
  using Scored = std::pair<double, ServedGpu>;

  Use best_use(const TaskService& service, int slices) const;
  Scored filled(const std::vector<int>& slices, Lacking lacking,
                const std::vector<std::size_t>& allowed) const;
  bool finish(const std::vector<int>& slices, std::size_t at, const Lacking& lacking, int& left,
              ServedGpu& gpu) const;

  const PlanningCase& asked_;
  std::vector<std::vector<Use>> uses_;  // by service, then slices
  std::vector<double> part_of_slice_;   // by service: the most that one slice of an instance adds
};

}  // namespace almanac::deployment::planner
