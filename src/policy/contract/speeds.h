// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast jobs run with what they are given, as a policy may ask it.
///
/// A rate of 1 is the speed at which the job's run time was recorded. A host that knows how fast
/// jobs run implements this (schedule/speed_book.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.h"
#include "cluster/ledger.h"
#include "rules/links/contention.h"

namespace almanac::policy {

class PowerLimits;

/// How a job runs.
struct Pace {
  double rate = 1;       ///< 1 = as fast as recorded.
  double computing = 1;  ///< The share of its time in which a GPU is not kept waiting; 0 without.
};

/// A model with a batch. Jobs of the same one are alike in all but what they ask.
enum class SpeedModelId : std::uint32_t {};
inline constexpr SpeedModelId kNoSpeedModel{~std::uint32_t{0}};

/// What a job reads at full speed, and what of.
struct Reading {
  NameId data_set{};
  double data_gb = 0;
  double gbs = 0;
};

/// Constant while a policy may ask it.
class Speeds {
 public:
  virtual ~Speeds() = default;
  /// Returns the pace of a job that holds `grants`, as far as cores, memory, GPUs with the power
  /// limit `power_w` (Config::power_w) and `beside`, the jobs on the most crowded of its GPUs,
  /// decide; `yields` as Config::yields.
  virtual Pace pace(JobId job, std::span<const cluster::Grant> grants,
                    std::span<const JobId> beside = {}, int power_w = 0,
                    bool yields = false) const = 0;
  double rate(JobId job, std::span<const cluster::Grant> grants) const {
    return pace(job, grants).rate;
  }
  /// Returns the rate of a GPU job on as few nodes as hold it, with the cores and memory of `unit`
  /// for each GPU.
  virtual double rate(JobId job, const cluster::Amount& unit) const = 0;
  /// Returns the rate of a GPU job on `nodes` nodes with so many GPUs on each, with the cores and
  /// memory of its reference for each. Costs no more than the others.
  virtual double rate(JobId job, int nodes, int gpus_per_node) const = 0;
  /// Returns how fast the slowest GPU of a job computes under its power limits, beside none.
  virtual double power(JobId job, std::span<const cluster::Grant> grants, int power_w) const = 0;
  /// Returns the model of a GPU job; kNoSpeedModel for a CPU job.
  virtual SpeedModelId model(JobId job) const = 0;
  /// Whether the model of a GPU job tells GPUs of one type from those of another.
  virtual bool tells_types(JobId job) const = 0;
  /// Returns how a job that holds `grants` sends between their nodes; nothing if they are one node
  /// or if neither the log nor the model tells it. The power of GPUs and jobs beside it change
  /// nothing.
  virtual std::optional<links::Flow> flow(JobId job,
                                          std::span<const cluster::Grant> grants) const = 0;
  /// Returns nothing if the job does not tell what it reads or the cluster does not say from where.
  virtual std::optional<Reading> reading(JobId job) const = 0;
  /// Returns what a node costs besides its GPUs (perf::cost()).
  virtual double theta() const = 0;
  /// Returns what power limits do that policies may set, to a GPU job of use(); null = not known.
  virtual const PowerLimits* job_limits() const = 0;
  /// Returns how much a job uses a GPU, 0 to 1. Requires power limits; a job without GPUs has the
  /// mean of the networks that were measured.
  virtual double use(JobId job) const = 0;
};

}  // namespace almanac::policy
