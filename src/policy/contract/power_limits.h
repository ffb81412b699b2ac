// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the power limits of a cluster's GPUs do to jobs: where `energy`, which knows what a limit
/// does to a board, and `perf`, which makes one rate of all that slows a job, meet.
///
/// How much a limit slows a job hangs on how much it uses a GPU. That is known of the networks that
/// were measured on the board. A job of another name has that of the model that `perf` takes it
/// for, else the mean of the networks.
///
/// Differs  a run has one power model, so the GPUs under a limit are of its type. A job that waits
///          for its cores is not slowed by a limit until that is the less (perf/speed_model.h); its
///          lower draw under the limit, which would slow it even later, is not counted.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "energy/power.h"

namespace almanac::policy {

class PowerLimits {
 public:
  /// None.
  PowerLimits() = default;
  /// Those of `cluster`, whose GPUs under a limit are of the type of `power` or of no type. Fails
  /// with invalid for another type, and for a limit below those that were measured.
  static Result<PowerLimits> of(const cluster::Cluster& cluster, const energy::PowerModel& power);

  bool any() const { return !limits_w_.empty(); }
  /// The use of a model as `perf` names it; nothing where it was not measured.
  std::optional<double> use_of(std::string_view model) const;
  /// Of a model that was not measured.
  double usual_use() const { return energy::mean_use(power_.gpu_use); }
  std::size_t known_uses() const { return power_.gpu_use.size(); }
  /// How fast GPUs of each class of nodes compute a job of this use, relative to no limit; empty =
  /// there is no limit.
  std::vector<double> speeds(double use) const;
  /// What the limit of a class takes off the draw of a GPU at full use, as a part of what that
  /// adds to an idle node.
  double spared(std::size_t node_class) const;

 private:
  energy::PowerModel power_;
  std::vector<double> limits_w_;  // of each class; energy::kNoLimit = it has none
};

}  // namespace almanac::policy
