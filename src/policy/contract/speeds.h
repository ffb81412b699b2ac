// SPDX-License-Identifier: Apache-2.0

/// \file
/// Speed of jobs as a function of their allocation, for use by policies.
///
/// A rate of 1 is the speed at which the job's run time was recorded. Hosts with speed models
/// implement this interface (schedule/speed_book.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.h"
#include "cluster/ledger.h"
#include "rules/links/contention.h"

namespace almanac::policy {

class PowerLimits;

/// Speed of a job.
struct Pace {
  double rate = 1;       ///< 1 = as fast as recorded.
  double computing = 1;  ///< Fraction of time in which its GPUs do not wait for data; 0 for a CPU
                         ///< job.
};

/// A model with a batch size. Jobs of the same model differ only in their requests.
enum class SpeedModelId : std::uint32_t {};
inline constexpr SpeedModelId kNoSpeedModel{~std::uint32_t{0}};

/// Data set that a job reads, and its read rate at full speed.
struct Reading {
  NameId data_set{};
  double data_gb = 0;
  double gbs = 0;
};

/// Speed models of jobs. Constant during a decision.
class Speeds {
 public:
  virtual ~Speeds() = default;
  /// Returns the speed of a job with `grants`, given its cores, memory and GPUs, the power limit
  /// `power_w` (Config::power_w) and `beside`, the other jobs on the most crowded of its GPUs.
  /// `yields` is Config::yields.
  virtual Pace pace(JobId job, std::span<const cluster::Grant> grants,
                    std::span<const JobId> beside = {}, int power_w = 0,
                    bool yields = false) const = 0;
  double rate(JobId job, std::span<const cluster::Grant> grants) const {
    return pace(job, grants).rate;
  }
  /// Returns the rate of a GPU job on the fewest nodes, with the cores and memory of `unit` per
  /// GPU.
  virtual double rate(JobId job, const cluster::Amount& unit) const = 0;
  /// Returns the rate of a GPU job on `nodes` nodes with `gpus_per_node` GPUs each and its
  /// reference cores and memory per GPU. Costs no more than the other overloads.
  virtual double rate(JobId job, int nodes, int gpus_per_node) const = 0;
  /// Returns the speed of a job's slowest GPU under its power limits, relative to no limit.
  virtual double power(JobId job, std::span<const cluster::Grant> grants, int power_w) const = 0;
  /// Returns the model of a GPU job; kNoSpeedModel for a CPU job.
  virtual SpeedModelId model(JobId job) const = 0;
  /// Returns whether the model of a GPU job has different speeds for different GPU types.
  virtual bool tells_types(JobId job) const = 0;
  /// Returns the traffic of a job with `grants` between its nodes; nothing if it runs on one node
  /// or if neither the log nor the model has the traffic. Power limits and other jobs have no
  /// effect.
  virtual std::optional<links::Flow> flow(JobId job,
                                          std::span<const cluster::Grant> grants) const = 0;
  /// Returns what a job reads; nothing if the job or the cluster has no data about it.
  virtual std::optional<Reading> reading(JobId job) const = 0;
  /// Returns the cost of a node apart from its GPUs (perf::cost()).
  virtual double theta() const = 0;
  /// Returns the effect of power limits that policies may set on a GPU job with use(); null =
  /// unknown.
  virtual const PowerLimits* job_limits() const = 0;
  /// Returns the GPU utilization of a job, 0 to 1. Requires power limits; a job without GPUs gets
  /// the mean of the measured networks.
  virtual double use(JobId job) const = 0;
};

}  // namespace almanac::policy
