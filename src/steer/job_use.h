// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the agents of its nodes have reported about one running job, in the form that policies get.
///
/// A policy gets the GPU utilization relative to that with all the cores that the manager
/// allocated. So fewer cores never look better, and 1 is the best value.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/wire.h"
#include "base/time.h"
#include "manager/job.h"
#include "perf/steady_use.h"
#include "store/job.h"

namespace almanac::steer {

/// Cores by node.
using Cores = std::map<std::string, double>;

class JobUse {
 public:
  JobUse(const manager::Job& job, const perf::Measuring& measuring, Time now);

  /// Takes the report of an agent about the job on one of its nodes, at `now`.
  void take(const std::string& node, const agent::Report& report, const agent::JobReport& told,
            Time now);
  /// Call after reports were received. `held`: fewer cores than the manager's, on the nodes where
  /// that is wanted.
  void look(const Cores& held, Time now);

  /// Returns 0 to 1, sometimes slightly more; nothing if it is too early, no agent reports it, or
  /// the job does not yet hold what is wanted.
  std::optional<double> gpu_use() const { return told_; }
  /// Over all of its nodes.
  std::optional<double> bandwidth_gbs(Time now) const;
  /// Whether all of its nodes limit it as wanted, by their last report.
  bool is_held() const { return is_held_; }
  /// When looked at last it was to have all that the manager gave.
  bool has_all() const { return has_all_; }
  /// Since when its GPUs are much less busy than with all its cores; kNoTime = they are not.
  Time hurt_since() const { return hurt_since_; }
  /// Returns "", or the node and the reason why it is not limited.
  std::string trouble() const;
  /// Returns the busy cores, and how busy its GPUs are, by the last report.
  std::optional<double> cores_busy(Time now) const;
  std::optional<double> gpus_busy() const { return mean(); }
  /// Returns the cores and GPUs used since it was first observed, over the time that all of its
  /// nodes reported. Agents do not report memory.
  store::Used used() const;

 private:
  struct Part {
    std::uint64_t gpus = 0;
    perf::SteadyUse use{};
    store::Used used{};
    bool says_itself = false;
    agent::JobReport last{};
    Time at = kNoTime;
  };

  void count(Part& part, double use, Duration length);
  std::optional<double> mean() const;
  template <typename Field>
  std::optional<double> sum(Field field, Time now) const;

  std::map<std::string, Part> parts_;
  std::optional<double> full_;  // with all its cores
  std::optional<double> told_;
  bool is_held_ = false;
  bool has_all_ = true;
  Time hurt_since_ = kNoTime;
};

/// Returns how busy the GPUs of a mask are; nothing unless all of them report.
std::optional<double> mean_use(std::uint64_t gpus, const agent::Report& report);

}  // namespace almanac::steer
