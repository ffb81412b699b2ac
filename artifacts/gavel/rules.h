// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's policies as its program has them: the programs of `timeshare`, and what the published
/// ones do besides. `fair_srtf` is ours.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "gavel/engine.h"
#include "gavel/rule.h"
#include "rules/fairness/shares.h"

namespace almanac::gavel {

struct Options {
  std::uint32_t seed = 0;
  double considered = 1;                             ///< AlloX's alpha.
  double lateness_power = fairness::kLatenessPower;  ///< Of `fair_srtf`.
  /// For policies that put jobs side by side, which are called so where it has their rates; it must
  /// outlive them.
  const Speeds* speeds = nullptr;
};

/// Null = no policy is called so, or it needs rates of pairs and has none. `_perf` in a name: it
/// sees how fast types are.
std::unique_ptr<Rule> make_rule(std::string_view name, const Options& options);

/// All names there are.
std::vector<std::string_view> rule_names();

}  // namespace almanac::gavel
