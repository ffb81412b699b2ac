// SPDX-License-Identifier: Apache-2.0

/// \file
/// A check compares one recorded table of a Slurm scenario with what Almanac computes. Each file of
/// reproduce/slurm_check/ defines `void register_<stem>(SlurmChecks&)`; the build finds it, and the
/// recipe `slurm` runs it on every scenario.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "reproduce/bench.h"
#include "reproduce/slurm_scenario.h"

namespace almanac::reproduce {

/// Adds a row to the bench for each figure. Adds none where the scenario does not have the table.
using SlurmCheck = std::function<void(Bench&, const SlurmScenario&)>;

class SlurmChecks {
 public:
  void add(SlurmCheck check) { checks_.push_back(std::move(check)); }
  const std::vector<SlurmCheck>& all() const { return checks_; }

 private:
  std::vector<SlurmCheck> checks_;
};

/// All of them, in the order of their files.
const SlurmChecks& slurm_checks();

}  // namespace almanac::reproduce
