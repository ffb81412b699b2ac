// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the power limits of a cluster's GPUs do to jobs: where `energy`, which knows what a limit
/// does to a board, and `perf`, which makes one rate of all that slows a job, meet. A class of
/// nodes may have a limit; where policies set some too (Config::power_w), the lower of both counts.
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
  /// The same where policies may set limits of jobs, if all GPUs are of the type of `power` or of
  /// no type; else may_be_set() says that they are not.
  static Result<PowerLimits> of_jobs_too(const cluster::Cluster& cluster,
                                         const energy::PowerModel& power);

  /// Whether a GPU has a limit, or may be given one.
  bool any() const { return !limits_w_.empty(); }
  bool may_be_set() const { return may_be_set_; }
  /// The use of a model as `perf` names it; nothing where it was not measured.
  std::optional<double> use_of(std::string_view model) const;
  /// Of a model that was not measured.
  double usual_use() const { return energy::mean_use(power_.gpu_use); }
  std::size_t known_uses() const { return power_.gpu_use.size(); }
  /// How fast GPUs of each class of nodes compute a job of this use, relative to no limit; empty =
  /// there is no limit.
  std::vector<double> speeds(double use) const;
  /// The same of one class, for a job whose own limit is `job_w`, 0 = it has none.
  double speed(double use, std::size_t node_class, int job_w = 0) const;
  /// What the limits take off the draw of a GPU that a job of this use has, as a part of what full
  /// use adds to an idle node.
  double spared(double use, std::size_t node_class, int job_w = 0) const;

  /// Where they may be set: limits worth a choice, in watts, lowest first, ten at most. The last
  /// one is no limit, or the highest of a class.
  std::vector<int> choices_w() const;
  /// What a GPU draws that a job of this use has with the limit: with its part of an idle node.
  double gpu_w(double use, int job_w) const;

 private:
  /// The limit of both that counts.
  double limit_w(std::size_t node_class, int job_w) const;

  energy::PowerModel power_;
  std::vector<double> limits_w_;  // of each class; energy::kNoLimit = it has none
  bool may_be_set_ = false;
};

}  // namespace almanac::policy
