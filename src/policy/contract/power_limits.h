// SPDX-License-Identifier: Apache-2.0

/// \file
/// The effect of GPU power limits on jobs. Connects `energy`, which knows the effect of a limit on
/// a board, with `perf`, which makes one rate of all that slows a job. A class of nodes may have a
/// limit; if policies set limits too (Config::power_w), the lower of both counts.
///
/// How much a limit slows a job depends on its GPU utilization. That is known for the networks that
/// were measured on the board. A job with another name uses the value of the model that `perf`
/// assigns to it, or else the mean of the networks.
///
/// Differs  A run has one power model, so the GPUs with a limit are of its type. A limit slows a
///          job that waits for its cores only once the limit is the tighter bound
///          (perf/speed_model.h). The lower power of such a job under the limit, which would delay
///          that point further, is not counted.
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
  /// No limits.
  PowerLimits() = default;
  /// Returns the limits of `cluster`. Limited GPUs must be of the type of `power` or have no type.
  /// Fails with invalid for another type, and for a limit below the measured range.
  static Result<PowerLimits> of(const cluster::Cluster& cluster, const energy::PowerModel& power);
  /// Returns the same, and lets policies set limits of jobs if all GPUs are of the type of `power`
  /// or have no type; otherwise may_be_set() is false.
  static Result<PowerLimits> of_jobs_too(const cluster::Cluster& cluster,
                                         const energy::PowerModel& power);

  /// Returns whether a GPU has a limit or may get one.
  bool any() const { return !limits_w_.empty(); }
  bool may_be_set() const { return may_be_set_; }
  /// Returns the utilization of a model, named as in `perf`; nothing if it was not measured.
  std::optional<double> use_of(std::string_view model) const;
  /// Returns the utilization assumed for a model that was not measured.
  double usual_use() const { return energy::mean_use(power_.gpu_use); }
  std::size_t known_uses() const { return power_.gpu_use.size(); }
  /// Returns the speed of each node class for a job with utilization `use`, relative to no limit;
  /// empty = no limits.
  std::vector<double> speeds(double use) const;
  /// Returns the same for one class and a job with its own limit `job_w`, 0 = none.
  double speed(double use, std::size_t node_class, int job_w = 0) const;
  /// Returns the power saved by the limits on a GPU with utilization `use`, as a fraction of what
  /// full load adds to an idle node.
  double spared(double use, std::size_t node_class, int job_w = 0) const;

  /// Returns limits that are worth choosing, in watts, ascending, at most ten. The last one is no
  /// limit, or the highest limit of a class.
  std::vector<int> choices_w() const;
  /// Returns the power of a GPU with utilization `use` and the limit, including its share of an
  /// idle node.
  double gpu_w(double use, int job_w) const;

 private:
  /// Returns the limit that counts: the lower one.
  double limit_w(std::size_t node_class, int job_w) const;

  energy::PowerModel power_;
  std::vector<double> limits_w_;  // by class; energy::kNoLimit without one
  bool may_be_set_ = false;
};

}  // namespace almanac::policy
